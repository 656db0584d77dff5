"""A candidate's sessions side by side: levels over time, flags that stay or went away, two attempts at one question.

Replays and what-ifs are left out: they repeat words that were counted already. Nothing here keeps what was said but the
quotes of :class:`Attempt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, Frozen, Probabilities, Unscored, expected_level, spread
from interviewer.core.coverage import capped
from interviewer.core.debrief_rows import Debrief
from interviewer.core.flags import RAISED, STRENGTHS
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import Quote

FlagState: TypeAlias = Literal["new", "persists", "gone"]


class Mark(Frozen):
    """One criterion in one session."""

    criterion: str
    level: int | None
    """``None``: not assessed; then there are no numbers either."""
    expected: float | None
    low: float | None
    """Expected level less one standard deviation of the reading, not below 0."""
    high: float | None
    """Expected level and one standard deviation of the reading, not above 3."""
    hints: int
    retried: bool
    """Whether an answer that was given again is among those that it rests on."""


class Sitting(Frozen):
    """What is remembered of one session."""

    session_id: str
    at: datetime
    """UTC; when it began."""
    rubric: str
    mode: ev.Mode
    origin: ev.Origin
    drill: str | None
    marks: tuple[Mark, ...]
    """All criteria of the round."""
    flags: tuple[str, ...]
    """Flags that were raised."""
    questions: tuple[str, ...]
    """Rubric questions that were asked."""


class Point(Mark):
    """One criterion in one session, with the session."""

    session_id: str
    at: datetime
    rubric: str
    mode: ev.Mode
    origin: ev.Origin


class CriterionLine(Frozen):
    """One criterion over time, oldest first; sessions of rounds without it have no point."""

    criterion: str
    points: tuple[Point, ...]


class FlagLine(Frozen):
    """One flag over time."""

    flag: str
    strength: bool
    state: FlagState
    """gone: a later session of a round in which it had been raised was read without it; persists: raised in two
    sessions or more and not gone; new: raised in one and not gone."""
    sessions: tuple[str, ...]
    """Where it was raised, oldest first."""


class AttemptLevel(Frozen):
    """One criterion of an attempt; what a hint or an earlier try gave away is taken off, as in the report."""

    criterion: str
    level: int
    expected: float
    low: float
    high: float
    quotes: tuple[Quote, ...]


class Attempt(Frozen):
    """One try at a rubric question, its follow-ups included."""

    session_id: str
    at: datetime
    mode: ev.Mode
    origin: ev.Origin
    turns: tuple[int, ...]
    asked: tuple[str, ...]
    answers: tuple[str, ...]
    hints: int
    retry: bool
    """Whether the session had an answer to the same question before it."""
    levels: tuple[AttemptLevel, ...]
    unscored: str | None
    """Why there are no levels, when there are none."""


class LevelChange(Frozen):
    """One criterion of two attempts; ``None`` is "not assessed"."""

    criterion: str
    before: AttemptLevel | None
    after: AttemptLevel | None
    change: float | None
    """Difference of the expected levels."""
    clear: bool
    """Whether the two intervals do not touch; a change that is not clear may be the reading's own spread."""


class AttemptDiff(Frozen):
    """Two attempts at one question, the earlier one first."""

    before: Attempt
    after: Attempt
    levels: tuple[LevelChange, ...]
    remarks: tuple[str, ...]


def interval(p: Probabilities) -> tuple[float, float, float]:
    """Return the expected level and the ends of one standard deviation around it, within 0 to 3."""
    mean, wide = expected_level(p), spread(p)
    return round(mean, 3), round(max(0.0, mean - wide), 3), round(min(3.0, mean + wide), 3)


def counts(state: SessionState) -> bool:
    """Return whether a session is part of the memory: no replay, and in real mode only when it is over."""
    first = state.started
    return first.origin != "replay" and first.parent is None and (first.mode == "practice" or state.ended is not None)


def sitting(state: SessionState, packet: Debrief) -> Sitting:
    """Return what is remembered of a session that counts."""
    again = {
        found.criterion
        for turn in state.retries.values()
        if isinstance(turn.result, Assessment)
        for found in turn.result.criteria
    }
    marks = []
    for row in packet.criteria:
        known = interval(row.probabilities) if row.probabilities is not None and row.level is not None else None
        mean, low, high = known or (None, None, None)
        marks.append(
            Mark(
                criterion=row.criterion,
                level=row.level if known else None,
                expected=mean,
                low=low,
                high=high,
                hints=row.hints,
                retried=row.criterion in again,
            )
        )
    return Sitting(
        session_id=state.id,
        at=state.started_at,
        rubric=state.started.rubric,
        mode=state.started.mode,
        origin=state.started.origin,
        drill=state.started.drill,
        marks=tuple(marks),
        flags=tuple(f.flag for f in packet.flags if f.probability >= RAISED),
        questions=tuple(dict.fromkeys(t.question_id for t in state.turns if t.question and t.question_id)),
    )


