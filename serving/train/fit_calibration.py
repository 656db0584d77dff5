"""Fits what turns the evaluator's raw distribution into the reported one; uses the calibration questions only.

Temperature and level biases minimise the negative log likelihood under a prior at "change nothing" (as in temperature
scaling, Guo et al. 2017, with a bias per level). The cuts maximise agreement, averaged over bootstrap draws so that
one odd answer does not decide a cut. A criterion gets a bias of its own only where it has labels enough, and shrunk.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

import torch

from interviewer.core.assessment import Probabilities, expected_level
from interviewer.core.calibration import IDENTITY_CUTS, Calibration, Fit
from serving.train.metrics import quadratic_kappa, recall

PRIOR = 8.0
"""Strength of "change nothing", in labels."""
ENOUGH = 40
"""Labels from which a criterion gets its own fit."""
DRAWS = 40
GRID = tuple(round(0.3 + 0.05 * step, 2) for step in range(49))
"""Candidate cuts: 0.30 to 2.70."""


@dataclass(frozen=True)
class Reading:
    """One criterion of one labelled answer, as the model read it."""

    answer_id: str
    question_id: str
    criterion: str
    label: int
    raw: Probabilities
    lean: float = 0.0
    """What the word model makes of the same answer."""
    kind: str = ""


def fit_calibration(readings: Sequence[Reading], version: str) -> Calibration:
    """Fit on the calibration split.

    Raises:
        ValueError: there are no readings.
    """
    if not readings:
        raise ValueError("calibration needs labelled answers of the calibration split")
    shared = _shared_fit(readings)
    spread = Calibration(version=version, default=shared)
    expected = [expected_level(spread.apply(r.criterion, r.raw, r.lean)[0]) for r in readings]
    cuts = fit_cuts(expected, [r.label for r in readings])
    shared = shared.model_copy(update={"cuts": cuts})
    kinds = {}
    for criterion in sorted({r.criterion for r in readings}):
        mine = [r for r in readings if r.criterion == criterion]
        if len(mine) >= ENOUGH:
            tilt = _tilt(mine, shared)
            bias = tuple(round(x + tilt * (level - 1.5), 4) for level, x in enumerate(shared.bias))
            kinds[criterion] = shared.model_copy(update={"bias": bias})
    return Calibration(version=version, default=shared, kinds=kinds)


def _shared_fit(readings: Sequence[Reading]) -> Fit:
    logs = torch.tensor([[log(max(p, 1e-9)) for p in r.raw] for r in readings])
    tilts = torch.tensor([[r.lean * (level - 1.5) for level in range(4)] for r in readings])
    labels = torch.tensor([r.label for r in readings])
    parameters = torch.zeros(6, requires_grad=True)
    optimiser = torch.optim.LBFGS([parameters], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        logits = logs / parameters[0].exp() + parameters[1:5] + parameters[5] * tilts
        prior = PRIOR * (parameters**2).sum() / len(readings)
        loss = torch.nn.functional.cross_entropy(logits, labels) + prior
        loss.backward()
        return loss

    optimiser.step(closure)
    found = parameters.detach()
    a, b, c, d = (round(float(x - found[1:5].mean()), 4) for x in found[1:5])
    # A weight below zero would trust the words to be wrong; that is noise.
    return Fit(temperature=round(exp(float(found[0])), 4), bias=(a, b, c, d), words=round(max(0.0, float(found[5])), 4))


def _tilt(readings: Sequence[Reading], shared: Fit) -> float:
    """Return how much a criterion leans up or down, by the mean error, shrunk by its number of labels."""
    plain = Calibration(version="", default=shared)
    error = fmean(r.label - expected_level(plain.apply(r.criterion, r.raw, r.lean)[0]) for r in readings)
    return max(-1.0, min(1.0, error * len(readings) / (len(readings) + 4 * PRIOR)))


def fit_cuts(expected: Sequence[float], labels: Sequence[int], seed: int = 7) -> tuple[float, float, float]:
    """Return the expected levels at which the reported level steps up.

    Args:
        expected: Scores in [0, 3].
        labels: Labelled levels.
        seed: Of the bootstrap draws.
    """
    chance = random.Random(seed)
    found = []
    for _ in range(DRAWS):
        drawn = [chance.randrange(len(labels)) for _ in labels]
        found.append(_best_cuts([expected[i] for i in drawn], [labels[i] for i in drawn]))
    first, second, third = (round(fmean(cuts[i] for cuts in found), 3) for i in range(3))
    return (first, second, third)


def steps(expected: Sequence[float], cuts: Sequence[float]) -> list[int]:
    """Return the level of each score."""
    return [sum(value >= cut for cut in cuts) for value in expected]


def _best_cuts(expected: Sequence[float], labels: Sequence[int]) -> list[float]:
    cuts = list(IDENTITY_CUTS)
    best = _worth(expected, labels, cuts)
    improved = True
    while improved:
        improved = False
        for place in range(3):
            low = cuts[place - 1] if place else 0.0
            high = cuts[place + 1] if place < 2 else 3.0
            for value in GRID:
                if low < value < high:
                    tried = [*cuts[:place], value, *cuts[place + 1 :]]
                    worth = _worth(expected, labels, tried)
                    if worth > best + 1e-9:
                        cuts, best, improved = tried, worth, True
    return cuts


def _worth(expected: Sequence[float], labels: Sequence[int], cuts: Sequence[float]) -> float:
    """Agreement first; then no lean up or down, both ends recalled, and cuts near the middle between levels."""
    read = steps(expected, cuts)
    lean = abs(fmean(r - t for r, t in zip(read, labels, strict=True)))
    ends = min(recall(labels, read, (0, 1)), recall(labels, read, (3,)))
    pull = sum((cut - middle) ** 2 for cut, middle in zip(cuts, IDENTITY_CUTS, strict=True))
    return quadratic_kappa(labels, read) - 0.4 * lean + 0.3 * ends - 0.05 * pull
