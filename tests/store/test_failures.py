"""What goes wrong outside becomes a StoreError that says what to do; nothing is half stored, nothing is quoted."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, text
from sqlmodel import Session

from interviewer.adapters.store import SqlEventStore, connect, migrate
from interviewer.adapters.store.database import THREADS, Database
from interviewer.adapters.store.errors import translate
from interviewer.service.ports import ConcurrentAppend, StoreError, UnknownSession

from .conftest import NewDatabase, sqlite_url
from .samples import NOON, answer, later, started

SECONDS = 20


class Limits:
    """Pragmas set on a connection whenever it is used."""

    def __init__(self, engine: Engine) -> None:
        self.pragmas: list[str] = []
        event.listen(engine, "checkout", self._apply)

    def _apply(self, connection: sqlite3.Connection, *_: object) -> None:
        for pragma in self.pragmas:
            connection.execute(f"PRAGMA {pragma}").close()


async def _refused(store: SqlEventStore, limits: Limits, pragmas: list[str], match: str) -> None:
    """Check that an append fails with a message, stores nothing, quotes nothing, and works again afterwards."""
    before = await store.load("s1")
    limits.pragmas = pragmas
    with pytest.raises(StoreError, match=match) as caught:
        await store.append("s1", later(1), [answer(text="secret " * 200_000)], expected_seq=1)
    error: BaseException | None = caught.value
    while error is not None:
        assert "secret" not in str(error)
        error = error.__cause__ or error.__context__
    assert await store.load("s1") == before
    assert (await store.row("s1")).seq == 1


async def test_disk_full_and_read_only(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "interviews.db")
    migrate(url)
    engine = connect(url)
    limits = Limits(engine)
    store = SqlEventStore(engine)
    await store.create("s1", NOON, [started()], token_hash="h")
    await _refused(store, limits, ["max_page_count=20"], "free some space")
    await _refused(store, limits, ["max_page_count=1000000", "query_only=ON"], "read-only.*writable")
    with pytest.raises(StoreError, match="read-only"):
        await store.ping()
    limits.pragmas = ["query_only=OFF"]
    await store.ping()
    assert len(await store.append("s1", later(1), [answer()], expected_seq=1)) == 1
    await store.close()


async def test_locked(tmp_path: Path) -> None:
    path = tmp_path / "interviews.db"
    migrate(sqlite_url(path))
    engine = connect(sqlite_url(path))
    limits = Limits(engine)
    store = SqlEventStore(engine)
    await store.create("s1", NOON, [started()], token_hash="h")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await _refused(store, limits, ["busy_timeout=20"], "locked by another")
    assert len(await store.append("s1", later(1), [answer()], expected_seq=1)) == 1
    await store.close()


async def test_a_read_only_file_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "interviews.db"
    read_only = f"sqlite:///file:{path}?mode=ro&uri=true"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    with pytest.raises(StoreError, match="read-only"):
        SqlEventStore.open(read_only)
    store = SqlEventStore.open(sqlite_url(path))
    log = await store.create("s1", NOON, [started()], token_hash="h")
    await store.close()
    store = SqlEventStore.open(read_only)
    assert await store.load("s1") == log
    with pytest.raises(StoreError, match="read-only"):
        await store.append("s1", later(1), [answer()], expected_seq=1)
    await store.close()


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder exists"):
        SqlEventStore.open(sqlite_url(tmp_path / "nowhere" / "interviews.db"))


def test_a_file_that_is_not_a_database(tmp_path: Path) -> None:
    (tmp_path / "interviews.db").write_text("no database " * 1000)
    with pytest.raises(StoreError, match="not a database"):
        SqlEventStore.open(sqlite_url(tmp_path / "interviews.db"))


@pytest.mark.parametrize(
    "url", ["", "interviews.db", "mysql://u:secret@h/n", "sqlite+aiosqlite://", "postgresql+x://h"]
)
def test_urls_of_nothing_we_know(url: str) -> None:
    with pytest.raises(StoreError, match=r"sqlite:///file.db or postgresql://") as caught:
        SqlEventStore.open(url)
    assert "secret" not in str(caught.value)


def test_the_file_is_private(tmp_path: Path) -> None:
    migrate(sqlite_url(tmp_path / "interviews.db"))
    assert (tmp_path / "interviews.db").stat().st_mode & 0o077 == 0


def test_a_postgres_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="check that the server runs") as caught:
        SqlEventStore.open(f"postgresql://user:secret@/name?host={tmp_path}")
    assert "secret" not in str(caught.value)


@pytest.mark.postgres
def test_a_postgres_database_that_is_not_there(new_postgres: NewDatabase) -> None:
    with pytest.raises(StoreError, match=r"create it first|can be reached|cannot be reached"):
        SqlEventStore.open(new_postgres().replace("/postgres?", "/missing?"))


@pytest.mark.postgres
async def test_postgres_connections_that_die(new_postgres: NewDatabase) -> None:
    url = new_postgres()
    store = SqlEventStore.open(url)
    await store.create("s1", NOON, [started()], token_hash="h")

    def die(session: Session) -> None:
        session.execute(text("UPDATE session SET seq = 9"))
        session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    engine = connect(url)
    with pytest.raises(StoreError, match=r"stopping or starting|cannot be reached"):
        Database(engine).write(die)
    with engine.connect() as connection:  # idle connections of the store die too: the next call replaces them
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                " AND datname = current_database()"
            )
        )
    engine.dispose()
    assert (await store.row("s1")).seq == 1
    await store.close()


@pytest.mark.postgres
async def test_a_read_only_postgres(new_postgres: NewDatabase) -> None:
    url = new_postgres()
    migrate(url)
    engine = connect(f"{url}%20-cdefault_transaction_read_only%3Don")
    store = SqlEventStore(engine)
    with pytest.raises(StoreError, match="primary"):
        await store.create("s1", NOON, [started()], token_hash="h")
    with pytest.raises(StoreError, match="primary"):
        await store.ping()
    assert await store.rows() == []
    await store.close()


@pytest.mark.postgres
async def test_a_postgres_that_takes_too_long_is_not_waited_for(new_postgres: NewDatabase) -> None:
    url = new_postgres()
    migrate(url)
    slow, usual = Database(connect(f"{url}%20-cstatement_timeout%3D50")), Database(connect(url))

    def sleep(session: Session) -> None:
        session.connection().execute(text("SELECT pg_sleep(30)"))

    with pytest.raises(StoreError, match="took too long"):
        await slow.reading(sleep)
    limit = await usual.reading(lambda session: session.connection().execute(text("SHOW statement_timeout")).scalar())
    assert limit == "1min", "and what the URL has of options holds besides"
    await slow.close()
    await usual.close()


async def test_a_store_that_is_closed_says_so(url: str) -> None:
    store = SqlEventStore.open(url)
    await store.close()
    with pytest.raises(StoreError, match="is closed"):
        await store.rows()


async def test_readers_do_not_wait_behind_writers(shared_url: str) -> None:
    """Writers of SQLite take turns; however many wait, whoever reads is served."""
    database = Database(connect(shared_url))
    held, go = threading.Event(), threading.Event()

    def slow(_: Session) -> None:
        held.set()
        go.wait(SECONDS)

    writers = [asyncio.create_task(database.writing(slow)) for _ in range(2 * THREADS)]
    await asyncio.to_thread(held.wait, SECONDS)
    async with asyncio.timeout(SECONDS):
        await database.reading(lambda session: session.connection().execute(text("SELECT 1")).scalar())
    go.set()
    await asyncio.gather(*writers)
    await database.close()


async def test_tables_that_are_missing(url: str) -> None:
    store = SqlEventStore(connect(url))
    with pytest.raises(StoreError, match=r"database failed|table is missing"):
        await store.ping()
    await store.close()


async def test_failures_are_told_apart(store: SqlEventStore) -> None:
    """A caller that handles one kind does not catch another."""
    kinds: list[type[Exception]] = [UnknownSession, ConcurrentAppend, StoreError]
    assert not any(issubclass(a, b) for a in kinds for b in kinds if a is not b)


def test_anything_else_is_named_by_its_type_only() -> None:
    assert str(translate(RuntimeError("secret"))) == "the database failed (RuntimeError)"
