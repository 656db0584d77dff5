"""Who may serve, and who is still being used."""

from __future__ import annotations

import asyncio

import pytest

from interviewer.adapters.openai_model import OpenAIChat
from interviewer.adapters.roster import NotProven, Roster
from interviewer.service.ports import ModelError

from .kit import Endpoint

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_adapter_serves_only_after_its_canary() -> None:
    roster = Roster()
    roster.expect("a@1")
    with pytest.raises(NotProven, match="a@1"), roster.use("a@1"):
        pytest.fail("it served")
    with roster.use("base"):
        pass
    roster.prove("a@1")
    with roster.use("a@1"):
        pass
    roster.expect("a@1")
    with pytest.raises(NotProven), roster.use("a@1"):
        pytest.fail("it served after the engine was started again")


async def test_idle_waits_for_the_last_user() -> None:
    roster = Roster()
    with roster.use("a@1"):
        with roster.use("a@1"):
            waiting = asyncio.create_task(roster.idle("a@1"))
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 5)
    await roster.idle("never used")


async def test_a_stream_holds_its_adapter_until_it_is_closed(api: Endpoint) -> None:
    roster = Roster()
    api.answer = api.stream("one", " two", wait_after=1)
    async with api.client() as client:
        stream = OpenAIChat(client, roster).stream("a@1", [], max_tokens=8, temperature=0, seed=1)
        assert await anext(stream) == "one"
        waiting = asyncio.create_task(roster.idle("a@1"))
        await asyncio.sleep(0)
        assert not waiting.done()
        await stream.aclose()
        await asyncio.wait_for(waiting, 5)


async def test_an_adapter_that_failed_is_a_model_error(api: Endpoint) -> None:
    roster = Roster()
    roster.expect("a@1")
    before = len(api.asked)
    async with api.client() as client:
        with pytest.raises(ModelError, match="canary"):
            await anext(OpenAIChat(client, roster).stream("a@1", [], max_tokens=8, temperature=0, seed=1))
    assert len(api.asked) == before, "the engine is not even asked"
