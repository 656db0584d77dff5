"""The real router, as compose.yaml starts it, in front of workers that are no engines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from openai import AsyncOpenAI

from interviewer.adapters.openai_model import OpenAIChat, make_client
from interviewer.bootstrap import served_adapters
from interviewer.core.prompts import Message
from interviewer.service import affinity
from interviewer.service.ports import ModelError

from .kit import SECONDS, Worker, router

SESSIONS = [f"session-{number}" for number in range(24)]
MESSAGES: list[Message] = [{"role": "user", "content": "The words of a candidate."}]
AGAIN_SOON = "--cb-timeout-duration-secs=1"


async def say(client: AsyncOpenAI, session: str) -> str:
    """Generate one turn of a session."""

    async def turn() -> str:
        affinity.bind(session)
        stream = OpenAIChat(client).stream("base", MESSAGES, max_tokens=9, temperature=0, seed=1)
        return "".join([piece async for piece in stream])

    return await asyncio.create_task(turn())


async def owners(client: AsyncOpenAI, workers: Iterable[Worker]) -> dict[str, Worker]:
    """Say one turn of each session and return who generated it."""
    found = {}
    for session in SESSIONS:
        before = {worker.port: len(worker.keys) for worker in workers}
        await say(client, session)
        (found[session],) = [worker for worker in workers if len(worker.keys) > before[worker.port]]
    return found


async def test_a_session_keeps_its_worker_until_that_one_is_gone_and_after_it_is_back(tmp_path: Path) -> None:
    first, second, life = Worker(), Worker(), AsyncExitStack()
    async with second.running(), life:
        await life.enter_async_context(first.running())
        async with (
            router([first.url, second.url], tmp_path / "log", AGAIN_SOON) as url,
            make_client(f"{url}/v1", "") as client,
        ):
            at_first = await owners(client, [first, second])
            assert {worker.port for worker in at_first.values()} == {first.port, second.port}, "both are used"
            assert await owners(client, [first, second]) == at_first

            await life.aclose()
            without = await owners(client, [first, second])  # not one turn fails
            assert {worker.port for worker in without.values()} == {second.port}

            first.keys.clear()
            async with first.running(), asyncio.timeout(SECONDS):
                lost = next(session for session, worker in at_first.items() if worker is first)
                while not first.keys:
                    await say(client, lost)
                    await asyncio.sleep(0.1)
                assert await owners(client, [first, second]) == at_first


@pytest.mark.parametrize("gone", [0, 1])
async def test_the_models_are_listed_whichever_worker_is_gone(tmp_path: Path, gone: int) -> None:
    served = ("base", "deep_dive@1a2b3c4d", "evaluator@5e6f7a8b")
    workers, life = [Worker(served=served), Worker(served=served)], AsyncExitStack()
    async with workers[1 - gone].running(), life:
        await life.enter_async_context(workers[gone].running())
        async with (
            router([worker.url for worker in workers], tmp_path / "log") as url,
            make_client(f"{url}/v1", "") as client,
        ):
            expected = {"deep_dive": "deep_dive@1a2b3c4d", "evaluator": "evaluator@5e6f7a8b"}
            assert served_adapters([model.id async for model in client.models.list()]) == expected
            await life.aclose()
            await owners(client, workers)  # the router notices
            assert served_adapters([model.id async for model in client.models.list()]) == expected


async def test_a_request_that_no_engine_can_answer_does_not_shut_both_out(tmp_path: Path) -> None:
    workers = [Worker(broken=True), Worker(broken=True)]
    async with (
        workers[0].running(),
        workers[1].running(),
        router([worker.url for worker in workers], tmp_path / "log") as url,
        make_client(f"{url}/v1", "") as client,
    ):
        with pytest.raises(ModelError, match="answered 500"):
            await say(client, "session-1")
        assert sorted(len(worker.keys) for worker in workers) == [2, 3]
        for worker in workers:
            worker.broken = False
        await owners(client, workers)


async def test_a_stream_that_breaks_in_the_middle_is_an_error_and_no_short_answer(tmp_path: Path) -> None:
    async with (
        Worker(dies_after=3).running() as worker,
        router([worker.url], tmp_path / "log") as url,
        make_client(f"{url}/v1", "") as client,
    ):
        with pytest.raises(ModelError):
            await say(client, "session-1")
    assert len(worker.keys) == 1, "what was said may have been seen: whether to ask again is for the service to decide"


async def test_neither_keys_nor_words_are_in_the_log(tmp_path: Path) -> None:
    async with (
        Worker().running() as worker,
        router([worker.url], tmp_path / "log") as url,
        make_client(f"{url}/v1", "") as client,
    ):
        await say(client, "session-1")
        await client.completions.create(model="base", prompt=["The words of a candidate."], max_tokens=1)
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert len(worker.keys) == 2
    assert affinity.key_of("session-1") not in log
    assert "candidate" not in log
