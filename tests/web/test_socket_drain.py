"""A service that is told to stop: not ready, nothing new, running turns to their end, and everybody is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

from interviewer.core import events as ev
from interviewer.core.session import Phase, fold
from interviewer.web.drain import RETRY_MS
from tests.service.kit import ANSWER, FlakyStore, Saying, deps

from .kit import SECONDS, Running, running

LEAD = "You mentioned the tail. "


def hanging() -> Saying:
    """Return a model that begins a question and never ends it."""
    return Saying(lambda p: f"{LEAD}Which of", hang=True)


async def test_a_client_that_thinks_is_told_when_to_return_and_closed(server: Running) -> None:
    async with server.joined(await server.create()) as client:
        await client.stage("waiting", 1)
        server.server.should_exit = True
        told = await client.kind("going_away")
        assert RETRY_MS[0] <= told["retry_after_ms"] <= RETRY_MS[1]
        assert await client.closed() == 1012


async def test_while_a_turn_runs_nothing_new_is_taken_and_then_the_turn_arrives_whole() -> None:
    async with running(deps(FlakyStore.open("sqlite://"), hanging()), grace=SECONDS) as server:
        opened = await server.create()
        async with server.joined(opened) as busy:
            await busy.stage("waiting", 1)
            await busy.send(type="answer", msg_id="m1", text=ANSWER)
            await busy.until(lambda m: busy.text(2) == LEAD)
            server.server.should_exit = True
            await busy.kind("going_away")

            ready = await server.http.get("/readyz")
            assert ready.status_code == 503 and ready.json()["checks"]["service"]["detail"] == "shutting down"
            assert (await server.http.get("/healthz")).status_code == 200, "it is not dead"
            refused = await server.http.post("/v1/sessions", json={"persona": "deep_dive"})
            assert refused.status_code == 503 and refused.json()["error"]["code"] == "shutting_down"
            loop = await server.http.post("/v1/loops", json={})
            assert loop.status_code == 503

            await busy.send(type="answer", msg_id="m2", text=ANSWER)
            error = await busy.refused("shutting_down")
            assert error["retryable"] and error["msg_id"] == "m2"

            async with server.socket(opened) as late:
                await late.send(type="hello", token=opened["token"], last_seq=0)
                await late.refused("shutting_down")
                assert await late.closed() == 1012

            await busy.send(type="interrupt")  # ends the turn, which else would go on for ever
            done = await busy.kind("question.done")
            assert done["text"] == LEAD.strip()
            assert await busy.closed() == 1012


async def test_a_turn_that_outlasts_the_grace_is_kept_for_the_next_start(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/interviews.db"
    async with running(deps(FlakyStore.open(url), hanging()), grace=0.1) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.until(lambda m: client.text(2) == LEAD)
            server.server.should_exit = True
            assert await client.closed() == 1012
    store = FlakyStore.open(url)
    assert fold(await store.load(opened["id"])).phase is Phase.ASKING
    async with (
        running(deps(store), grace=SECONDS) as again,
        again.joined(opened, last_seq=3) as client,
    ):
        await client.stage("waiting", 2)
        assert client.seqs() == [4, 5, 6, 7]


async def test_everybody_is_told_another_time(server: Running) -> None:
    opened = [await server.create() for _ in range(6)]
    ready, go = asyncio.Semaphore(0), asyncio.Event()

    async def follow(number: int) -> int:
        async with server.joined(opened[number]) as client:
            await client.stage("waiting", 1)
            ready.release()
            await go.wait()
            told: int = (await client.kind("going_away"))["retry_after_ms"]
            return told

    following = [asyncio.create_task(follow(number)) for number in range(6)]
    for _ in following:
        await ready.acquire()
    server.server.should_exit = True
    go.set()
    assert len(set(await asyncio.gather(*following))) > 1


async def test_an_accepted_answer_is_in_the_log_before_the_process_ends(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/interviews.db"
    async with running(deps(FlakyStore.open(url), hanging()), grace=0.0) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.until(lambda m: m["type"] == "event" and "msg_id" in m["recorded"]["event"])
            server.server.should_exit = True
            await client.closed()
    log = await FlakyStore.open(url).load(opened["id"])
    assert [r.event.text for r in log if isinstance(r.event, ev.AnswerGiven)] == [ANSWER]
