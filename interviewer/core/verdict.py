"""The verdict of one round: an explicit rule over levels, flags, seniority and hints. Not an average.

The rule, in order (``design/0004-verdict.md`` gives the reasons):

1. Less than half of the must-ask weight assessed: no verdict, "not enough was heard".
2. The *profile* sets the step: the share of must-ask weight at the bar, and the weighted mean of expected levels.
3. A veto criterion that shows level 0 with confidence caps the step at no hire, two of them at strong no hire.
4. A serious flag that is raised caps the step at lean no hire.
5. A hint on any question rules out strong hire.
6. If moving the mean by its own uncertainty changes the step, the verdict is "too close to call" between the two.
"""

from __future__ import annotations

from enum import StrEnum
from math import sqrt

from interviewer.core.assessment import FlagReading, Frozen
from interviewer.core.coverage import Coverage, CriterionState
from interviewer.core.flags import RAISED, SERIOUS
from interviewer.core.rubric import Rubric, SeniorityLevel
from interviewer.core.text import capital, label

BAR = {"mid": 1.75, "senior": 2.15}
"""Expected level from which a criterion counts as met."""
SURE = 0.5
"""Probability of level 0 from which a veto criterion decides the round."""
ENOUGH = 0.5
"""Share of must-ask weight that has to be assessed before there is a verdict."""


class Step(StrEnum):
    """The committee's scale, best first."""

    STRONG_HIRE = "strong_hire"
    HIRE = "hire"
    LEAN_HIRE = "lean_hire"
    LEAN_NO_HIRE = "lean_no_hire"
    NO_HIRE = "no_hire"
    STRONG_NO_HIRE = "strong_no_hire"


ORDER = tuple(Step)


class Verdict(Frozen):
    """The decision of one round with all that led to it."""

    step: Step | None
    """``None`` when not enough was heard."""
    also_possible: Step | None = None
    """The neighbouring step when it is too close to call."""
    reasons: tuple[str, ...]
    would_change: tuple[str, ...]
    better_role: str | None = None
    """For a no: the role that would fit."""


def judge_round(
    rubric: Rubric, known: Coverage, flags: tuple[FlagReading, ...], level: SeniorityLevel, hints: int
) -> Verdict:
    """Apply the rule.

    Args:
        rubric: The round; its must-ask, veto and weights count.
        known: What each criterion has shown.
        flags: Flags read over the whole round.
        level: Seniority the candidate is judged at.
        hints: Hints given in the round.
    """
    assessed = [c for c in known.criteria if c.assessed]
    must = [c for c in known.criteria if c.must_ask]
    heard = _weight([c for c in must if c.assessed]) / _weight(must)
    if heard < ENOUGH:
        open_ = ", ".join(label(c.criterion) for c in must if not c.assessed)
        return Verdict(
            step=None,
            reasons=(f"Not enough was heard: {round(heard * 100)}% of what this round must bring out was assessed.",),
            would_change=(f"Answers that show {open_}.",),
        )
    bar = BAR[level]
    mean, error = _mean(assessed)
    met = _weight([c for c in must if (c.expected or 0) >= bar]) / _weight(must)
    top = any((c.level or 0) == 3 for c in assessed)
    step = _profile(mean, met, top and hints == 0, bar)
    reasons = [
        f"{_count(must, bar)} of {len(must)} must-ask criteria reach the {level} bar of {bar:.2f}; "
        f"weighted level {mean:.2f} (+-{error:.2f}) over {len(assessed)} assessed criteria."
    ]
    if hints:
        reasons.append(f"{hints} hint(s) were given: those answers prove less, and strong hire is ruled out.")
    cap, cap_reasons = _cap(rubric, known, flags)
    reasons += cap_reasons
    step = _later(step, cap)
    also = None
    for shifted in (mean - error, mean + error):
        other = _later(_profile(shifted, met, top and hints == 0, bar), cap)
        if other != step:
            also = _towards(step, other)
    if also:
        reasons.append(
            f"Too close to call between {label(step)} and {label(also)}: the reading's own spread covers both."
        )
    no = ORDER.index(step) >= ORDER.index(Step.LEAN_NO_HIRE)
    return Verdict(
        step=step,
        also_possible=also,
        reasons=tuple(reasons),
        would_change=_would_change(known, bar, cap_reasons),
        better_role=rubric.better_role if no else None,
    )


def _profile(mean: float, met: float, clean_top: bool, bar: float) -> Step:
    shift = bar - BAR["mid"]
    if met >= 0.99 and mean >= 2.35 + shift and clean_top:
        return Step.STRONG_HIRE
    if met >= 0.7 and mean >= 1.9 + shift:
        return Step.HIRE
    if met >= 0.45 and mean >= 1.6 + shift:
        return Step.LEAN_HIRE
    if mean >= 1.2 + shift:
        return Step.LEAN_NO_HIRE
    if mean >= 0.6 + shift / 2:
        return Step.NO_HIRE
    return Step.STRONG_NO_HIRE


def _cap(rubric: Rubric, known: Coverage, flags: tuple[FlagReading, ...]) -> tuple[Step, list[str]]:
    vetoes = [c for c in known.criteria if c.criterion in rubric.veto and (c.probabilities or (0.0,))[0] >= SURE]
    raised = [f for f in flags if f.flag in SERIOUS and f.probability >= RAISED]
    reasons = [
        f"{capital(label(c.criterion))} was asked for and not shown at all; in this round that decides." for c in vetoes
    ]
    reasons += [f"Raised: {label(f.flag)} (probability {f.probability:.2f})." for f in raised]
    if len(vetoes) > 1:
        return Step.STRONG_NO_HIRE, reasons
    if vetoes:
        return Step.NO_HIRE, reasons
    if raised:
        return Step.LEAN_NO_HIRE, reasons
    return Step.STRONG_HIRE, reasons


def _later(a: Step, b: Step) -> Step:
    return max(a, b, key=ORDER.index)


def _towards(step: Step, other: Step) -> Step:
    """Return the neighbour of ``step`` on the side of ``other``; a wide spread may reach past it."""
    return ORDER[ORDER.index(step) + (1 if ORDER.index(other) > ORDER.index(step) else -1)]


def _would_change(known: Coverage, bar: float, caps: list[str]) -> tuple[str, ...]:
    below = [(c.weight * (bar - c.expected), c) for c in known.criteria if c.expected is not None and c.expected < bar]
    below.sort(key=lambda pair: -pair[0])
    changes = [
        f"{capital(label(c.criterion))} shown at level {round(bar)} or above on another question." for _, c in below[:2]
    ]
    changes += [f"An answer on {label(c)}, which was not heard." for c in known.open_must_ask[:2]]
    if caps:
        changes.insert(0, "Evidence against what caps this verdict; better levels elsewhere do not lift it.")
    return tuple(changes or ["A clearly weaker answer on a must-ask criterion."])


def _mean(criteria: list[CriterionState]) -> tuple[float, float]:
    total = _weight(criteria)
    mean = sum(c.weight * (c.expected or 0) for c in criteria) / total
    error = sqrt(sum((c.weight * c.uncertainty) ** 2 for c in criteria)) / total
    return mean, error


def _weight(criteria: list[CriterionState]) -> float:
    return sum(c.weight for c in criteria)


def _count(criteria: list[CriterionState], bar: float) -> int:
    return sum((c.expected or 0) >= bar for c in criteria)
