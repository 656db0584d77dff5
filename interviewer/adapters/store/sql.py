"""The event store on SQLite or Postgres.

Invariant: every method is one short transaction on a worker thread, never held across an ``await``; when an append
returns, its events are on the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Self

from sqlalchemy import Engine
from sqlmodel import Session

from interviewer.adapters.store import upcast, work
from interviewer.adapters.store.database import Database, Told
from interviewer.adapters.store.engine import connect
from interviewer.adapters.store.migrate import upgrade
from interviewer.adapters.store.rows import number, summary
from interviewer.adapters.store.tables import utc
from interviewer.core.events import Event, Recorded, SessionStarted
from interviewer.service.ports import SessionRow


class SqlEventStore:
    """An :class:`~interviewer.service.ports.EventStore` in a SQL database; errors are those of the port."""

    def __init__(self, engine: Engine, told: Told | None = None) -> None:
        """Use an engine made by :func:`connect` whose tables exist; :meth:`open` is the usual way in."""
        self._db = Database(engine, told)

    @classmethod
    def open(cls, url: str, told: Told | None = None) -> Self:
        """Create or upgrade the tables at ``url`` and return a store on them. Blocks; call it at start-up.

        Args:
            url: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://`` (in memory, gone when closed) or
                ``postgresql://user:password@host/name``.
            told: Hears of every transaction.

        Raises:
            StoreError: the database cannot be reached or written, or is of a newer version.
        """
        engine = connect(url)
        try:
            upgrade(engine)
            store = cls(engine, told)
            store._db.scrub()
        except BaseException:
            engine.dispose()
            raise
        return store

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
        """Start a log whose first event is ``session_started``."""
        started = events[0] if events else None
        if not isinstance(started, SessionStarted):
            raise ValueError("a log starts with session_started")
        recorded = number(session_id, at, events, after=0)
        await self._create(started, recorded, token_hash=token_hash, loop_id=loop_id, owner=owner)
        return recorded

    async def restore(self, recorded: Sequence[Recorded], *, token_hash: str, owner: str = "") -> None:
        """Store a whole log as it is, with the times that it has."""
        log = [record.model_copy(update={"at": utc(record.at)}) for record in recorded]
        started = log[0].event if log else None
        if not isinstance(started, SessionStarted):
            raise ValueError("a log starts with session_started")
        await self._create(started, log, token_hash=token_hash, loop_id=None, owner=owner)

    async def _create(self, started: SessionStarted, recorded: Sequence[Recorded], **row: str | None) -> None:
        fields = started.model_dump(include={"rubric", "level", "mode", "origin", "parent"}) | row
        fields |= {"id": recorded[0].session_id, "created_at": recorded[0].at}
        await self._db.writing(partial(work.create, fields=fields, recorded=recorded))

    async def append(
        self, session_id: str, at: datetime, events: Sequence[Event], *, expected_seq: int
    ) -> list[Recorded]:
        """Append all events after ``expected_seq`` or none; without events it only checks the log's length."""
        _check(session_id)
        recorded = number(session_id, at, events, after=expected_seq)
        unit = partial(work.append, session_id=session_id, expected_seq=expected_seq, recorded=recorded)
        await self._db.writing(unit)
        return recorded

    async def load(self, session_id: str, after: int = 0) -> list[Recorded]:
        """Return the events with ``seq > after`` in order."""
        _check(session_id)

        def load(session: Session) -> list[Recorded]:
            return [
                Recorded(session_id=session_id, seq=r.seq, at=r.at, event=upcast.load(r.type, r.v, r.payload))
                for r in work.events(session, session_id, after)
            ]

        return await self._db.reading(load)

    async def row(self, session_id: str) -> SessionRow:
        """Return the summary of one session."""
        _check(session_id)
        return summary(await self._db.reading(partial(work.get, session_id=session_id)))

    async def rows(
        self,
        *,
        limit: int = 50,
        before: datetime | None = None,
        loop_id: str | None = None,
        owner: str | None = None,
    ) -> list[SessionRow]:
        """Return sessions, newest first; those of the same moment by id, last one first."""
        if limit < 1 or not (loop_id or "").isprintable():
            return []
        until = None if before is None else utc(before)
        unit = partial(work.newest, limit=limit, before=until, loop_id=loop_id, owner=owner)
        return await self._db.reading(unit)

    async def delete(self, session_id: str) -> None:
        """Delete a session, its replays and all their events; on SQLite no trace of their text stays in the file."""
        _check(session_id)
        await self._db.erasing(partial(work.remove, session_id=session_id))

    async def replays(self, session_id: str) -> list[str]:
        """Return the ids of all replays of a session, replays of replays included."""
        _check(session_id)
        return await self._db.reading(partial(work.replays, session_id=session_id))

    async def token_hash(self, session_id: str) -> str:
        """Return the hash of the session's current token."""
        _check(session_id)
        return (await self._db.reading(partial(work.get, session_id=session_id))).token_hash

    async def set_token_hash(self, session_id: str, token_hash: str) -> None:
        """Replace the session's token."""
        _check(session_id)
        await self._db.writing(partial(work.set_token_hash, session_id=session_id, token_hash=token_hash))

    async def spend_token(self, session_id: str, token_hash: str) -> bool:
        """Make the session's token void if it is this one; returns whether it was."""
        _check(session_id)
        unit = partial(work.spend_token_hash, session_id=session_id, token_hash=token_hash)
        return await self._db.writing(unit)

    async def owner(self, session_id: str) -> str:
        """Return whose session it is; empty for nobody's."""
        _check(session_id)
        return (await self._db.reading(partial(work.get, session_id=session_id))).owner

    async def loop_owner(self, loop_id: str) -> str | None:
        """Return whose loop it is; ``None`` when there is none."""
        if not loop_id.isprintable():
            return None
        return await self._db.reading(partial(work.loop_owner, loop_id=loop_id))

    async def purge(self, before: datetime) -> int:
        """Delete what nothing was added to since a moment, really; returns the number of sessions."""
        return await self._db.erasing(partial(work.purge, before=utc(before)))

    async def ids(self, owner: str | None = None) -> list[tuple[str, int]]:
        """Return the id and the number of events of every session, oldest first."""
        return await self._db.reading(partial(work.ids, owner=owner))

    async def delete_all(self, owner: str | None = None) -> int:
        """Delete all sessions and loops of somebody, really; returns the number of sessions."""
        return await self._db.erasing(partial(work.remove_all, owner=owner))

    async def create_loop(self, loop_id: str, at: datetime, level: str, owner: str = "") -> None:
        """Store a loop.

        Raises:
            ConcurrentAppend: the id is taken.
            StoreError: nothing was stored.
        """
        await self._db.writing(partial(work.create_loop, loop_id=loop_id, at=utc(at), level=level, owner=owner))

    async def loop_exists(self, loop_id: str) -> bool:
        """Return whether a loop with that id was created."""
        return loop_id.isprintable() and await self._db.reading(partial(work.loop_exists, loop_id=loop_id))

    async def ping(self) -> None:
        """Write something trivial: a disk that is full, or a replica that is read-only, can still be read."""
        await self._db.probing(work.touch)

    async def close(self) -> None:
        """Release connections."""
        await self._db.close()


def _check(session_id: str) -> None:
    """Refuse ids that no session has and that a driver may choke on, such as a NUL from an address."""
    if not session_id.isprintable():
        raise work.unknown(session_id)
