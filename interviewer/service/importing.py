"""Imports a transcript as a session: everything is stored first, then read answer by answer in the background.

Invariant: what was sent is in the log before any of it is judged; judging that was cut short goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import secrets
from collections.abc import Sequence
from typing import Literal, TypeAlias

from interviewer.core import events as ev
from interviewer.core.assessment import Frozen
from interviewer.core.intake import FORMATS, MAX_ANSWERS, MAX_SPOKEN, MAX_TRANSCRIPT, detect, read
from interviewer.core.reading import Said, specs
from interviewer.core.rubric import Question, Rubric, SeniorityLevel
from interviewer.core.session import SessionState, evolve
from interviewer.core.speakers import SpeakersUnclear
from interviewer.core.text import content_words
from interviewer.core.transcript import Transcript, TranscriptError, Unplaced, exchanges, last_words
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.ports import ConcurrentAppend, StoreError, UnknownSession
from interviewer.service.sessions import Sessions, hash_token
from interviewer.service.turns import reading

_log = logging.getLogger(__name__)

SAME_QUESTION = 0.5
"""Overlap of content words from which an asked question is taken for one of the rubric."""
FAREWELL = "The interviewer's last words: "
"""Start of the notice that keeps them until the import is read and the session ends with them."""

Known: TypeAlias = Sequence[tuple[Sequence[set[str]], Question]]
"""The rubric's questions with the content words of their wordings."""
Format: TypeAlias = Literal["auto", "text", "markdown", "json", "vtt", "srt"]


LANGUAGE_SAMPLE = 4000
"""Characters of the answers from which the language is told."""
NOT_ENGLISH = (
    "The answers do not seem to be in English. The judge is only fit for English: the transcript can be replayed, "
    "but no answer of another language is assessed."
)


class Imported(Frozen):
    """What became of a transcript."""

    id: str
    token: str
    turns: int
    unplaced: tuple[Unplaced, ...]
    notices: tuple[str, ...] = ()
    repeated: bool = False
    """True when the same content was imported before with the same parameters: this is that session."""


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
        format: Format = "auto",
        rubric: str,
        persona: str | None = None,
        level: SeniorityLevel = "mid",
        candidate: str | None = None,
        owner: str = "",
    ) -> Imported:
        """Store a transcript as a session and start to read it; the same one again from its owner is the same session.

        Args:
            content: The file's text.
            format: What it is; ``auto`` looks.
            rubric: Round whose questions and criteria are used.
            persona: Who asked; the round's own by default.
            level: What the answers are held against.
            candidate: Name of the candidate, when the labels do not say who it is.
            owner: Whose session it is; nobody learns that somebody else imported the same.

        Raises:
            Refused: too large, not readable as a transcript, unclear who the candidate is (``speakers_unclear``), no
                answers in it, or unknown rubric or persona.
        """
        round_ = self._deps.library.rubrics.get(rubric)
        if round_ is None:
            known = ", ".join(self._deps.library.rubrics)
            raise Refused("unknown_rubric", f"There is no rubric {rubric!r}; there are: {known}.")
        who, round_ = self._sessions.documents(persona or round_.persona, rubric)
        if (size := len(content.encode(errors="replace"))) > MAX_TRANSCRIPT:
            raise Refused("transcript_too_large", f"{size} bytes as UTF-8; at most {MAX_TRANSCRIPT} are taken.")
        try:
            # Megabytes take a while; others are served meanwhile.
            parsed = await asyncio.to_thread(read, content, format, candidate)
        except SpeakersUnclear as error:
            raise Refused(error.code, str(error), choices=error.names) from error
        except TranscriptError as error:
            raise Refused(error.code, str(error)) from error
        turns = await asyncio.to_thread(_turns, parsed, round_, who.id, level)
        said = [event.text for event in turns if isinstance(event, ev.AnswerGiven)]
        answers, spoken = len(said), sum(map(len, said))
        if answers > MAX_ANSWERS or spoken > MAX_SPOKEN:
            raise Refused(
                "transcript_too_large",
                f"The candidate gives {answers} answers of {spoken} characters in all; at most {MAX_ANSWERS} and "
                f"{MAX_SPOKEN} are taken. Import one interview at a time, and see that the speakers are labelled.",
            )
        if not answers:
            raise Refused("bad_transcript", "The candidate says nothing in this transcript.")
        notices = parsed.notices
        if not await self._deps.judging.fit_for(" ".join(said)[:LANGUAGE_SAMPLE]):
            notices += (NOT_ENGLISH,)
        how = detect(content) if format == "auto" else FORMATS[format]
        whose = (owner,) if owner else ()
        digest = _digest(content.lstrip("\ufeff"), how, round_.id, who.id, level, candidate or "", *whose)
        session_id, token = digest[:16], secrets.token_urlsafe(24)
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
        repeated = False
        try:
            await self._deps.store.create(
                session_id, self._deps.clock.now(), [started, *turns], token_hash=hash_token(token), owner=owner
            )
        except ConcurrentAppend:  # the id is taken, and it is made from the content
            token, repeated = await self._sessions.new_token(session_id), True
        self.read(session_id)
        return Imported(
            id=session_id,
            token=token,
            turns=answers,
            unplaced=parsed.unplaced,
            notices=notices,
            repeated=repeated,
        )

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
                last = next((n.message for n in state.notices if n.code == "last_words"), "")
                await self._append(state, ev.SessionEnded(reason="imported", farewell=last.removeprefix(FAREWELL)))
        except UnknownSession:
            _log.info("session %s was deleted while it was read", session_id)
        except (StoreError, ConcurrentAppend) as error:
            _log.warning("reading of session %s stopped and goes on when it is next opened: %s", session_id, error)

    async def _assess(self, state: SessionState, number: int, rubric: Rubric) -> ev.Event:
        turn = next(t for t in state.turns if t.number == number)
        earlier = [t for t in state.on_question(turn.question_id or "") if t.number <= number]
        said = [Said(turn=t.number, text=t.answer.text) for t in earlier if t.answer]
        asked = turn.question.text if turn.question else ""
        criteria = specs(self._deps.library.vocabulary, rubric.read_on(turn.question_id))
        return reading(number, await self._deps.judging.assess(asked, said, criteria))

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


