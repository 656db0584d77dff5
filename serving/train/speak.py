"""Lets an adapter speak on held-out examples and checks every turn with the guard that runs live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from interviewer.core.guard import Context, check_turn, first_question, summary
from interviewer.core.persona import Persona
from interviewer.core.rubric import Rubric
from serving.train.data import Example, Spoken, render
from serving.train.tower import Tower

NEW_TOKENS = 70


@dataclass(frozen=True)
class Spoke:
    """What came of letting a model speak on several examples."""

    turns: tuple[str, ...]
    passed: int
    """Turns in which the guard found nothing."""
    problems: dict[str, int]


def speak(tower: Tower, tokenizer: Any, persona: Persona, rubric: Rubric, examples: Sequence[Example]) -> Spoke:
    """Generate one turn per example, greedily, in one batch.

    Args:
        tower: With the adapter to use, or inside :meth:`Tower.plain`.
        tokenizer: Of the base.
        persona: Who speaks.
        rubric: Round whose known facts must not be given away.
        examples: Held-out examples; no earlier turns are added.
    """
    spoken = [render(tokenizer, persona, e) for e in examples]
    turns = _generate(tower, tokenizer, spoken)
    found = [check_turn(turn, context(e, persona, rubric)) for e, turn in zip(examples, turns, strict=True)]
    return Spoke(tuple(turns), sum(not f for f in found), summary(found))


def context(example: Example, persona: Persona, rubric: Rubric) -> Context:
    """Return what the guard checks a turn on ``example`` against."""
    question = rubric.question(example.question_id)
    return Context(
        probe=example.probe,
        said=example.said,
        follow_up=example.kind == "follow_up",
        asked=(example.question,),
        giveaways=tuple(term for fact in question.facts for term in fact.terms) if question else (),
        max_words=persona.max_words,
    )


def _generate(tower: Tower, tokenizer: Any, spoken: Sequence[Spoken]) -> list[str]:
    width = max(len(s.prompt) for s in spoken)
    pad = tokenizer.eos_token_id
    device = tower.device
    ids = torch.tensor([[pad] * (width - len(s.prompt)) + list(s.prompt) for s in spoken], device=device)
    mask = torch.tensor([[0] * (width - len(s.prompt)) + [1] * len(s.prompt) for s in spoken], device=device)
    tower.model.eval()
    with torch.no_grad():
        out = tower.model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=NEW_TOKENS, do_sample=False, pad_token_id=pad
        )
    texts = tokenizer.batch_decode(out[:, width:], skip_special_tokens=True)
    return [first_question(text.strip()) for text in texts]
