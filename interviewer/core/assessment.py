"""What an answer was found to show: a distribution over levels per criterion, evidence, flags; or why it was not read.

Invariant: "unscored" is a value of its own and never a number. A criterion that nobody asked about has no
:class:`CriterionAssessment` at all.
"""

from __future__ import annotations

from enum import StrEnum
from math import sqrt
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from interviewer.core.text import Quote

Probabilities: TypeAlias = tuple[float, float, float, float]
"""P(level = 0), ..., P(level = 3); sums to 1."""


class Frozen(BaseModel):
    """Base of immutable values that are stored and sent."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def normalise(weights: tuple[float, ...]) -> Probabilities:
    """Scale four non-negative weights to sum to 1.

    Raises:
        ValueError: not four weights, one is negative or not a number, or all are zero.
    """
    total = sum(weights)
    if len(weights) != 4 or not all(w >= 0 for w in weights) or not 0 < total < float("inf"):
        raise ValueError(f"cannot make a distribution over four levels from {weights}")
    a, b, c, d = (w / total for w in weights)
    return (a, b, c, d)


def expected_level(p: Probabilities) -> float:
    """Return the mean level of a distribution, in [0, 3]."""
    return p[1] + 2 * p[2] + 3 * p[3]


def spread(p: Probabilities) -> float:
    """Return the standard deviation of the level, in [0, 1.5]."""
    mean = expected_level(p)
    return sqrt(max(0.0, sum(q * (level - mean) ** 2 for level, q in enumerate(p))))


def cap(p: Probabilities, highest: int) -> Probabilities:
    """Move the probability above level ``highest`` down to it; what a hint takes away from an answer."""
    kept = list(p[: highest + 1])
    kept[-1] += sum(p[highest + 1 :])
    return normalise((*kept, *([0.0] * (3 - highest))))


class CriterionAssessment(Frozen):
    """One criterion, as read from one answer."""

    criterion: str
    probabilities: Probabilities
    level: Annotated[int, Field(ge=0, le=3)]
    """The level that is reported; the judge's calibrated decision, not always the mode."""
    confidence: Annotated[float, Field(ge=0, le=1)]
    """Probability that the reported level is the right one."""
    evidence: tuple[Quote, ...] = ()
    """Exact quotes of the candidate that carry the level; empty when nothing in the answer does."""

    @property
    def expected(self) -> float:
        """Mean level, in [0, 3]."""
        return expected_level(self.probabilities)

    @model_validator(mode="after")
    def _sums_to_one(self) -> CriterionAssessment:
        if abs(sum(self.probabilities) - 1) > 1e-3 or min(self.probabilities) < 0:
            raise ValueError(f"probabilities of {self.criterion!r} do not sum to 1: {self.probabilities}")
        return self


class FlagReading(Frozen):
    """A pattern that a committee writes down, with how sure the reading is."""

    flag: str
    probability: Annotated[float, Field(ge=0, le=1)]
    evidence: tuple[Quote, ...] = ()


class Notice(Frozen):
    """Something that the candidate or the reader of a report should know about an input."""

    code: str
    message: str


class UnscoredReason(StrEnum):
    """Why there is no level."""

    JUDGE_UNAVAILABLE = "judge_unavailable"
    JUDGE_TIMEOUT = "judge_timeout"
    JUDGE_INVALID = "judge_invalid"
    JUDGE_REFUSED = "judge_refused"
    NOT_ENGLISH = "not_english"
    NO_CRITERIA = "no_criteria"


class Unscored(Frozen):
    """An answer that could not be read; it counts neither for nor against the candidate."""

    reason: UnscoredReason
    detail: str
    notices: tuple[Notice, ...] = ()


class Assessment(Frozen):
    """All that one judge pass read from one answer."""

    criteria: tuple[CriterionAssessment, ...]
    flags: tuple[FlagReading, ...] = ()
    notices: tuple[Notice, ...] = ()
    judge: str
    """Identity of the judge: kind, model, adapter hash, calibration version."""


JudgeResult: TypeAlias = Assessment | Unscored
