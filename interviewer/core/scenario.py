"""Scenarios: a situation whose facts are given only to who asks for them, so that framing a problem can be earned.

Pure matching, no model. Only questions count, a fact is given once, in authored words, and the same log gives the same
facts. What nobody asked for stays unsaid until the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from interviewer.core.givens import MOST_AT_ONCE, earned
from interviewer.core.rubric import Given, Rubric, Slug, Strict, Text, given_problems
from interviewer.core.session import SessionState


class Scenario(Strict):
    """A situation that opens a round."""

    version: Literal[1]
    id: Slug
    title: Annotated[str, Field(min_length=3, max_length=80)]
    rubric: Slug
    """Round that it opens."""
    question: Slug
    """The round's question that is asked on it."""
    brief: Text
    """What everybody is told before that question."""
    facts: Annotated[tuple[Given, ...], Field(min_length=4, max_length=12)]

    def problems(self, rubrics: Mapping[str, Rubric]) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield ``(path, message)`` for each broken reference or rule that the types cannot express."""
        rubric = rubrics.get(self.rubric)
        if rubric is None:
            yield ("rubric",), f"no rubric is called {self.rubric!r}; there are: {', '.join(rubrics)}"
        elif rubric.question(self.question) is None:
            yield ("question",), f"the round {self.rubric!r} has no question {self.question!r}"
        for path, message in given_problems(self.facts):
            yield ("facts", *path), message


def asked(state: SessionState, scenario: Scenario) -> dict[str, int]:
    """Return which facts were asked for so far, with the turn whose answer first did, in order."""
    found: dict[str, int] = {}
    for turn in state.turns:
        for fact in earned(scenario.facts, turn.answer.text) if turn.answer else ():
            found.setdefault(fact.id, turn.number)
    return found


def due(state: SessionState, scenario: Scenario) -> tuple[Given, ...]:
    """Return the facts that the next turn gives: asked for and not said yet, the longest waiting first."""
    told = state.told
    by_id = {fact.id: fact for fact in scenario.facts}
    return tuple(by_id[name] for name in asked(state, scenario) if name not in told)[:MOST_AT_ONCE]


def opens_with(state: SessionState, scenario: Scenario | None) -> frozenset[str] | None:
    """Return the question that a session opens with, chosen or its scenario's; ``None`` leaves it to the policy."""
    wanted = state.started.question or (scenario.question if scenario else None)
    return frozenset({wanted}) if wanted and not state.turns else None
