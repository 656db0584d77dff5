"""Labelled answers: loading, the fixed split by question, and the prompts that the evaluator is trained on.

The text that is trained on goes through :func:`interviewer.core.reading.prepare`, as it does when an answer is scored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from interviewer.core.prompts import Count, judge_prefix, level_suffix
from interviewer.core.reading import Said, prepare, specs
from interviewer.core.rubric import Vocabulary
from interviewer.core.text import sentences
from serving.train import TrainError
from serving.train.packing import Packed, pack

Part: TypeAlias = Literal["train", "calibration", "test"]
FOLDS = 5
SHARES: Mapping[Part, float] = {"train": 0.70, "calibration": 0.12, "test": 0.18}


class Answer(BaseModel):
    """One line of ``eval/data/answers/*.jsonl``."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    question_id: str
    round: str
    question: str
    answer: str
    labels: Mapping[str, Literal[0, 1, 2, 3]]
    evidence: Mapping[str, str | None] = {}
    flags: tuple[str, ...] = ()
    kind: str = ""

    @property
    def sentences(self) -> list[str]:
        """The answer's sentences, in order."""
        return [span.of(self.answer) for span in sentences(self.answer)]


def load_answers(files: Iterable[Path]) -> list[Answer]:
    """Read labelled answers.

    Raises:
        TrainError: a line is not one, or an id is used twice; the message names file and line.
    """
    found: dict[str, Answer] = {}
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            try:
                answer = Answer.model_validate_json(line)
            except ValueError as error:
                raise TrainError(f"{file}:{number}: not a labelled answer: {error}") from error
            if answer.id in found:
                raise TrainError(f"{file}:{number}: id {answer.id!r} is used twice")
            found[answer.id] = answer
    return list(found.values())


def extend_split(known: Mapping[str, Part], questions: Mapping[str, str]) -> dict[str, Part]:
    """Assign each new question to a part; what was assigned before stays.

    Args:
        known: Parts of earlier questions.
        questions: Round of every question, by question id.

    Within a round new questions are taken in the order of their hashes, and each goes where the round lacks most.
    """
    split = dict(known)
    for round_ in sorted(set(questions.values())):
        mine = [q for q, r in questions.items() if r == round_]
        counts = {part: sum(split.get(q) == part for q in mine) for part in SHARES}
        for question in by_hash(q for q in mine if q not in split):
            size = sum(counts.values()) + 1
            part = max(SHARES, key=lambda p: SHARES[p] * size - counts[p])
            split[question] = part
            counts[part] += 1
    return dict(sorted(split.items()))


def by_hash(questions: Iterable[str]) -> list[str]:
    """Return distinct question ids in the order of their hashes, which depends on nothing but the ids."""
    return sorted(set(questions), key=lambda question: hashlib.sha256(question.encode()).hexdigest())


def folds(answers: Iterable[Answer]) -> list[set[str]]:
    """Return the questions that each of five folds leaves out."""
    order = by_hash(a.question_id for a in answers)
    return [set(order[fold::FOLDS]) for fold in range(FOLDS)]


def update_split(path: Path, answers: Sequence[Answer], *, write: bool = True) -> dict[str, Part]:
    """Read the split file, assign new questions and, unless told otherwise, write it back when it changed."""
    known: dict[str, Part] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    split = extend_split(known, {a.question_id: a.round for a in answers})
    if split != known and write:
        path.write_text(json.dumps(split, indent=1) + "\n", encoding="utf-8")
    return split


@dataclass(frozen=True)
class Item:
    """One answer as a packed sequence, with what is to be read after which node."""

    answer: Answer
    segments: tuple[str, ...]
    """The sentences that were left to read after screening."""
    packed: Packed
    criteria: tuple[str, ...]
    level_nodes: tuple[int, ...]
    """Where the level of each criterion is read."""
    levels: tuple[int, ...]


class Reader:
    """Turns answers into items."""

    def __init__(self, tokenizer: Any, vocabulary: Vocabulary, budget: int) -> None:
        """Keep what rendering needs; ``budget`` is the judge's window in tokens."""
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._budget = budget
        self.count: Count = lambda text: len(self._tokens(text))
        self.level_ids = tuple(self._one(str(level)) for level in range(4))

    def item(self, answer: Answer) -> Item | None:
        """Render the first window of one answer; ``None`` when screening leaves nothing: level 0 without any judge."""
        criteria = specs(self._vocabulary, tuple(answer.labels))
        prepared = prepare(answer.question, [Said(turn=0, text=answer.answer)], criteria, self._budget, self.count)
        if not prepared.windows:
            return None
        texts = [s.quote.text for s in prepared.windows[0].segments]
        prefix = judge_prefix(prepared.windows[0].question, texts)
        packed = pack([self._tokens(prefix + level_suffix(c.name, "")) for c in criteria])
        return Item(
            answer=answer,
            segments=tuple(texts),
            packed=packed,
            criteria=tuple(c.name for c in criteria),
            level_nodes=tuple(path[-1] for path in packed.paths),
            levels=tuple(answer.labels[c.name] for c in criteria),
        )

    def items(self, answers: Iterable[Answer]) -> list[Item]:
        """Render answers; those that screening leaves nothing of are left out."""
        return [item for a in answers if (item := self.item(a)) is not None]

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _one(self, text: str) -> int:
        tokens = self._tokens(text)
        if len(tokens) != 1:
            raise TrainError(f"the base's tokenizer writes {text!r} in {len(tokens)} tokens; the judge reads one")
        if self._tokens(f"level={text}") != [*self._tokens("level="), *tokens]:
            raise TrainError(f"the base's tokenizer joins {text!r} with what is before it; the judge reads it alone")
        return tokens[0]
