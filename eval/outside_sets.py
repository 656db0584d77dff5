"""Public answers that people scored, for the outside check: read from a folder, never part of the project."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from interviewer.core.text import content_words

SOURCES = {
    "saf_en.jsonl": "Short Answer Feedback, English, communication networks (SebOchs/SAF at 09949e9, MIT)",
    "digiklausur.jsonl": "DigiKlausur, an exam on neural networks (DigiKlausur/ASAG-Dataset at 1bfa98f, MPL-2.0)",
}
SHORT = 4
"""Answers of SAF with fewer words are reported apart: a tenth of the set, nearly all empty and scored 0."""
SHORT_PART = f"SAF, under {SHORT} words"
GIVEN: Mapping[str, Mapping[str, float]] = {
    "SAF, unseen questions": {
        "log length": 0.23,
        "recall of reference words": 0.33,
        "recall without question words": 0.42,
    },
    "DigiKlausur": {"log length": 0.54},
}
"""Spearman's rank correlations that came with the sets: what a judge that reads has to beat."""


class OutsideError(Exception):
    """The check cannot be made; the message says what to do."""


class Answer(NamedTuple):
    """One answer with what a person gave for it."""

    id: str
    part: str
    """Heading under which it is reported."""
    question: str
    text: str
    reference: str | None
    score: float
    level: int
    """The score as a level: 0 to 3 in SAF (0, below a half, below 1, 1), 0 to 2 in DigiKlausur, as it was given."""


def load(folder: Path) -> list[Answer]:
    """Return the answers of every set that is in ``folder``.

    Raises:
        OutsideError: there is none, or a line is not of the set's shape.
    """
    readers: dict[str, Callable[[dict[str, Any]], Answer]] = {"saf_en.jsonl": _saf, "digiklausur.jsonl": _digiklausur}
    found: list[Answer] = []
    for name, reader in readers.items():
        path = folder / name
        if not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found.append(reader(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise OutsideError(f"{path}:{number} is not a line of that set ({error!r})") from error
    if not found:
        raise OutsideError(f"{folder} has none of {', '.join(readers)}; name the folder that has with --data")
    return found


def _saf(row: dict[str, Any]) -> Answer:
    score = float(row["score"])
    short = len(row["answer"].split()) < SHORT
    part = SHORT_PART if short else f"SAF, {row['split'].replace('_', ' ')}"
    level = 0 if score <= 0 else 1 if score < 0.5 else 2 if score < 1 else 3
    return Answer(row["id"], part, row["question"], row["answer"], row["reference"], score, level)


def _digiklausur(row: dict[str, Any]) -> Answer:
    score = int(row["score"])
    return Answer(row["id"], "DigiKlausur", row["question"], row["answer"], None, score, score)


def as_scored(level: int, part: str) -> int:
    """Return a judge's level on the scale of a part: where people gave 0 to 2, both middle levels are theirs."""
    return (0, 1, 1, 2)[level] if part == "DigiKlausur" else level


def sample(answers: Sequence[Answer], limit: int | None, seed: int) -> list[Answer]:
    """Return ``limit`` answers, spread evenly over the questions; the same ones for the same seed."""
    if limit is None or limit >= len(answers):
        return list(answers)
    chance = random.Random(seed)
    by_question: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_question[answer.question].append(answer)
    piles = [chance.sample(pile, len(pile)) for pile in by_question.values()]
    chance.shuffle(piles)
    rounds = max(map(len, piles))
    return [pile[i] for i in range(rounds) for pile in piles if i < len(pile)][:limit]


FLOORS: Mapping[str, Callable[[Answer], float]] = {
    "log length": lambda a: log(1 + len(a.text.split())),
    "recall of reference words": lambda a: _recalled(a, set()),
    "recall without question words": lambda a: _recalled(a, content_words(a.question)),
}
"""Scores that no reading is needed for."""


def _recalled(answer: Answer, without: set[str]) -> float:
    wanted = content_words(answer.reference or "") - without
    return len(wanted & content_words(answer.text)) / len(wanted) if wanted else 0.0
