"""Every engine is given the same adapters, under names that follow from their content."""

from __future__ import annotations

import json
import shutil
from pathlib import Path, PurePosixPath

import pytest

from serving.canary import adapter_name
from serving.deploy.lora_modules import arguments, find_adapters, main
from serving.engine_config import EngineError


def adapter(personas: Path, persona: str, rank: int = 8, weights: bytes = b"weights") -> Path:
    folder = personas / persona / "adapter"
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank, "peft_type": "LORA"}), encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(weights)
    return folder


def test_one_slot_per_adapter_and_the_rank_that_fits_all(tmp_path: Path) -> None:
    folders = [adapter(tmp_path, "recruiter", rank=4), adapter(tmp_path, "deep_dive", rank=12)]
    (tmp_path / "prompt_only").mkdir()
    recruiter, deep_dive = (adapter_name(folder.parent.name, folder) for folder in folders)
    assert arguments(find_adapters(tmp_path), PurePosixPath("/adapters")) == [
        "--enable-lora",
        "--max-loras=2",
        "--max-cpu-loras=2",
        "--max-lora-rank=16",  # the engine knows 8 and 16, not 12
        "--lora-modules",
        f"{deep_dive}=/adapters/deep_dive",
        f"{recruiter}=/adapters/recruiter",
    ]


def test_other_weights_are_served_under_another_name(tmp_path: Path) -> None:
    adapter(tmp_path / "old", "deep_dive", weights=b"old")
    adapter(tmp_path / "new", "deep_dive", weights=b"new")
    (old,), (new,) = find_adapters(tmp_path / "old"), find_adapters(tmp_path / "new")
    assert old != new
    shutil.copytree(tmp_path / "new", tmp_path / "elsewhere")
    assert list(find_adapters(tmp_path / "elsewhere")) == [new], "the same on every machine"


def test_they_are_installed_with_their_arguments_and_again(tmp_path: Path) -> None:
    to = tmp_path / "volume"
    to.mkdir()
    for weights in (b"old", b"new"):
        personas = tmp_path / weights.decode()
        folder = adapter(personas, "deep_dive", weights=weights)
        assert main(["--personas", str(personas), "--to", str(to)]) == 0
        assert (to / "deep_dive" / "adapter_model.safetensors").read_bytes() == weights
        name = adapter_name("deep_dive", folder)
        assert (to / "lora.args").read_text(encoding="utf-8").split()[-2:] == [
            "--lora-modules",
            f"{name}={to}/deep_dive",
        ]


def test_the_shipped_ones_are_all_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    words = capsys.readouterr().out.split()
    served = [word.split("@")[0] for word in words[words.index("--lora-modules") + 1 :]]
    assert served == ["behavioral", "coding_design", "deep_dive", "evaluator", "hiring_manager", "recruiter"]


@pytest.mark.parametrize("rank", [0, 513, None, "16"])
def test_a_rank_that_no_engine_serves_is_refused(tmp_path: Path, rank: object) -> None:
    folder = adapter(tmp_path, "deep_dive")
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank}), encoding="utf-8")
    with pytest.raises(EngineError, match="Use a rank of at most 512"):
        arguments(find_adapters(tmp_path), PurePosixPath("/adapters"))


def test_what_is_missing_is_said_and_nothing_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--personas", str(tmp_path)]) == 1
    (adapter(tmp_path, "deep_dive") / "adapter_model.safetensors").unlink()
    assert main(["--personas", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "No adapters in" in printed.err
    assert "Adapter deep_dive has no weights" in printed.err
