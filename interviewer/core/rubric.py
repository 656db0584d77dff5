"""Rubrics: what a round asks and listens for. A rubric is immutable data; nothing here decides anything.

Shapes follow ``rubrics/*.yaml``. Unknown keys are errors, so that a typing mistake in a document never
silently drops a probe. Cross references (a probe's criterion, a must-ask criterion) are checked by
:meth:`Rubric.problems`, which the YAML adapter turns into errors that name file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

SeniorityLevel: TypeAlias = Literal["mid", "senior"]
"""How senior the candidate is said to be; decides how deep probes go and how strict the verdict is."""


class Strict(BaseModel):
    """Base of every document model: immutable, unknown keys refused, strings stripped."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class Move(StrEnum):
    """The interviewer's moves; each turns the screw on an answer in another way."""

    MOVE_CONSTRAINT = "move_constraint"
    OTHER_SIDE = "other_side"
    ASK_NUMBER = "ask_number"
    ASK_REDO = "ask_redo"
    MOVE_DOMAIN = "move_domain"
    FIND_EDGE = "find_edge"
    CLARIFY = "clarify"


CodeTask: TypeAlias = Literal["greedy_decoder", "lora_script"]
"""Code that can be checked: read for its essentials and, in a sandbox, tried on a tiny model."""

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{1,63}$")]
Text = Annotated[str, Field(min_length=3, max_length=1200)]


class Clause(Strict):
    """One part of an anchor, which can be looked for on its own."""

    needs: Text
    """What has to be there."""
    ask: Text
    """What a candidate asks themselves when it cannot be seen; follows a quote, so it starts in lower case."""
    check: Slug | None = None
    """Name of the check that finds it in a text; ``None`` where no check can be sure."""


class Criterion(Strict):
    """One debrief criterion with its four ordinal anchors."""

    asks: Text
    """The yes/no question that the criterion puts to an answer."""
    levels: Annotated[dict[Literal[0, 1, 2, 3], Text], Field(min_length=4)]
    """Anchor of each level: 0 not shown or the opposite, 1 named, 2 reasoned, 3 usable as a decision."""
    clauses: dict[Literal[1, 2, 3], tuple[Clause, ...]] = {}
    """Parts of the anchors, for coaching; a level that is absent is coached by its anchor alone."""


def anchor(criterion: Criterion, level: int) -> str:
    """Return the anchor text of a level.

    Raises:
        KeyError: ``level`` is not 0, 1, 2 or 3.
    """
    return {int(number): text for number, text in criterion.levels.items()}[level]


class Vocabulary(Strict):
    """Criteria and flags, shared by all rounds. Ids are fixed; documents refer to them."""

    version: Literal[1]
    criteria: dict[Slug, Criterion]
    flags: dict[Slug, Text]


class Probe(Strict):
    """One authored follow-up. Asks for one thing and never gives the answer away."""

    move: Move
    text: Text
    """Wording for a mid-level candidate, and the wording of last resort when generation fails."""
    senior: Text | None = None
    """Deeper wording for a senior candidate; ``None`` means that ``text`` fits both."""

    def wording(self, level: SeniorityLevel) -> str:
        """Return the authored wording for a candidate of ``level``."""
        return self.senior if level == "senior" and self.senior else self.text


class Target(Strict):
    """A criterion that a question is meant to bring out, with the probes that dig for it."""

    criterion: Slug
    weight: Annotated[float, Field(gt=0, le=3)] = 1.0
    probes: Annotated[tuple[Probe, ...], Field(min_length=3)]
    """At least three, using at least three different moves."""


class Fact(Strict):
    """Something true that a good answer may contain; the interviewer must not say it first."""

    claim: Text
    terms: Annotated[tuple[str, ...], Field(min_length=1)]
    """Words or short phrases that would give the fact away if the interviewer said them unprompted."""


class WrongClaim(Strict):
    """A mistake that candidates make on this question, and what is true instead."""

    claim: Text
    correction: Text


class Given(Strict):
    """Something that is so, and the questions of a candidate that earn it."""

    id: Slug
    about: Annotated[str, Field(min_length=3, max_length=80)]
    """What it is about, as the report names it."""
    says: Text
    """What the interviewer says when asked; exactly this."""
    asked_by: Annotated[tuple[str, ...], Field(min_length=1)]
    """Cues. A question that has all terms of one asks for it. A term is ``a|b|c``, any of which will do; ``*`` at an
    end takes any ending, ``_`` is a space."""


_FEWEST_TERMS = 2
"""Terms that a cue has at least: one word alone is met by accident."""


