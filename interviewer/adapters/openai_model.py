"""Chat completions from any OpenAI-compatible endpoint, streamed; no retries, because a turn is live."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence

import httpx2
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    DefaultAsyncHttpxClient,
    OpenAIError,
    Timeout,
)
from openai.types.chat import ChatCompletionMessageParam

from interviewer.adapters.roster import NotProven, Roster
from interviewer.core.prompts import Message
from interviewer.service import affinity
from interviewer.service.ports import ModelError

MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError)
"""What the client raises, unwrapped, on answers that have not the shape of the API: a proxy's page, a broken stream."""

_CONTINUED = {"add_generation_prompt": False, "continue_final_message": True}
"""Tells vLLM to go on with a begun message instead of answering it."""


def make_client(
    base_url: str, api_key: str, *, seconds: float = 60.0, headers: Callable[[], Mapping[str, str]] = dict
) -> AsyncOpenAI:
    """Return a client that never retries and gives up after ``seconds`` without a byte (5 s to connect).

    Requests of a session carry its key, see :mod:`interviewer.service.affinity`, and what ``headers`` returns for the
    task that makes them.
    """

    async def name(request: httpx2.Request) -> None:
        request.headers.update({**affinity.headers(), **headers()})

    timeout = Timeout(seconds, connect=5.0)
    http = DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"request": [name]})
    return AsyncOpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0, timeout=timeout, http_client=http)


class OpenAIChat:
    """A :class:`~interviewer.service.ports.ChatModel` over the ``openai`` client."""

    def __init__(self, client: AsyncOpenAI, roster: Roster | None = None) -> None:
        """Keep the client, and who may serve (everybody when not given)."""
        self._client = client
        self._roster = roster or Roster()

    async def stream(
        self, model: str, messages: Sequence[Message], *, max_tokens: int, temperature: float, seed: int
    ) -> AsyncGenerator[str, None]:
        """Yield pieces of text; closing the generator closes the connection, which cancels the generation.

        Raises:
            ModelError: the endpoint is unreachable, slow, or refuses, or the adapter may not serve.
        """
        params: list[ChatCompletionMessageParam] = [_param(m) for m in messages]
        try:
            with self._roster.use(model):
                asked = self._client.chat.completions.with_streaming_response.create(
                    model=model,
                    messages=params,
                    max_tokens=max_tokens,
                    temperature=temperature,
                    seed=seed,
                    stream=True,
                    extra_body=_CONTINUED if messages and messages[-1]["role"] == "assistant" else None,
                )
                async with asked as response:
                    async for data in _events(response.iter_bytes()):
                        if piece := _piece(data):
                            yield piece
        except NotProven as error:
            raise ModelError(str(error)) from error
        except (OpenAIError, httpx2.HTTPError, *MALFORMED) as error:
            raise ModelError(describe(error)) from error


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of server-sent events, one line each, as chat completions are streamed.

    Raises:
        ValueError: there is none: a proxy's page, another API.
    """
    rest, any_ = b"", False
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                any_ = True
                yield line[5:].strip()
    if not any_:
        raise ValueError("no events")


def _piece(data: bytes) -> str | None:
    """Return the text of one event.

    Read by hand: building the client's objects for each of them took a quarter of the service's time under load.

    Raises:
        ModelError: the endpoint says that it failed in the middle.
        ValueError, TypeError, AttributeError: it is of another shape.
    """
    if data == b"[DONE]":
        return None
    chunk = json.loads(data)
    if chunk.get("error"):
        raise ModelError("the model endpoint failed in the middle of its answer")
    content = chunk["choices"][0]["delta"].get("content") if chunk.get("choices") else None
    if content is not None and not isinstance(content, str):
        raise TypeError("the text of an event is not text")
    return content


def describe(error: Exception) -> str:
    """Say in one line what went wrong with an endpoint, without the body of a request."""
    if isinstance(error, APITimeoutError):
        return "the model endpoint did not answer in time"
    if isinstance(error, APIConnectionError):
        return "the model endpoint cannot be reached"
    if isinstance(error, APIStatusError):
        return f"the model endpoint answered {error.status_code}"
    if isinstance(error, MALFORMED):
        return f"the model endpoint answered something that is not of the asked shape ({type(error).__name__})"
    return f"the model endpoint failed: {type(error).__name__}"


def _param(message: Message) -> ChatCompletionMessageParam:
    match message["role"]:
        case "system":
            return {"role": "system", "content": message["content"]}
        case "assistant":
            return {"role": "assistant", "content": message["content"]}
        case "user":  # pragma: no branch
            return {"role": "user", "content": message["content"]}
