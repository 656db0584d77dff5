"""A database of the first released version, with a session that it held, goes on under this version."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from interviewer.adapters.store import SqlEventStore, connect, migrate
from interviewer.core.render import report_markdown
from interviewer.core.session import fold
from interviewer.service.ports import StoreError
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions
from tests.service.kit import deps

from .test_keys import first_schema

GOLDEN = Path(__file__).parent / "golden" / "deep-dive-events.ndjson"
"""Written by the first version, with the real engine; never written again."""
LINES: list[dict[str, Any]] = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
SESSION = LINES[0]["session_id"]


@pytest.fixture
def old(shared_url: str) -> str:
    """A database with the first schema and the golden session, as the first version wrote them."""
    first_schema(shared_url)
    engine = connect(shared_url)
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO session (id, created_at, updated_at, persona, rubric, level, mode, origin, parent, "
                "loop_id, seq, ended, token_hash) SELECT :id, created_at, updated_at, 'deep_dive', 'deep_dive', "
                "'senior', mode, "
                "origin, NULL, NULL, :seq, ended, 'h2' FROM session WHERE id = 's1'"
            ),
            {"id": SESSION, "seq": len(LINES)},
        )
        for line in LINES:
            event = line["event"]
            at = str(datetime.fromisoformat(line["at"]).replace(tzinfo=None))
            fields = {"id": SESSION, "seq": line["seq"], "at": at, "type": event["type"], "v": event["v"]}
            connection.execute(
                text(
                    "INSERT INTO event (session_id, seq, at, type, v, payload) VALUES (:id, :seq, :at, :type, :v, :p)"
                ),
                {**fields, "p": json.dumps(event)},
            )
    engine.dispose()
    return shared_url


async def test_an_old_session_loads_is_reported_and_can_be_replayed(old: str) -> None:
    store = SqlEventStore.open(old)
    log = await store.load(SESSION)
    assert [r.event.type for r in log] == [line["event"]["type"] for line in LINES]
    for recorded, line in zip(log, LINES, strict=True):
        kept = recorded.event.model_dump(mode="json")
        assert all(
            kept[name] == value for name, value in line["event"].items() if name not in ("versions", "assessment")
        )
    given = deps(store)
    replays = Replays(given, Sessions(given))
    packet = replays.packet(fold(log))
    answers = {
        line["event"]["turn"]: line["event"]["text"] for line in LINES if line["event"]["type"] == "answer_given"
    }
    assert len(packet.probes) >= len(answers) > 0 and any(row.level is not None for row in packet.criteria)
    for quote in (q for row in packet.criteria for q in row.quotes):
        assert answers[quote.turn][quote.start : quote.end] == quote.text
    assert report_markdown(packet).startswith("# Debrief: deep dive, senior level\n")
    child, _, found = await replays.replay(SESSION, persona="recruiter")
    assert found.persona == ("deep_dive", "recruiter") and await store.load(child)
    await store.close()


async def test_a_step_that_fails_half_way_leaves_the_old_database_and_can_be_repeated(old: str) -> None:
    engine = connect(old)
    with engine.begin() as connection:  # in the way of what the second step makes
        connection.exec_driver_sql("CREATE TABLE api_key (id INTEGER)")
    with pytest.raises(StoreError):
        migrate(old)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "0001"
        assert connection.execute(text("SELECT count(*) FROM event")).scalar_one() == len(LINES) + 2
        connection.exec_driver_sql("DROP TABLE api_key")
    engine.dispose()
    store = SqlEventStore.open(old)
    assert len(await store.load(SESSION)) == len(LINES)
    await store.close()
