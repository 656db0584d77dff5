"""Load for the gateway benchmark: a simulated engine and many candidates in one process, the service in another.

The engine stamps each token when it leaves, and the candidates stamp each frame when it arrives, on one clock. What the
service added to a frame is the time since the earliest moment at which it could have been sent: for the first word of a
generated question the engine's last token of it, for each further word the pace of the service's own reading speed
after the word before.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psutil
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from eval.faults_world import Child
from interviewer.service.affinity import key_of
from interviewer.web.wire import SUBPROTOCOL
from serving.engine_config import free_port
from serving.simulated import Timing, create_engine

WORD_SECONDS = 0.012
"""Pause between words that the service makes on purpose; ``bootstrap`` sets it."""
ANSWER = "We held p99 latency at 800 ms at batch {n} because the tail decides for the user; it cost {n} percent."
GATE = 40
"""Candidates that may begin at once, so that beginning is not what is measured."""
TICK = 0.01


class LoadError(Exception):
    """The service under load did not do what it has to; the message says what."""


@dataclass
class Seen:
    """What the candidates saw while ``counting``."""

    counting: bool = False
    added: list[float] = field(default_factory=list)
    """Seconds that the service added to each frame."""
    first: list[float] = field(default_factory=list)
    """The same of first words alone."""
    turns: int = 0
    frames: int = 0
    asking: int = 0
    """How many sessions have a question being generated or sent now."""
    streaming: list[int] = field(default_factory=list)
    """The same, every tick of the load's clock."""
    lag: list[float] = field(default_factory=list)
    """Seconds by which the load's own clock was late: a floor under everything measured here."""
    problems: list[str] = field(default_factory=list)


@dataclass
class Rig:
    """A service on a simulated engine."""

    url: str
    service: Child
    seen: Seen
    stamps: dict[str, float]
    """By session key: when the last token of its generation left, until a frame was measured against it."""

    def process(self) -> psutil.Process:
        """Return the service's process."""
        return self.service.processes()[0]


@asynccontextmanager
async def rig(folder: Path, timing: Timing, core: int | None) -> AsyncIterator[Rig]:
    """Start engine and service, the service alone on one processor when ``core`` is given.

    Raises:
        WorldError: the service does not come up.
    """
    stamps: dict[str, float] = {}
    engine_port, port = free_port("127.0.0.1"), free_port("127.0.0.1")
    app = create_engine(timing, told=stamps.__setitem__)
    config = uvicorn.Config(app, port=engine_port, log_level="critical", timeout_graceful_shutdown=1)
    engine = uvicorn.Server(config)
    serving = asyncio.create_task(engine.serve())
    service = Child(
        "service",
        ["serve", "--port", str(port), "--engine-url", f"http://127.0.0.1:{engine_port}/v1"],
        folder / "service.log",
        f"http://127.0.0.1:{port}/readyz",
        INTERVIEWER_DATA_DIR=str(folder),
        INTERVIEWER_LOG_LEVEL="warning",
    )
    try:
        while not engine.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(TICK)
        service.start()
        await service.up(120.0)
        if core is not None:
            for thread in service.processes()[0].threads():
                os.sched_setaffinity(thread.id, {core})
            service.processes()[0].cpu_affinity([core])
        yield Rig(f"http://127.0.0.1:{port}", service, Seen(), stamps)
    finally:
        service.kill()
        engine.should_exit = True
        await serving


async def tick(load: Rig) -> None:
    """Watch the load's own clock, and how many generations are under way, for ever."""
    while True:
        due = time.monotonic() + TICK
        await asyncio.sleep(TICK)
        if load.seen.counting:
            load.seen.lag.append(time.monotonic() - due)
            load.seen.streaming.append(load.seen.asking)


async def interview(load: Rig, http: httpx2.AsyncClient, gate: asyncio.Semaphore, think: Callable[[], float]) -> None:
    """Hold interviews, one after the other, until cancelled; ``think`` gives the seconds before each answer."""
    while True:
        async with gate:
            opened = await create(http)
            socket = await join(load.url, opened)
        try:
            await _answers(load, socket, key_of(opened["id"]), think)
        except (ConnectionClosed, LoadError) as error:
            load.seen.problems.append(f"{type(error).__name__}: {error}"[:120])
        finally:
            with suppress(ConnectionClosed):
                await socket.close()


async def create(http: httpx2.AsyncClient, minutes: int = 60) -> dict[str, str]:
    """Start a session.

    Raises:
        LoadError: it was refused.
    """
    answer = await http.post("/v1/sessions", json={"persona": "deep_dive", "minutes": minutes})
    if answer.status_code != 201:
        raise LoadError(f"a session was refused: {answer.status_code}")
    opened: dict[str, str] = answer.json()
    return opened


async def join(url: str, opened: dict[str, str], last_seq: int = 0) -> ClientConnection:
    """Open a session's socket and say hello; what was stored after ``last_seq`` is sent."""
    address = url.replace("http", "ws", 1) + opened["ws_url"]
    socket = await connect(
        address, subprotocols=[Subprotocol(SUBPROTOCOL)], ping_interval=None, compression=None, proxy=None
    )
    await socket.send(json.dumps({"type": "hello", "token": opened["token"], "last_seq": last_seq}))
    return socket


async def _answers(load: Rig, socket: ClientConnection, key: str, think: Callable[[], float]) -> None:
    """Answer every question until the session ends."""
    seen, number = load.seen, 0
    before: float | None = None
    asking = False
    async for raw in socket:
        now = time.monotonic()
        message = json.loads(raw)
        kind = message["type"]
        if kind == "question.delta":
            stamp = load.stamps.pop(key, None)
            if seen.counting:
                seen.frames += 1
                if stamp is not None:
                    seen.added.append(now - stamp)
                    seen.first.append(now - stamp)
                elif before is not None:
                    seen.added.append(max(0.0, now - before - WORD_SECONDS))
            before = now
        elif kind == "status" and message["stage"] == "asking":
            asking = True
            seen.asking += 1
        elif kind == "status" and message["stage"] == "waiting":
            seen.turns += seen.counting
            seen.asking -= asking
            asking = False
            before, number = None, number + 1
            load.stamps.pop(key, None)
            await asyncio.sleep(think())
            await socket.send(json.dumps({"type": "answer", "msg_id": f"m{number}", "text": ANSWER.format(n=number)}))
        elif kind == "status" and message["stage"] == "ended":
            return
        elif kind == "error":
            raise LoadError(str(message["code"]))
