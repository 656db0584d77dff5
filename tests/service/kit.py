"""Sessions put together with doubles, for tests of the service and of what lies around it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from interviewer.adapters.documents import load_library
from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.library import Library
from interviewer.core.prompts import Message
from interviewer.core.session import SessionState, fold
from interviewer.service.deps import Deps, Limits
from interviewer.service.frames import Committed, Delta, Failed, Frame, Progress
from interviewer.service.interview import Interview
from interviewer.service.judging import Judging
from interviewer.service.ports import ChatModel, Clock, EventStore, Judge, SessionRow, StoreError
from interviewer.service.sessions import Sessions
from interviewer.testing import FakeClock, ScriptedJudge, ScriptedModel, sequential_ids, words_count

E = TypeVar("E")

ANSWER = (
    "We held p99 latency at 800 ms at batch 8 because the tail decides for the user. "
    "I gave up 15 percent of throughput for it."
)
SECONDS = 30.0
"""Longest wait for anything that should come."""


@cache
def library() -> Library:
    """Load the documents that ship, once for the whole run."""
    return load_library()


def any_language(_: str) -> bool:
    """Take every text for English."""
    return True


def deps(
    store: EventStore,
    model: ChatModel | None = None,
    judge: Judge | None = None,
    *,
    clock: Clock | None = None,
    limits: Limits | None = None,
    english: Callable[[str], bool] = any_language,
    judge_seconds: float = 20.0,
    **changes: Any,
) -> Deps:
    """Return collaborators: real documents and store, everything else a double."""
    made = Deps(
        library=library(),
        store=store,
        model=model or ScriptedModel(),
        judging=Judging(judge or ScriptedJudge(1), words_count, english, seconds=judge_seconds),
        clock=clock or FakeClock(),
        new_id=sequential_ids(),
        count=words_count,
        limits=limits or Limits(),
    )
    return replace(made, **changes)


class Desk:
    """One session that is loaded, and all that it told its reader."""

    def __init__(self, state: SessionState, given: Deps) -> None:
        self.deps = given
        self.frames: list[Frame] = []
        self.interview = Interview(state, given, self.frames.append)

    @property
    def state(self) -> SessionState:
        return self.interview.state

    @property
    def stages(self) -> list[str]:
        return [f.stage for f in self.frames if isinstance(f, Progress)]

    @property
    def failures(self) -> list[str]:
        return [f.code for f in self.frames if isinstance(f, Failed)]

    def question(self, turn: int) -> ev.QuestionAsked:
        found = self.state.turns[turn - 1].question
        assert found is not None
        return found

    def streamed(self, turn: int) -> str:
        """Put the pieces of a question together by their offsets."""
        text = ""
        for frame in self.frames:
            if isinstance(frame, Delta) and frame.turn == turn:
                text = text[: frame.offset] + frame.text
        return text

    def committed(self, kind: type[E]) -> list[E]:
        return [
            f.recorded.event for f in self.frames if isinstance(f, Committed) and isinstance(f.recorded.event, kind)
        ]

    async def settle(self) -> Desk:
        self.interview.resume()
        async with asyncio.timeout(SECONDS):
            await self.interview.settled()
        return self

    async def answer(self, text: str = ANSWER, msg_id: str | None = None) -> None:
        """Answer the question that was asked and wait for the next one."""
        await self.interview.answer(msg_id or f"m{len(self.state.turns)}", text)
        async with asyncio.timeout(SECONDS):
            await self.interview.settled()

    async def log(self) -> list[ev.Event]:
        return [r.event for r in await self.deps.store.load(self.state.id)]


async def begin(given: Deps, *, persona: str = "deep_dive", seed: int = 3, minutes: int = 20, **fields: Any) -> Desk:
    """Create a session and hear its first question."""
    session_id, _ = await Sessions(given).create(persona=persona, seed=seed, minutes=minutes, **fields)
    return await load(given, session_id)


async def load(given: Deps, session_id: str) -> Desk:
    """Load a stored session as after a restart, and let it go on."""
    return await Desk(fold(await given.store.load(session_id)), given).settle()


async def eventually(true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(SECONDS):
        while not true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.001)


def kinds(events: Sequence[ev.Event]) -> list[str]:
    """Return the names of events, in order."""
    return [event.type for event in events]


class FlakyStore(SqlEventStore):
    """The real store, with appends that fail when told: before anything is written, as the port promises."""

    fail_at: frozenset[int] = frozenset()
    """Numbers of the appends that fail, counted from 1."""
    appends = 0
    hold: asyncio.Event | None = None
    """While there is one that is not set, appends wait for it."""
    broken = False
    """Whether nothing can be read or created either."""

    def _check(self) -> None:
        if self.broken:
            raise StoreError("the disk is full")

    async def ping(self) -> None:
        self._check()
        await super().ping()

    async def row(self, session_id: str) -> SessionRow:
        self._check()
        return await super().row(session_id)

    async def create(
        self,
        session_id: str,
        at: datetime,
        events: Sequence[ev.Event],
        *,
        token_hash: str,
        loop_id: str | None = None,
        owner: str = "",
    ) -> list[ev.Recorded]:
        self._check()
        return await super().create(session_id, at, events, token_hash=token_hash, loop_id=loop_id, owner=owner)

    async def append(
        self, session_id: str, at: datetime, events: Sequence[ev.Event], *, expected_seq: int
    ) -> list[ev.Recorded]:
        self.appends += 1
        number = self.appends
        if self.hold is not None:
            await self.hold.wait()
        if number in self.fail_at:
            raise StoreError("the disk is full")
        return await super().append(session_id, at, events, expected_seq=expected_seq)


class Saying:
    """A chat model that makes its turn from the probe it is given; may break or hang after having said it."""

    def __init__(
        self, say: Callable[[str], str], *, then: Exception | None = None, hang: bool = False, pieces: int = 0
    ) -> None:
        """Say ``say(probe)`` word by word, or ``pieces`` characters at a time; then raise ``then``, hang or end."""
        self._say = say
        self._then = then
        self._hang = hang
        self._pieces = pieces
        self.closed = 0
        """How many streams were ended, whatever way."""

    async def stream(
        self, model: str, messages: Sequence[Message], *, max_tokens: int, temperature: float, seed: int
    ) -> AsyncGenerator[str, None]:
        probe = messages[-1]["content"].splitlines()[-1].partition(": ")[2]
        text = self._say(probe)
        size = self._pieces
        cut = [text[i : i + size] for i in range(0, len(text), size)] if size else re.findall(r"\S+\s*|\s+", text)
        try:
            for piece in cut:
                await asyncio.sleep(0)
                yield piece
            if self._hang:
                await asyncio.Event().wait()
            if self._then is not None:
                raise self._then
        finally:
            self.closed += 1


def lower(text: str) -> str:
    """Return ``text`` as the end of a longer sentence."""
    return text[:1].lower() + text[1:]
