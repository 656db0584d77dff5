"""What the words of an answer say on a criterion: linear models, fitted on labelled answers, applied here.

They see no order and no meaning, yet they are the best that we measured at two things: pointing at the sentence that
carries a level, and correcting the evaluator's level a little (``design/0005``). Applying them costs no model call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from interviewer.core.assessment import Frozen
from interviewer.core.text import words

MOST = 1.5
"""Largest lean: one that a few odd words cannot exceed."""


class Linear(Frozen):
    """Weights of words, for every criterion and for each.

    A text scores the sum of the weights of its distinct known words over the square root of their number, so that
    padding with words that mean nothing draws a score to the middle and never up.
    """

    bias: float = 0.0
    shared: Mapping[str, float] = Field(default_factory=dict)
    """Weight of each known word, whatever the criterion."""
    own: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    """What a criterion adds to the weight of a word."""
    own_bias: Mapping[str, float] = Field(default_factory=dict)

    def score(self, criterion: str, text: str) -> float:
        """Return the score of ``text``; for a criterion that was never seen, what holds for all of them."""
        known = {w for w in words(text) if w in self.shared}
        own = self.own.get(criterion, {})
        total = sum(self.shared[w] + own.get(w, 0.0) for w in known)
        return self.bias + self.own_bias.get(criterion, 0.0) + (total / len(known) ** 0.5 if known else 0.0)


class WordModel(Frozen):
    """Both models, as ``words.json`` beside the evaluator holds them."""

    version: str
    level: Linear = Linear()
    """Scores are levels, not limited to [0, 3]."""
    evidence: Linear = Linear()
    """Scores rank the sentences of one answer; their size means nothing."""

    def lean(self, criterion: str, text: str) -> float:
        """Return how far the words lean from the middle between the levels, in [-1.5, 1.5]; 0 for a new criterion."""
        if criterion not in self.level.own:
            return 0.0
        return max(-MOST, min(MOST, self.level.score(criterion, text) - 1.5))

    def point(self, criterion: str, segments: Sequence[str]) -> int | None:
        """Return the index of the segment that carries the level; the first of equals, ``None`` without segments."""
        scores = [self.evidence.score(criterion, s) for s in segments]
        return max(range(len(scores)), key=scores.__getitem__) if scores else None


NO_WORDS = WordModel(version="none")
