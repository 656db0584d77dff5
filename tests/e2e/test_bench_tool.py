"""vLLM's own load generator against the real engine of a running service, with few requests."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interviewer import tools

from .conftest import Running

pytestmark = pytest.mark.engine
GUIDE = Path(__file__).parents[2] / "docs" / "serving-gpu.md"


def bench(running: Running, *arguments: str) -> str:
    environment = {"INTERVIEWER_DATA_DIR": str(running.data)}
    done = CliRunner().invoke(tools.bench, arguments, env=environment, catch_exceptions=False)
    assert done.exit_code == 0, f"{done.output}\n{running.log()}"
    return done.output


def test_load_on_the_service_s_engine(running: Running, tmp_path: Path) -> None:
    report = tmp_path / "load"
    bench(running, "load", "--rate", "4", "--requests", "7", "--repeats", "1", "--output-tokens", "4",
          "--ttft-ms", "600000", "--tpot-ms", "600000", "--report", str(report))  # fmt: skip
    found = json.loads(report.with_suffix(".json").read_text(encoding="utf-8"))
    (run,) = found["rates"][0]["runs"]
    assert (run["completed"], run["failed"]) == (7, 0)
    assert run["good_per_s"] == run["requests_per_s"] > 0
    assert 400 <= found["load"]["prompt_tokens"] <= 650
    assert found["engine"]["models"][0] == "base"
    assert found["engine"]["version"] == "0.32.0"
    times = run["milliseconds"]
    assert times["E2E"]["mean"] == pytest.approx(times["TTFT"]["mean"] + 3 * times["TPOT"]["mean"], rel=0.01)


def test_sweep_on_the_service_s_engine(running: Running, tmp_path: Path) -> None:
    report = tmp_path / "sweep"
    out = bench(running, "sweep", "--batch", "1", "--batch", "2", "--repeats", "1", "--waves", "1",
                "--input-tokens", "64", "--output-tokens", "8", "--report", str(report))  # fmt: skip
    assert "134.5 M x" in out
    assert "Little's law" in out
    assert all(report.with_suffix(suffix).is_file() for suffix in (".md", ".json", ".csv", ".svg"))


@pytest.mark.filterwarnings("ignore")  # what importing vLLM and torch gives rise to
def test_the_documented_gpu_flags_are_known_to_the_engine() -> None:
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    block = re.search(r"```bash\nvllm serve (.*?)\ninterviewer serve", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    argv = shlex.split(block.group(1).replace("\\\n", " "))
    given = make_arg_parser(FlexibleArgumentParser()).parse_args(["--model", *argv])
    assert (given.max_loras, given.max_lora_rank, len(given.lora_modules)) == (6, 16, 6)
    assert (given.enable_lora, given.enable_prefix_caching, given.enable_chunked_prefill) == (True, True, True)
