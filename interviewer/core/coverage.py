"""The rubric state: what each criterion has shown so far, folded from a session.

Invariant: a criterion without a reading has no level. The latest reading of a question replaces its earlier ones,
because each reading covers all that was said on that question; readings of different questions are combined.
"""

from __future__ import annotations

from collections.abc import Iterable

from interviewer.core.assessment import (
    Assessment,
    CriterionAssessment,
    Frozen,
    Probabilities,
    cap,
    expected_level,
    normalise,
    spread,
)
from interviewer.core.rubric import Rubric
from interviewer.core.session import SessionState

BEST_SHARE = 0.7
"""Weight of the best reading when a criterion was read on several questions."""


class Reading(Frozen):
    """One criterion as read from everything said on one question, after the price of hints."""

    turn: int
    question_id: str
    assessment: CriterionAssessment
    hints: int = 0


class CriterionState(Frozen):
    """What is known about one criterion of the round."""

    criterion: str
    weight: float
    must_ask: bool
    probed: int = 0
    """Follow-ups aimed at it, over the whole session."""
    readings: tuple[Reading, ...] = ()

    @property
    def assessed(self) -> bool:
        """Whether any answer was read on it."""
        return bool(self.readings)

    @property
    def best(self) -> Reading | None:
        """The reading with the highest expected level."""
        return max(self.readings, key=lambda r: (r.assessment.expected, -r.turn), default=None)

    @property
    def probabilities(self) -> Probabilities | None:
        """The best reading, mixed with the mean of the others; ``None`` when not assessed."""
        best = self.best
        if best is None:
            return None
        others = [r.assessment.probabilities for r in self.readings if r is not best]
        if not others:
            return best.assessment.probabilities
        share = (1 - BEST_SHARE) / len(others)
        top = best.assessment.probabilities
        return normalise(tuple(BEST_SHARE * top[i] + share * sum(p[i] for p in others) for i in range(4)))

    @property
    def level(self) -> int | None:
        """The best level shown, less one where another answer falls two levels or more below it."""
        best = self.best
        if best is None:
            return None
        top = best.assessment.level
        lowest = min(r.assessment.level for r in self.readings)
        return top - 1 if top - lowest >= 2 else top

    @property
    def expected(self) -> float | None:
        """Mean level, in [0, 3]; ``None`` when not assessed."""
        p = self.probabilities
        return None if p is None else expected_level(p)

    @property
    def uncertainty(self) -> float:
        """Standard deviation of the level; 1.5, the most there can be, when not assessed."""
        p = self.probabilities
        return 1.5 if p is None else spread(p)

    @property
    def confidence(self) -> float | None:
        """Probability of the reported level; ``None`` when not assessed."""
        p, level = self.probabilities, self.level
        return None if p is None or level is None else p[level]


class Coverage(Frozen):
    """All criteria of the round."""

    criteria: tuple[CriterionState, ...]

    def of(self, criterion: str) -> CriterionState | None:
        """Return the state of one criterion, or ``None`` when the round does not judge it."""
        return next((c for c in self.criteria if c.criterion == criterion), None)

    @property
    def open_must_ask(self) -> tuple[str, ...]:
        """Criteria that the round has to bring out and has not."""
        return tuple(c.criterion for c in self.criteria if c.must_ask and not c.assessed)


def capped(found: CriterionAssessment, rungs: int) -> CriterionAssessment:
    """Return ``found`` with no level above ``3 - rungs``: what a hint gave away proves nothing."""
    if rungs == 0:
        return found
    p = cap(found.probabilities, 3 - rungs)
    level = min(found.level, 3 - rungs)
    return found.model_copy(update={"probabilities": p, "level": level, "confidence": p[level]})


def coverage(state: SessionState, rubric: Rubric) -> Coverage:
    """Fold the rubric state out of a session; O(turns x criteria)."""
    latest: dict[str, dict[str, Reading]] = {criterion: {} for criterion in rubric.weights}
    probed = dict.fromkeys(rubric.weights, 0)
    void = state.superseded
    for turn in state.turns:
        key = turn.question_id or f"turn-{turn.number}"
        if turn.probe and turn.probe.criterion in probed:
            probed[turn.probe.criterion] += 1
        if not isinstance(turn.result, Assessment) or turn.number in void:
            continue
        rungs = state.rungs_used(key)
        for found in turn.result.criteria:
            if found.criterion in latest:
                latest[found.criterion][key] = Reading(
                    turn=turn.number, question_id=key, assessment=capped(found, state.price(key)), hints=rungs
                )
    return Coverage(
        criteria=tuple(
            CriterionState(
                criterion=criterion,
                weight=weight,
                must_ask=criterion in rubric.must_ask,
                probed=probed[criterion],
                readings=_ordered(latest[criterion].values()),
            )
            for criterion, weight in rubric.weights.items()
        )
    )


def _ordered(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    return tuple(sorted(readings, key=lambda r: r.turn))
