"""What people wait for reads an index: no query of a list or a session scans or sorts a whole table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from eval.gateway_parts import fill
from interviewer.adapters.store import SqlEventStore, work
from interviewer.adapters.store.engine import connect

SESSIONS = 2_000
MIDDLE = datetime(2026, 1, 5, 9, 15, tzinfo=UTC)
WAYS: dict[str, Callable[[Session], object]] = {
    "ix_session_created_at_id": lambda s: work.newest(s, 50, None, None),
    "ix_session_created_at_id (created_at<?)": lambda s: work.newest(s, 50, MIDDLE, None),
    "ix_session_owner_created_at_id (owner=?)": lambda s: work.newest(s, 50, None, None, "user-7"),
    "ix_session_owner_created_at_id (owner=? AND created_at<?)": lambda s: work.newest(s, 50, MIDDLE, None, "user-7"),
    "ix_session_loop_id_created_at_id (loop_id=?)": lambda s: work.newest(s, 50, None, "loop"),
    "(session_id=? AND seq>?)": lambda s: work.events(s, "s0000007", 0),
    "(id=?)": lambda s: work.get(s, "s0000007"),
    "(parent=?)": lambda s: work.replays(s, "s0000007"),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> sa.Engine:
    path: Path = tmp_path_factory.mktemp("plans") / "many.db"
    SqlEventStore.open(f"sqlite:///{path}")
    fill(f"sqlite:///{path}", SESSIONS)
    return connect(f"sqlite:///{path}")


def plans(engine: sa.Engine, way: Callable[[Session], object]) -> list[str]:
    """Return how SQLite carries out each statement of a unit of work."""
    asked: list[tuple[str, Any]] = []

    def note(_conn: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        asked.append((statement, parameters))

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        with Session(engine) as session:
            way(session)
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)
    found = []
    with engine.connect() as connection:
        for statement, parameters in asked:
            if statement.startswith("SELECT"):
                rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
                found.append("; ".join(row[3] for row in rows))
    return found


@pytest.mark.parametrize("index", WAYS)
def test_a_query_uses_its_index_and_sorts_nothing(index: str, engine: sa.Engine) -> None:
    for plan in plans(engine, WAYS[index]):
        assert index in plan
        assert "TEMP B-TREE" not in plan
        assert "SCAN" not in plan or "USING INDEX" in plan


def test_deleting_finds_the_events_of_a_session_by_their_key(engine: sa.Engine) -> None:
    statement = "EXPLAIN QUERY PLAN DELETE FROM event WHERE session_id = 's0000007'"
    with engine.connect() as connection:
        assert "USING" in connection.exec_driver_sql(statement).one()[3]
