"""Imports a transcript as a session: everything is stored first, then read answer by answer in the background.

Invariant: what was sent is in the log before any of it is judged; judging that was cut short goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Sequence
from typing import Literal

from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, Frozen
from interviewer.core.reading import Said, specs
from interviewer.core.rubric import Question, Rubric, SeniorityLevel
from interviewer.core.session import SessionState, evolve
from interviewer.core.text import overlap
from interviewer.core.transcript import (
    Exchange,
    Transcript,
    TranscriptError,
    Unplaced,
    exchanges,
    parse_json,
    parse_text,
)
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.ports import ConcurrentAppend, StoreError, UnknownSession
from interviewer.service.sessions import Sessions, hash_token

_log = logging.getLogger(__name__)

MAX_TRANSCRIPT = 2 * 1024 * 1024
"""Characters of one transcript."""
SAME_QUESTION = 0.5
"""Overlap of content words from which an asked question is taken for one of the rubric."""


class Imported(Frozen):
    """What became of a transcript."""

    id: str
    token: str
    turns: int
    unplaced: tuple[Unplaced, ...]


class Imports:
    """Takes transcripts in and reads them."""

    def __init__(self, deps: Deps, sessions: Sessions) -> None:
        """Keep the collaborators."""
        self._deps = deps
        self._sessions = sessions
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def take(
        self,
        content: str,
        *,
        format: Literal["text", "json"],
        rubric: str,
        persona: str | None = None,
        level: SeniorityLevel = "mid",
        candidate: str | None = None,
    ) -> Imported:
        """Store a transcript as a session and start to read it.

        Raises:
            Refused: too large, not readable as a transcript, no answers in it, or unknown rubric or persona.
        """
        if len(content) > MAX_TRANSCRIPT:
            raise Refused("transcript_too_large", f"{len(content)} characters; at most {MAX_TRANSCRIPT} are taken.")
        if "\x00" in content:
            raise Refused("bad_transcript", "This looks like a binary file; send text.")
        try:
            parsed: Transcript = (parse_json if format == "json" else parse_text)(content, candidate)
        except TranscriptError as error:
            raise Refused("bad_transcript", str(error)) from error
        pairs = exchanges(parsed)
        if not pairs:
            raise Refused("bad_transcript", "The candidate says nothing in this transcript.")
        round_ = self._deps.library.rubrics.get(rubric)
        if round_ is None:
            known = ", ".join(self._deps.library.rubrics)
            raise Refused("unknown_rubric", f"There is no rubric {rubric!r}; there are: {known}.")
        who, round_ = self._sessions.documents(persona or round_.persona, rubric)
        token = secrets.token_urlsafe(24)
        session_id = self._deps.new_id()
        started = ev.SessionStarted(
            persona=who.id,
            rubric=round_.id,
            level=level,
            mode="practice",
            minutes=round_.minutes,
            seed=int(hashlib.sha256(content.encode()).hexdigest()[:7], 16),
            origin="imported",
            versions=self._sessions.versions(who, round_),
        )
        events = [started, *_turns(pairs, round_, who.id, level)]
        await self._deps.store.create(session_id, self._deps.clock.now(), events, token_hash=hash_token(token))
        self.read(session_id)
        return Imported(id=session_id, token=token, turns=len(pairs), unplaced=parsed.unplaced)

    def read(self, session_id: str) -> None:
        """Start, or go on with, reading an imported session in the background."""
        task = self._tasks.get(session_id)
        if task is None or task.done():
            self._tasks[session_id] = asyncio.create_task(self._read(session_id), name=f"import-{session_id}")

    async def settled(self, session_id: str) -> None:
        """Wait until an import was read."""
        if session_id in self._tasks:
            await asyncio.wait([self._tasks[session_id]])

    async def stop(self) -> None:
        """Stop reading; it goes on when the session is next looked at."""
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())

    def forget(self, session_id: str) -> None:
        """Stop reading a session that is being deleted."""
        task = self._tasks.pop(session_id, None)
        if task is not None:
            task.cancel()

    async def _read(self, session_id: str) -> None:
        try:
            state = await self._sessions.state(session_id)
            rubric = self._deps.library.rubrics[state.started.rubric]
            for turn in state.turns:
                if turn.answer and turn.result is None:
                    state = await self._append(state, await self._assess(state, turn.number, rubric))
            if state.ended is None:
                await self._append(state, ev.SessionEnded(reason="imported"))
        except UnknownSession:
            _log.info("session %s was deleted while it was read", session_id)
        except (StoreError, ConcurrentAppend) as error:
            _log.warning("reading of session %s stopped and goes on when it is next opened: %s", session_id, error)

    async def _assess(self, state: SessionState, number: int, rubric: Rubric) -> ev.Event:
        turn = next(t for t in state.turns if t.number == number)
        question = rubric.question(turn.question_id or "")
        earlier = [t for t in state.on_question(turn.question_id or "") if t.number <= number]
        said = [Said(turn=t.number, text=t.answer.text) for t in earlier if t.answer]
        names = [t.criterion for t in question.targets] if question else list(rubric.must_ask)
        asked = turn.question.text if turn.question else ""
        result = await self._deps.judging.assess(asked, said, specs(self._deps.library.vocabulary, names))
        if isinstance(result, Assessment):
            return ev.AnswerAssessed(turn=number, assessment=result)
        return ev.AnswerUnscored(turn=number, reason=result.reason, detail=result.detail, notices=result.notices)

    async def _append(self, state: SessionState, event: ev.Event) -> SessionState:
        for recorded in await self._deps.store.append(
            state.id, self._deps.clock.now(), [event], expected_seq=state.seq
        ):
            state = evolve(state, recorded)
        return state


def progress(state: SessionState) -> dict[str, int]:
    """Return how many of the answers were read."""
    answered = [t for t in state.turns if t.answer]
    return {"assessed": sum(t.result is not None for t in answered), "total": len(answered)}


def _turns(pairs: Sequence[Exchange], rubric: Rubric, persona: str, level: SeniorityLevel) -> list[ev.Event]:
    events: list[ev.Event] = []
    for number, pair in enumerate(pairs, 1):
        question = _closest(pair.question, rubric, level)
        events += [
            ev.ProbeChosen(
                turn=number,
                question_id=question.id if question else f"imported-{number}",
                probe=pair.question or "(the answer came without a question)",
                reason=f"Imported; closest to {question.id}."
                if question
                else "Imported; no question of the rubric is close.",
                elapsed=round((number - 1) / len(pairs), 4),
            ),
            ev.QuestionAsked(turn=number, text=pair.question, source="imported", persona=persona),
            ev.AnswerGiven(turn=number, msg_id=f"imported-{number}", text=pair.answer),
        ]
    return events


def _closest(asked: str, rubric: Rubric, level: SeniorityLevel) -> Question | None:
    scored = [
        (max(overlap(asked, question.text), overlap(asked, question.wording(level))), question)
        for question in rubric.questions
    ]
    best, question = max(scored, key=lambda pair: pair[0])
    return question if best >= SAME_QUESTION and len(asked.split()) >= 4 else None
