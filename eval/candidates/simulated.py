"""Sessions without a service: a policy asks, a scripted judge reads the candidate's true levels with an error.

The error is normal on the level and as wide as gives a wanted agreement. Each answer on a criterion is one more look at
the same true level. Errors of two looks are independent here; a real judge's are not quite, so what a second look gains
is an upper bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import exp
from typing import TypeAlias

from eval.candidates import Candidate
from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, CriterionAssessment, Probabilities, normalise
from interviewer.core.coverage import coverage
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask, Close, Decision
from interviewer.core.rubric import Rubric
from interviewer.core.session import SessionState, evolve
from interviewer.core.verdict import ORDER, Step, judge_round

MINUTES_PER_TURN = 2.0
"""A question with its answer, as people talk."""
MOST_TURNS = 90
_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_VERSIONS = ev.Versions(rubric="-", persona="-", prompt="-", model="-", adapter=None, judge="scripted")

Policy: TypeAlias = Callable[[SessionState, Rubric, Persona, float], Decision]


class Noise:
    """How a judge errs: the level it reads for each true level, and what it then believes."""

    def __init__(self, kappa: float, marginals: Sequence[float]) -> None:
        """Find the width of the error at which agreement is ``kappa``, in (0, 1), when levels have ``marginals``."""
        self.marginals = tuple(marginals)
        low, high = 0.05, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._kappa(_rows(middle)) > kappa else (low, middle)
        self.width = low
        self.rows = _rows(low)
        """``rows[true][read]``, each summing to 1."""

    def read(self, true: int, coin: float) -> int:
        """Return the level that is read for ``true`` when a fair draw in [0, 1) gives ``coin``."""
        total = 0.0
        for level, p in enumerate(self.rows[true]):
            total += p
            if coin < total:
                return level
        return 3

    def belief(self, looks: Sequence[int]) -> Probabilities:
        """Return the distribution of the true level after several looks (Bayes, from the marginals)."""
        weights = list(self.marginals)
        for look in looks:
            weights = [w * self.rows[true][look] for true, w in enumerate(weights)]
        return normalise(tuple(weights))

    def recall(self, levels: Sequence[int]) -> float:
        """Return how often one of ``levels`` is read as one of them."""
        share = sum(self.marginals[true] for true in levels)
        return sum(self.marginals[true] * sum(self.rows[true][read] for read in levels) for true in levels) / share

    def _kappa(self, rows: Sequence[Sequence[float]]) -> float:
        read = [sum(self.marginals[true] * rows[true][r] for true in range(4)) for r in range(4)]
        seen = sum(self.marginals[t] * rows[t][r] * (t - r) ** 2 for t in range(4) for r in range(4))
        chance = sum(self.marginals[t] * read[r] * (t - r) ** 2 for t in range(4) for r in range(4))
        return 1 - seen / chance


def _rows(width: float) -> list[list[float]]:
    rows = [[exp(-((read - true) ** 2) / (2 * width**2)) for read in range(4)] for true in range(4)]
    return [[p / sum(row) for p in row] for row in rows]


@dataclass(frozen=True)
class Reach:
    """How soon an interviewer came to the candidate's weakest point."""

    questions: tuple[int | None, ...]
    """Per main question: number of the first follow-up on its weakest target; ``None`` when there was none.
    Questions at which the candidate has no weakness are left out."""
    candidate: int | None
    """The same for the candidate's weakest criterion, over all questions that can bring it out, best one."""
    turn: int | None
    """Number of the session's turn that aimed at that criterion first."""


