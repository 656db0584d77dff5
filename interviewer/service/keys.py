"""What is kept of API keys, and the Protocol of where it is kept."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from interviewer.core.access import Scope
from interviewer.core.assessment import Frozen


class Key(Frozen):
    """An API key without its secret."""

    id: str
    name: str
    """Whose it is; several keys of one name own the same sessions."""
    scopes: tuple[Scope, ...]
    created_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


class KeyStore(Protocol):
    """Keys, sign-ins and engine time. Every method is a short transaction and raises ``StoreError`` when it fails."""

    async def add(self, key: Key, secret_hash: str) -> None:
        """Store a new key."""
        ...

    async def find(self, key_id: str) -> tuple[Key, str] | None:
        """Return a key and the hash of its secret; ``None`` when there is none."""
        ...

    async def keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Make a key void, with its sign-ins; returns whether there was such a key that was not void."""
        ...

    async def used(self, key_id: str, at: datetime) -> None:
        """Note when a key was last used."""
        ...

    async def sign_in(self, cookie_hash: str, key_id: str, expires_at: datetime) -> None:
        """Store a sign-in."""
        ...

    async def signed_in(self, cookie_hash: str) -> tuple[str, datetime] | None:
        """Return the key of a sign-in and when it ends; ``None`` when there is none."""
        ...

    async def sign_out(self, cookie_hash: str, ended_before: datetime) -> None:
        """Forget a sign-in, and those that ended before a moment."""
        ...

    async def spend(self, key_id: str, day: str, seconds: float) -> None:
        """Add to the engine time of a key on a day."""
        ...

    async def spent(self, key_id: str, day: str) -> float:
        """Return the seconds of engine time of a key on a day."""
        ...

    async def adopt(self, owner: str) -> int:
        """Give the sessions that are nobody's to ``owner``; returns how many."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class Audit(Protocol):
    """Takes a line per request or socket of somebody; never any words of a session."""

    def write(self, at: datetime, *, who: str, key: str, action: str, outcome: str, session: str = "") -> None:
        """Note who did what, to which session, and how it ended; never raises."""
        ...
