"""Coaching for a scored answer: the anchor clause that is missing for the next level, and the rubric's own contrast.

Nothing is generated and nothing is praised: every line is an anchor, the candidate's own words, or the rubric's.
"""

from __future__ import annotations

from interviewer.core.assessment import Assessment, Frozen
from interviewer.core.rubric import Coaching, Question, Vocabulary, anchor
from interviewer.core.text import Quote


class CoachingNote(Frozen):
    """What stands between one criterion and its next level."""

    criterion: str
    level: int
    shown: str
    """Anchor of the level that was shown."""
    missing: str | None
    """Anchor of the next level; ``None`` at level 3."""
    builds_on: tuple[Quote, ...]
    """The candidate's own words to build on."""


class CoachingPlan(Frozen):
    """Coaching for one answer, the most useful criterion first."""

    notes: tuple[CoachingNote, ...]
    contrast: Coaching | None
    """How the answer usually goes wrong and how a good one moves; known for questions of a rubric."""


def coach(assessment: Assessment, vocabulary: Vocabulary, question: Question | None) -> CoachingPlan:
    """Write the coaching for ``assessment``; criteria closest to their next level come first."""
    notes = [
        CoachingNote(
            criterion=found.criterion,
            level=found.level,
            shown=anchor(vocabulary.criteria[found.criterion], found.level),
            missing=None if found.level == 3 else anchor(vocabulary.criteria[found.criterion], found.level + 1),
            builds_on=found.evidence,
        )
        for found in sorted(assessment.criteria, key=lambda c: (c.level == 3, -(c.expected - c.level), c.criterion))
    ]
    return CoachingPlan(notes=tuple(notes), contrast=question.coaching if question else None)
