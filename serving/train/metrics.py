"""Agreement between labels and readings: kappa with quadratic weights, rank correlation, error, recall. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def quadratic_kappa(truth: Sequence[int], read: Sequence[int], levels: int = 4) -> float:
    """Return Cohen's kappa with quadratic weights (Cohen 1968), in [-1, 1]; 0 when there is no variation to explain."""
    n = len(truth)
    if n == 0:
        return 0.0
    left = [sum(t == level for t in truth) / n for level in range(levels)]
    right = [sum(r == level for r in read) / n for level in range(levels)]
    observed = sum((t - r) ** 2 for t, r in zip(truth, read, strict=True)) / n
    expected = sum(left[i] * right[j] * (i - j) ** 2 for i in range(levels) for j in range(levels))
    return 1 - observed / expected if expected > 0 else 0.0


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Return Spearman's rank correlation with ties at their mean rank; 0 when one side is constant."""
    left, right = _ranks(a), _ranks(b)
    middle = (len(left) + 1) / 2
    top = sum((x - middle) * (y - middle) for x, y in zip(left, right, strict=True))
    below = (sum((x - middle) ** 2 for x in left) * sum((y - middle) ** 2 for y in right)) ** 0.5
    return float(top / below) if below > 0 else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in order[start : end + 1]:
            ranks[place] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def recall(truth: Sequence[int], read: Sequence[int], of: Sequence[int]) -> float:
    """Return the share of labels in ``of`` whose reading is in ``of`` too; 0 when there is no such label."""
    hits = [r in of for t, r in zip(truth, read, strict=True) if t in of]
    return sum(hits) / len(hits) if hits else 0.0


def agreement(truth: Sequence[int], read: Sequence[int], expected: Sequence[float]) -> dict[str, float | int]:
    """Return all measures of one set of readings.

    Args:
        truth: Labelled levels.
        read: Reported levels.
        expected: Expected levels, or any score that orders the answers.
    """
    return {
        "n": len(truth),
        "kappa": round(quadratic_kappa(truth, read), 4),
        "spearman": round(spearman([float(t) for t in truth], expected), 4),
        "exact": round(sum(t == r for t, r in zip(truth, read, strict=True)) / max(1, len(truth)), 4),
        "mean_signed_error": round(sum(r - t for t, r in zip(truth, read, strict=True)) / max(1, len(truth)), 4),
        "recall_0_1": round(recall(truth, read, (0, 1)), 4),
        "recall_3": round(recall(truth, read, (3,)), 4),
    }


def bootstrap(
    groups: Sequence[Sequence[T]], measure: Callable[[list[T]], float], rounds: int, seed: int
) -> tuple[float, float]:
    """Return the 95% percentile interval of ``measure`` when whole groups are drawn with replacement.

    Args:
        groups: Units that belong together: all labels of one question.
        measure: Of a flat list of units.
        rounds: Number of draws.
        seed: Of the draws.
    """
    chance = random.Random(seed)
    values = sorted(
        measure([unit for _ in groups for unit in groups[chance.randrange(len(groups))]]) for _ in range(rounds)
    )
    return round(values[int(0.025 * rounds)], 4), round(values[min(rounds - 1, int(0.975 * rounds))], 4)
