"""Deletion deletes: the candidate's words are not left in the database files."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from interviewer.adapters.store import SqlEventStore, connect, migrate

from .conftest import sqlite_url
from .samples import NOON, answer, later, started


def _bytes(path: Path) -> bytes:
    """Return everything in the database file, the write-ahead log and its index."""
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def _impatient(url: str) -> Engine:
    """Return an engine that does not wait for locks."""
    engine = connect(url)

    @event.listens_for(engine, "checkout")
    def set_up(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute("PRAGMA busy_timeout=20").close()

    return engine


async def test_no_trace_is_left_whatever_was_deleted_before(tmp_path: Path) -> None:
    """Rows of many sizes, moved between pages by other deletions: secure_delete alone fails this one."""
    path, rng, lengths = tmp_path / "interviews.db", random.Random(3), dict[str, int]()
    store = SqlEventStore.open(sqlite_url(path))
    for step in range(500):
        if rng.random() < 0.12 or not lengths:
            lengths[name := f"s{step}e"] = 1
            await store.create(name, later(step), [started(resume=f"secret {name}")], token_hash="h")
        name = rng.choice(list(lengths))
        if rng.random() < 0.08:
            assert f"secret {name}".encode() in _bytes(path)
            await store.delete(name)
            del lengths[name]
            assert f"secret {name}".encode() not in _bytes(path)
            assert name.encode() not in _bytes(path)
        else:
            text = f"secret {name} " * rng.choice([1, 3, 20, 400])
            await store.append(name, later(step), [answer(text=text)], expected_seq=lengths[name])
            lengths[name] += 1
    for name, length in lengths.items():
        assert len(await store.load(name)) == length
    await store.close()


async def test_a_crash_between_deletion_and_scrubbing_is_made_up_for_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "interviews.db"
    store = SqlEventStore.open(sqlite_url(path))
    await store.create("s1", NOON, [started(), answer(text="classified " * 50)], token_hash="h")
    await store.close()
    with closing(sqlite3.connect(path)) as connection, connection:  # what delete() commits
        connection.execute("PRAGMA secure_delete=OFF")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("DELETE FROM session")
        connection.execute("PRAGMA user_version=1")
    assert b"classified" in _bytes(path)
    store = SqlEventStore.open(sqlite_url(path))
    assert b"classified" not in _bytes(path)
    await store.close()


async def test_a_reader_postpones_the_scrubbing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "interviews.db"
    migrate(sqlite_url(path))
    store = SqlEventStore(_impatient(sqlite_url(path)))
    for name in ("s1", "s2"):
        await store.create(name, NOON, [started(), answer(text=f"classified {name}")], token_hash="h")
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM event").fetchone() == (4,)
        await store.delete("s1")
        assert "next deletion or start" in caplog.text
    assert [r.id for r in await store.rows()] == ["s2"]
    await store.delete("s2")
    assert b"classified" not in _bytes(path)
    await store.close()
