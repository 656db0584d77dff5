"""Which session a request to a model belongs to, so that a router sends all of a session's requests to one replica.

The replica that computed a session's prompt keeps it in its prefix cache; the next turn repeats most of it. What is
sent is a hash: routers write the key to their logs, and a session's id has no business there.
"""

from __future__ import annotations

import hashlib
from contextvars import ContextVar

HEADER = "x-session-id"
"""The header that vLLM's router hashes on first, and that Ray Serve reads by default."""

_key: ContextVar[str | None] = ContextVar("affinity_key", default=None)
_session: ContextVar[str | None] = ContextVar("affinity_session", default=None)


def bind(session_id: str) -> None:
    """Let all requests of the task that calls this, and of the tasks that it starts, carry the session's key."""
    _key.set(key_of(session_id))
    _session.set(session_id)


def bound() -> str | None:
    """Return the session that this task works for; for log lines of our own."""
    return _session.get()


def key_of(session_id: str) -> str:
    """Return the key of a session: 32 hexadecimal digits from which the id cannot be got back."""
    return hashlib.sha256(b"affinity:" + session_id.encode()).hexdigest()[:32]


def headers() -> dict[str, str]:
    """Return what to send with a request of this task; nothing when it belongs to no session."""
    key = _key.get()
    return {} if key is None else {HEADER: key}
