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

    urls: list[str]
    """Of each worker."""
    workers: list[Child]
    seen: Seen
    stamps: dict[str, float]
    """By session key: when the last token of its generation left, until a frame was measured against it."""

    @property
    def url(self) -> str:
        """Address of the first worker."""
        return self.urls[0]

    def process(self) -> psutil.Process:
        """Return the first worker's process."""
        return self.workers[0].processes()[0]

    def processor_seconds(self) -> float:
        """Return the processor time that all workers took so far."""
        times = [worker.processes()[0].cpu_times() for worker in self.workers]
        return sum(time.user + time.system for time in times)


@asynccontextmanager
async def rig(
    folder: Path, timing: Timing, core: int | None, *, workers: int = 1, database: str | None = None
) -> AsyncIterator[Rig]:
    """Start engine and service.

    Args:
        folder: For logs and the default database.
        timing: Of the engine.
        core: The processor that the service gets to itself, if any.
        workers: Processes of the service, which share the database.
        database: SQLAlchemy URL; a SQLite file in ``folder`` when not given.

    Raises:
        WorldError: the service does not come up.
    """
    stamps: dict[str, float] = {}
    engine_port = free_port("127.0.0.1")
    app = create_engine(timing, told=stamps.__setitem__)
    config = uvicorn.Config(app, port=engine_port, log_level="critical", timeout_graceful_shutdown=1)
    engine = uvicorn.Server(config)
    serving = asyncio.create_task(engine.serve())
    urls = [f"http://127.0.0.1:{free_port('127.0.0.1')}" for _ in range(workers)]
    named = ["--database-url", database] if database else []
    children = [
        Child(
            f"service-{number}",
            ["serve", "--port", url.rpartition(":")[2], "--engine-url", f"http://127.0.0.1:{engine_port}/v1", *named],
            folder / f"service-{number}.log",
            f"{url}/readyz",
            INTERVIEWER_DATA_DIR=str(folder),
            INTERVIEWER_LOG_LEVEL="warning",
        )
        for number, url in enumerate(urls, 1)
    ]
    try:
        while not engine.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(TICK)
        for child in children:  # one after the other: the first makes the tables
            child.start()
            await child.up(120.0)
        if core is not None:
            for child in children:
                for thread in child.processes()[0].threads():
                    os.sched_setaffinity(thread.id, {core})
                child.processes()[0].cpu_affinity([core])
        yield Rig(urls, children, Seen(), stamps)
    finally:
        for child in children:
            child.kill()
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


async def interview(
    load: Rig, url: str, http: httpx2.AsyncClient, gate: asyncio.Semaphore, think: Callable[[], float]
) -> None:
    """Hold interviews with the worker at ``url``, one after the other, until cancelled.

    ``http`` sends requests to it; ``think`` gives the seconds before each answer.
    """
    while True:
        async with gate:
            opened = await create(http)
            socket = await join(url, opened)
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
