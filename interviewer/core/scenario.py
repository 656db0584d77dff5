"""Scenarios: a situation whose facts are given only to who asks for them, so that framing a problem can be earned.

Pure matching, no model. Only questions count, a fact is given once, in authored words, and the same log gives the same
facts. What nobody asked for stays unsaid until the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from interviewer.core.rubric import Rubric, Slug, Strict, Text
from interviewer.core.session import SessionState
from interviewer.core.text import sentences

MOST_AT_ONCE = 3
"""Facts that one turn gives at most; the others follow in the next one."""
_ASKS = re.compile(
    r"(?i)^(?:\W*(?:and|so|then|first\w*|next|also|ok|okay|before \w+(?: \w+)?),?\s+)*"
    r"(?:i(?:'d| would| want| need|'d like| would like|'d want| would want|'d need| would need)?(?: first| also| then)?"
    r"(?: like| want| need)?(?: to)? (?:ask|know|hear|find out from you)|(?:can|could) you tell me|tell me|"
    r"my (?:first|next|second|other) question)\b"
)
"""Beginnings of a sentence that asks without a question mark."""
_PRICE_OF_A_CUE = 2
"""Terms that a cue has at least: one word alone is met by accident."""


class ScenarioFact(Strict):
    """Something that is so, and the questions that earn it."""

    id: Slug
    about: Annotated[str, Field(min_length=3, max_length=80)]
    """What it is about, as the report names it."""
    says: Text
    """What the interviewer says when asked; exactly this."""
    asked_by: Annotated[tuple[str, ...], Field(min_length=1)]
    """Cues. A question that has all terms of one asks for the fact. A term is ``a|b|c``, any of which will do; ``*``
    at an end takes any ending, ``_`` is a space."""


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
    facts: Annotated[tuple[ScenarioFact, ...], Field(min_length=4, max_length=12)]

    def problems(self, rubrics: Mapping[str, Rubric]) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield ``(path, message)`` for each broken reference or rule that the types cannot express."""
        rubric = rubrics.get(self.rubric)
        if rubric is None:
            yield ("rubric",), f"no rubric is called {self.rubric!r}; there are: {', '.join(rubrics)}"
        elif rubric.question(self.question) is None:
            yield ("question",), f"the round {self.rubric!r} has no question {self.question!r}"
        seen: set[str] = set()
        for i, fact in enumerate(self.facts):
            if fact.id in seen:
                yield ("facts", i, "id"), f"fact id {fact.id!r} is used twice"
            seen.add(fact.id)
            for j, cue in enumerate(fact.asked_by):
                if len(cue.split()) < _PRICE_OF_A_CUE:
                    yield ("facts", i, "asked_by", j), f"the cue {cue!r} needs two terms; one word is met by accident"


def questions(text: str) -> tuple[str, ...]:
    """Return the sentences of an answer that ask, with a question mark or in so many words."""
    said = (span.of(text) for span in sentences(text))
    return tuple(s for s in said if s.rstrip("\"') ").endswith("?") or _ASKS.match(s))


def asks_for(scenario: Scenario, text: str) -> bool:
    """Return whether a message asks for a fact of the scenario."""
    return any(_met(cue, said) for said in questions(text) for fact in scenario.facts for cue in fact.asked_by)


def asked(state: SessionState, scenario: Scenario) -> dict[str, int]:
    """Return which facts were asked for so far, with the turn whose answer first did, in order."""
    found: dict[str, int] = {}
    for turn in state.turns:
        for sentence in questions(turn.answer.text) if turn.answer else ():
            for fact in scenario.facts:
                if any(_met(cue, sentence) for cue in fact.asked_by):
                    found.setdefault(fact.id, turn.number)
    return found


def due(state: SessionState, scenario: Scenario) -> tuple[ScenarioFact, ...]:
    """Return the facts that the next turn gives: asked for and not said yet, the longest waiting first."""
    said = {fact for turn in state.turns if turn.question for fact in turn.question.revealed}
    by_id = {fact.id: fact for fact in scenario.facts}
    return tuple(by_id[name] for name in asked(state, scenario) if name not in said)[:MOST_AT_ONCE]


def opens_with(state: SessionState, scenario: Scenario | None) -> frozenset[str] | None:
    """Return the question that a session opens with, chosen or its scenario's; ``None`` leaves it to the policy."""
    wanted = state.started.question or (scenario.question if scenario else None)
    return frozenset({wanted}) if wanted and not state.turns else None


def _met(cue: str, sentence: str) -> bool:
    return all(_term(term).search(sentence) for term in cue.split())


@lru_cache(maxsize=1024)
def _term(term: str) -> re.Pattern[str]:
    ways = (re.escape(way).replace("_", r"\s+").replace(r"\*", r"\w*") for way in term.split("|"))
    return re.compile(rf"(?i)\b(?:{'|'.join(ways)})\b")
