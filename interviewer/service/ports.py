"""What the service needs from the world, as Protocols. Adapters implement them; tests pass doubles."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Protocol

from interviewer.core.assessment import Frozen
from interviewer.core.code import CodeCheck
from interviewer.core.events import Event, Origin, Recorded
from interviewer.core.prompts import Message
from interviewer.core.reading import CriterionSpec, RawReading, Window
from interviewer.core.rubric import CodeTask


class ModelError(Exception):
    """The model endpoint did not give usable text: unreachable, timed out, refused, or broken."""


class JudgeError(Exception):
    """The judge did not give a usable reading."""


class JudgeTimeout(JudgeError):
    """The judge took longer than allowed."""


class JudgeInvalid(JudgeError):
    """The judge answered something that is not a reading."""


class JudgeRefused(JudgeInvalid):
    """The model, or a filter before it, declined to read the answer."""


class NotRun(Exception):
    """Code was not run; the message says why in words that may be shown."""


class UnknownSession(LookupError):
    """There is no session with that id."""


class ConcurrentAppend(Exception):
    """Somebody else appended to the session first; load the new events and decide again."""


class StoreError(Exception):
    """The store could not take or give data (disk full, read-only, connection lost); nothing was applied."""


class ChatModel(Protocol):
    """Streams chat completions; one served name per adapter."""

    def stream(
        self, model: str, messages: Sequence[Message], *, max_tokens: int, temperature: float, seed: int
    ) -> AsyncGenerator[str, None]:
        """Yield pieces of text as they are generated; closing the iterator cancels the generation.

        Raises:
            ModelError: at any point.
        """
        ...


class Stamp(Frozen):
    """What a score is stamped with; ``none`` where a judge has no such part."""

    model: str
    adapter: str = "none"
    calibration: str = "none"


class Judge(Protocol):
    """Reads levels and evidence from one window of an answer, all criteria in one pass."""

    @property
    def identity(self) -> str:
        """Kind, model, adapter hash and calibration version, as one string."""
        ...

    @property
    def stamp(self) -> Stamp:
        """The same by parts."""
        ...

    @property
    def budget(self) -> int:
        """Most tokens of a rendered window, question included."""
        ...

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        """Return one reading per criterion, in order.

        Raises:
            JudgeError: no usable reading.
        """
        ...


class CodeRunner(Protocol):
    """Runs a candidate's code where it can do no harm."""

    def prepare(self) -> None:
        """Get ready while the candidate thinks; returns at once."""
        ...

    async def run(self, task: CodeTask, code: str) -> Sequence[CodeCheck]:
        """Return what was seen when it ran.

        Raises:
            NotRun: it could not be run.
        """
        ...

    async def close(self) -> None:
        """End what is ready."""
        ...


class SessionRow(Frozen):
    """What a list of sessions shows."""

    id: str
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """UTC; time of the last event."""
    persona: str
    rubric: str
    level: str
    mode: str
    origin: Origin
    parent: str | None
    loop_id: str | None
    seq: int
    """Number of events."""
    ended: bool


class EventStore(Protocol):
    """Append-only event logs with optimistic concurrency. Every method is a short transaction of its own."""

    async def create(
        self,
        session_id: str,
        at: datetime,
        events: Sequence[Event],
        *,
        token_hash: str,
        loop_id: str | None = None,
        owner: str = "",
    ) -> list[Recorded]:
        """Start a log whose first event is ``session_started``; its events get seq 1, 2, ...

        ``owner`` is whose session it is, empty where the service runs without accounts.

        Raises:
            ConcurrentAppend: the id is taken.
            StoreError: nothing was stored.
        """
        ...

    async def restore(self, recorded: Sequence[Recorded], *, token_hash: str, owner: str = "") -> None:
        """Store a whole log of one session as it is, seq and times included.

        Raises:
            ConcurrentAppend: the id is taken.
            StoreError: nothing was stored.
        """
        ...

    async def append(
        self, session_id: str, at: datetime, events: Sequence[Event], *, expected_seq: int
    ) -> list[Recorded]:
        """Append all events after ``expected_seq`` or none.

        Raises:
            UnknownSession: no such session.
            ConcurrentAppend: the log has another length.
            StoreError: nothing was stored.
        """
        ...

    async def load(self, session_id: str, after: int = 0) -> list[Recorded]:
        """Return the events with ``seq > after`` in order.

        Raises:
            UnknownSession: no such session.
            StoreError: the store cannot be read.
        """
        ...

    async def row(self, session_id: str) -> SessionRow:
        """Return the summary of one session.

        Raises:
            UnknownSession: no such session.
        """
        ...

    async def rows(
        self,
        *,
        limit: int = 50,
        before: datetime | None = None,
        loop_id: str | None = None,
        owner: str | None = None,
    ) -> list[SessionRow]:
        """Return sessions, newest first; ``before`` pages on ``created_at``, ``owner=None`` is everybody."""
        ...

    async def owner(self, session_id: str) -> str:
        """Return whose session it is; empty for nobody's.

        Raises:
            UnknownSession: no such session.
        """
        ...

    async def loop_owner(self, loop_id: str) -> str | None:
        """Return whose loop it is; ``None`` when there is none."""
        ...

    async def spend_token(self, session_id: str, token_hash: str) -> bool:
        """Make the session's token void if it is this one; of several callers at once one gets True."""
        ...

    async def purge(self, before: datetime) -> int:
        """Delete every session that nothing was added to since a moment, really; returns how many.

        Raises:
            StoreError: nothing was deleted.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a session, its replays (which repeat its words) and all their events, really and at once.

        Raises:
            UnknownSession: no such session.
            StoreError: nothing was deleted.
        """
        ...

    async def replays(self, session_id: str) -> list[str]:
        """Return the ids of all replays of a session, replays of replays included; none of an unknown session."""
        ...

    async def token_hash(self, session_id: str) -> str:
        """Return the hash of the session's current token.

        Raises:
            UnknownSession: no such session.
        """
        ...

    async def set_token_hash(self, session_id: str, token_hash: str) -> None:
        """Replace the session's token.

        Raises:
            UnknownSession: no such session.
        """
        ...

    async def ids(self, owner: str | None = None) -> list[tuple[str, int]]:
        """Return the id and the number of events of every session, oldest first; ``None`` is everybody's."""
        ...

    async def delete_all(self, owner: str | None = None) -> int:
        """Delete all sessions and loops of somebody, or of everybody, really; returns the number of sessions.

        Raises:
            StoreError: nothing was deleted.
        """
        ...

    async def create_loop(self, loop_id: str, at: datetime, level: str, owner: str = "") -> None:
        """Store a loop; its rounds are sessions created with its id."""
        ...

    async def loop_exists(self, loop_id: str) -> bool:
        """Return whether a loop with that id was created."""
        ...

    async def ping(self) -> None:
        """Write something trivial.

        Raises:
            StoreError: the store is not usable, or cannot be written.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the current time, UTC, timezone-aware."""
        ...


class NewId(Protocol):
    """Makes identifiers."""

    def __call__(self) -> str:
        """Return a new, unguessable id of URL-safe characters."""
        ...
