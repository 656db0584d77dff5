"""A judge that only counts words: kernel ridge regression of the level on the words of the answer, per criterion.

It knows nothing of order or meaning, costs nothing to run, and learns from the same labels; a language model that reads
answers has to beat it to be worth its weights.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log1p

import torch

from interviewer.core.text import words
from serving.train.answers import Answer

COMMON = 4
"""A word counts when at least so many training answers use it."""
RIDGE = 1.0
SHARED = 0.3
"""How much an answer to another criterion says about this one."""
_NUMBER = re.compile(r"\d+")


class WordRidge:
    """Fitted once; scores are levels, not rounded and not limited to [0, 3]."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        """Fit on every label of ``answers``."""
        uses = Counter(word for a in answers for word in set(words(a.answer)))
        self._places = {w: i for i, w in enumerate(sorted(w for w, n in uses.items() if n >= COMMON))}
        pairs = [(a, criterion) for a in answers for criterion in a.labels]
        self._names = sorted({criterion for _, criterion in pairs})
        self._known = self._features([a for a, _ in pairs])
        self._criteria = self._numbers([criterion for _, criterion in pairs])
        labels = torch.tensor([float(a.labels[criterion]) for a, criterion in pairs], dtype=torch.float64)
        self._mean = labels.mean()
        kernel = self._kernel(self._known, self._criteria) + RIDGE * torch.eye(len(pairs), dtype=torch.float64)
        self._weights = torch.linalg.solve(kernel, labels - self._mean)

    def scores(self, pairs: Sequence[tuple[Answer, str]]) -> list[float]:
        """Return the predicted level of each answer on each criterion."""
        features = self._features([a for a, _ in pairs])
        found: list[float] = (
            self._kernel(features, self._numbers([c for _, c in pairs])) @ self._weights + self._mean
        ).tolist()
        return found

    def _features(self, answers: Sequence[Answer]) -> torch.Tensor:
        table = torch.zeros(len(answers), len(self._places) + 2, dtype=torch.float64)
        for row, answer in enumerate(answers):
            found = words(answer.answer)
            used = [self._places[w] for w in set(found) if w in self._places]
            table[row, used] = 1 / max(1, len(used)) ** 0.5
            table[row, -2] = 0.5 * log1p(len(found))
            table[row, -1] = 0.5 * log1p(len(_NUMBER.findall(answer.answer)))
        return table

    def _numbers(self, criteria: Sequence[str]) -> torch.Tensor:
        places = {name: place for place, name in enumerate(self._names)}
        return torch.tensor([places.get(criterion, -1) for criterion in criteria])

    def _kernel(self, features: torch.Tensor, criteria: torch.Tensor) -> torch.Tensor:
        same = (criteria[:, None] == self._criteria[None, :]).to(features.dtype)
        return features @ self._known.T * (SHARED + same) + 0.5 * same
