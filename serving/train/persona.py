"""Trains the adapter that makes the base speak as one persona."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from interviewer.adapters.documents import load_library
from interviewer.core.library import Library
from interviewer.core.persona import Persona
from interviewer.core.rubric import Rubric
from serving.train import PROJECT, TrainError
from serving.train.base import choose
from serving.train.config import PLACE, PersonaSettings, data_files, load_settings
from serving.train.data import (
    Example,
    Speech,
    earlier_lines,
    held_out_questions,
    identity,
    load_examples,
    render,
    sha256,
    speeches,
)
from serving.train.loop import fit
from serving.train.output import command, persona_card, versions, write_result
from serving.train.tower import Tower, load_tokenizer, lora_config, new_tower, save_adapter

GROUP_CHECK = 8
"""Held-out examples in one packed sequence; has no influence on the result."""


def speech_loss(tower: Tower, speech: Speech) -> torch.Tensor:
    """Return the mean cross-entropy over the tokens that count."""
    hidden = tower.hidden(speech.packed)
    return cross_entropy(tower.logits(hidden, speech.nodes), torch.tensor(speech.tokens, device=tower.device))


def mean_loss(tower: Tower, held_out: Sequence[Speech]) -> float:
    """Return the mean loss per token over several sequences, in nats; no gradients."""
    tower.model.eval()
    with torch.no_grad():
        total = sum(float(speech_loss(tower, s)) * len(s.tokens) for s in held_out)
    return total / sum(len(s.tokens) for s in held_out)


class Material:
    """A persona's examples as tokens, split by question."""

    def __init__(
        self,
        tokenizer: object,
        persona: Persona,
        rubric: Rubric,
        examples: Sequence[Example],
        settings: PersonaSettings,
    ) -> None:
        """Split and render ``examples``."""
        self.held_questions = held_out_questions(e.question_id for e in examples)
        self.train_examples = [e for e in examples if e.question_id not in self.held_questions]
        self.held_examples = [e for e in examples if e.question_id in self.held_questions]

        def turned(side: list[Example], group: int, *, bare: bool = False) -> list[Speech]:
            spoken = []
            for example in side:
                same = [o for o in side if o.question_id == example.question_id]
                earlier = earlier_lines(example, same, rubric, settings.history, settings.seed)
                spoken.append(render(tokenizer, persona, example, earlier, bare=bare))
            return list(speeches(spoken, group, settings.max_len))

        self.train = turned(self.train_examples, settings.group)
        self.held = turned(self.held_examples, GROUP_CHECK)
        self.held_bare = turned(self.held_examples, GROUP_CHECK, bare=True)


def material(name: str, tokenizer: object, settings: PersonaSettings) -> Material:
    """Load a persona's documents and examples."""
    persona = library().personas[name]
    rubric = library().rubrics[persona.rubric]
    return Material(tokenizer, persona, rubric, load_examples(data_files(settings)), settings)


@cache
def library() -> Library:
    """Return the project's documents, read once."""
    return load_library(PROJECT / "rubrics", PROJECT / "personas")


def train_persona(
    name: str,
    *,
    base: Path,
    out: Path,
    resume: bool,
    progress: Callable[[str], None],
    overrides: dict[str, str],
) -> Path:
    """Train and write one persona's folder; see :func:`serving.train.run`."""
    settings = load_settings(PROJECT / "personas" / name / "lora.yaml", PersonaSettings, overrides)
    torch.set_num_threads(1)
    files = data_files(settings)
    chosen, settings = choose(base, settings, overrides)
    data = material(name, load_tokenizer(base), settings)
    if not data.train:
        raise TrainError(f"{name}: no training examples are left after the split by question")
    tower = new_tower(base, settings, chosen.dtype, chosen.device)
    tower.model.eval()
    with tower.plain():
        bare = mean_loss(tower, data.held_bare)
        prompted = mean_loss(tower, data.held)
    progress(f"held-out loss: base {bare:.4f}, base with the persona's prompt {prompted:.4f}")
    record = fit(
        tower,
        settings,
        lambda epoch: data.train,
        speech_loss,
        lambda t: mean_loss(t, data.held),
        checkpoint=Path("checkpoints") / chosen.slot(name) / "last.pt",
        identity=identity(settings.model_dump(exclude=set(PLACE)), sha256(files), *chosen.identity()),
        resume=resume,
        progress=progress,
    )
    save_adapter(tower.state(), lora_config(settings, layers(tower)), out / "adapter", settings.base)
    result = {
        "name": name,
        "base": chosen.about(),
        "data": {
            "sha256": sha256(files),
            "examples": {"train": len(data.train_examples), "held_out": len(data.held_examples)},
            "held_out_questions": sorted(data.held_questions),
        },
        "loss": {
            "unit": "nats per token of the utterance, on questions that were not trained on",
            "base": round(bare, 4),
            "base_with_prompt": round(prompted, 4),
            "adapter": round(min(record.held_out), 4),
            "adapter_each_epoch": [round(x, 4) for x in record.held_out[1:]],
            "train_each_epoch": [round(x, 4) for x in record.train],
            "best_epoch": record.best_epoch,
        },
        "settings": settings.model_dump(mode="json", exclude=set(PLACE - {"threads"})),
        "versions": versions(),
        "seconds": round(record.seconds),
        "command": command(name, overrides, chosen.entry),
    }
    write_result(out, result)
    (out / "README.md").write_text(persona_card(result), encoding="utf-8")
    progress(f"{name}: held-out loss {prompted:.4f} with the prompt alone, {min(record.held_out):.4f} with the adapter")
    return out


def layers(tower: Tower) -> int:
    """Return how many layers the base has."""
    return int(tower.model.config.num_hidden_layers)
