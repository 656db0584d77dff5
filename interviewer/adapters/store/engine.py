"""Connections: one engine per store, set up so that a commit is on the disk and a transaction is what it says.

Invariant: every SQLite transaction starts with an explicit ``BEGIN`` (the driver's own are switched off), so that
reads see one snapshot and writers queue for the lock at the start instead of failing half-way.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from sqlite3 import Connection as SqliteConnection
from sqlite3 import OperationalError
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry

from interviewer.service.ports import StoreError

BUSY_SECONDS = 5.0
"""How long a statement waits for another process's lock."""
BEGIN = "sqlite_begin"
"""Execution option: the statement that opens a transaction on SQLite; empty for none (VACUUM, checkpoints)."""
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""How long the way to Postgres is waited for; what the URL's query names is left as it is."""
_LIMITS = "-c statement_timeout=60s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s"
"""How long the server works for us; the URL's own ``options`` come after and win."""
_POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")


def connect(url: str) -> Engine:
    """Return an engine for a SQLite or Postgres URL; no connection is made yet.

    Raises:
        StoreError: the URL is malformed or names another database.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as exc:
        raise StoreError(
            "the database URL is malformed; write sqlite:///file.db or postgresql://user@host/name"
        ) from exc
    if parsed.drivername in _POSTGRES:
        return _postgres(parsed.set(drivername="postgresql+psycopg"))
    if parsed.drivername in ("sqlite", "sqlite+pysqlite"):
        return _sqlite(parsed)
    raise StoreError(f"cannot store in {parsed.drivername!r}; use sqlite:///file.db or postgresql://user@host/name")


def in_memory(engine: Engine) -> bool:
    """Return whether the data is gone when the engine is disposed of."""
    return is_sqlite(engine) and _is_memory(engine.url)


def is_sqlite(engine: Engine) -> bool:
    """Return whether the engine speaks to SQLite."""
    return engine.dialect.name == "sqlite"


def _postgres(url: URL) -> Engine:
    own: dict[str, object] = {name: value for name, value in _PATIENCE.items() if name not in url.query}
    given = url.query.get("options", "")
    own["options"] = " ".join([_LIMITS, given if isinstance(given, str) else given[-1]]).strip()
    url = url.difference_update_query(["options"])
    return create_engine(url, pool_pre_ping=True, pool_timeout=10, hide_parameters=True, connect_args=own)


def _sqlite(url: URL) -> Engine:
    driver = {"isolation_level": None, "check_same_thread": False, "timeout": BUSY_SECONDS}
    # In memory: one connection, lent to one thread at a time; a StaticPool would mix the transactions of two threads.
    size = {"pool_size": 1, "max_overflow": 0} if _is_memory(url) else {}
    engine = create_engine(url, poolclass=QueuePool, pool_timeout=10, hide_parameters=True, connect_args=driver, **size)
    event.listen(engine, "do_connect", _create_private)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _is_memory(url: URL) -> bool:
    name = url.database or ":memory:"
    return ":memory:" in name or "mode=memory" in name or url.query.get("mode") == "memory"


def _create_private(_dialect: object, _record: object, args: Sequence[Any], _options: object) -> None:
    """Create the file readable by its owner only: it holds people's interviews. The -wal and -shm files follow it."""
    name = str(args[0])
    if name != ":memory:" and not name.startswith("file:"):
        with suppress(OSError):  # the driver reports what is wrong with the path
            os.close(os.open(name, os.O_CREAT | os.O_RDWR, 0o600))


def _set_up(connection: SqliteConnection, _: ConnectionPoolEntry) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA secure_delete=ON")
        _switch_to_wal(connection)
        cursor.execute("PRAGMA synchronous=FULL")


def _switch_to_wal(connection: SqliteConnection) -> None:
    """Switch to WAL; two processes that do it at once get "locked" without waiting, hence the loop."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            with closing(connection.execute("PRAGMA journal_mode=WAL")) as cursor:
                cursor.fetchone()
                return
        except OperationalError as exc:
            if exc.sqlite_errorname not in ("SQLITE_BUSY", "SQLITE_LOCKED") or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _begin(connection: Connection) -> None:
    statement = connection.get_execution_options().get(BEGIN, "BEGIN")
    if statement:
        connection.exec_driver_sql(statement)