def _digest(*parts: str) -> str:
    """Return a URL-safe name of the parts; 16 characters of it are 96 bits, as in any session's id."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode() + part.encode())
    return base64.urlsafe_b64encode(digest.digest()).decode()


def _turns(transcript: Transcript, rubric: Rubric, persona: str, level: SeniorityLevel) -> list[ev.Event]:
    """Return the events of what was said; last words that ask nothing are kept for the farewell."""
    events: list[ev.Event] = []
    pairs, last = exchanges(transcript), last_words(transcript)
    known = [([content_words(q.text), content_words(q.wording(level))], q) for q in rubric.questions]
    length = max((line.start or 0.0 for line in transcript.lines), default=0.0)
    for number, pair in enumerate(pairs, 1):
        share = (pair.asked_at or pair.answered_at or 0.0) / length if length else (number - 1) / len(pairs)
        events += _asked(number, pair.question, pair.asked_at, share, known, persona)
        events.append(
            ev.AnswerGiven(turn=number, msg_id=f"imported-{number}", text=pair.answer, start=pair.answered_at)
        )
    if pairs and last and (last[0].turn or "?" in last[0].text):
        events += _asked(len(pairs) + 1, last[0].text, last[0].start, 1.0, known, persona)
        last = last[1:]
    if pairs and last:
        events.append(ev.SessionNotice(code="last_words", message=FAREWELL + "\n".join(line.text for line in last)))
    return events


def _asked(turn: int, text: str, start: float | None, elapsed: float, known: Known, persona: str) -> list[ev.Event]:
    question = _closest(text, known)
    reason = f"Imported; closest to {question.id}." if question else "Imported; no question of the rubric is close."
    return [
        ev.ProbeChosen(
            turn=turn,
            question_id=question.id if question else f"imported-{turn}",
            probe=text or "(the answer came without a question)",
            reason=reason,
            elapsed=round(elapsed, 4),
        ),
        ev.QuestionAsked(turn=turn, text=text, source="imported", persona=persona, start=start),
    ]


def _closest(asked: str, known: Known) -> Question | None:
    words = content_words(asked)
    scored = [(max(_share(words, wording) for wording in wordings), question) for wordings, question in known]
    best, question = max(scored, key=lambda pair: pair[0])
    return question if best >= SAME_QUESTION and len(asked.split()) >= 4 else None


def _share(left: set[str], right: set[str]) -> float:
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0
