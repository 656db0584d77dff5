"""What the port promises, on every database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.session import fold
from interviewer.service.ports import ConcurrentAppend, EventStore, StoreError, UnknownSession

from .samples import NASTY, NOON, answer, later, started

STRANGE_IDS = ["nobody", "", "a\x00b", "a\ud800b", "' OR 1=1 --", "x" * 10_000]


def test_is_an_event_store(store: SqlEventStore) -> None:
    port: EventStore = store
    assert port is store


async def test_what_create_and_append_return_is_what_load_returns(store: SqlEventStore) -> None:
    first = await store.create("s1", NOON, [started(), ev.SessionNotice(code="a", message="b")], token_hash="h")
    second = await store.append("s1", later(1), [answer(text=NASTY), answer(2)], expected_seq=2)
    assert [r.seq for r in first + second] == [1, 2, 3, 4]
    assert await store.load("s1") == first + second
    assert await store.load("s1", after=2) == second
    assert await store.load("s1", after=4) == []
    assert await store.load("s1", after=10**30) == []
    assert await store.load("s1", after=-1) == first + second


async def test_a_stored_log_folds(store: SqlEventStore) -> None:
    probe = ev.ProbeChosen(turn=1, question_id="q1", probe="Why?", reason="open", elapsed=0.1)
    asked = ev.QuestionAsked(turn=1, text="Why?", source="authored", persona="recruiter")
    await store.create("s1", NOON, [started(), probe, asked], token_hash="h")
    await store.append("s1", later(30), [answer()], expected_seq=3)
    state = fold(await store.load("s1"))
    assert state.seq == 4
    assert state.active_seconds == 30
    assert state.current is not None
    assert state.current.answer == answer()


async def test_times_come_back_in_utc_to_the_microsecond(store: SqlEventStore) -> None:
    elsewhere = timezone(timedelta(hours=5, minutes=30))
    await store.create("s1", NOON.astimezone(elsewhere), [started()], token_hash="h")
    (recorded,) = await store.load("s1")
    row = await store.row("s1")
    for moment in (recorded.at, row.created_at, row.updated_at):
        assert moment == NOON
        assert moment.tzinfo is UTC


async def test_a_time_without_a_zone_is_refused(store: SqlEventStore) -> None:
    naive = NOON.replace(tzinfo=None)
    with pytest.raises(ValueError, match="time zone"):
        await store.create("s1", naive, [started()], token_hash="h")
    await store.create("s1", NOON, [started()], token_hash="h")
    with pytest.raises(ValueError, match="time zone"):
        await store.append("s1", naive, [answer()], expected_seq=1)
    with pytest.raises(ValueError, match="time zone"):
        await store.rows(before=naive)
    assert (await store.row("s1")).seq == 1


async def test_the_row_follows_the_log(store: SqlEventStore) -> None:
    await store.create("s0", NOON, [started()], token_hash="h")
    await store.create("s1", NOON, [started(origin="replay", parent="s0")], token_hash="h")
    row = await store.row("s1")
    assert row.model_dump() == {
        "id": "s1",
        "created_at": NOON,
        "updated_at": NOON,
        "persona": "recruiter",
        "rubric": "phone_screen",
        "level": "senior",
        "mode": "practice",
        "origin": "replay",
        "parent": "s0",
        "loop_id": None,
        "seq": 1,
        "ended": False,
    }
    await store.append("s1", later(5), [ev.PersonaChanged(persona="deep_dive", adapter=None)], expected_seq=1)
    await store.append("s1", later(6), [answer(), ev.SessionEnded(reason="time")], expected_seq=2)
    changed = {"persona": "deep_dive", "seq": 4, "ended": True, "updated_at": later(6)}
    assert await store.row("s1") == row.model_copy(update=changed)
    assert (await store.row("s0")).persona == "recruiter"


async def test_an_import_is_complete_from_the_start(store: SqlEventStore) -> None:
    log: list[ev.Event] = [
        started(origin="imported"),
        ev.PersonaChanged(persona="behavioral", adapter=None),
        ev.SessionEnded(reason="imported"),
    ]
    await store.create("s1", NOON, log, token_hash="h")
    row = await store.row("s1")
    assert (row.persona, row.ended, row.seq) == ("behavioral", True, 3)


async def test_a_log_starts_with_session_started(store: SqlEventStore) -> None:
    logs: list[list[ev.Event]] = [[], [answer()]]
    for log in logs:
        with pytest.raises(ValueError, match="session_started"):
            await store.create("s1", NOON, log, token_hash="h")
    assert await store.rows() == []


async def test_an_id_is_used_once(store: SqlEventStore) -> None:
    await store.create("s1", NOON, [started()], token_hash="first")
    with pytest.raises(ConcurrentAppend, match="s1"):
        await store.create("s1", later(1), [started(persona="other"), answer()], token_hash="second")
    assert len(await store.load("s1")) == 1
    assert await store.token_hash("s1") == "first"


@pytest.mark.parametrize("expected", [0, 1, 3, -1])
async def test_an_append_at_another_length_changes_nothing(store: SqlEventStore, expected: int) -> None:
    await store.create("s1", NOON, [started(), answer()], token_hash="h")
    before = await store.row("s1")
    events: list[ev.Event] = [answer(2), ev.SessionEnded(reason="time")]
    with pytest.raises(ConcurrentAppend, match="2 events") if expected >= 0 else pytest.raises(ValueError):
        await store.append("s1", later(9), events, expected_seq=expected)
    assert await store.row("s1") == before
    assert len(await store.load("s1")) == 2


async def test_appending_nothing_only_checks(store: SqlEventStore) -> None:
    await store.create("s1", NOON, [started()], token_hash="h")
    before = await store.row("s1")
    assert await store.append("s1", later(9), [], expected_seq=1) == []
    assert await store.row("s1") == before
    with pytest.raises(ConcurrentAppend):
        await store.append("s1", later(9), [], expected_seq=2)
    with pytest.raises(UnknownSession):
        await store.append("s2", later(9), [], expected_seq=1)


async def test_all_events_or_none(store: SqlEventStore) -> None:
    await store.create("s1", NOON, [started()], token_hash="h")
    broken = ev.ProbeChosen(turn=1, question_id="q", probe="p", reason="r", elapsed=float("nan"))
    with pytest.raises(StoreError, match="probe_chosen"):
        await store.append("s1", later(1), [answer(), broken], expected_seq=1)
    assert (await store.row("s1")).seq == 1
    assert len(await store.load("s1")) == 1


@pytest.mark.parametrize("session_id", STRANGE_IDS, ids=ascii)
async def test_unknown_sessions(store: SqlEventStore, session_id: str) -> None:
    await store.create("s1", NOON, [started()], token_hash="h")
    with pytest.raises(UnknownSession):
        await store.load(session_id)
    with pytest.raises(UnknownSession):
        await store.row(session_id)
    with pytest.raises(UnknownSession):
        await store.append(session_id, NOON, [answer()], expected_seq=1)
    with pytest.raises(UnknownSession):
        await store.delete(session_id)
    with pytest.raises(UnknownSession):
        await store.token_hash(session_id)
    with pytest.raises(UnknownSession):
        await store.set_token_hash(session_id, "h")
    assert not await store.loop_exists(session_id)
    assert await store.rows(loop_id=session_id) == []
    assert await store.load("s1")


async def test_rows_are_listed_newest_first_and_paged(store: SqlEventStore) -> None:
    for number in (2, 0, 4, 1, 3):
        await store.create(f"s{number}", later(number), [started()], token_hash="h")
    await store.create("s4b", later(4), [started()], token_hash="h")
    assert [r.id for r in await store.rows()] == ["s4b", "s4", "s3", "s2", "s1", "s0"]
    page = await store.rows(limit=3)
    assert [r.id for r in page] == ["s4b", "s4", "s3"]
    assert [r.id for r in await store.rows(limit=2, before=page[-1].created_at)] == ["s2", "s1"]
    assert await store.rows(before=later(0)) == []
    assert await store.rows(limit=0) == []
    far = datetime(9999, 12, 31, tzinfo=UTC)
    assert len(await store.rows(before=far)) == 6


async def test_loops_group_rounds(store: SqlEventStore) -> None:
    assert not await store.loop_exists("loop1")
    await store.create_loop("loop1", NOON, "senior")
    await store.create_loop("loop2", NOON, "mid")
    assert await store.loop_exists("loop1")
    await store.create("s1", NOON, [started()], token_hash="h", loop_id="loop1")
    await store.create("s2", later(1), [started()], token_hash="h")
    await store.create("s3", later(2), [started()], token_hash="h", loop_id="loop1")
    assert [r.id for r in await store.rows(loop_id="loop1")] == ["s3", "s1"]
    assert [r.id for r in await store.rows(loop_id="loop1", before=later(2))] == ["s1"]
    assert await store.rows(loop_id="loop2") == []
    assert (await store.row("s1")).loop_id == "loop1"
    with pytest.raises(ConcurrentAppend, match="loop1"):
        await store.create_loop("loop1", NOON, "mid")


async def test_a_round_of_an_unknown_loop_is_refused(store: SqlEventStore) -> None:
    with pytest.raises(StoreError, match="no loop nowhere"):
        await store.create("s1", NOON, [started()], token_hash="h", loop_id="nowhere")
    assert await store.rows() == []


async def test_delete_takes_the_replays_along_and_theirs(store: SqlEventStore) -> None:
    for name, parent in [("s1", "gone"), ("s2", "s1"), ("s3", "s2"), ("s4", "s1"), ("s5", None), ("s6", "s6")]:
        await store.create(name, NOON, [started(parent=parent), answer()], token_hash="h")
    assert await store.replays("s1") == ["s2", "s4", "s3"]
    assert await store.replays("s6") == await store.replays("nobody") == []
    await store.delete("s2")
    assert {r.id for r in await store.rows()} == {"s1", "s4", "s5", "s6"}, "the parent stays"
    await store.delete("s1")
    assert {r.id for r in await store.rows()} == {"s5", "s6"}
    for name in ("s1", "s2", "s3", "s4"):
        with pytest.raises(UnknownSession):
            await store.load(name)
    await store.delete("s6")


async def test_delete_takes_the_events_and_nothing_else(store: SqlEventStore) -> None:
    await store.create("s1", NOON, [started(), answer()], token_hash="h")
    await store.create("s2", NOON, [started(), answer()], token_hash="h")
    await store.delete("s1")
    with pytest.raises(UnknownSession):
        await store.load("s1")
    with pytest.raises(UnknownSession):
        await store.delete("s1")
    assert [r.id for r in await store.rows()] == ["s2"]
    assert len(await store.load("s2")) == 2
    await store.create("s1", later(1), [started()], token_hash="h")
    assert len(await store.load("s1")) == 1, "the old events came back"


async def test_tokens(store: SqlEventStore) -> None:
    await store.create("s1", NOON, [started()], token_hash="old")
    await store.create("s2", NOON, [started()], token_hash="other")
    await store.set_token_hash("s1", "new")
    assert await store.token_hash("s1") == "new"
    assert await store.token_hash("s2") == "other"
    assert (await store.row("s1")).updated_at == NOON


async def test_ping(store: SqlEventStore) -> None:
    await store.ping()


async def test_data_outlives_the_store(shared_url: str) -> None:
    store = SqlEventStore.open(shared_url)
    log = await store.create("s1", NOON, [started(), answer()], token_hash="h")
    await store.close()
    store = SqlEventStore.open(shared_url)
    try:
        assert await store.load("s1") == log
    finally:
        await store.close()
