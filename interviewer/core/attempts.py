"""Two attempts at one question, side by side: what was said, how it was read, and what changed between them.

Invariant: every quote is an exact piece of the answer that it names, and nothing is compared silently that was not read
in the same way: help, judge, level and kind are said where they differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from interviewer.core.assessment import Assessment, Frozen, Unscored
from interviewer.core.coaching import clause_seen
from interviewer.core.coverage import capped
from interviewer.core.events import Origin
from interviewer.core.facts import FindingKind, check_answer
from interviewer.core.progress import Estimate, pool
from interviewer.core.reading import Said
from interviewer.core.rubric import Question, SeniorityLevel, Vocabulary, anchor
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import Quote, label


class NotAttempted(ValueError):
    """The question was not answered in the session; the message says which."""


class CriterionRead(Frozen):
    """One criterion of one attempt."""

    criterion: str
    level: int
    estimate: Estimate
    anchor: str
    quotes: tuple[Quote, ...]


class Attempt(Frozen):
    """One attempt: all that was said on the question in one session."""

    session_id: str
    at: datetime
    origin: Origin
    mode: str
    level: SeniorityLevel
    persona: str
    judge: str | None
    asked: tuple[tuple[int, str], ...]
    """Turn and what was put in it: the question and its follow-ups."""
    answers: tuple[Said, ...]
    """Answers that count; one that was given again later is left out."""
    words: int
    hints: int
    retries: int
    criteria: tuple[CriterionRead, ...]
    """After the price of hints and retries; empty when the answer was not read."""
    unscored: str | None


class Change(Frozen):
    """One criterion in both attempts."""

    criterion: str
    first: int | None
    """Level; ``None``: not assessed."""
    second: int | None
    moved: Literal["up", "down", "same", "only_first", "only_second"]
    gained: tuple[str, ...] = ()
    """What of the criterion's anchors can be seen in the second and could not in the first."""
    lost: tuple[str, ...] = ()
    overlap: bool = False
    """The two intervals share levels, so that the move may be chance."""


class Comparison(Frozen):
    """Two attempts at one question."""

    question: str
    topic: str
    text: str
    first: Attempt
    second: Attempt
    changes: tuple[Change, ...]
    remarks: tuple[str, ...]
    """What has to be known to read it, a sentence each."""


def attempted(state: SessionState) -> list[str]:
    """Return the rubric's questions that were answered in a session, in order."""
    return list(dict.fromkeys(t.question_id for t in state.turns if t.question_id and t.answer))


def compare(first: SessionState, second: SessionState, question: Question, vocabulary: Vocabulary) -> Comparison:
    """Put two attempts side by side, the earlier one first.

    Raises:
        NotAttempted: one of the sessions has no answer to the question.
    """
    one, two = sorted((first, second), key=lambda s: (s.started_at, s.id))
    left, right = attempt(one, question.id, vocabulary), attempt(two, question.id, vocabulary)
    names = dict.fromkeys(c.criterion for side in (left, right) for c in side.criteria)
    return Comparison(
        question=question.id,
        topic=question.topic,
        text=question.text,
        first=left,
        second=right,
        changes=tuple(_change(name, left, right, question, vocabulary) for name in names),
        remarks=tuple(_remarks(one, two, left, right)),
    )


def attempt(state: SessionState, question_id: str, vocabulary: Vocabulary) -> Attempt:
    """Read what was said on a question in a session.

    Raises:
        NotAttempted: there is no answer to it.
    """
    turns = state.on_question(question_id)
    given = [t for t in turns if t.answer and t.number not in state.superseded]
    if not given:
        raise NotAttempted(f"the question {question_id!r} was not answered in the session {state.id!r}")
    read = [t.result for t in given if isinstance(t.result, Assessment)]
    failed = [t.result for t in given if isinstance(t.result, Unscored)]
    return Attempt(
        session_id=state.id,
        at=state.started_at,
        origin=state.started.origin,
        mode=state.started.mode,
        level=state.started.level,
        persona=_persona(given[0], state),
        judge=read[-1].judge if read else None,
        asked=tuple((t.number, t.question.text) for t in turns if t.question),
        answers=tuple(Said(turn=t.number, text=t.answer.text) for t in given if t.answer),
        words=sum(len(t.answer.text.split()) for t in given if t.answer),
        hints=state.rungs_used(question_id),
        retries=sum(t.number in state.superseded for t in turns),
        criteria=_criteria(read[-1], state.price(question_id), vocabulary) if read else (),
        unscored=failed[-1].detail if failed and not read else None,
    )


