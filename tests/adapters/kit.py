"""A small OpenAI-compatible endpoint on a real port: it speaks the shapes, and breaks when told."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import log
from typing import Any

import uvicorn
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from interviewer.adapters.openai_model import make_client
from tests.service.kit import eventually

Answer = Callable[[dict[str, Any]], Response]


@dataclass
class Endpoint:
    """What the endpoint answers, and what it was asked."""

    answer: Answer
    seconds: float = 0.0
    """Time before it answers."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    open: int = 0
    """Streams that are being sent."""
    url: str = ""

    def client(self, seconds: float = 20.0) -> AsyncOpenAI:
        return make_client(self.url, "secret", seconds=seconds)

    def stream(self, *pieces: str, end: str = "data: [DONE]\n\n", wait_after: int | None = None) -> Answer:
        """Stream chat chunks, then ``end``; hangs after so many pieces when told."""

        async def events() -> AsyncIterator[str]:
            self.open += 1
            try:
                for number, piece in enumerate(pieces):
                    if number == wait_after:
                        await asyncio.Event().wait()
                    yield f"data: {json.dumps(chunk(piece))}\n\n"
                    await asyncio.sleep(0)
                yield end
            finally:
                self.open -= 1

        return lambda _: StreamingResponse(events(), media_type="text/event-stream")


def chunk(text: str | None) -> dict[str, Any]:
    choices = [] if text is None else [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}


def chat(content: str | None) -> Response:
    return chat_choice(message={"role": "assistant", "content": content})


def chat_choice(**choice: Any) -> Response:
    """Return a chat answer whose one choice is given by its parts."""
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return JSONResponse({**body, "choices": [{"index": 0, "finish_reason": "stop", **choice}]})


def completion(*tops: dict[str, float] | None) -> Response:
    """Return one choice per prompt, last one first, with the probabilities of its one token."""
    choices = [
        {
            "index": i,
            "text": "",
            "finish_reason": "length",
            "logprobs": None if top is None else {"top_logprobs": [{t: log(p) for t, p in top.items()}]},
        }
        for i, top in enumerate(tops)
    ]
    body = {"id": "c", "object": "text_completion", "created": 1, "model": "m"}
    return JSONResponse({**body, "choices": choices[::-1]})


def models(*names: str) -> Response:
    data = [{"id": name, "object": "model", "created": 1, "owned_by": "us"} for name in names]
    return JSONResponse({"object": "list", "data": data})


def status(code: int) -> Answer:
    return lambda _: JSONResponse({"error": {"message": "secret words of the prompt"}}, status_code=code)


def page(_: dict[str, Any]) -> Response:
    """Answer as a proxy does that knows nothing of models."""
    return Response("<html><body>It works!</body></html>", media_type="text/html")


def garbage(_: dict[str, Any]) -> Response:
    return Response(b"\x00\xffnot json", media_type="application/json")


def other_json(_: dict[str, Any]) -> Response:
    return JSONResponse({"hello": "world"})


@asynccontextmanager
async def endpoint(answer: Answer) -> AsyncIterator[Endpoint]:
    """Serve an endpoint on a free port."""
    made = Endpoint(answer)

    async def serve(request: Request) -> Response:
        body = await request.body()
        made.asked.append({"path": request.url.path, **(json.loads(body) if body else {})})
        await asyncio.sleep(made.seconds)
        return made.answer(made.asked[-1])

    app = Starlette(routes=[Route("/v1/{rest:path}", serve, methods=["GET", "POST"])])
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    made.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    async with serving(app, listening, grace=1):
        yield made


@asynccontextmanager
async def serving(app: Starlette, listening: socket.socket, *, grace: int) -> AsyncIterator[None]:
    """Serve ``app`` on a bound socket until the block ends; open requests get ``grace`` seconds then."""
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=grace)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    await eventually(lambda: server.started)
    try:
        yield
    finally:
        server.should_exit = True
        await running
        listening.close()


def nowhere() -> str:
    """Return the address of an endpoint at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