def given_problems(givens: Iterable[Given]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield ``(path, message)`` for each id that is used twice and each cue that would be met by accident."""
    seen: set[str] = set()
    for i, given in enumerate(givens):
        if given.id in seen:
            yield (i, "id"), f"fact id {given.id!r} is used twice"
        seen.add(given.id)
        for j, cue in enumerate(given.asked_by):
            if len(cue.split()) < _FEWEST_TERMS:
                yield (i, "asked_by", j), f"the cue {cue!r} needs two terms; one word is met by accident"


class Coaching(Strict):
    """A contrast that teaches: how the answer usually goes wrong, and how a good one moves."""

    bad: Text
    good: Text


class Question(Strict):
    """A main question of a round."""

    id: Slug
    topic: Annotated[str, Field(min_length=3, max_length=80)]
    text: Text
    senior: Text | None = None
    targets: Annotated[tuple[Target, ...], Field(min_length=3, max_length=5)]
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    wrong_claims: Annotated[tuple[WrongClaim, ...], Field(min_length=1)]
    hints: Annotated[tuple[Text, ...], Field(min_length=3, max_length=3)]
    """Three rungs: where to look, what to compare, almost the answer. Each costs more than the one before."""
    coaching: Coaching
    givens: Annotated[tuple[Given, ...], Field(max_length=8)] = ()
    """What is said of the case to a candidate who asks before answering; what nobody asks for stays open."""
    code: CodeTask | None = None
    """What code in an answer is checked as; ``None``: code is read as words are."""

    def wording(self, level: SeniorityLevel) -> str:
        """Return the authored wording for a candidate of ``level``."""
        return self.senior if level == "senior" and self.senior else self.text

    def target(self, criterion: str) -> Target | None:
        """Return the target for ``criterion`` or ``None`` when this question does not aim at it."""
        return next((t for t in self.targets if t.criterion == criterion), None)


class Rubric(Strict):
    """One round: its questions and what the committee weighs."""

    version: Literal[1]
    id: Slug
    title: Text
    persona: Slug
    """Persona that leads the round unless another is chosen."""
    minutes: Annotated[int, Field(ge=5, le=240)]
    decides: Text
    """The one thing that the round decides, as a question."""
    listens_for: Annotated[tuple[Text, ...], Field(min_length=2)]
    danger_signs: Annotated[tuple[Text, ...], Field(min_length=2)]
    weights: Annotated[dict[Slug, Annotated[float, Field(gt=0, le=3)]], Field(min_length=3)]
    """Weight of each criterion in this round's verdict; a criterion that is absent is not judged here."""
    must_ask: Annotated[tuple[Slug, ...], Field(min_length=2)]
    """Criteria that have to be elicited before the round may end on time."""
    veto: tuple[Slug, ...] = ()
    """Criteria whose level 0, when seen with confidence, decides the round."""
    better_role: Text
    """The role that fits a candidate who is good but not for this job; used in a no."""
    questions: Annotated[tuple[Question, ...], Field(min_length=1)]

    def question(self, question_id: str) -> Question | None:
        """Return the question with that id, or ``None``."""
        return next((q for q in self.questions if q.id == question_id), None)

    def read_on(self, question_id: str | None) -> tuple[str, ...]:
        """Return the criteria that an answer is read on: its question's targets, else what the round must ask."""
        question = self.question(question_id or "")
        return tuple(t.criterion for t in question.targets) if question else self.must_ask

    def problems(self, vocabulary: Vocabulary) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield ``(path, message)`` for each broken reference or rule that the types cannot express."""
        for field, ids in (("weights", tuple(self.weights)), ("must_ask", self.must_ask), ("veto", self.veto)):
            for position, criterion in enumerate(ids):
                at: tuple[str | int, ...] = (field, criterion) if field == "weights" else (field, position)
                if criterion not in vocabulary.criteria:
                    yield at, f"unknown criterion {criterion!r}; known: {', '.join(vocabulary.criteria)}"
                elif criterion not in self.weights:
                    yield at, f"criterion {criterion!r} has no weight in this round; add it under weights"
        seen: Mapping[str, int] = {}
        for i, question in enumerate(self.questions):
            if question.id in seen:
                yield ("questions", i, "id"), f"question id {question.id!r} is used twice"
            seen = {**seen, question.id: i}
            yield from self._question_problems(i, question)

    def _question_problems(self, i: int, question: Question) -> Iterator[tuple[tuple[str | int, ...], str]]:
        used: set[str] = set()
        for j, target in enumerate(question.targets):
            at: tuple[str | int, ...] = ("questions", i, "targets", j)
            if target.criterion in used:
                yield (*at, "criterion"), f"{target.criterion!r} is targeted twice by {question.id!r}"
            used.add(target.criterion)
            if target.criterion not in self.weights:
                yield (*at, "criterion"), f"{target.criterion!r} has no weight in this round; add it under weights"
            if len({p.move for p in target.probes}) < 3:
                yield (*at, "probes"), "probes must use at least three different moves"
        for path, message in given_problems(question.givens):
            yield ("questions", i, "givens", *path), message
        for j, given in enumerate(question.givens):
            if not given.id.startswith(f"{question.id}-"):
                # A session remembers by the id what it has told, over all its questions.
                yield ("questions", i, "givens", j, "id"), f"{given.id!r} has to begin with {question.id + '-'!r}"