def _criteria(read: Assessment, price: int, vocabulary: Vocabulary) -> tuple[CriterionRead, ...]:
    """Return what the last reading, which covers all that was said on the question, has shown."""
    found = [capped(c, price) for c in read.criteria if c.criterion in vocabulary.criteria]
    return tuple(
        CriterionRead(
            criterion=c.criterion,
            level=c.level,
            estimate=pool([c.probabilities]),
            anchor=anchor(vocabulary.criteria[c.criterion], c.level),
            quotes=c.evidence,
        )
        for c in found
    )


def _persona(turn: Turn, state: SessionState) -> str:
    return turn.question.persona if turn.question else state.started.persona


def _change(name: str, left: Attempt, right: Attempt, question: Question, vocabulary: Vocabulary) -> Change:
    one, two = (next((c for c in side.criteria if c.criterion == name), None) for side in (left, right))
    if one is None or two is None:
        return Change(
            criterion=name,
            first=one.level if one else None,
            second=two.level if two else None,
            moved="only_first" if one else "only_second",
        )
    before, after = (_clauses(name, side, question, vocabulary) for side in (left, right))
    return Change(
        criterion=name,
        first=one.level,
        second=two.level,
        moved="same" if one.level == two.level else "up" if two.level > one.level else "down",
        gained=tuple(c for c in after if c not in before),
        lost=tuple(c for c in before if c not in after),
        overlap=one.estimate.low <= two.estimate.high and two.estimate.low <= one.estimate.high,
    )


def _clauses(name: str, side: Attempt, question: Question, vocabulary: Vocabulary) -> list[str]:
    """Return the parts of a criterion's anchors that can be seen in an attempt."""
    said: Sequence[Said] = side.answers
    wrong = [f for s in said for f in check_answer(s.text, question, s.turn) if f.kind != FindingKind.CHECKED]
    clauses = [clause for level in vocabulary.criteria[name].clauses.values() for clause in level]
    return [clause.needs for clause in clauses if clause_seen(clause, said, wrong)]


def _remarks(one: SessionState, two: SessionState, left: Attempt, right: Attempt) -> list[str]:
    found = []
    if left.judge and right.judge and left.judge != right.judge:
        found.append(
            f"The first was read by {left.judge}, the second by {right.judge}; levels may differ for that alone."
        )
    for side, word in ((left, "first"), (right, "second")):
        if side.hints or side.retries:
            tries = f"{side.retries} other {'try' if side.retries == 1 else 'tries'}"
            found.append(f"The {word} had {side.hints} hint(s) and {tries}, which cap its levels.")
        if side.origin == "replay":
            found.append(f"The {word} is a replay, which repeats the answers of another session.")
        if side.origin == "imported":
            found.append(f"The {word} is an imported transcript.")
        if side.unscored:
            found.append(f"The {word} was not assessed: {side.unscored}")
    if left.mode != right.mode:
        found.append(f"The first was held in {left.mode} mode, the second in {right.mode} mode.")
    if left.level != right.level:
        found.append(f"The first was asked at the {left.level} level, the second at the {right.level} level.")
    same = one.started.rubric == two.started.rubric
    if same and one.started.versions.rubric != two.started.versions.rubric:
        found.append("The round's document has changed between the two.")
    if not same:
        rounds = [label(state.started.rubric) for state in (one, two)]
        found.append(f"The first was in the {rounds[0]} round, the second in the {rounds[1]} round.")
    return found
