"""Persona examples: loading, the split by question, the earlier turns that some carry, and the tokens that count.

The prompt is rendered by the code that renders it live (:func:`interviewer.core.prompts.persona_messages`); the loss is
on what the persona says and on the token that ends its turn, and on nothing else.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from interviewer.core.persona import Persona
from interviewer.core.prompts import TurnRequest, persona_messages
from interviewer.core.rubric import Move, Rubric, SeniorityLevel
from interviewer.core.text import clip_words
from serving.train import TrainError
from serving.train.answers import by_hash
from serving.train.packing import Packed, pack

HELD_OUT = 0.15
"""Share of the questions that no training example is about."""
MARK = "Said."


class Example(BaseModel):
    """One line of ``personas/<id>/data/examples.jsonl``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: Literal["follow_up", "transition"]
    question_id: str
    question: str
    level: SeniorityLevel
    said: str
    criterion: str
    move: Move | Literal[""]
    probe: str
    utterance: str = Field(min_length=3)

    def request(self, earlier: Sequence[str] = ()) -> TurnRequest:
        """Return what the prompt is rendered from."""
        return TurnRequest(
            level=self.level,
            question=self.question,
            said=self.said,
            probe=self.probe,
            move=Move(self.move) if self.kind == "follow_up" else None,
            earlier=tuple(earlier),
        )


def load_examples(files: Iterable[Path]) -> list[Example]:
    """Read examples.

    Raises:
        TrainError: a line is not an example; the message names file and line.
    """
    found = []
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found.append(Example.model_validate_json(line))
            except ValueError as error:
                raise TrainError(f"{file}:{number}: not an example: {error}") from error
    return found


def held_out_questions(question_ids: Iterable[str]) -> frozenset[str]:
    """Choose the questions that are kept apart: the first in the order of their hashes.

    The choice depends on the ids alone, not on their order or on any seed. At least one is kept apart.
    """
    ordered = by_hash(question_ids)
    return frozenset(ordered[: max(1, round(HELD_OUT * len(ordered)))])


def earlier_lines(example: Example, others: Sequence[Example], rubric: Rubric, share: float, seed: int) -> list[str]:
    """Invent what was said before ``example``, in the shape of :func:`interviewer.core.prompts.history`.

    Args:
        example: The turn to come.
        others: Examples of the same question, from the same side of the split.
        rubric: Round that names topics and criteria.
        share: Share of the examples that get any line.
        seed: Together with the example's id it decides everything.
    """
    chance = random.Random(f"{seed}:{example.id}")
    before = [o for o in others if o.id != example.id and o.kind == "follow_up"]
    if len(before) < 2 or chance.random() >= share:
        return []
    first, second = chance.sample(before, 2)
    lines = [_short(first.question, first.said), _short(first.utterance, second.said)][: chance.choice((1, 2, 2))]
    if chance.random() < 0.5:
        topics = [q.topic for q in rubric.questions if q.id != example.question_id]
        covered = chance.sample(topics, min(len(topics), chance.randint(1, 3)))
        open_ = chance.sample(rubric.must_ask, chance.randint(0, min(2, len(rubric.must_ask))))
        still = ", ".join(c.replace("_", " ") for c in open_) or "nothing"
        lines.insert(0, f"covered {', '.join(covered)}; still open: {still}.")
    return lines


def _short(asked: str, answered: str) -> str:
    return f"you asked: {clip_words(asked, 24)} They said: {clip_words(answered, 30)}"


@dataclass(frozen=True)
class Spoken:
    """One example as tokens."""

    example: Example
    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    """What the persona says, with the token that ends its turn."""


def render(
    tokenizer: Any, persona: Persona, example: Example, earlier: Sequence[str] = (), *, bare: bool = False
) -> Spoken:
    """Turn an example into tokens with the base's own chat template.

    Args:
        tokenizer: Of the base.
        persona: Who speaks.
        example: The turn.
        earlier: Lines of older context.
        bare: Leave the persona's system message out; the template then puts its own there.
    """
    messages: list[Any] = list(persona_messages(persona, example.request(earlier)))
    text = templated(tokenizer, messages[1:] if bare else messages)
    prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
    answer = tokenizer(example.utterance, add_special_tokens=False)["input_ids"]
    return Spoken(example, tuple(prompt), (*answer, end_of_turn(tokenizer)))


def templated(tokenizer: Any, messages: list[Any], *, prompt: bool = True) -> str:
    """Write messages in the base's chat template; ``prompt``: up to where the model speaks.

    Raises:
        TrainError: the template refuses them.
    """
    try:
        # Templates that know no such switch ignore it; the engine is started with the same.
        text: str = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=prompt, enable_thinking=False
        )
    except Exception as error:  # jinja's own errors, and whatever a template raises itself
        raise TrainError(f"the base's chat template refuses the persona's messages: {error}") from error
    return text


@lru_cache(maxsize=8)
def end_of_turn(tokenizer: Any) -> int:
    """Return the token with which the base's chat template ends what the model said.

    Raises:
        TrainError: the template ends it with nothing.
    """
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": MARK}]
    _, found, after = templated(tokenizer, said, prompt=False).rpartition(MARK)
    tokens = tokenizer(after, add_special_tokens=False)["input_ids"] if found else []
    if not tokens:
        raise TrainError("the base's chat template puts nothing after what the model said, so it would never stop")
    return int(tokens[0])


@dataclass(frozen=True)
class Speech:
    """Examples in one packed sequence, with what is to be predicted."""

    packed: Packed
    nodes: tuple[int, ...]
    """Nodes after which a token counts."""
    tokens: tuple[int, ...]
    """The token that follows each of them."""


def speeches(spoken: Sequence[Spoken], group: int, max_len: int) -> Iterator[Speech]:
    """Pack examples, those of one level and question side by side, at most ``group`` in a sequence.

    Raises:
        TrainError: one example alone is longer than ``max_len``.
    """
    waiting: list[Spoken] = []
    for one in sorted(spoken, key=lambda s: (s.example.level, s.example.question_id, s.example.id)):
        whole = [(*s.prompt, *s.answer[:-1]) for s in (*waiting, one)]
        if len(pack(whole[-1:])) > max_len:
            raise TrainError(f"example {one.example.id} has more than {max_len} tokens; raise max_len")
        if waiting and (len(waiting) == group or len(pack(whole)) > max_len):
            yield _speech(waiting)
            waiting = []
        waiting.append(one)
    if waiting:
        yield _speech(waiting)


def _speech(spoken: Sequence[Spoken]) -> Speech:
    packed = pack([(*s.prompt, *s.answer[:-1]) for s in spoken])
    nodes = [node for s, path in zip(spoken, packed.paths, strict=True) for node in path[len(s.prompt) - 1 :]]
    return Speech(packed, tuple(nodes), tuple(token for s in spoken for token in s.answer))


def sha256(files: Iterable[Path]) -> str:
    """Return one hash over the contents of ``files``, in order."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def identity(*parts: object) -> str:
    """Return a short hash of JSON-able values; names what a checkpoint belongs to."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
