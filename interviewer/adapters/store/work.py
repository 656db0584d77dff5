"""The units of work: what each method of the store does inside its transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import delete, insert, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from interviewer.adapters.store.errors import is_duplicate
from interviewer.adapters.store.rows import changes, event_rows, summary
from interviewer.adapters.store.tables import EventTable, LoopTable, SessionTable
from interviewer.core.events import Recorded
from interviewer.service.ports import ConcurrentAppend, SessionRow, StoreError, UnknownSession

T = TypeVar("T")
_MAX_SEQ = 2**31 - 1
"""Largest seq that the column can hold."""


def create(session: Session, fields: dict[str, Any], recorded: Sequence[Recorded]) -> None:
    """Insert a session, of which ``fields`` are the columns that do not change, and its first events."""
    rows = event_rows(recorded)
    try:
        session.exec(insert(SessionTable).values(ended=False, **fields).values(changes(recorded)))
    except IntegrityError as exc:
        if is_duplicate(exc):
            raise ConcurrentAppend(f"session {fields['id']} exists already") from exc
        raise StoreError(f"there is no loop {fields['loop_id']}: create it before its rounds") from exc
    session.exec(insert(EventTable), params=rows)


def append(session: Session, session_id: str, expected_seq: int, recorded: Sequence[Recorded]) -> None:
    """Move the session on from ``expected_seq``, which only one of several writers can, and insert the events."""
    rows = event_rows(recorded)
    statement = (
        update(SessionTable)
        .where(col(SessionTable.id) == session_id, col(SessionTable.seq) == expected_seq)
        .values(changes(recorded) or {"seq": col(SessionTable.seq)})
    )
    if session.exec(statement).rowcount != 1:
        seq = found(session_id, session.get(SessionTable, session_id)).seq
        raise ConcurrentAppend(f"session {session_id} has {seq} events, not {expected_seq}")
    if rows:
        session.exec(insert(EventTable), params=rows)


def events(session: Session, session_id: str, after: int) -> Sequence[EventTable]:
    """Return the rows with ``seq > after`` in order."""
    rows = session.exec(
        select(EventTable)
        .where(EventTable.session_id == session_id, EventTable.seq > min(after, _MAX_SEQ))
        .order_by(col(EventTable.seq))
    ).all()
    if not rows:
        found(session_id, session.get(SessionTable, session_id))
    return rows


def get(session: Session, session_id: str) -> SessionTable:
    """Return one session."""
    return found(session_id, session.get(SessionTable, session_id))


def newest(
    session: Session, limit: int, before: datetime | None, loop_id: str | None, owner: str | None = None
) -> list[SessionRow]:
    """Return sessions, newest first; those of the same moment by id, last one first."""
    statement = select(SessionTable).order_by(col(SessionTable.created_at).desc(), col(SessionTable.id).desc())
    if before is not None:
        statement = statement.where(SessionTable.created_at < before)
    if loop_id is not None:
        statement = statement.where(SessionTable.loop_id == loop_id)
    if owner is not None:
        statement = statement.where(SessionTable.owner == owner)
    return [summary(row) for row in session.exec(statement.limit(limit))]


def remove(session: Session, session_id: str) -> None:
    """Delete one session and its replays, which repeat its words; the foreign key takes their events along.

    A loop of which it was the last round goes too.
    """
    get(session, session_id)
    ids = [session_id, *replays(session, session_id)]
    loops = select(SessionTable.loop_id).where(col(SessionTable.id).in_(ids), col(SessionTable.loop_id).is_not(None))
    grouped = session.exec(loops).all()
    session.exec(delete(SessionTable).where(col(SessionTable.id).in_(ids)))
    used = select(SessionTable.id).where(col(SessionTable.loop_id) == col(LoopTable.id)).exists()
    session.exec(delete(LoopTable).where(col(LoopTable.id).in_(grouped), ~used))


def _chunks(ids: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    """Cut ids into pieces, as a statement takes a bounded number of parameters."""
    return (ids[start : start + size] for start in range(0, len(ids), size))


def replays(session: Session, session_id: str) -> list[str]:
    """Return the ids of a session's replays and of theirs, nearest first."""
    found_: list[str] = []
    layer = [session_id]
    while layer:
        statement = select(SessionTable.id).where(col(SessionTable.parent).in_(layer)).order_by(col(SessionTable.id))
        # A log may name any parent, itself too.
        layer = [i for i in session.exec(statement) if i not in found_ and i != session_id]
        found_ += layer
    return found_


