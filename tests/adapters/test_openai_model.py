"""The chat model against a real endpoint: every way to fail is a ModelError, and closing stops the generation."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from interviewer.adapters.openai_model import OpenAIChat, make_client
from interviewer.core.prompts import Message
from interviewer.service.ports import ModelError
from tests.service.kit import eventually

from .kit import Answer, Endpoint, garbage, nowhere, other_json, page, status

pytestmark = pytest.mark.asyncio(loop_scope="module")

MESSAGES: list[Message] = [
    {"role": "system", "content": "You are Henrik."},
    {"role": "assistant", "content": "Why?"},
    {"role": "user", "content": "Topic: caches"},
]


async def say(model: OpenAIChat) -> list[str]:
    stream = model.stream("deep_dive@1", MESSAGES, max_tokens=9, temperature=0.3, seed=7)
    return [piece async for piece in stream]


async def test_pieces_come_as_they_are_generated(api: Endpoint) -> None:
    api.answer = api.stream("Why ", "", "paging", "?")
    api.asked.clear()
    async with api.client() as client:
        assert await say(OpenAIChat(client)) == ["Why ", "paging", "?"]
    (asked,) = api.asked
    assert asked == {
        "path": "/v1/chat/completions",
        "model": "deep_dive@1",
        "messages": MESSAGES,
        "max_tokens": 9,
        "temperature": 0.3,
        "seed": 7,
        "stream": True,
    }


async def test_a_begun_message_is_continued_and_not_answered(api: Endpoint) -> None:
    api.answer = api.stream(" Why?")
    api.asked.clear()
    begun: list[Message] = [*MESSAGES, {"role": "assistant", "content": 'You said "pages".'}]
    async with api.client() as client:
        stream = OpenAIChat(client).stream("m", begun, max_tokens=9, temperature=0.3, seed=7)
        assert [piece async for piece in stream] == [" Why?"]
    (asked,) = api.asked
    assert asked["messages"] == begun
    assert (asked["add_generation_prompt"], asked["continue_final_message"]) == (False, True)


async def test_closing_the_stream_stops_the_generation(api: Endpoint) -> None:
    api.answer = api.stream("Why ", "never", wait_after=1)
    async with api.client() as client:
        model = OpenAIChat(client)
        async with aclosing(model.stream("m", MESSAGES, max_tokens=9, temperature=0, seed=7)) as stream:
            async for piece in stream:
                assert piece == "Why "
                assert api.open == 1
                break
        await eventually(lambda: api.open == 0)


async def test_cancelling_before_the_first_token_stops_the_generation(api: Endpoint) -> None:
    api.answer = api.stream("never", wait_after=0)
    async with api.client() as client:
        task = asyncio.create_task(say(OpenAIChat(client)))
        await eventually(lambda: api.open == 1)
        task.cancel()
        await asyncio.wait([task])
        await eventually(lambda: api.open == 0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (status(500), "the model endpoint answered 500"),
        (status(404), "the model endpoint answered 404"),
        (status(429), "the model endpoint answered 429"),
        (status(401), "the model endpoint answered 401"),
    ],
)
async def test_a_refusal_is_named_by_its_status_and_asked_once(api: Endpoint, answer: Answer, message: str) -> None:
    api.answer = answer
    api.asked.clear()
    async with api.client() as client:
        with pytest.raises(ModelError) as failed:
            await say(OpenAIChat(client))
    assert str(failed.value) == message, "without the words that the endpoint sent back"
    assert len(api.asked) == 1, "a live turn is not retried"


async def test_a_broken_stream_is_an_error_after_what_was_said(api: Endpoint) -> None:
    for end in ("data: {not json}\n\n", 'data: {"error": {"message": "out of memory"}}\n\n'):
        api.answer = api.stream("Why ", end=end)
        async with api.client() as client:
            said = []
            with pytest.raises(ModelError):
                async for piece in OpenAIChat(client).stream("m", MESSAGES, max_tokens=9, temperature=0, seed=7):
                    said.append(piece)
            assert said == ["Why "]


@pytest.mark.parametrize("answer", [page, other_json, garbage])
async def test_what_is_no_stream_is_an_error(api: Endpoint, answer: Answer) -> None:
    api.answer = answer
    async with api.client() as client:
        with pytest.raises(ModelError, match="not of the asked shape"):
            await say(OpenAIChat(client))


async def test_a_line_break_of_another_script_inside_a_piece_is_text(api: Endpoint) -> None:
    api.answer = api.stream("Why\u2028not", "\x85?")
    async with api.client() as client:
        assert await say(OpenAIChat(client)) == ["Why\u2028not", "\x85?"]


async def test_a_slow_endpoint_is_not_waited_for(api: Endpoint) -> None:
    api.answer = api.stream("late")
    api.seconds = 30.0
    try:
        async with api.client(seconds=0.1) as client:
            with pytest.raises(ModelError, match="did not answer in time"):
                await say(OpenAIChat(client))
    finally:
        api.seconds = 0.0


async def test_an_endpoint_that_is_not_there() -> None:
    async with make_client(nowhere(), "") as client:
        with pytest.raises(ModelError, match="cannot be reached"):
            await say(OpenAIChat(client))
