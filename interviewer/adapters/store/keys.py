"""Keys, sign-ins and engine time in the same SQL database as the sessions, or beside one that keeps nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Self, TypeVar

from sqlalchemy import delete, text, update
from sqlmodel import Session, col, select

from interviewer.adapters.store import work
from interviewer.adapters.store.database import Database
from interviewer.adapters.store.engine import connect
from interviewer.adapters.store.migrate import upgrade
from interviewer.adapters.store.tables import EngineTimeTable, KeyTable, SignInTable, utc
from interviewer.service.keys import Key

T = TypeVar("T")
_SPEND = text(
    "INSERT INTO engine_time (key_id, day, seconds) VALUES (:key_id, :day, :seconds) "
    "ON CONFLICT (key_id, day) DO UPDATE SET seconds = engine_time.seconds + excluded.seconds"
)


class SqlKeyStore:
    """A :class:`~interviewer.service.keys.KeyStore`; every method is one short transaction on a worker thread."""

    def __init__(self, database: Database) -> None:
        """Use a database whose tables exist; :meth:`open` is the usual way in."""
        self._db = database

    @classmethod
    def open(cls, url: str) -> Self:
        """Create or upgrade the tables at ``url`` and return a store on them. Blocks; call it at start-up.

        Raises:
            StoreError: the database cannot be reached or written, or is of a newer version.
        """
        engine = connect(url)
        try:
            upgrade(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(Database(engine))

    async def add(self, key: Key, secret_hash: str) -> None:
        """Store a new key."""
        fields = key.model_dump(exclude={"scopes"})

        def add(session: Session) -> None:
            session.add(KeyTable(**fields, scopes=",".join(key.scopes), secret_hash=secret_hash))

        await self._write(add)

    async def find(self, key_id: str) -> tuple[Key, str] | None:
        """Return a key and the hash of its secret."""
        if not key_id.isprintable():
            return None

        def find(session: Session) -> KeyTable | None:
            return session.get(KeyTable, key_id)

        row = await self._db.reading(find)
        return None if row is None else (_key(row), row.secret_hash)

    async def keys(self) -> list[Key]:
        """Return all keys, oldest first."""

        def keys(session: Session) -> list[Key]:
            return [_key(row) for row in session.exec(select(KeyTable).order_by(col(KeyTable.created_at)))]

        return await self._db.reading(keys)

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Make a key void, with its sign-ins; returns whether there was such a key that was not void."""

        def revoke(session: Session) -> bool:
            session.exec(delete(SignInTable).where(col(SignInTable.key_id) == key_id))
            valid = update(KeyTable).where(col(KeyTable.id) == key_id, col(KeyTable.revoked_at).is_(None))
            return session.exec(valid.values(revoked_at=utc(at))).rowcount == 1

        return await self._write(revoke)

    async def used(self, key_id: str, at: datetime) -> None:
        """Note when a key was last used."""

        def used(session: Session) -> None:
            session.exec(update(KeyTable).where(col(KeyTable.id) == key_id).values(last_used_at=utc(at)))

        await self._write(used)

    async def sign_in(self, cookie_hash: str, key_id: str, expires_at: datetime) -> None:
        """Store a sign-in."""

        def sign_in(session: Session) -> None:
            session.add(SignInTable(cookie_hash=cookie_hash, key_id=key_id, expires_at=expires_at))

        await self._write(sign_in)

    async def signed_in(self, cookie_hash: str) -> tuple[str, datetime] | None:
        """Return the key of a sign-in and when it ends."""

        def signed_in(session: Session) -> tuple[str, datetime] | None:
            row = session.get(SignInTable, cookie_hash)
            return None if row is None else (row.key_id, row.expires_at)

        return await self._db.reading(signed_in)

    async def sign_out(self, cookie_hash: str, ended_before: datetime) -> None:
        """Forget a sign-in, and those that ended before a moment."""

        def sign_out(session: Session) -> None:
            old = (col(SignInTable.cookie_hash) == cookie_hash) | (col(SignInTable.expires_at) < utc(ended_before))
            session.exec(delete(SignInTable).where(old))

        await self._write(sign_out)

    async def spend(self, key_id: str, day: str, seconds: float) -> None:
        """Add to the engine time of a key on a day."""

        def spend(session: Session) -> None:
            session.connection().execute(_SPEND, {"key_id": key_id, "day": day, "seconds": seconds})

        await self._write(spend)

    async def spent(self, key_id: str, day: str) -> float:
        """Return the seconds of engine time of a key on a day."""

        def spent(session: Session) -> float:
            row = session.get(EngineTimeTable, (key_id, day))
            return row.seconds if row else 0.0

        return await self._db.reading(spent)

    async def adopt(self, owner: str) -> int:
        """Give the sessions that are nobody's to ``owner``; returns how many."""
        return await self._write(partial(work.adopt, owner=owner))

    async def close(self) -> None:
        """Release connections."""
        await self._db.close()

    async def _write(self, unit: Callable[[Session], T]) -> T:
        return await self._db.writing(unit)


def _key(row: KeyTable) -> Key:
    fields = row.model_dump(exclude={"secret_hash", "scopes"})
    return Key.model_validate({**fields, "scopes": tuple(s for s in row.scopes.split(",") if s)})
