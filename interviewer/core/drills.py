"""Drills: what a candidate can practise next, and which criteria each one trains."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interviewer.core.rubric import Slug, Strict, Text


class Drill(Strict):
    """One exercise with its material."""

    id: Slug
    title: Text
    how: Text
    minutes: Annotated[int, Field(ge=5, le=90)]
    trains: Annotated[tuple[Slug, ...], Field(min_length=1)]
    """Criteria, the most trained first."""


class Drills(Strict):
    """All drills of the project."""

    version: Literal[1]
    drills: tuple[Drill, ...]

    def best_for(self, criterion: str, avoid: frozenset[str] = frozenset()) -> Drill | None:
        """Return the drill that trains ``criterion`` most, leaving out the ids in ``avoid`` where another fits."""
        fitting = [d for d in self.drills if criterion in d.trains]
        fitting.sort(key=lambda d: (d.id in avoid, d.trains.index(criterion)))
        return fitting[0] if fitting else None
