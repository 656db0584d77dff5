"""A disk that takes its time: the socket stays alive, nobody else waits, and nothing is applied twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

from interviewer.core import events as ev
from tests.service.kit import ANSWER, FlakyStore, deps, eventually

from .kit import Running, running


async def test_a_slow_disk_keeps_neither_other_sessions_nor_pongs_waiting(server: Running) -> None:
    slow, other = await server.create(), await server.create()
    store = server.store
    async with server.joined(slow) as client, server.joined(other) as quick:
        await client.stage("waiting", 1)
        await quick.stage("waiting", 1)
        store.hold = asyncio.Event()
        before = store.appends
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await eventually(lambda: store.appends > before)  # it hangs in the store now
        await quick.alive()
        assert (await server.http.get("/healthz")).status_code == 200
        assert (await server.http.get(f"/v1/sessions/{other['id']}")).status_code == 200
        store.hold.set()
        await client.stage("waiting", 2)


async def test_an_answer_that_hangs_in_the_store_and_is_sent_again_is_applied_once(server: Running) -> None:
    opened, store = await server.create(), server.store
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        store.hold = asyncio.Event()
        before = store.appends
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await eventually(lambda: store.appends > before)
        client.connection.transport.abort()  # the candidate gave up on it
    async with server.joined(opened, last_seq=3) as client:
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        store.hold.set()
        await client.stage("waiting", 2)
        await client.alive()
        assert client.seqs() == [4, 5, 6, 7]
        assert not [m for m in client.received if m["type"] == "error"]


async def test_messages_in_an_odd_order_are_refused_and_harm_nothing(server: Running) -> None:
    """A client that sends the second answer before the first, and repeats the first after the second."""
    opened = await server.create()
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m2", text="second")
        await client.send(type="answer", msg_id="m1", text="first")
        error = await client.refused("turn_in_progress")
        assert (error["msg_id"], error["retryable"]) == ("m1", True)
        await client.stage("waiting", 2)
        await client.send(type="answer", msg_id="m1", text="first")
        await client.stage("waiting", 3)
        await client.send(type="answer", msg_id="m2", text="second")
        await client.alive()
    log = await server.service.deps.store.load(opened["id"])
    given = [(r.event.turn, r.event.msg_id, r.event.text) for r in log if isinstance(r.event, ev.AnswerGiven)]
    assert given == [(1, "m2", "second"), (2, "m1", "first")]
    assert [r.seq for r in log] == list(range(1, len(log) + 1))


async def test_a_disk_that_is_full_is_said_and_the_session_goes_on_when_there_is_room(tmp_path: Path) -> None:
    store = FlakyStore.open(f"sqlite:///{tmp_path / 'interviews.db'}")
    async with running(deps(store)) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            store.fail_at = frozenset({store.appends + 1, store.appends + 2})
            for _ in range(2):
                await client.send(type="answer", msg_id="m1", text=ANSWER)
                error = await client.refused("store_unavailable")
                assert error["retryable"] and "disk is full" in error["message"]
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.stage("waiting", 2)
            assert client.seqs() == [1, 2, 3, 4, 5, 6, 7]
