"""From a model's raw distribution over levels to one that can be trusted: temperature, biases, words and cut points.

Fitted on the calibration split by ``interviewer train evaluator``; never on the test split. Applying it is pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log

from pydantic import Field

from interviewer.core.assessment import Frozen, Probabilities, expected_level, normalise

IDENTITY_CUTS = (0.5, 1.5, 2.5)


class Fit(Frozen):
    """Parameters for one kind of criterion."""

    temperature: float = 1.0
    bias: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Added to the log probability of each level."""
    words: float = 0.0
    """How much the lean of the answer's words tilts the levels, see :mod:`interviewer.core.lexical`."""
    cuts: tuple[float, float, float] = IDENTITY_CUTS
    """Expected levels at which the reported level steps up."""


class Calibration(Frozen):
    """A versioned set of fits; a criterion without its own takes ``default``."""

    version: str
    default: Fit = Fit()
    kinds: Mapping[str, Fit] = Field(default_factory=dict)

    def apply(self, criterion: str, raw: Probabilities, lean: float = 0.0) -> tuple[Probabilities, int]:
        """Return the calibrated distribution and the level to report; ``lean`` is the word model's, in [-1.5, 1.5]."""
        fit = self.kinds.get(criterion, self.default)
        logits = [
            log(max(p, 1e-9)) / fit.temperature + b + fit.words * lean * (level - 1.5)
            for level, (p, b) in enumerate(zip(raw, fit.bias, strict=True))
        ]
        top = max(logits)
        p = normalise(tuple(exp(x - top) for x in logits))
        expected = expected_level(p)
        return p, sum(expected >= cut for cut in fit.cuts)


UNCALIBRATED = Calibration(version="none")
