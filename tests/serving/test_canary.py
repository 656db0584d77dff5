from __future__ import annotations

import json
from pathlib import Path

import pytest

from serving.canary import Logprobs, _judge_adapter, adapter_name, differs_from_golden, distance

BASE: Logprobs = {"I": -0.5, "We": -1.2, "The": -4.0, "Zed": -9.0}


def test_an_adapter_that_answers_as_the_base_is_refused() -> None:
    assert not _judge_adapter("a@1", {**BASE, "I": -0.5004}, BASE, None).ok


@pytest.mark.parametrize(
    ("answer", "golden", "ok"),
    [
        ({"I": -3.0, "Tell": -0.1}, None, True),
        ({"I": -3.0, "Tell": -0.1}, {"I": -3.1, "Tell": -0.1}, True),
        ({"I": -3.0, "Tell": -0.1}, {"I": -3.4, "Tell": -0.1}, False),
        ({"I": -3.0, "Tell": -0.1}, {"What": -0.3}, False),
        ({"I": -3.0, "Tell": -0.1}, {"Tell": -0.1, "Rare": -9.0}, True),
    ],
)
def test_an_adapter_is_held_against_its_golden(answer: Logprobs, golden: Logprobs | None, ok: bool) -> None:
    assert _judge_adapter("a@1", answer, BASE, golden).ok is ok


def test_failures_are_results_with_a_reason() -> None:
    assert _judge_adapter("a@1", "no answer", BASE, None).detail == "no answer"
    assert not _judge_adapter("a@1", {"I": -1.0}, "no answer", None).ok


def test_distances() -> None:
    assert distance({"a": -1.0, "b": -2.0}, {"a": -1.5, "c": -2.0}) == 0.5
    assert distance({"a": -1.0}, {"b": -1.0}) == float("inf")
    assert differs_from_golden(BASE, BASE) is None


def test_the_name_follows_weights_and_configuration(tmp_path: Path) -> None:
    (tmp_path / "adapter_model.safetensors").write_bytes(b"one")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": 8}), encoding="utf-8")
    first = adapter_name("deep_dive", tmp_path)
    assert first.startswith("deep_dive@")
    assert len(first) == len("deep_dive@") + 8
    (tmp_path / "README.md").write_text("card", encoding="utf-8")
    assert adapter_name("deep_dive", tmp_path) == first
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": 8, "lora_alpha": 4}), encoding="utf-8")
    assert adapter_name("deep_dive", tmp_path) != first
    (tmp_path / "adapter_model.safetensors").unlink()
    with pytest.raises(OSError):
        adapter_name("deep_dive", tmp_path)
