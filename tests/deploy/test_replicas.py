"""Two real engines behind the real router: interviews keep their replica, and go on when it is killed in mid-turn."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from openai import AsyncOpenAI
from prometheus_client.parser import text_string_to_metric_families

from interviewer.adapters.backend import ExternalBackend
from interviewer.adapters.judges import SmallJudge
from interviewer.adapters.openai_model import OpenAIChat, make_client
from interviewer.bootstrap import served_adapters
from interviewer.core import events as ev
from interviewer.core.calibration import UNCALIBRATED
from interviewer.core.lexical import NO_WORDS
from interviewer.service import affinity
from serving.deploy.lora_modules import find_adapters
from serving.engine import Engine, EngineConfig
from serving.fetch import default_cache, ensure_base
from tests.service.kit import Desk, FlakyStore, begin, deps, eventually
from tests.serving.test_real_engine import processes_naming

from .kit import router

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="module")]

PERSONAS = Path(affinity.__file__).parents[2] / "personas"
SERVED = ("deep_dive", "evaluator")
MORE_SESSIONS = 40
"""Sessions among which both replicas own one; that they do not has a chance of less than one in a million."""


@dataclass(frozen=True)
class Pair:
    """Two engines behind a router."""

    engines: tuple[Engine, Engine]
    client: AsyncOpenAI
    """Talks to the router, as the service does."""
    names: dict[str, str]

    async def finished(self, engine: Engine) -> float:
        """Return how many requests an engine has answered."""
        async with httpx2.AsyncClient(timeout=60) as client:
            text = (await client.get(f"{engine.base_url.removesuffix('/v1')}/metrics")).text
        return sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "vllm:request_success_total"
        )

    async def owner(self, session: str) -> Engine:
        """Return who answers the requests of a session."""
        before = [await self.finished(engine) for engine in self.engines]

        async def ask() -> None:
            affinity.bind(session)
            await self.client.completions.create(model="base", prompt="Why", max_tokens=1)

        await asyncio.create_task(ask())
        after = [await self.finished(engine) for engine in self.engines]
        grown = [engine for engine, old, new in zip(self.engines, before, after, strict=True) if new > old]
        assert len(grown) == 1
        return grown[0]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    folder = tmp_path_factory.mktemp("replicas")
    model = await asyncio.to_thread(ensure_base, default_cache(), lambda _line: None)
    adapters = {name: path for name, path in find_adapters(PERSONAS).items() if name.split("@")[0] in SERVED}
    engines = tuple(
        Engine(
            EngineConfig(
                model=model,
                log=folder / f"engine-{number}.log",
                adapters=adapters,
                kv_cache_bytes=1 << 28,
                threads=1,
                ready_seconds=900,
            ),
            max_quick_deaths=1,  # a killed one stays away
        )
        for number in range(2)
    )
    async with AsyncExitStack() as stack:
        for engine in engines:
            stack.push_async_callback(engine.stop)
            await engine.start()
        await asyncio.gather(*(engine.wait_ready() for engine in engines))
        workers = [engine.base_url.removesuffix("/v1") for engine in engines]
        url = await stack.enter_async_context(router(workers, folder / "router.log"))
        client = await stack.enter_async_context(make_client(f"{url}/v1", ""))
        yield Pair((engines[0], engines[1]), client, {name.split("@")[0]: name for name in adapters})


async def test_interviews_go_on_when_their_replica_is_killed(pair: Pair) -> None:
    first, second = pair.engines
    assert served_adapters([model.id async for model in pair.client.models.list()]) == pair.names
    store = FlakyStore.open("sqlite://")
    judge = SmallJudge(pair.client, pair.names["evaluator"], UNCALIBRATED, NO_WORDS, identity="small")
    given = deps(
        store,
        OpenAIChat(pair.client),
        judge,
        judge_seconds=300.0,
        served={"deep_dive": pair.names["deep_dive"]},
        recovered=ExternalBackend(pair.client, "base").recovered,
    )

    desks: dict[Engine, Desk] = {}
    for _ in range(MORE_SESSIONS):
        desk = await begin(given)  # an authored question: no model is asked
        desks.setdefault(await pair.owner(desk.state.id), desk)
        if len(desks) == 2:
            break
    assert set(desks) == {first, second}, "the router uses both replicas"

    for engine, other in ((first, second), (second, first)):
        mine, theirs = await pair.finished(engine), await pair.finished(other)
        await desks[engine].answer()
        assert _generated(desks[engine], turn=2)
        assert await pair.finished(engine) >= mine + 2, "the judge's readings and the persona's question"
        assert await pair.finished(other) == theirs

    desk = desks[first]
    turn = asyncio.create_task(desk.answer("I would measure it again, at batch 16, and compare the tail."))
    await eventually(lambda: desk.stages[-1] == "reading")
    for process in processes_naming(f"--port={first.base_url.split(':')[2].removesuffix('/v1')}"):
        os.kill(process, signal.SIGKILL)
    await turn
    assert _generated(desk, turn=3)
    before = await pair.finished(second)
    await desk.answer("Then the batch is too large for that card.")
    assert _generated(desk, turn=4)
    assert await pair.finished(second) >= before + 2
    await desks[second].answer("I would look at the cache.")
    assert _generated(desks[second], turn=3)
    assert served_adapters([model.id async for model in pair.client.models.list()]) == pair.names
    await store.close()


def _generated(desk: Desk, turn: int) -> bool:
    """Return whether the answers up to a turn were read, and the turn was asked with the model there, all unnoticed."""
    assert desk.failures == []
    assert desk.committed(ev.AnswerUnscored) == []
    assert desk.committed(ev.SessionNotice) == []
    assert len(desk.committed(ev.AnswerAssessed)) == turn - 1
    return "model_unavailable" not in desk.question(turn).problems