def reach(candidate: Candidate, rubric: Rubric, asked: Sequence[tuple[str, str | None]]) -> Reach:
    """Measure ``asked``, the questions and the criteria of the follow-ups in order."""
    questions: list[int | None] = []
    best: int | None = None
    for question in rubric.questions:
        aimed = [criterion for question_id, criterion in asked if question_id == question.id and criterion]
        if not any(question_id == question.id for question_id, _ in asked):
            continue
        weakest = candidate.weakest_of(question)
        if min(candidate.levels[name] for name in weakest) < 3:
            questions.append(next((n for n, criterion in enumerate(aimed, 1) if criterion in weakest), None))
        if candidate.weakest in aimed:
            best = min(aimed.index(candidate.weakest) + 1, best or MOST_TURNS)
    turn = next((n for n, (_, criterion) in enumerate(asked, 1) if criterion == candidate.weakest), None)
    return Reach(tuple(questions), best, turn)


@dataclass(frozen=True)
class Played:
    """One simulated session."""

    asked: tuple[Ask, ...]
    reach: Reach
    heard: float
    """Share of the must-ask criteria that were assessed."""
    probed: float
    """Share of the must-ask criteria at which a follow-up was aimed."""
    step: Step | None

    def off(self, expected: Step) -> int | None:
        """Return how many steps the verdict is from ``expected``; ``None`` without a verdict."""
        return None if self.step is None else abs(ORDER.index(self.step) - ORDER.index(expected))


def play(
    candidate: Candidate,
    rubric: Rubric,
    persona: Persona,
    policy: Policy,
    noise: Noise,
    *,
    seed: int,
    minutes: int,
    turns: int = MOST_TURNS,
) -> Played:
    """Hold one session of at most ``turns`` questions, in which the judge reads the true levels with ``noise``."""
    started = ev.SessionStarted(
        persona=persona.id,
        rubric=rubric.id,
        level=candidate.level,
        mode="practice",
        minutes=minutes,
        seed=seed,
        versions=_VERSIONS,
    )
    state = evolve(None, _recorded(1, started))
    looks: dict[tuple[str, str], list[int]] = {}
    asked: list[Ask] = []
    while len(asked) < turns:
        elapsed = round(len(asked) * MINUTES_PER_TURN / minutes, 4)
        decision = policy(state, rubric, persona, elapsed)
        if isinstance(decision, Close):
            break
        asked.append(decision)
        question = rubric.question(decision.question_id)
        assert question is not None
        for target in question.targets:
            if decision.criterion in (None, target.criterion):
                seen = looks.setdefault((question.id, target.criterion), [])
                draw = _coin(seed, candidate.id, question.id, target.criterion, str(len(seen)))
                seen.append(noise.read(candidate.levels[target.criterion], draw))
        found = tuple(_reading(t.criterion, noise.belief(looks[question.id, t.criterion])) for t in question.targets)
        for event in _turn(len(asked), decision, elapsed, Assessment(criteria=found, judge="scripted")):
            state = evolve(state, _recorded(state.seq + 1, event))
    known = coverage(state, rubric)
    must = [c for c in known.criteria if c.must_ask]
    return Played(
        asked=tuple(asked),
        reach=reach(candidate, rubric, [(a.question_id, a.criterion) for a in asked]),
        heard=sum(c.assessed for c in must) / len(must),
        probed=sum(c.probed > 0 for c in must) / len(must),
        step=judge_round(rubric, known, (), candidate.level, 0).step,
    )


def _reading(criterion: str, p: Probabilities) -> CriterionAssessment:
    level = max(range(4), key=p.__getitem__)
    return CriterionAssessment(criterion=criterion, probabilities=p, level=level, confidence=min(1.0, p[level]))


def _turn(number: int, chosen: Ask, elapsed: float, assessment: Assessment) -> Iterator[ev.Event]:
    yield ev.ProbeChosen(turn=number, elapsed=elapsed, **chosen.model_dump())
    yield ev.QuestionAsked(turn=number, text=chosen.probe, source="authored", persona="-")
    yield ev.AnswerGiven(turn=number, msg_id=f"m{number}", text="An answer.")
    yield ev.AnswerAssessed(turn=number, assessment=assessment)


def _recorded(seq: int, event: ev.Event) -> ev.Recorded:
    return ev.Recorded(session_id="simulated", seq=seq, at=_START + timedelta(seconds=seq), event=event)


def _coin(*parts: object) -> float:
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
