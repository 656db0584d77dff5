"""Between events and table rows: pure functions, no database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from interviewer.adapters.store import upcast
from interviewer.adapters.store.tables import SessionTable, utc
from interviewer.core.events import Event, PersonaChanged, Recorded, SessionEnded, SessionStarted
from interviewer.service.ports import SessionRow


def number(session_id: str, at: datetime, events: Sequence[Event], after: int) -> list[Recorded]:
    """Return the events as they will stand in the log, with seq ``after + 1``, ``after + 2``, ..."""
    return [Recorded(session_id=session_id, seq=seq, at=utc(at), event=e) for seq, e in enumerate(events, after + 1)]


def event_rows(recorded: Sequence[Recorded]) -> list[dict[str, Any]]:
    """Return rows of the event table.

    Raises:
        StoreError: an event cannot be written as JSON and read again.
    """
    return [
        {
            "session_id": r.session_id,
            "seq": r.seq,
            "at": r.at,
            "type": r.event.type,
            "v": r.event.v,
            "payload": upcast.dump(r.event),
        }
        for r in recorded
    ]


def changes(recorded: Sequence[Recorded]) -> dict[str, Any]:
    """Return what the events change in the session's row; nothing for no events."""
    changed: dict[str, Any] = {}
    for r in recorded:
        changed |= {"seq": r.seq, "updated_at": r.at}
        match r.event:
            case SessionStarted() | PersonaChanged():
                changed["persona"] = r.event.persona
            case SessionEnded():
                changed["ended"] = True
            case _:
                pass
    return changed


def summary(row: SessionTable) -> SessionRow:
    """Return the row as the port shows it, without the token's hash and the owner."""
    return SessionRow.model_validate(row.model_dump(exclude={"token_hash", "owner"}))