def in_order(sittings: Iterable[Sitting]) -> list[Sitting]:
    """Return sessions in which something was asked, oldest first."""
    return sorted((s for s in sittings if s.questions or _read(s)), key=lambda s: (s.at, s.session_id))


def criterion_lines(sittings: Sequence[Sitting]) -> tuple[CriterionLine, ...]:
    """Return each criterion that was assessed at least once, over time."""
    lines: dict[str, list[Point]] = {}
    for each in in_order(sittings):
        where = each.model_dump(include={"session_id", "at", "rubric", "mode", "origin"})
        for mark in each.marks:
            lines.setdefault(mark.criterion, []).append(Point(**mark.model_dump(), **where))
    return tuple(
        CriterionLine(criterion=c, points=tuple(points))
        for c, points in lines.items()
        if any(p.level is not None for p in points)
    )


def flag_lines(sittings: Sequence[Sitting]) -> tuple[FlagLine, ...]:
    """Return each flag that was ever raised, with what became of it."""
    read = [s for s in in_order(sittings) if _read(s)]
    found = []
    for flag in dict.fromkeys(f for s in read for f in s.flags):
        raised = [n for n, s in enumerate(read) if flag in s.flags]
        rounds = {read[n].rubric for n in raised}
        gone = any(s.rubric in rounds for s in read[raised[-1] + 1 :])
        state: FlagState = "gone" if gone else "persists" if len(raised) > 1 else "new"
        ids = tuple(read[n].session_id for n in raised)
        found.append(FlagLine(flag=flag, strength=flag in STRENGTHS, state=state, sessions=ids))
    return tuple(found)


def attempts(states: Iterable[SessionState], question_id: str) -> tuple[Attempt, ...]:
    """Return all attempts at a question, oldest first."""
    made = [a for s in sorted(states, key=lambda s: (s.started_at, s.id)) if counts(s) for a in _tries(s, question_id)]
    return tuple(made)


def compare(before: Attempt, after: Attempt) -> AttemptDiff:
    """Compare two attempts at one question."""
    old, new = ({row.criterion: row for row in a.levels} for a in (before, after))
    rows = []
    for criterion in dict.fromkeys((*old, *new)):
        a, b = old.get(criterion), new.get(criterion)
        both = a is not None and b is not None
        rows.append(
            LevelChange(
                criterion=criterion,
                before=a,
                after=b,
                change=round(b.expected - a.expected, 3) if a is not None and b is not None else None,
                clear=both and (a.high < b.low or b.high < a.low),  # type: ignore[union-attr] # both are there
            )
        )
    names = (("first", before), ("second", after))
    remarks = [f"The {name} had {a.hints} hint(s): its levels can prove less." for name, a in names if a.hints]
    remarks += [
        f"The {name} is another try within one session: its levels can prove less." for name, a in names if a.retry
    ]
    remarks += [f"The {name} was not scored: {a.unscored}" for name, a in names if a.unscored]
    if before.mode != after.mode:
        remarks.append(f"The first was held in {before.mode} mode, the second in {after.mode} mode.")
    return AttemptDiff(before=before, after=after, levels=tuple(rows), remarks=tuple(remarks))


def _read(each: Sitting) -> bool:
    return any(m.level is not None for m in each.marks)


def _tries(state: SessionState, question_id: str) -> list[Attempt]:
    again = {t.number for t in state.retries.values()}
    groups: list[list[Turn]] = []
    for turn in state.on_question(question_id):
        if turn.answer is None:
            continue
        if not groups or turn.number in again:
            groups.append([])
        groups[-1].append(turn)
    return [_attempt(state, question_id, turns, earlier) for earlier, turns in enumerate(groups)]


def _attempt(state: SessionState, question_id: str, turns: Sequence[Turn], earlier: int) -> Attempt:
    hints = max((h.rung for h in state.hints if h.question_id == question_id and h.turn <= turns[-1].number), default=0)
    results = [t.result for t in turns]
    read = next((r for r in reversed(results) if isinstance(r, Assessment)), None)
    missing = next((r.detail for r in reversed(results) if isinstance(r, Unscored)), "it is not read yet")
    levels = []
    for found in read.criteria if read else ():
        kept = capped(found, min(3, hints + earlier))
        mean, low, high = interval(kept.probabilities)
        levels.append(
            AttemptLevel(
                criterion=kept.criterion, level=kept.level, expected=mean, low=low, high=high, quotes=kept.evidence
            )
        )
    return Attempt(
        session_id=state.id,
        at=state.started_at,
        mode=state.started.mode,
        origin=state.started.origin,
        turns=tuple(t.number for t in turns),
        asked=tuple(t.question.text for t in turns if t.question),
        answers=tuple(t.answer.text for t in turns if t.answer),
        hints=hints,
        retry=earlier > 0,
        levels=tuple(levels),
        unscored=None if read else missing,
    )
