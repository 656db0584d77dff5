"""Strange frames against the socket of a service: random, mutated, oversized, and bytes that are no WebSocket frames.

The service may refuse and close with a code that it documents. It must not fail (1011), vanish without a close, stop to
answer, or grow; and who comes with good manners afterwards holds an interview as if nothing had been.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from eval.machine import describe, machine
from interviewer.web.wire import MAX_FRAME, SUBPROTOCOL

CLOSES = {1002: "protocol error", 1007: "not UTF-8", 1009: "too big"} | {
    4001: "taken over",
    4400: "bad first message",
    4401: "not let in",
    4409: "conflict",
    4429: "flood",
}
"""Codes with which the service may close on a strange frame."""
ANSWER_SECONDS = 60.0
"""Longest wait for an answer to a ping; beyond it the service hangs."""
RAW_SECONDS = 0.5
"""How long a connection is kept after bytes that are no frames, if the service waits for more."""
EACH = 20
"""Frames between two pings; fewer than the replies that may wait for a client."""
SESSION = 400
"""Frames to one session before another is begun."""

GOOD: tuple[dict[str, Any], ...] = (
    {"type": "hello", "token": "some-token-or-other", "last_seq": 3},
    {"type": "answer", "msg_id": "m1", "text": "We held the tail at 800 ms."},
    {"type": "interrupt", "last_seq": 2, "seen": 4},
    {"type": "persona", "persona": "hiring_manager"},
    {"type": "hint"},
    {"type": "end"},
    {"type": "ping"},
)
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 10**400, 1e308, float("nan"), float("inf"), "", "\0", "\ud800", "\u202e" * 50),
    *([], {}, [[]] * 50, {"type": "answer"}, "x" * 65, "answer", "<script>", "'; DROP TABLE session; --", " " * 5000),
)
Frame: TypeAlias = str | bytes | bytearray
"""Text, binary, or (bytearray) bytes that go onto the connection as they are."""


def frame(chance: random.Random) -> Frame:
    """Return one frame."""
    kind = chance.random()
    if kind < 0.15:
        return chance.randbytes(chance.randrange(300))
    if kind < 0.17:
        return bytearray(chance.randbytes(chance.randrange(2, 200)))
    if kind < 0.19:
        return json.dumps(GOOD[1] | {"text": "x" * chance.randrange(MAX_FRAME - 200, MAX_FRAME + 2000)})
    if kind < 0.22:
        return "[" * chance.randrange(20_000) + "]" * chance.randrange(3)
    message = dict(chance.choice(GOOD))
    for _ in range(chance.randrange(3)):
        key = chance.choice([*message, "type", "more", "", "__proto__"])
        if chance.random() < 0.2:
            message.pop(key, None)
        else:
            message[key] = chance.choice(ODD)
    text = json.dumps(message, ensure_ascii=True)
    return text if chance.random() < 0.5 else _cut(text, chance)


def _cut(text: str, chance: random.Random) -> str | bytes:
    """Damage a text: drop, repeat or replace a piece; sometimes as bytes, which may not be UTF-8."""
    start = chance.randrange(len(text))
    end = min(len(text), start + chance.randrange(1, 12))
    put = chance.choice(("", text[start:end] * 2, chr(chance.randrange(1, 0xD800)), '"', "}", "\\u"))
    damaged = text[:start] + put + text[end:]
    return damaged if chance.random() < 0.7 else damaged.encode() + chance.randbytes(2)


@dataclass
class Found:
    """What came of it."""

    sent: int = 0
    connections: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Errors by code."""
    closed: Counter[int] = field(default_factory=Counter)
    """Closes by code."""
    violations: list[str] = field(default_factory=list)


async def fuzz(url: str, frames: int, seed: int, progress: Callable[[str], None] = lambda _: None) -> Found:
    """Send ``frames`` frames to the service at ``url``, and then hold one turn of an interview."""
    chance, found = random.Random(seed), Found()
    async with httpx2.AsyncClient(base_url=url, timeout=ANSWER_SECONDS) as http:
        while found.sent < frames:
            opened = await _open(http)
            until = min(frames, found.sent + SESSION)
            while found.sent < until:
                await _connection(url, opened, chance, until, found)
            progress(f"{found.sent} of {frames} frames, {len(found.violations)} violations")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await _turn(url, await _open(http))
        except (TimeoutError, ConnectionClosed) as error:
            found.violations.append(f"an interview could not be held afterwards: {type(error).__name__}")
        if (await http.get("/readyz")).status_code != 200:
            found.violations.append("the service is not ready afterwards")
    return found


async def _open(http: httpx2.AsyncClient) -> dict[str, Any]:
    answer = await http.post("/v1/sessions", json={"persona": "deep_dive", "minutes": 30, "seed": 1})
    answer.raise_for_status()
    opened: dict[str, Any] = answer.json()
    return opened


