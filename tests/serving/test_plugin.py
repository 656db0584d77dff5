from __future__ import annotations

import pytest

from serving.cpu_lora import obstacle


@pytest.mark.parametrize(
    ("on_cpu", "found", "switch", "part"),
    [
        (True, "0.32.0", "0", "INTERVIEWER_CPU_LORA=0"),
        (False, "0.32.0", None, "not CPU"),
        (True, "0.33.1", None, "0.33.1"),
        (True, None, None, "None"),
    ],
)
def test_the_plugin_leaves_other_engines_alone_and_says_why(
    on_cpu: bool, found: str | None, switch: str | None, part: str
) -> None:
    reason = obstacle(on_cpu, found, switch)
    assert reason is not None
    assert part in reason


@pytest.mark.parametrize("switch", [None, "", "1"])
def test_the_plugin_works_on_the_tested_engine(switch: str | None) -> None:
    assert obstacle(True, "0.32.0", switch) is None
