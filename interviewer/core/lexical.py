"""What the words of an answer say on a criterion: linear models, fitted on labelled answers, applied here.

They see words and pairs of neighbours, no further order and no meaning. They are the best that we measured at two
things: pointing at the sentence that carries a level, and saying how high an answer stands on unseen questions
(``design/0005``). What decides there is the best single sentence of an answer, not their sum: an answer shows a level
where it shows it once. Applying them costs no model call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from pydantic import Field

from interviewer.core.assessment import Frozen
from interviewer.core.text import words

MOST = 1.5
"""Largest lean, half the range of levels."""


@lru_cache(maxsize=1024)  # every model asks for those of the same sentences, for every criterion
def features(text: str) -> tuple[str, ...]:
    """Return the distinct words of ``text`` and its pairs of neighbours, joined by a space, as they first come.

    In an order of the text's own, so that sums over them are the same in every process to the last bit.
    """
    said = words(text)
    return tuple(dict.fromkeys((*said, *(f"{a} {b}" for a, b in pairwise(said)))))


class Linear(Frozen):
    """Weights of words and pairs, for every criterion and for each.

    A text scores the sum of the weights of its distinct known features over the square root of their number, so that
    padding with words that mean nothing draws a score to the middle and never up.
    """

    bias: float = 0.0
    shared: Mapping[str, float] = Field(default_factory=dict)
    """Weight of each known feature, whatever the criterion."""
    own: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    """What a criterion adds to the weight of a feature."""
    own_bias: Mapping[str, float] = Field(default_factory=dict)

    def score(self, criterion: str, text: str) -> float:
        """Return the score of ``text``; for a criterion that was never seen, what holds for all of them."""
        known = [f for f in features(text) if f in self.shared]
        own = self.own.get(criterion, {})
        total = sum(self.shared[f] + own.get(f, 0.0) for f in known)
        return self.bias + self.own_bias.get(criterion, 0.0) + (total / len(known) ** 0.5 if known else 0.0)


class Mix(Frozen):
    """How the score of the whole answer and that of its best sentence make one; fitted on answers held out of both."""

    whole: float = 1.0
    best: float = 0.0
    bias: float = 0.0
    own_bias: Mapping[str, float] = Field(default_factory=dict)


class WordModel(Frozen):
    """The models, as ``words.json`` beside the evaluator holds them."""

    version: str
    level: Linear = Linear()
    """Scores of a whole answer are levels, not limited to [0, 3]."""
    shown: Linear = Linear()
    """Scores of one sentence are the level that it shows by itself: 0 for one that carries nothing."""
    evidence: Linear = Linear()
    """Scores rank the sentences of one answer; their size means nothing."""
    mix: Mix = Mix()

    def lean(self, criterion: str, segments: Sequence[str]) -> float:
        """Return how far an answer leans from the middle between the levels, in [-1.5, 1.5]; 0 for a new criterion."""
        if criterion not in self.level.own or not segments:
            return 0.0
        return max(-MOST, min(MOST, self.height(criterion, segments) - 1.5))

    def height(self, criterion: str, segments: Sequence[str]) -> float:
        """Return the level that the sentences of an answer speak for, not limited to [0, 3].

        Raises:
            ValueError: there are no segments.
        """
        whole = self.level.score(criterion, " ".join(segments))
        best = max(self.shown.score(criterion, s) for s in segments)
        mix = self.mix
        return mix.whole * whole + mix.best * best + mix.bias + mix.own_bias.get(criterion, 0.0)

    def point(self, criterion: str, segments: Sequence[str]) -> int | None:
        """Return the index of the segment that carries the level; the first of equals, ``None`` without segments."""
        scores = [self.evidence.score(criterion, s) for s in segments]
        return max(range(len(scores)), key=scores.__getitem__) if scores else None


NO_WORDS = WordModel(version="none")
