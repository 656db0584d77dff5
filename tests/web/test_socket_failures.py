"""The store fails, or another process was faster: the client is told, and nothing is lost or doubled."""

from __future__ import annotations

import pytest

from interviewer.core import events as ev
from interviewer.service.ports import ConcurrentAppend
from tests.service.kit import ANSWER

from .kit import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_answer_that_could_not_be_stored_is_said_so_and_taken_again(shared: Running) -> None:
    store = shared.store
    async with shared.joined(await shared.create()) as client:
        await client.stage("waiting", 1)
        store.fail_at = frozenset({store.appends + 1})
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        error = await client.refused("store_unavailable")
        assert error["retryable"] and error["msg_id"] == "m1"
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting", 2)


async def test_a_turn_that_could_not_be_stored_goes_on_with_the_next_command(shared: Running) -> None:
    store = shared.store
    opened = await shared.create()
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
        store.fail_at = frozenset({store.appends + 2})  # the reading of the answer
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        error = await client.refused("store_unavailable")
        assert error["retryable"]
    async with shared.joined(opened, last_seq=3) as client:
        await client.stage("waiting", 2)
        assert client.seqs() == [4, 5, 6, 7]


async def test_a_turn_that_could_not_be_stored_goes_on_with_the_next_ping_of_the_same_socket(shared: Running) -> None:
    store = shared.store
    async with shared.joined(await shared.create()) as client:
        await client.stage("waiting", 1)
        store.fail_at = frozenset({store.appends + 2})  # the reading of the answer
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        assert (await client.refused("store_unavailable"))["retryable"]
        await client.send(type="ping")
        await client.stage("waiting", 2)
        assert client.seqs() == [1, 2, 3, 4, 5, 6, 7]


async def test_a_session_that_went_on_elsewhere_is_loaded_again(shared: Running) -> None:
    opened = await shared.create()
    deps_ = shared.service.deps
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
        note = ev.SessionNotice(code="elsewhere", message="another process was here")
        await deps_.store.append(opened["id"], deps_.clock.now(), [note], expected_seq=3)
        with pytest.raises(ConcurrentAppend):
            await deps_.store.append(opened["id"], deps_.clock.now(), [note], expected_seq=3)
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        assert await client.closed() == 4409
        assert client.received[-1]["code"] == "conflict"
    async with shared.joined(opened, last_seq=3) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting", 2)
        assert client.seqs() == [4, 5, 6, 7, 8]