def set_token_hash(session: Session, session_id: str, token_hash: str) -> None:
    """Replace the token's hash."""
    statement = update(SessionTable).where(col(SessionTable.id) == session_id).values(token_hash=token_hash)
    if session.exec(statement).rowcount != 1:
        raise unknown(session_id)


def spend_token_hash(session: Session, session_id: str, token_hash: str) -> bool:
    """Take the token's hash away if it is this one; only one of several that try can."""
    statement = (
        update(SessionTable)
        .where(col(SessionTable.id) == session_id, col(SessionTable.token_hash) == token_hash)
        .values(token_hash="")
    )
    return token_hash != "" and session.exec(statement).rowcount == 1


def purge(session: Session, before: datetime) -> int:
    """Delete sessions that were last added to before a moment, with their replays, and loops that have none left."""
    old = session.exec(select(SessionTable.id).where(col(SessionTable.updated_at) < before)).all()
    gone = list(dict.fromkeys([*old, *(child for parent in old for child in replays(session, parent))]))
    for part in _chunks(gone):
        session.exec(delete(SessionTable).where(col(SessionTable.id).in_(part)))
    used = select(SessionTable.id).where(col(SessionTable.loop_id) == col(LoopTable.id)).exists()
    session.exec(delete(LoopTable).where(col(LoopTable.created_at) < before, ~used))
    return len(gone)


def ids(session: Session, owner: str | None) -> list[tuple[str, int]]:
    """Return the id and the number of events of every session, oldest first; ``owner=None`` is everybody."""
    statement = select(SessionTable.id, SessionTable.seq).order_by(col(SessionTable.created_at), col(SessionTable.id))
    if owner is not None:
        statement = statement.where(SessionTable.owner == owner)
    return [(row[0], row[1]) for row in session.exec(statement)]


def remove_all(session: Session, owner: str | None) -> int:
    """Delete all sessions and loops of somebody, or of everybody; the foreign key takes the events along."""
    sessions, loops = delete(SessionTable), delete(LoopTable)
    if owner is not None:
        sessions = sessions.where(col(SessionTable.owner) == owner)
        loops = loops.where(col(LoopTable.owner) == owner)
    gone = session.exec(sessions).rowcount
    session.exec(loops)
    return gone


def adopt(session: Session, owner: str) -> int:
    """Give the sessions and loops that are nobody's to somebody; returns how many sessions."""
    session.exec(update(LoopTable).where(col(LoopTable.owner) == "").values(owner=owner))
    return session.exec(update(SessionTable).where(col(SessionTable.owner) == "").values(owner=owner)).rowcount


def create_loop(session: Session, loop_id: str, at: datetime, level: str, owner: str = "") -> None:
    """Insert a loop."""
    try:
        session.exec(insert(LoopTable).values(id=loop_id, created_at=at, level=level, owner=owner))
    except IntegrityError as exc:
        raise ConcurrentAppend(f"loop {loop_id} exists already") from exc


def loop_exists(session: Session, loop_id: str) -> bool:
    """Look a loop up."""
    return session.get(LoopTable, loop_id) is not None


def loop_owner(session: Session, loop_id: str) -> str | None:
    """Return whose loop it is; ``None`` when there is none."""
    loop = session.get(LoopTable, loop_id)
    return loop.owner if loop else None


def touch(session: Session) -> None:
    """Write something that changes nothing, to the disk."""
    session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = version_num")


def found(session_id: str, value: T | None) -> T:
    """Return the value.

    Raises:
        UnknownSession: there is none.
    """
    if value is None:
        raise unknown(session_id)
    return value


def unknown(session_id: str) -> UnknownSession:
    """Return the error."""
    return UnknownSession(f"there is no session {session_id!r}")
