"""What runs here and how well its judge was measured: for people who want to know what a level was read with.

Invariant: nothing in it is secret. No path, address, key or name of a host.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import computed_field

from interviewer.core.assessment import Frozen

WEAK = 0.7
"""Quadratically weighted kappa under which the judge's levels of a criterion are called weak."""
_ADDRESS = re.compile(r"\w+://\S*/")
_FOLDER = re.compile(r"(?<![\w-])(?:~|\.{1,2})?/(?:[^/\s:@]+/)*")


class Engine(Frozen):
    """The engine that the interviewers run on."""

    kind: Literal["embedded", "endpoint"] = "endpoint"
    """``endpoint``: somebody else runs it, and device, element type and version are theirs to tell."""
    model: str = "base"
    parameters: int | None = None
    device: Literal["cpu", "gpu"] | None = None
    dtype: str | None = None
    version: str | None = None


class CriterionAccuracy(Frozen):
    """How well the judge's levels of one criterion agreed with those of people who labelled the answers."""

    n: int
    """Labels that it rests on."""
    kappa: float
    """Quadratically weighted; 1 is full agreement, 0 is chance."""
    exact: float
    """Share of answers that got exactly the labelled level."""
    mean_signed_error: float
    """In levels; below 0 the judge is too strict."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def weak(self) -> bool:
        """Whether levels of this criterion are to be taken with care."""
        return self.kappa < WEAK


class Measured(Frozen):
    """What was measured of a judge, on answers to questions that it never saw."""

    answers: int
    questions: int
    kappa: float
    kappa_95: tuple[float, float]
    """Bootstrap interval over questions."""
    exact: float
    by_criterion: dict[str, CriterionAccuracy]


def public(name: str) -> str:
    """Return a name without the folder or address that it may carry: a model may be served under its path."""
    return _FOLDER.sub("", _ADDRESS.sub("", name))
