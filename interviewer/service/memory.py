"""All sessions of one candidate together: progress, attempts at a question, export, and deleting everything.

Invariant: with accounts, nobody's sessions but the caller's are read, written out or deleted.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Literal, TypeAlias

from interviewer.core.assessment import Frozen
from interviewer.core.debrief_rows import Debrief
from interviewer.core.events import Recorded
from interviewer.core.progress import (
    Attempt,
    AttemptDiff,
    CriterionLine,
    FlagLine,
    Sitting,
    attempts,
    compare,
    counts,
    criterion_lines,
    flag_lines,
    in_order,
    interval,
    sitting,
)
from interviewer.core.render import report_markdown
from interviewer.core.rubric import Question
from interviewer.core.session import SessionState
from interviewer.core.spacing import Suggestion, suggestions
from interviewer.core.transcript import of_session, to_markdown
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.importing import Imports
from interviewer.service.ports import UnknownSession
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions

Format: TypeAlias = Literal["json", "markdown", "csv"]
Allowed: TypeAlias = Callable[[SessionState, Recorded], Recorded | None]
KEPT = 2000
"""Sessions whose levels stay in memory; they hold no words of the candidate."""
COLUMNS = (
    *("session", "started", "round", "mode", "origin", "parent", "ended", "criterion"),
    *("level", "expected", "low", "high", "confidence", "hints"),
)


class Progress(Frozen):
    """Levels over time, flags and what to do next."""

    now: datetime
    """UTC; what the suggestions are due against."""
    sessions: int
    """How many sessions it rests on."""
    criteria: tuple[CriterionLine, ...]
    flags: tuple[FlagLine, ...]
    suggestions: tuple[Suggestion, ...]
    repeated: tuple[str, ...]
    """Questions with attempts in more than one session, which can be compared."""


class Attempts(Frozen):
    """All attempts at one question, oldest first."""

    question: str
    text: str
    attempts: tuple[Attempt, ...]
    comparison: AttemptDiff | None
    """The two that were asked for, or the last two; ``None`` with fewer than two."""


class Memory:
    """What is known over all sessions."""

    def __init__(self, deps: Deps, sessions: Sessions, imports: Imports, replays: Replays) -> None:
        """Keep the collaborators."""
        self._deps, self._sessions, self._imports, self._replays = deps, sessions, imports, replays
        self._known: OrderedDict[tuple[str, int], Sitting] = OrderedDict()

    async def progress(self, owner: str | None) -> Progress:
        """Return the progress of ``owner``; ``None`` is everybody's, where there are no accounts."""
        found = []
        for session_id, seq in await self._deps.store.ids(owner):
            known = self._known.get((session_id, seq))
            if known is None:
                state = await self._state(session_id)
                known = await asyncio.to_thread(self._sitting, state) if state else None
                if known is None or state is None:
                    continue
                self._known[session_id, state.seq] = known
                if len(self._known) > KEPT:
                    self._known.popitem(last=False)
            found.append(known)
        library, now = self._deps.library, self._deps.clock.now()
        seen: dict[str, int] = {}
        for question in (q for s in found for q in s.questions):
            seen[question] = seen.get(question, 0) + 1
        return Progress(
            now=now,
            sessions=len(in_order(found)),
            criteria=criterion_lines(found),
            flags=flag_lines(found),
            suggestions=suggestions(found, library.rubrics, library.drills, now),
            repeated=tuple(q for q, n in seen.items() if n > 1 and self._question(q)),
        )

    async def attempts(
        self, question_id: str, owner: str | None, first: int | None = None, second: int | None = None
    ) -> Attempts:
        """Return all attempts at a question and the comparison of two of them, by their numbers from 1.

        Without numbers the last two are compared; with one, it and the last, or the last and the one before it.

        Raises:
            Refused: no such question or attempt.
        """
        question = self._question(question_id)
        if question is None:
            raise Refused("unknown_question", "There is no such question; see: interviewer questions")
        states = [s for i, _ in await self._deps.store.ids(owner) if (s := await self._state(i)) is not None]
        made = attempts(states, question_id)
        a, b = _pair(len(made), first, second)
        if max(a, b) > len(made) and (first or second):
            raise Refused("unknown_attempt", f"There are {len(made)} attempts at {question_id!r}.")
        pair = compare(made[a - 1], made[b - 1]) if a != b and len(made) > 1 else None
        return Attempts(question=question_id, text=question.text, attempts=made, comparison=pair)

    async def export(self, format_: Format, owner: str | None, allowed: Allowed) -> AsyncIterator[str]:
        """Yield everything, a session at a time, oldest first; ``allowed`` is what may be seen of a running one."""
        if format_ == "csv":
            yield _csv(COLUMNS)
        for session_id, _ in await self._deps.store.ids(owner):
            state = await self._state(session_id)
            if state is None:
                continue
            packet = await asyncio.to_thread(self._packet, state)
            if format_ == "csv":
                yield "".join(_csv(row) for row in _rows(state, packet))
            elif format_ == "markdown":
                report = report_markdown(packet) if packet else "There is no report.\n"
                yield f"{to_markdown(of_session(state), f'Interview {session_id}')}\n\n{report}\n\n"
            else:
                log = [r for each in await self._log(session_id) if (r := allowed(state, each))]
                line = {
                    "session": session_id,
                    "events": [r.model_dump(mode="json") for r in log],
                    "report": packet.model_dump(mode="json") if packet else None,
                }
                yield f"{json.dumps(line, ensure_ascii=False)}\n"

    async def delete_everything(self, owner: str | None) -> int:
        """Stop and delete all sessions and loops of ``owner``, really; returns the number of sessions.

        Raises:
            StoreError: nothing was deleted.
        """
        for session_id, _ in await self._deps.store.ids(owner):
            self._imports.forget(session_id)
            await self._sessions.drop(session_id)
        gone = await self._deps.store.delete_all(owner)
        self._known.clear()
        return gone

    def _question(self, question_id: str) -> Question | None:
        rounds = self._deps.library.rubrics.values()
        return next((q for r in rounds if (q := r.question(question_id)) is not None), None)

    def _sitting(self, state: SessionState) -> Sitting | None:
        packet = self._packet(state) if counts(state) else None
        return sitting(state, packet) if packet else None

    def _packet(self, state: SessionState) -> Debrief | None:
        """Return the report; ``None`` where it may not be seen yet or its rubric is gone."""
        if state.started.mode == "real" and state.ended is None:
            return None
        try:
            return self._replays.packet(state)
        except Refused:
            return None

    async def _state(self, session_id: str) -> SessionState | None:
        try:
            return await self._sessions.state(session_id)
        except UnknownSession:  # deleted in the meantime
            return None

    async def _log(self, session_id: str) -> list[Recorded]:
        try:
            return await self._deps.store.load(session_id)
        except UnknownSession:
            return []


def _pair(made: int, first: int | None, second: int | None) -> tuple[int, int]:
    """Return which two of ``made`` attempts are compared."""
    if first and second:
        return first, second
    one = first or second or made
    return (one, made) if one < made else (max(1, made - 1), one)


def _rows(state: SessionState, packet: Debrief | None) -> list[tuple[object, ...]]:
    first = state.started
    head = (state.id, state.started_at.isoformat(), first.rubric, first.mode, first.origin, first.parent or "")
    rows: list[tuple[object, ...]] = []
    for row in packet.criteria if packet else ():
        numbers = interval(row.probabilities) if row.probabilities else ("", "", "")
        level, sure = ("" if value is None else value for value in (row.level, row.confidence))
        rows.append((*head, state.ended is not None, row.criterion, level, *numbers, sure, row.hints))
    return rows


def _csv(row: tuple[object, ...]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(row)
    return out.getvalue()
