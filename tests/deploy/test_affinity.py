"""All requests of a session carry one key, no other request does, and nobody can read a session's id from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from interviewer.adapters.judges import SmallJudge
from interviewer.adapters.openai_model import OpenAIChat, make_client
from interviewer.core.calibration import UNCALIBRATED
from interviewer.core.lexical import NO_WORDS
from interviewer.service import affinity
from tests.adapters.test_judges import CRITERIA, WINDOW
from tests.service.kit import FlakyStore, begin, deps

from .kit import Worker


@pytest_asyncio.fixture
async def worker() -> AsyncIterator[Worker]:
    async with Worker().running() as running:
        yield running


async def say(model: OpenAIChat) -> str:
    stream = model.stream("base", [{"role": "user", "content": "x"}], max_tokens=9, temperature=0, seed=1)
    return "".join([piece async for piece in stream])


async def test_a_request_of_no_session_carries_nothing(worker: Worker) -> None:
    async with make_client(f"{worker.url}/v1", "") as client:
        assert await say(OpenAIChat(client)) == "You said so. Why was it so? "
        await SmallJudge(client, "base", UNCALIBRATED, NO_WORDS, identity="small").read(WINDOW, CRITERIA)
    assert worker.keys == [None, None]


async def test_sessions_at_the_same_time_keep_their_own_keys(worker: Worker) -> None:
    async with make_client(f"{worker.url}/v1", "") as client:

        async def turn(session: str) -> None:
            affinity.bind(session)
            for _ in range(3):
                await say(OpenAIChat(client))
                await asyncio.create_task(say(OpenAIChat(client)))

        await asyncio.gather(turn("a"), turn("b"))
        await say(OpenAIChat(client))
    assert sorted(key for key in worker.keys if key) == sorted([affinity.key_of("a"), affinity.key_of("b")] * 6)
    assert worker.keys[-1] is None, "whoever starts a session's task does not belong to it"


async def test_judge_and_persona_of_a_session_carry_its_key_and_not_its_id(worker: Worker) -> None:
    store = FlakyStore.open("sqlite://")
    async with make_client(f"{worker.url}/v1", "") as client:
        judge = SmallJudge(client, "base", UNCALIBRATED, NO_WORDS, identity="small")
        given = deps(store, OpenAIChat(client), judge)
        first, second = await begin(given), await begin(given)
        await first.answer()
        await second.answer()
    await store.close()
    ids = [first.state.id, second.state.id]
    assert ids[0] != ids[1]
    # The judge, and the persona twice: what this worker says passes no guard, so it is asked once more.
    assert worker.keys == [affinity.key_of(ids[0])] * 3 + [affinity.key_of(ids[1])] * 3
    assert not [key for key in worker.keys for session in ids if session in (key or "")]


def test_a_key_does_not_depend_on_the_process() -> None:
    # printf 'affinity:session-1' | sha256sum
    assert affinity.key_of("session-1") == "d0bbe11f223f95ab7e1ef8049704c7b5"
