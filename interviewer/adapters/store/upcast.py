"""Events to stored text and back, old versions included.

Invariant: what is written can be read back; what is read is never changed in the log. When the shape of an event
changes, its ``v`` goes up and a function from the old shape to the next one is added to :data:`UPCASTERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pydantic import ValidationError

from interviewer.core.events import EVENT, Event
from interviewer.service.ports import StoreError

Fields: TypeAlias = dict[str, Any]
"""An event as plain JSON data, ``type`` and ``v`` included."""
Upcaster: TypeAlias = Callable[[Fields], Fields]
"""Returns the event in a later version; it must set ``v`` (and ``type``, if that changed)."""

UPCASTERS: Mapping[tuple[str, int], Upcaster] = {}
"""(type, v) of an old shape -> the step to the next one."""


def dump(event: Event) -> str:
    """Return the event as JSON.

    Raises:
        StoreError: it would not come back the same, for example because a number is not finite.
    """
    try:
        payload = event.model_dump_json(warnings="error")
        same = EVENT.validate_json(payload) == event
    except ValueError as exc:
        raise StoreError(
            f"the {event.type} event cannot be written as JSON and read again; nothing was stored"
        ) from exc
    if not same:
        raise StoreError(f"the {event.type} event changes when it is written as JSON; nothing was stored")
    return payload


def load(kind: str, v: int, payload: str, upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS) -> Event:
    """Parse a stored event, lifting it step by step when it is of an old version.

    Raises:
        StoreError: no version of this program knows it, or it is damaged.
    """
    try:
        if (kind, v) in upcasters:
            fields: Fields = json.loads(payload)
            while (step := upcasters.get((kind, v))) is not None:
                fields = step(fields)
                if (fields["type"], fields["v"]) == (kind, v):
                    raise StoreError(f"the upcaster of {kind} version {v} does not change the version")
                kind, v = fields["type"], fields["v"]
            payload = json.dumps(fields)
        return EVENT.validate_json(payload)
    except (ValidationError, ValueError, KeyError) as exc:
        raise StoreError(
            f"cannot read a {kind} event of version {v}: it was written by a newer version of the program, which "
            "you need to read it, or the database is damaged and has to be restored from a backup"
        ) from exc
