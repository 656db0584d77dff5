"""What a judge is told of a criterion in words: its question, and what a full answer says when the caller gives it."""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core.lexical import MOST
from interviewer.core.prompts import one_line
from interviewer.core.reading import CriterionSpec
from interviewer.core.text import content_words

SAID_AGAIN = 0.5
"""Share of a reference's own words from which an answer says as much as a paraphrase of all of it would."""


class Referenced(CriterionSpec):
    """A criterion that is read against a reference answer.

    The reference is no part of the rubric's wording: an answer that says the same is right, not copied.
    """

    reference: str
    """What a full answer says; never shown to the candidate."""


def told(spec: CriterionSpec) -> str:
    """Return the words that explain ``spec`` to a judge that knows the vocabulary's own criteria by their names.

    Empty for a criterion of the vocabulary without a reference.
    """
    if isinstance(spec, Referenced):
        return f"{one_line(spec.asks)} {reference_line(spec)}"
    return one_line(spec.asks) if spec.own else ""


def reference_line(spec: Referenced) -> str:
    """Return the reference as one line of a prompt."""
    return f"A full answer says: {one_line(spec.reference)}"


def lean(spec: CriterionSpec, question: str, segments: Sequence[str]) -> float:
    """Return how far an answer leans to what a full one says, in [-1.5, 1.5], for a criterion of the caller's own.

    By the share of the reference's words that it has; those of the question are anybody's. 0 without a reference. A
    small model that never saw a criterion reads it worse than its words do (``eval/reports/outside.md``).
    """
    if not isinstance(spec, Referenced):
        return 0.0
    wanted = content_words(spec.reference) - content_words(question)
    if not wanted:
        return 0.0
    share = len(wanted & content_words(" ".join(segments))) / len(wanted)
    return MOST * (min(1.0, share / SAID_AGAIN) * 2 - 1)
