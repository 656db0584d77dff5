"""The plugin that forks the engine's core: stock configuration first, then the way of starting; never twice."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("vllm")

SCRIPT = """
import os, sys
from vllm.platforms.cpu import CpuPlatform
from vllm.platforms import current_platform
seen = []
def stock(cls, config):
    seen.append(config)
    os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"
CpuPlatform.check_and_update_config = classmethod(stock)
from serving.cpu_start import register
register()
register()
CpuPlatform.check_and_update_config("the configuration")
print(seen, os.environ["VLLM_WORKER_MULTIPROC_METHOD"])
"""


@pytest.mark.parametrize(("switch", "method"), [("1", "fork"), ("0", "spawn")])
def test_the_core_is_forked_unless_it_is_switched_off(switch: str, method: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "INTERVIEWER_CPU_FORK": switch, "VLLM_PLUGINS": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"['the configuration'] {method}"
