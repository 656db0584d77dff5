"""Keys in the database, and the step from the first schema, with sessions in it, to the one that has owners."""

from __future__ import annotations

from datetime import timedelta

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from interviewer.adapters.store import SqlEventStore, connect
from interviewer.adapters.store.keys import SqlKeyStore
from interviewer.adapters.store.migrate import SCRIPTS
from interviewer.core.events import Event
from interviewer.service.keys import Key

from .samples import NOON, answer, later, started

KEY = Key(id="0a1b2c3d", name="alice", scopes=("interview", "score"), created_at=NOON)
FIRST = (
    "INSERT INTO loop (id, created_at, level) VALUES ('l1', '{at}', 'mid')",
    "INSERT INTO session (id, created_at, updated_at, persona, rubric, level, mode, origin, parent, loop_id, seq, "
    "ended, token_hash) VALUES ('s1', '{at}', '{at}', 'recruiter', 'phone_screen', 'senior', 'practice', 'live', NULL, "
    "'l1', 2, {no}, 'h')",
)
"""What the first version wrote, in its own words."""


def first_schema(url: str) -> None:
    """Make a database as the first version did, with one session of one answer."""
    engine = connect(url)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(SCRIPTS))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        no = "false" if engine.dialect.name == "postgresql" else "0"
        for statement in FIRST:
            connection.exec_driver_sql(statement.format(at="2026-03-01 12:00:00.123456", no=no))
        events: list[Event] = [started(), answer()]
        for seq, event in enumerate(events, 1):
            connection.execute(
                text(
                    "INSERT INTO event (session_id, seq, at, type, v, payload) VALUES ('s1', :seq, :at, :type, 1, :p)"
                ),
                {"seq": seq, "at": str(NOON.replace(tzinfo=None)), "type": event.type, "p": event.model_dump_json()},
            )
    engine.dispose()


async def test_old_sessions_are_kept_and_nobodys_until_they_are_adopted(shared_url: str) -> None:
    first_schema(shared_url)
    store = SqlEventStore.open(shared_url)
    keys = SqlKeyStore.open(shared_url)
    log = await store.load("s1")
    assert [r.event for r in log] == [started(), answer()]
    assert [row.id for row in await store.rows()] == ["s1"], "one user, without accounts, sees what was there"
    assert (await store.owner("s1"), await store.loop_owner("l1")) == ("", "")
    assert await store.rows(owner="alice") == []
    await store.create("s2", NOON, [started()], token_hash="h", owner="bob")
    assert await keys.adopt("alice") == 1
    assert [row.id for row in await store.rows(owner="alice")] == ["s1"]
    assert (await store.owner("s1"), await store.owner("s2"), await store.loop_owner("l1")) == ("alice", "bob", "alice")
    await keys.close()
    await store.close()


async def test_a_key_comes_back_as_it_was(url: str) -> None:
    keys = SqlKeyStore.open(url)
    await keys.add(KEY, "hash")
    assert await keys.find(KEY.id) == (KEY, "hash")
    assert await keys.find("nobody") is await keys.find("\x00") is None
    await keys.used(KEY.id, later(5))
    await keys.sign_in("c1", KEY.id, later(60))
    assert await keys.signed_in("c1") == (KEY.id, later(60))
    assert await keys.revoke(KEY.id, later(10))
    assert not await keys.revoke(KEY.id, later(20)), "once"
    assert await keys.signed_in("c1") is None, "its browsers are out"
    assert await keys.keys() == [KEY.model_copy(update={"last_used_at": later(5), "revoked_at": later(10)})]
    await keys.close()


async def test_signing_out_takes_expired_sign_ins_along(url: str) -> None:
    keys = SqlKeyStore.open(url)
    await keys.add(KEY, "hash")
    for name, end in (("mine", 60.0), ("old", -1.0), ("other", 60.0)):
        await keys.sign_in(name, KEY.id, later(end))
    await keys.sign_out("mine", NOON)
    assert [await keys.signed_in(name) is None for name in ("mine", "old", "other")] == [True, True, False]
    await keys.close()


async def test_engine_time_adds_up_by_day(url: str) -> None:
    keys = SqlKeyStore.open(url)
    await keys.add(KEY, "hash")
    for day, seconds in (("2026-03-01", 1.5), ("2026-03-01", 2.25), ("2026-03-02", 4.0)):
        await keys.spend(KEY.id, day, seconds)
    assert [await keys.spent(KEY.id, d) for d in ("2026-03-01", "2026-03-02", "2026-03-03")] == [3.75, 4.0, 0.0]
    await keys.close()


async def test_of_two_who_show_one_ticket_one_gets_in(store: SqlEventStore) -> None:
    await store.create("s1", NOON, [started()], token_hash="h")
    assert [await store.spend_token("s1", h) for h in ("other", "h", "h", "")] == [False, True, False, False]


@pytest.mark.parametrize("days", [1, 1000])
async def test_purging_takes_old_sessions_their_replays_and_empty_loops(store: SqlEventStore, days: int) -> None:
    await store.create_loop("l1", NOON, "mid", "alice")
    await store.create("old", NOON, [started()], token_hash="h", loop_id="l1")
    await store.create("child", NOON + timedelta(days=days), [started(parent="old")], token_hash="h")
    await store.create("new", NOON + timedelta(days=days), [started()], token_hash="h")
    assert await store.purge(NOON) == 0
    assert await store.purge(NOON + timedelta(seconds=1)) == 2
    assert [row.id for row in await store.rows()] == ["new"]
    assert await store.loop_owner("l1") is None
