"""A simulated engine: the OpenAI routes that the service uses, scripted tokens on a timetable, faults when asked for.

It takes the place of a real engine where the service itself is looked at: load, kills, streams that break. Tokens leave
at ``first + n * between`` seconds after a request came, whatever was late before, as a batching engine's do.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

MODELS = ("base", "recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral", "evaluator")
SCRIPT = (
    "Thank you, that helps me see how you went about it. Which number did you look at first, and what did it tell you?",
    "I see what you did there. What would you have tried next if that had not worked, and how would you have known?",
    "That is clear so far. Who disagreed with this at the time, and which of their points did you accept?",
    "Good, let us stay with that for a moment. What did it cost you, in time or in money, and was it worth it?",
)
"""Turns of a persona; which one is said follows from the seed of the request."""
LEVELS = "0123"
SESSION_HEADER = "x-session-id"
"""What the service names a session by, for routers."""
Told: TypeAlias = Callable[[str, float], None]


class BrokenOff(Exception):
    """Ends a response in its middle: the connection is cut, as when an engine dies."""


@dataclass(frozen=True)
class Timing:
    """How the engine behaves."""

    first_seconds: float = 0.2
    """From a request to its first token; also what reading levels takes."""
    between_seconds: float = 0.02
    """From token to token."""
    fail: float = 0.0
    """Share of requests that are answered 503, 0 to 1."""
    reset: float = 0.0
    """Share of streams that are cut in their middle, 0 to 1."""
    seed: int = 0
    """Of these chances."""


def create_engine(timing: Timing, models: Sequence[str] = MODELS, told: Told = lambda _key, _at: None) -> Starlette:
    """Return the engine as an application.

    Args:
        timing: How it behaves.
        models: The served names.
        told: Told the session key of a stream and the time, on ``time.monotonic``, when each of its tokens leaves.
    """
    return _Engine(timing, models, told).app()


class _Engine:
    def __init__(self, timing: Timing, models: Sequence[str], told: Told) -> None:
        self._told = told
        self._timing = timing
        self._models = models
        self._chance = random.Random(timing.seed)
        self._registry = CollectorRegistry()
        self._running = Gauge(
            "vllm:num_requests_running", "Requests under way", ["model_name"], registry=self._registry
        )
        self._waiting = Gauge(
            "vllm:num_requests_waiting", "Requests in the queue", ["model_name"], registry=self._registry
        )
        self._tokens = Counter("vllm:generation_tokens", "Tokens sent", ["model_name"], registry=self._registry)
        self._waiting.labels("base").set(0)
        self._running.labels("base").set(0)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/v1/models", self._list),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/completions", self._levels, methods=["POST"]),
            ]
        )

    async def _health(self, _: Request) -> Response:
        return Response()

    async def _metrics(self, _: Request) -> Response:
        return Response(generate_latest(self._registry), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _list(self, _: Request) -> Response:
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": "simulated"} for name in self._models]
        return JSONResponse({"object": "list", "data": rows})

    async def _asked(self, request: Request) -> dict[str, Any] | Response:
        """Return the body, or the refusal to answer with."""
        try:
            body = await request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _refusal(400, "the body is not a JSON object")
        if body.get("model") not in self._models:
            return _refusal(404, f"The model {body.get('model')!r} does not exist.")
        return _refusal(503, "simulated failure") if self._chance.random() < self._timing.fail else body

    async def _chat(self, request: Request) -> Response:
        began = time.monotonic()
        body = await self._asked(request)
        if isinstance(body, Response):
            return body
        words = SCRIPT[int(body.get("seed") or 0) % len(SCRIPT)].split(" ")
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or len(words)
        tokens = [words[0], *(f" {word}" for word in words[1:])][:limit]
        why = "length" if limit < len(words) else "stop"
        if body.get("stream"):
            stops = self._chance.randrange(len(tokens)) if self._chance.random() < self._timing.reset else None
            key = request.headers.get(SESSION_HEADER, "") if limit > 1 else ""  # one token only warms the cache
            events = self._events(tokens, why, stops, body["model"], began, key)
            return StreamingResponse(events, media_type="text/event-stream")
        await self._until(began, len(tokens) - 1)
        message = {"role": "assistant", "content": "".join(tokens)}
        choice = {"index": 0, "message": message, "finish_reason": why}
        return JSONResponse(
            _head(body["model"], "chat.completion") | {"choices": [choice], "usage": _usage(len(tokens))}
        )

    async def _events(
        self, tokens: Sequence[str], why: str, stops: int | None, model: str, began: float, key: str
    ) -> AsyncIterator[bytes]:
        head = _head(model, "chat.completion.chunk")
        with self._running.labels("base").track_inprogress():
            for number, token in enumerate(tokens):
                await self._until(began, number)
                if number == stops:
                    raise BrokenOff
                self._tokens.labels("base").inc()
                self._told(key, time.monotonic())
                last = why if number == len(tokens) - 1 else None
                choice = {"index": 0, "delta": {"content": token}, "finish_reason": last}
                yield b"data: " + json.dumps(head | {"choices": [choice]}).encode() + b"\n\n"
            yield b"data: [DONE]\n\n"

    async def _levels(self, request: Request) -> Response:
        """Answer each prompt with one token, a level, and the probability of each level."""
        began = time.monotonic()
        body = await self._asked(request)
        if isinstance(body, Response):
            return body
        given = body.get("prompt", "")
        prompts = given if isinstance(given, list) and given and isinstance(given[0], str) else [str(given)]
        with self._running.labels("base").track_inprogress():
            await self._until(began, 0)
        choices = [_level(number, prompt) for number, prompt in enumerate(prompts)]
        return JSONResponse(
            _head(body["model"], "text_completion") | {"choices": choices, "usage": _usage(len(prompts))}
        )

    async def _until(self, began: float, token: int) -> None:
        due = began + self._timing.first_seconds + token * self._timing.between_seconds
        await asyncio.sleep(max(0.0, due - time.monotonic()))


def _head(model: str, kind: str) -> dict[str, Any]:
    return {"id": "simulated", "object": kind, "created": 0, "model": model}


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 0, "completion_tokens": tokens, "total_tokens": tokens}


def _refusal(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": message, "type": "simulated", "code": status}}, status_code=status)


def _level(index: int, prompt: str) -> dict[str, Any]:
    """Return one choice: the same prompt always reads the same, 0.7 on one level and 0.1 on each other."""
    chosen = hashlib.sha256(prompt.encode(errors="surrogatepass")).digest()[0] % len(LEVELS)
    top = {f" {level}": math.log(0.7 if number == chosen else 0.1) for number, level in enumerate(LEVELS)}
    token = f" {LEVELS[chosen]}"
    logprobs = {"tokens": [token], "token_logprobs": [top[token]], "top_logprobs": [top], "text_offset": [0]}
    return {"index": index, "text": token, "finish_reason": "length", "logprobs": logprobs}


def run(host: str, port: int, timing: Timing) -> None:
    """Serve until told to stop; a second signal is not needed, running streams are cut."""
    import uvicorn

    # "critical": a stream that is cut on purpose would fill the log with its traceback.
    uvicorn.run(create_engine(timing), host=host, port=port, log_level="critical", timeout_graceful_shutdown=1)