def _dial(url: str, opened: dict[str, Any]) -> connect:
    address = f"ws{url.removeprefix('http')}{opened['ws_url']}"
    return connect(address, subprotocols=[Subprotocol(SUBPROTOCOL)], ping_interval=None, max_size=None, close_timeout=2)


async def _connection(url: str, opened: dict[str, Any], chance: random.Random, until: int, found: Found) -> None:
    """Send frames over one connection until it is closed, or enough were sent."""
    last, raw, fatal = b"", False, False
    found.connections += 1
    async with _dial(url, opened) as socket:
        try:
            if chance.random() < 0.9:  # else the first frame is a strange one, too
                await socket.send(json.dumps({"type": "hello", "token": opened["token"], "last_seq": 0}))
            while found.sent < until:
                for _ in range(min(EACH, until - found.sent)):
                    strange = frame(chance)
                    last = strange.encode(errors="replace") if isinstance(strange, str) else bytes(strange)
                    found.sent += 1
                    fatal = fatal or isinstance(strange, bytearray) or len(last) > MAX_FRAME
                    if isinstance(strange, bytearray):
                        raw = True
                        socket.transport.write(last)
                        await _to_end(socket, found)
                        return
                    else:
                        await socket.send(strange)
                await socket.send('{"type": "ping"}')
                async with asyncio.timeout(ANSWER_SECONDS):
                    while _read(await socket.recv(), found) != "pong":
                        pass
        except ConnectionClosed as end:
            code = end.rcvd.code if end.rcvd else None
            found.closed[code or 1006] += 1
            # What the service had to close for may be followed by more that it does not read any more; TCP then takes
            # the code with it. Raw bytes may happen to be a close of their own, whose code comes back.
            lost, echoed = fatal and code is None, raw and code not in (None, 1011)
            if code not in CLOSES and not lost and not echoed:
                found.violations.append(f"closed with {code} near {last[:80]!r}")
        except TimeoutError:
            found.violations.append(f"no answer within {ANSWER_SECONDS:.0f} s near {last[:80]!r}")


async def _to_end(socket: ClientConnection, found: Found) -> None:
    """Read until the service closes; leave when it does not: the bytes may be the beginning of a long frame."""
    try:
        async with asyncio.timeout(RAW_SECONDS):
            while True:
                _read(await socket.recv(), found)
    except TimeoutError:
        socket.transport.abort()


def _read(raw: str | bytes, found: Found) -> str:
    message = json.loads(raw)
    if message["type"] == "error":
        found.refused[message["code"]] += 1
        if message["code"] == "internal_error":
            found.violations.append("internal_error")
    return str(message["type"])


async def _turn(url: str, opened: dict[str, Any]) -> None:
    """Hold one turn."""
    async with _dial(url, opened) as socket:
        await socket.send(json.dumps({"type": "hello", "token": opened["token"]}))
        answered = False
        async for raw in socket:
            message = json.loads(raw)
            if message["type"] == "status" and message["stage"] == "waiting":
                if answered:
                    return
                await socket.send(json.dumps({"type": "answer", "msg_id": "m1", "text": "I measured it for a week."}))
                answered = True


def measure(frames: int, seed: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Start a service on a simulated engine, fuzz it, and return what came of it, with its memory before and after."""
    from eval.faults_world import World

    async def held(world: World) -> dict[str, Any]:
        try:
            await world.start()
            await fuzz(world.url, min(500, frames), seed + 1)  # so that what is loaded once is loaded
            before = world.memory_mb()
            found = await fuzz(world.url, frames, seed, progress)
            return {
                "machine": machine(),
                "frames": found.sent,
                "seed": seed,
                "connections": found.connections,
                "refused": dict(found.refused.most_common()),
                "closed": {str(code): n for code, n in found.closed.most_common()},
                "memory_mb": {"before": before, "after": world.memory_mb()},
                "violations": found.violations,
            }
        finally:
            world.stop()

    with tempfile.TemporaryDirectory(prefix="frames", ignore_cleanup_errors=True) as folder:
        return asyncio.run(held(World(Path(folder), f"sqlite:///{folder}/frames.db", token_seconds=0.001)))


def to_markdown(found: dict[str, Any]) -> str:
    """Return the report as text."""
    memory = found["memory_mb"]
    rows = [f"| refused: {code} | {n} |" for code, n in found["refused"].items()]
    rows += [f"| closed: {code} {CLOSES.get(int(code), '')} | {n} |" for code, n in found["closed"].items()]
    lines = [
        "# Strange frames",
        "",
        describe(found["machine"]),
        "",
        f"`interviewer eval frames --frames {found['frames']} --seed {found['seed']}`: {found['frames']} frames over "
        f"{found['connections']} connections. **Violations: {len(found['violations'])}.** Memory of the service: "
        f"{memory['before']} MB before, {memory['after']} MB after.",
        "",
        "| answer | times |",
        "| --- | ---: |",
        *rows,
        *([""] if found["violations"] else []),
        *(f"- {text}" for text in found["violations"][:50]),
    ]
    return "\n".join(lines) + "\n"
