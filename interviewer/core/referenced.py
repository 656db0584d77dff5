"""What a judge is told of a criterion in words: its question, and what a full answer says when the caller gives it."""

from __future__ import annotations

from interviewer.core.prompts import one_line
from interviewer.core.reading import CriterionSpec


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
