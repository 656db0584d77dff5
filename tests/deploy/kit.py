"""vLLM's router with the flags that compose.yaml gives it, and workers for it that are no engines."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import httpx2
from ruamel.yaml import YAML
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from interviewer.service.affinity import HEADER
from serving import _watch
from serving.engine_config import free_port
from tests.adapters.kit import chunk, models, serving

DEPLOY = Path(_watch.__file__).parent / "deploy"
SECONDS = 60.0
"""Longest wait for a router."""


def documents(path: Path) -> list[Any]:
    """Return the documents of a YAML file as plain values."""
    return [found for found in YAML(typ="safe").load_all(path) if found is not None]


def router_flags() -> list[str]:
    """Return what compose.yaml starts the router with, without its address and its workers."""
    (compose,) = documents(DEPLOY / "compose.yaml")
    command: list[str] = compose["services"]["router"]["command"]
    flags = command[: command.index("--worker-urls")]
    return [flag for flag in flags if not flag.startswith(("--host=", "--port="))]


@asynccontextmanager
async def router(workers: Sequence[str], output: Path, *more: str) -> AsyncIterator[str]:
    """Run the router on loopback until the block ends; yields its root address.

    Args:
        workers: Root addresses of the workers.
        output: File that gets what it prints.
        more: Flags that win over those of compose.yaml.
    """
    host, port = "127.0.0.1", free_port("127.0.0.1")
    address = [f"--host={host}", f"--port={port}", f"--prometheus-port={free_port(host)}"]
    with output.open("wb") as log_file:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            _watch.__file__,
            *(sys.executable, "-m", "vllm_router.launch_router", *address, *router_flags(), *more),
            *("--worker-urls", *workers),
            stdin=asyncio.subprocess.PIPE,  # the watcher ends the router when this process dies, in whatever way
            stdout=log_file,
            stderr=log_file,
        )
    try:
        async with asyncio.timeout(SECONDS), httpx2.AsyncClient() as client:
            while not await _ready(client, f"http://{host}:{port}/readiness"):
                assert process.returncode is None, f"the router ended, see {output}"
                await asyncio.sleep(0.05)
        yield f"http://{host}:{port}"
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def _ready(client: httpx2.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).status_code == 200
    except httpx2.HTTPError:
        return False


@dataclass(eq=False)
class Worker:
    """A worker that answers as an engine does, at once, and remembers who asked."""

    port: int = 0
    """0 takes a free one; a worker that comes back takes the same."""
    served: tuple[str, ...] = ("base",)
    dies_after: int | None = None
    """Pieces of a stream after which it breaks the connection."""
    broken: bool = False
    """Whether it answers 500 to everything that is to be generated."""
    keys: list[str | None] = field(default_factory=list)
    """The session key of each generation, in order; ``None`` for requests without one."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _generate(self, request: Request) -> Response:
        self.keys.append(request.headers.get(HEADER))
        asked = await request.json()
        if self.broken:
            return JSONResponse({"error": {"message": "broken"}}, status_code=500)
        if "messages" in asked:
            return StreamingResponse(self._stream(), media_type="text/event-stream")
        choices = [
            {
                "index": i,
                "text": "2",
                "finish_reason": "length",
                "logprobs": {"tokens": ["2"], "token_logprobs": [0.0], "top_logprobs": [{"2": log(0.9)}]},
            }
            for i, _ in enumerate(asked["prompt"])
        ]
        body = {"id": "c", "object": "text_completion", "created": 1, "model": asked["model"]}
        return JSONResponse({**body, "choices": choices})

    async def _stream(self) -> AsyncIterator[str]:
        for number, word in enumerate("You said so. Why was it so?".split(" ")):
            if number == self.dies_after:
                raise ConnectionAbortedError
            yield f"data: {json.dumps(chunk(word + ' '))}\n\n"
            await asyncio.sleep(0)
        yield "data: [DONE]\n\n"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Worker]:
        """Serve until the block ends; then nobody listens there, as after a crash."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        self.port = listening.getsockname()[1]
        app = Starlette(
            routes=[
                Route("/health", lambda _: Response()),
                Route("/v1/models", lambda _: models(*self.served)),
                Route("/v1/completions", self._generate, methods=["POST"]),
                Route("/v1/chat/completions", self._generate, methods=["POST"]),
            ]
        )
        async with serving(app, listening, grace=0):
            yield self
