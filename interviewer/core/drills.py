"""Drills: what a candidate can practise next, which criteria each one trains, and how it is held as a session.

Invariant: a drill is a piece of a round. Its session is judged by that round's questions and weights, cut to what the
drill asks, so that a level in a drill means what it means in the round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from interviewer.core.probe import Ask
from interviewer.core.rubric import Move, Rubric, Slug, Strict, Text
from interviewer.core.session import SessionState


class DrillEvent(Strict):
    """Something that happens while the clock runs; told with the first question after its minute.

    Where everything else was asked before, it comes early, with a question of its own.
    """

    id: Slug
    minute: Annotated[int, Field(ge=1, le=90)]
    says: Text
    asks: Text
    """Asked with it when it comes early; one question."""


class Drill(Strict):
    """One exercise with its material."""

    id: Slug
    title: Text
    how: Text
    minutes: Annotated[int, Field(ge=5, le=90)]
    trains: Annotated[tuple[Slug, ...], Field(min_length=1)]
    """Criteria, the most trained first."""
    rubric: Slug
    """Round that it is a piece of."""
    questions: Annotated[tuple[Slug, ...], Field(min_length=1)]
    """Questions of that round that it asks; which comes first is the policy's choice."""
    brief: Text
    """The rules, told before the first question. No question in it."""
    words: Annotated[int, Field(ge=50, le=2000)] | None = None
    """Longest answer in words, where keeping it short is part of the exercise."""
    scenario: bool = False
    """Whether it opens with one of the round's situations, chosen by the seed."""
    events: tuple[DrillEvent, ...] = ()


class Drills(Strict):
    """All drills of the project."""

    version: Literal[1]
    drills: tuple[Drill, ...]

    def get(self, drill_id: str | None) -> Drill | None:
        """Return the drill with that id, or ``None``."""
        return next((d for d in self.drills if d.id == drill_id), None)

    def best_for(self, criterion: str, avoid: frozenset[str] = frozenset()) -> Drill | None:
        """Return the drill that trains ``criterion`` most, leaving out the ids in ``avoid`` where another fits."""
        fitting = [d for d in self.drills if criterion in d.trains]
        fitting.sort(key=lambda d: (d.id in avoid, d.trains.index(criterion)))
        return fitting[0] if fitting else None

    def problems(self, rubrics: Mapping[str, Rubric]) -> Iterator[str]:
        """Yield a sentence for each question that its round has not; a drill whose round is absent is not offered."""
        for drill in self.drills:
            rubric = rubrics.get(drill.rubric)
            for question in drill.questions:
                if rubric is not None and rubric.question(question) is None:
                    yield f"drill {drill.id!r}: the round {drill.rubric!r} has no question {question!r}"


def brought_forward(drill: Drill | None, state: SessionState, rubric: Rubric) -> Ask | None:
    """Return the next news of a drill as a question; ``None`` when all was told.

    Used where nothing else is left to ask and the clock still runs: the exercise lasts as long as it says.
    """
    event = next((e for e in drill.events if e.id not in state.told), None) if drill else None
    question = rubric.question(state.current.question_id or "") if state.current else None
    if drill is None or event is None or question is None:
        return None
    targets = [t.criterion for t in question.targets]
    return Ask(
        question_id=question.id,
        criterion=next((c for c in drill.trains if c in targets), targets[0]),
        move=Move.MOVE_CONSTRAINT,
        probe=event.asks,
        reason="Nothing else was left to ask, and the clock still runs: the next news comes early.",
    )


def narrowed(rubric: Rubric, drill: Drill | None) -> Rubric:
    """Return the round cut to a drill: its questions, and the criteria that they bring out; all of it without one."""
    if drill is None or drill.rubric != rubric.id:
        return rubric
    questions = tuple(q for q in rubric.questions if q.id in drill.questions)
    aimed = {target.criterion for question in questions for target in question.targets}
    return rubric.model_copy(
        update={
            "questions": questions,
            "weights": {c: w for c, w in rubric.weights.items() if c in aimed},
            "must_ask": tuple(c for c in rubric.must_ask if c in aimed),
            "veto": tuple(c for c in rubric.veto if c in aimed),
            "minutes": drill.minutes,
        }
    )
