"""The tables. Migrations create them; a test compares both, so a change here without a migration fails."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, Index, MetaData, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: timezone-aware in, timezone-aware UTC out, on databases with and without time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; SQLite keeps the wall-clock fields only."""
        return None if value is None else utc(value)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the time zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def utc(moment: datetime) -> datetime:
    """Return the same moment in UTC.

    Raises:
        ValueError: it has no time zone, so nobody knows which moment it is.
    """
    if moment.tzinfo is None:
        raise ValueError(f"a time without a time zone cannot be stored: {moment.isoformat()}")
    return moment.astimezone(UTC)


class Table(SQLModel):
    """Base that keeps these tables apart from any other SQLModel in the process."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(column_0_N_label)s",
        }
    )


class LoopTable(Table, table=True):
    """A loop: several rounds of one candidate."""

    __tablename__ = "loop"

    id: str = Field(primary_key=True)
    created_at: datetime = Field(sa_type=UtcDateTime)
    level: str
    owner: str = Field(default="", sa_column_kwargs={"server_default": ""})
    """As for a session."""


class SessionTable(Table, table=True):
    """One row per session: what a list shows, kept in step with the log by every append."""

    __tablename__ = "session"
    __table_args__ = (
        Index("ix_session_created_at_id", "created_at", "id"),
        Index("ix_session_loop_id_created_at_id", "loop_id", "created_at", "id"),
        Index("ix_session_owner_created_at_id", "owner", "created_at", "id"),
        Index("ix_session_parent_id", "parent", "id"),
    )

    id: str = Field(primary_key=True)
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)
    persona: str
    rubric: str
    level: str
    mode: str
    origin: str
    parent: str | None = None
    """Session that this one is a replay of, and with which it is deleted."""
    loop_id: str | None = Field(default=None, foreign_key="loop.id")
    seq: int
    """Number of events; the lock of optimistic concurrency."""
    ended: bool
    token_hash: str
    owner: str = Field(default="", sa_column_kwargs={"server_default": ""})
    """Name on the key of who made it; empty where the service ran without accounts."""


class EventTable(Table, table=True):
    """One event, as JSON; gone with its session."""

    __tablename__ = "event"

    session_id: str = Field(primary_key=True, foreign_key="session.id", ondelete="CASCADE")
    seq: int = Field(primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime)
    type: str
    v: int
    payload: str = Field(sa_type=Text)


class KeyTable(Table, table=True):
    """An API key, of which only the hash is kept."""

    __tablename__ = "api_key"

    id: str = Field(primary_key=True)
    name: str
    """Whose it is; several keys of one name own the same sessions."""
    scopes: str
    """Separated by commas."""
    secret_hash: str
    created_at: datetime = Field(sa_type=UtcDateTime)
    last_used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class SignInTable(Table, table=True):
    """A browser that showed a key, by the hash of its cookie."""

    __tablename__ = "sign_in"

    cookie_hash: str = Field(primary_key=True)
    key_id: str = Field(foreign_key="api_key.id", ondelete="CASCADE")
    expires_at: datetime = Field(sa_type=UtcDateTime)


class EngineTimeTable(Table, table=True):
    """Seconds for which the engine worked for a key on one day of UTC."""

    __tablename__ = "engine_time"

    key_id: str = Field(primary_key=True, foreign_key="api_key.id", ondelete="CASCADE")
    day: str = Field(primary_key=True)
    """``2026-01-31``."""
    seconds: float
