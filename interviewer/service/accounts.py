"""Accounts: keys, sign-ins, tickets, rates and quotas. A service without them has one user, on the machine itself.

Invariant: no secret is kept, only hashes; a key that is revoked opens nothing from that moment on, whatever was made
with it before.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from interviewer.core.access import DEFAULT_SCOPES, SCOPES, Bucket, Scope, seconds_to_midnight, take
from interviewer.service.errors import Refused
from interviewer.service.keys import Key, KeyStore
from interviewer.service.ports import Clock, EventStore, StoreError
from interviewer.service.sessions import hash_token

_log = logging.getLogger(__name__)
PREFIX = "imk"
"""Start of every key, so that scanners of repositories can find one that leaked."""
NOTED_EVERY = timedelta(minutes=1)
"""How exact "last used" is; a write per request would be a waste."""
BUCKETS = 10_000
"""Callers whose rate is remembered; the ones not seen for longest are forgotten first."""


@dataclass(frozen=True)
class Rules:
    """What one key may use."""

    per_minute: int = 300
    """Requests and socket messages in the long run, per key and process."""
    burst: int = 100
    """As many may come at once."""
    engine_seconds: int = 0
    """Engine time per key and day of UTC; 0 is no limit."""
    signed_in: timedelta = timedelta(hours=12)
    """How long a sign-in of a browser lasts."""
    ticket: timedelta = timedelta(seconds=30)
    """How long a ticket opens a socket."""


class TooMany(Refused):
    """Something is used up for now."""

    def __init__(self, code: str, message: str, seconds: int) -> None:
        """Keep after how many seconds it is worth another try."""
        super().__init__(code, message, retryable=True)
        self.seconds = seconds


class Accounts:
    """All that is decided about who somebody is."""

    def __init__(
        self, store: KeyStore, clock: Clock, rules: Rules | None = None, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep the collaborators; ``ticks`` are seconds that never go back."""
        self._store = store
        self._clock = clock
        self._ticks = ticks
        self.rules = rules or Rules()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._owed: defaultdict[str, float] = defaultdict(float)
        self._writing: asyncio.Task[None] | None = None

    async def add(self, name: str, scopes: Sequence[Scope] = DEFAULT_SCOPES) -> tuple[Key, str]:
        """Make a key; returns it with its secret, which nobody can be told again.

        Raises:
            Refused: no usable name, or a scope that there is not.
        """
        if not name.strip() or not name.isprintable() or len(name) > 64:
            raise Refused("bad_name", "A key needs a name of 1 to 64 printable characters.")
        if not scopes or set(scopes) - set(SCOPES):
            raise Refused("bad_scope", f"The scopes are: {', '.join(SCOPES)}.")
        wanted = tuple(s for s in SCOPES if s in scopes)
        key = Key(id=secrets.token_hex(4), name=name.strip(), scopes=wanted, created_at=self._clock.now())
        secret = f"{PREFIX}_{key.id}_{secrets.token_urlsafe(32)}"
        await self._store.add(key, hash_token(secret))
        return key, secret

    async def keys(self) -> list[Key]:
        """Return all keys, oldest first, revoked ones too."""
        return await self._store.keys()

    async def revoke(self, key_id: str) -> None:
        """Make a key void at once, with the browsers and tickets that it opened.

        Raises:
            Refused: there is no such key, or it is void already.
        """
        if not await self._store.revoke(key_id, self._clock.now()):
            raise Refused("unknown_key", f"There is no valid key with the id {key_id!r}; see: interviewer keys list")

    async def adopt(self, name: str) -> int:
        """Give the sessions from before there were accounts to ``name``; returns how many."""
        return await self._store.adopt(name)

    async def by_secret(self, secret: str) -> Key | None:
        """Return the valid key that a secret belongs to; every wrong one is compared in the same time."""
        prefix, _, rest = secret.partition("_")
        found = await self._store.find(rest.partition("_")[0]) if prefix == PREFIX else None
        key, known = found or (None, "")
        if not hmac.compare_digest(known, hash_token(secret)) or key is None or key.revoked_at is not None:
            return None
        now = self._clock.now()
        if key.last_used_at is None or now - key.last_used_at >= NOTED_EVERY:
            await self._store.used(key.id, now)
        return key

    async def valid(self, key_id: str) -> Key | None:
        """Return a key unless it was revoked."""
        found = await self._store.find(key_id)
        return found[0] if found and found[0].revoked_at is None else None

    async def sign_in(self, secret: str) -> tuple[Key, str]:
        """Let a browser in; returns the key and what its cookie holds.

        Raises:
            Refused: not a valid key.
        """
        key = await self.by_secret(secret)
        if key is None:
            raise Refused("unauthorized", "This is not a valid key; whoever runs the service can make one.")
        cookie = secrets.token_urlsafe(32)
        await self._store.sign_in(hash_token(cookie), key.id, self._clock.now() + self.rules.signed_in)
        return key, cookie

    async def by_cookie(self, cookie: str) -> Key | None:
        """Return the valid key that a browser signed in with."""
        found = await self._store.signed_in(hash_token(cookie))
        return await self.valid(found[0]) if found and found[1] > self._clock.now() else None

    async def sign_out(self, cookie: str) -> None:
        """Forget a browser."""
        await self._store.sign_out(hash_token(cookie), self._clock.now())

    async def ticket(self, key: Key, session_id: str, store: EventStore) -> str:
        """Return a ticket that opens the socket of a session once, soon; the one before it is void.

        When it ends and whose it is are part of it, and its hash is the session's: nothing of it can be changed.

        Raises:
            UnknownSession: no such session.
        """
        until = int((self._clock.now() + self.rules.ticket).timestamp())
        ticket = f"{until}.{key.id}.{secrets.token_urlsafe(32)}"
        await store.set_token_hash(session_id, hash_token(ticket))
        return ticket

    async def redeem(self, ticket: str, session_id: str, store: EventStore) -> Key | None:
        """Return the key behind a ticket and make the ticket void; ``None`` when it opens nothing.

        Raises:
            UnknownSession: no such session.
        """
        until, _, rest = ticket.partition(".")
        digits = until.isascii() and until.isdigit() and len(until) < 12
        if not digits or int(until) < self._clock.now().timestamp():
            return None
        key = await self.valid(rest.partition(".")[0])
        if key is None or "interview" not in key.scopes or await store.owner(session_id) != key.name:
            return None
        return key if await store.spend_token(session_id, hash_token(ticket)) else None

    def admit(self, caller: str) -> None:
        """Count a request of a caller: a key's id, or an address of somebody without one.

        Raises:
            TooMany: ``rate_limited``.
        """
        rules = self.rules
        bucket, wait = take(self._buckets.pop(caller, None), self._ticks(), rules.per_minute, rules.burst)
        self._buckets[caller] = bucket
        if len(self._buckets) > BUCKETS:
            self._buckets.popitem(last=False)
        if wait:
            seconds = max(1, round(wait + 0.5))
            raise TooMany("rate_limited", f"Too many requests; send the next one in {seconds} s.", seconds)

    async def affords(self, key: Key) -> None:
        """Check that a key has engine time left today.

        Raises:
            TooMany: ``quota_spent``.
        """
        if not self.rules.engine_seconds:
            return
        now = self._clock.now()
        spent = await self._store.spent(key.id, f"{now:%Y-%m-%d}") + self._owed[key.id]
        if spent >= self.rules.engine_seconds:
            seconds = seconds_to_midnight(now)
            hours = f"{seconds // 3600} h {seconds % 3600 // 60} min"
            raise TooMany(
                "quota_spent",
                f"The {self.rules.engine_seconds} s of engine time of this key for today are used up; there is more at "
                f"00:00 UTC, in {hours}. What was said is kept, and everything can still be read.",
                seconds,
            )

    def charge(self, key_id: str, seconds: float) -> None:
        """Put engine time down to a key; it is written in the background, because a turn must not wait for it."""
        self._owed[key_id] += seconds
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="engine-time")

    async def settled(self) -> None:
        """Wait until what was charged is written."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def close(self) -> None:
        """Write what is owed and release connections."""
        await self.settled()
        await self._store.close()

    async def _write(self) -> None:
        while self._owed:
            key_id, seconds = self._owed.popitem()
            try:
                await self._store.spend(key_id, f"{self._clock.now():%Y-%m-%d}", seconds)
            except StoreError as error:
                _log.warning("%.1f s of engine time of key %s were not written down: %s", seconds, key_id, error)
