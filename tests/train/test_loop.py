from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import peft
import pytest
import torch

from serving.train.config import PersonaSettings
from serving.train.data import Speech
from serving.train.loop import SAVE_SECONDS, Record, fit
from serving.train.packing import pack
from serving.train.persona import mean_loss, speech_loss
from serving.train.tower import Tower, lora_config
from tests.train.conftest import tiny_llama


def speech(seed: int) -> Speech:
    generator = torch.Generator().manual_seed(seed)
    prompt = torch.randint(2, 252, (20,), generator=generator).tolist()
    answer = [10, 20, 30, 40, 1]
    packed = pack([[*prompt, *answer[:-1]]])
    return Speech(packed, packed.paths[0][19:], tuple(answer))


LESSONS = [speech(n) for n in range(6)]
HELD = [speech(99)]


class Stop(Exception):
    """Stands for ctrl-c in the middle of an epoch."""


def new(settings: PersonaSettings) -> Tower:
    model = tiny_llama()
    model.name_or_path = settings.base
    torch.manual_seed(settings.seed)
    return Tower(peft.get_peft_model(model, lora_config(settings, 3)), settings.first_layer)


def train(
    tower: Tower,
    settings: PersonaSettings,
    checkpoint: Path,
    *,
    stop_after: int = 0,
    resume: bool = True,
    identity: str = "one",
    lines: list[str] | None = None,
    save_seconds: float = SAVE_SECONDS,
) -> Record:
    calls = 0

    def loss(t: Tower, s: Speech) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if stop_after and calls > stop_after:
            raise Stop
        return speech_loss(t, s)

    def items(epoch: int) -> Sequence[Speech]:
        return LESSONS

    said = lines if lines is not None else []
    return fit(
        tower,
        settings,
        items,
        loss,
        lambda t: mean_loss(t, HELD),
        checkpoint=checkpoint,
        identity=identity,
        resume=resume,
        progress=said.append,
        save_seconds=save_seconds,
    )


def test_training_learns_and_touches_the_adapter_only(settings: PersonaSettings, tmp_path: Path) -> None:
    tower = new(settings)
    frozen = {k: v.clone() for k, v in tower.model.state_dict().items() if "lora_" not in k}
    lines: list[str] = []
    record = train(tower, settings, tmp_path / "last.pt", lines=lines)
    assert record.held_out[-1] < record.held_out[0]
    assert len(record.train) == settings.epochs
    assert mean_loss(tower, HELD) == pytest.approx(min(record.held_out))
    for key, value in tower.model.state_dict().items():
        if "lora_" not in key:
            assert torch.equal(value, frozen[key]), key
    assert any(line.endswith("0:00 left") for line in lines)


def test_an_interrupted_run_goes_on_where_it_was(settings: PersonaSettings, tmp_path: Path) -> None:
    settings = settings.model_copy(update={"dropout": 0.2, "threads": 1})
    whole = new(settings)
    expected = train(whole, settings, tmp_path / "whole.pt")
    with pytest.raises(Stop):
        train(new(settings), settings, tmp_path / "cut.pt", stop_after=9, save_seconds=0.0)
    lines: list[str] = []
    resumed = new(settings)
    record = train(resumed, settings, tmp_path / "cut.pt", lines=lines)
    assert lines[0].startswith("resuming in epoch 2, sequence 3")
    assert record.held_out == pytest.approx(expected.held_out, abs=1e-6)
    for key, value in resumed.state().items():
        torch.testing.assert_close(value, whole.state()[key])


def test_working_side_by_side_changes_nothing(settings: PersonaSettings, tmp_path: Path) -> None:
    towers = []
    for threads in (1, 3):
        these = settings.model_copy(update={"threads": threads, "batch": 3})
        towers.append(new(these))
        train(towers[-1], these, tmp_path / f"{threads}.pt")
    for key, value in towers[0].state().items():
        torch.testing.assert_close(towers[1].state()[key], value)


@pytest.mark.parametrize(("resume", "identity"), [(False, "one"), (True, "two")])
def test_a_fresh_or_different_run_ignores_the_checkpoint(
    settings: PersonaSettings, tmp_path: Path, resume: bool, identity: str
) -> None:
    train(new(settings), settings, tmp_path / "last.pt")
    lines: list[str] = []
    train(new(settings), settings, tmp_path / "last.pt", resume=resume, identity=identity, lines=lines)
    assert lines[0].startswith("before training")


def test_a_finished_run_is_not_repeated(settings: PersonaSettings, tmp_path: Path) -> None:
    first = train(new(settings), settings, tmp_path / "last.pt")
    again = train(new(settings), settings, tmp_path / "last.pt", stop_after=1)
    assert again.held_out == first.held_out
