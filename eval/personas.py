"""Whether the five interviewers can be told apart: by their words, blind, and by the moves that they make.

A naive Bayes over words and pairs of words is trained on what the personas were written to say and guesses who says a
turn on a question that it never saw. Topics give rounds away, so the same is done on what is left when the words of the
probe, of the question and of the candidate are taken out: the manner alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import log
from pathlib import Path
from typing import Any

from eval.agreement import read_jsonl
from eval.candidates import Candidate
from eval.candidates.simulated import play
from eval.machine import describe, machine
from eval.policy import real_noise
from interviewer.adapters.documents import packaged
from interviewer.core.events import WORDED
from interviewer.core.library import Library
from interviewer.core.probe import decide
from interviewer.core.rubric import Move
from interviewer.core.text import words

FOLDS = 5
TOGETHER = 5
"""Turns of one persona on one question that are also judged together, as a listener would."""
TARGET = 0.85
"""Share of turns that have to be told apart."""


class Bayes:
    """Multinomial naive Bayes with add-half smoothing; equal priors, so a persona with more data is not preferred."""

    def __init__(self, rows: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Count ``rows``: who speaks, and the features of what they say."""
        self._counts: dict[str, Counter[str]] = {}
        for who, found in rows:
            self._counts.setdefault(who, Counter()).update(found)
        self._known = {feature for counts in self._counts.values() for feature in counts}
        self._totals = {who: counts.total() + 0.5 * len(self._known) for who, counts in self._counts.items()}

    def guess(self, found: Sequence[str]) -> str:
        """Return who most likely says it; features that were never seen say nothing."""
        known = [f for f in found if f in self._known]

        def score(who: str) -> float:
            return sum(log((self._counts[who][f] + 0.5) / self._totals[who]) for f in known)

        return max(sorted(self._counts), key=score)


def features(text: str, without: str = "") -> list[str]:
    """Return words, pairs of neighbours and the opening of a turn, leaving out words that ``without`` has."""
    drop = set(words(without))
    kept = [w if w not in drop else "_" for w in ["^", *words(text)]]
    singles = [w for w in kept if w not in ("_", "^")]
    return singles + [f"{a} {b}" for a, b in pairwise(kept) if "_" not in (a, b)]


def measure(
    candidates: Sequence[Candidate], library: Library, runs: Sequence[Mapping[str, Any]] = (), seeds: int = 2
) -> dict[str, Any]:
    """Tell personas apart by words, authored and generated, and compare their moves on the same candidates.

    Args:
        candidates: Interviewed by every persona in their rounds, offline, for the moves.
        library: The documents.
        runs: Rows of ``eval interviewer`` reports, whose generated follow-ups are classified as well.
        seeds: Per candidate and persona.

    Raises:
        OSError: the personas' data are not here; they are in a checkout only.
    """
    rows = _written()
    views = {
        "all words": ("utterance", False),
        "manner alone": ("utterance", True),
        "for comparison, the authored probe alone": ("probe", False),
    }
    return {
        "machine": machine(),
        "command": "interviewer eval personas" + (" --runs eval/reports/interviewer.json" if runs else ""),
        "turns": len(rows),
        "questions": len({row["question_id"] for row in rows}),
        "written": {name: _folds(rows, *view) for name, view in views.items()},
        "together": _folds(rows, "utterance", manner=False, together=TOGETHER),
        "generated": _asked(rows, runs, WORDED),
        "asked": _asked(rows, runs),
        "moves": (moves := _moves(candidates, library, seeds)),
        "least_distance": round(min(distance(a, b) for a, b in combinations(moves.values(), 2)), 3),
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    lines = [
        "# Five interviewers, told apart",
        "",
        describe(found["machine"]),
        "",
        f"Command: `{found['command']}`",
        "",
        f"Naive Bayes over words and pairs of words, {found['turns']} written turns on {found['questions']} questions; "
        f"{FOLDS} folds, no question in both training and test. Target: {TARGET:.0%} of turns.",
        "",
        "| view | turns | right |",
        "|---|---|---|",
        *(f"| written, {name} | {one['turns']} | {one['accuracy']:.1%} |" for name, one in found["written"].items()),
    ]
    together = found["together"]
    lines.append(
        f"| written, all words, {TOGETHER} turns together | {together['turns']} | {together['accuracy']:.1%} |"
    )
    generated = found["generated"]
    if generated["turns"]:
        lines.append(f"| follow-ups that the adapters worded | {generated['turns']} | {generated['accuracy']:.1%} |")
        lines.append(f"| every turn of these sessions | {found['asked']['turns']} | {found['asked']['accuracy']:.1%} |")
    lines += ["", "Who is taken for whom (rows: who spoke), all words:", "", *_confusion(found["written"]["all words"])]
    if generated["turns"]:
        lines += ["", "The same for follow-ups that the adapters worded:", "", *_confusion(generated)]
    moves = [str(move) for move in Move]
    lines += [
        "",
        "Moves of each persona, interviewing the same simulated candidates in the same rounds (share of follow-ups); "
        f"least total variation distance between two of them {found['least_distance']}:",
        "",
        f"| persona | {' | '.join(moves)} |",
        "|---" * (len(moves) + 1) + "|",
        *(
            f"| {who} | {' | '.join(f'{shares.get(move, 0.0):.2f}' for move in moves)} |"
            for who, shares in found["moves"].items()
        ),
    ]
    return "\n".join(lines) + "\n"


def distance(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Return the total variation distance of two distributions, 0 (the same) to 1."""
    return sum(abs(a.get(key, 0.0) - b.get(key, 0.0)) for key in {*a, *b}) / 2


def read_runs(path: Path) -> list[dict[str, Any]]:
    """Return the sessions of an ``eval interviewer`` report (its JSON).

    Raises:
        ValueError: it is no such report.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise ValueError(f"{path} is not a report of `interviewer eval interviewer`")
    rows: list[dict[str, Any]] = data["rows"]
    return rows


def _written() -> list[dict[str, Any]]:
    paths = sorted(packaged("personas").glob("*/data/*.jsonl"))
    if not paths:
        raise OSError("the personas' data are in a checkout, not in an installed package")
    return [{"persona": path.parent.parent.name, **row} for path in paths for row in read_jsonl(path)]


def _fold_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Deal the questions of each persona to the folds in turn."""
    found: dict[str, int] = {}
    for who in sorted({row["persona"] for row in rows}):
        ids = sorted({row["question_id"] for row in rows if row["persona"] == who})
        found |= {question: at % FOLDS for at, question in enumerate(ids)}
    return found


def _folds(rows: Sequence[Mapping[str, Any]], field: str, manner: bool, together: int = 1) -> dict[str, Any]:
    fold_of = _fold_of(rows)
    pairs = []
    for fold in range(FOLDS):
        model = Bayes([(r["persona"], _of(r, field, manner)) for r in rows if fold_of[r["question_id"]] != fold])
        for question in sorted(q for q, at in fold_of.items() if at == fold):
            test = [r for r in rows if r["question_id"] == question]
            for some in (test[at : at + together] for at in range(0, len(test), together)):
                found = [feature for r in some for feature in _of(r, field, manner)]
                pairs.append((some[0]["persona"], model.guess(found)))
    return _score(pairs)


def _of(row: Mapping[str, Any], field: str, manner: bool) -> list[str]:
    return features(row[field], f"{row['probe']} {row['question']} {row['said']}" if manner else "")


def _asked(
    rows: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]], only: frozenset[str] | None = None
) -> dict[str, Any]:
    """Tell apart what was asked in sessions, knowing what else was written and asked, on other questions only.

    Turns are taken as the candidate saw them; those of :data:`WORDED` only, or all with the rubric's own wordings.
    """
    fold_of = _fold_of(rows)
    said = [(run["persona"], q) for run in runs for q in run["questions"] if only is None or q["source"] in only]
    pairs = []
    for fold in sorted({fold_of.get(q["question_id"], -1) for _, q in said}):
        seen = [(r["persona"], r["utterance"]) for r in rows if fold_of[r["question_id"]] != fold]
        seen += [(who, q["text"]) for who, q in said if fold_of.get(q["question_id"], -1) != fold]
        model = Bayes([(who, features(text)) for who, text in seen])
        test = [(who, q["text"]) for who, q in said if fold_of.get(q["question_id"], -1) == fold]
        pairs += [(who, model.guess(features(text))) for who, text in test]
    return _score(pairs)


def _score(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    people = sorted({who for pair in pairs for who in pair})
    counts = Counter(pairs)
    return {
        "turns": len(pairs),
        "accuracy": round(sum(a == b for a, b in pairs) / len(pairs), 4) if pairs else None,
        "confusion": {who: {other: counts[who, other] for other in people} for who in people},
    }


def _confusion(found: Mapping[str, Any]) -> Iterator[str]:
    people = list(found["confusion"])
    yield f"| | {' | '.join(people)} |"
    yield "|---" * (len(people) + 1) + "|"
    for who, row in found["confusion"].items():
        yield f"| {who} | {' | '.join(str(row[other]) for other in people)} |"


def _moves(candidates: Sequence[Candidate], library: Library, seeds: int) -> dict[str, dict[str, float]]:
    noise = real_noise()
    shares: dict[str, dict[str, float]] = {}
    for persona in library.personas.values():
        counts: Counter[str] = Counter()
        for candidate in candidates:
            for round_ in candidate.rounds:
                rubric = library.rubrics[round_]
                for seed in range(seeds):
                    played = play(candidate, rubric, persona, decide, noise, seed=seed, minutes=rubric.minutes)
                    counts.update(str(ask.move) for ask in played.asked if ask.move)
        shares[persona.id] = {move: round(n / counts.total(), 3) for move, n in sorted(counts.items())}
    return shares
