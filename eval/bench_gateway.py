"""The service under load, on a simulated engine: what it adds to a frame, what sockets and long sessions cost."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil

from eval.gateway_load import GATE, Seen, create, interview, join, rig, tick
from eval.gateway_parts import flat, many, turns
from eval.machine import describe, machine, table
from serving.simulated import Timing

COLUMNS = (
    "sessions streaming frames added-p50 added-p99 first-word-p50 first-word-p99 load-lag-p99 frames/s turns/s"
    " processor MB dropped"
).split()
BUSY = 0.25
"""Share of the processors that others used before the start, above which a report calls the machine busy."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    sessions: tuple[int, ...] = (50, 100, 200, 400, 800)
    seconds: float = 30.0
    """Measured, per number of sessions; as much again goes before."""
    token_ms: float = 100.0
    """From token to token of the engine, for each stream."""
    think_seconds: float = 0.0
    """Mean pause before an answer, uniform from 0 to twice that."""
    idle: int = 2000
    stored: tuple[int, ...] = (1_000, 100_000)
    repeats: int = 30


def measure(plan: Plan, progress: Callable[[str], None], command: str) -> dict[str, Any]:
    """Measure everything.

    Raises:
        WorldError: the service does not come up.
        LoadError: it refuses what it has to do.
    """
    return asyncio.run(_measure(plan, progress, command))


async def _measure(plan: Plan, progress: Callable[[str], None], command: str) -> dict[str, Any]:
    busy = psutil.cpu_percent(interval=1.0) / 100
    found: dict[str, Any] = {"machine": machine(), "command": command, "busy_before": round(busy, 2)}
    found["token_ms"], found["think_seconds"], found["seconds"] = plan.token_ms, plan.think_seconds, plan.seconds
    cores = sorted(psutil.Process().cpu_affinity() or [])
    if len(cores) > 1:  # the service gets the last processor to itself, the load all others
        psutil.Process().cpu_affinity(cores[:-1])
    core = cores[-1] if len(cores) > 1 else None
    found["cores"] = "the service on one, the load on the others" if core is not None else "one, shared with the load"
    try:
        found["streams"] = []
        for count in plan.sessions:
            with tempfile.TemporaryDirectory(prefix="gateway") as folder:
                row = await streams(Path(folder), count, plan, core)
            found["streams"].append(row)
            progress(f"{count} sessions: p50 {row['added_ms']['p50']} ms, p99 {row['added_ms']['p99']} ms added")
        with tempfile.TemporaryDirectory(prefix="gateway") as folder:
            found["idle"] = await _idle(Path(folder), plan.idle, core)
            progress(f"{plan.idle} idle sockets: {found['idle']['kb_per_socket']} kB each")
    finally:
        if cores:
            psutil.Process().cpu_affinity(cores)
    found["turns_ms"] = await turns(plan.repeats)
    found["turn_growth"] = flat(found["turns_ms"])
    progress(f"turn 201 costs {found['turn_growth']} times turn 2")
    with tempfile.TemporaryDirectory(prefix="gateway") as folder:
        found["store_ms"] = await many(Path(folder), plan.stored, plan.repeats)
    return found


async def streams(
    folder: Path,
    count: int,
    plan: Plan,
    core: int | None,
    *,
    workers: int = 1,
    database: str | None = None,
) -> dict[str, Any]:
    """Measure ``count`` sessions at once; arguments as those of :func:`eval.gateway_load.rig`.

    Raises:
        WorldError: the service does not come up.
        LoadError: it refuses what it has to do.
    """
    chance = random.Random(1)
    timing = Timing(first_seconds=0.3, between_seconds=plan.token_ms / 1000)
    async with rig(folder, timing, core, workers=workers, database=database) as load, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(httpx2.AsyncClient(base_url=url, timeout=60.0)) for url in load.urls]
        gate = asyncio.Semaphore(GATE)

        def think() -> float:
            return chance.uniform(0, 2 * plan.think_seconds)

        tasks = [
            asyncio.create_task(interview(load, load.urls[n % workers], clients[n % workers], gate, think))
            for n in range(count)
        ]
        clock = asyncio.create_task(tick(load))
        try:
            await _ended_early(tasks, plan.seconds)
            own = psutil.Process().cpu_times()
            before = load.processor_seconds()
            load.seen.counting = True
            await _ended_early(tasks, plan.seconds)
            load.seen.counting = False
            spent = load.processor_seconds() - before
            after = psutil.Process().cpu_times()
            load_spent = after.user + after.system - own.user - own.system
            row = _row(load.seen, plan.seconds, spent, load.process())
            return {"sessions": count, **row, "load_processor": round(load_spent / plan.seconds, 2)}
        finally:
            for task in (*tasks, clock):
                task.cancel()
            await asyncio.gather(*tasks, clock, return_exceptions=True)


async def _ended_early(tasks: Sequence[asyncio.Task[None]], seconds: float) -> None:
    """Wait, and let a candidate's error out: none of them ends by itself."""
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        task.result()


def _row(seen: Seen, seconds: float, cpu: float, process: psutil.Process) -> dict[str, Any]:
    return {
        "streaming": round(sum(seen.streaming) / max(1, len(seen.streaming)), 1),
        "added_ms": percentiles(seen.added),
        "first_word_ms": percentiles(seen.first),
        "load_lag_ms": percentiles(seen.lag),
        "frames_per_second": round(seen.frames / seconds, 1),
        "turns_per_second": round(seen.turns / seconds, 2),
        "processor": round(cpu / seconds, 2),
        "memory_mb": round(process.memory_info().rss / 1e6, 1),
        "problems": sorted(set(seen.problems)),
        "dropped": len(seen.problems),
    }


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return n, and the nearest-rank median, 90th and 99th percentile and the most, of seconds, in milliseconds."""
    ordered = sorted(values)
    if not ordered:
        return {"n": 0, "p50": 0.0, "p90": 0.0, "p99": 0.0, "max": 0.0}
    rank = {f"p{p}": round(1000 * ordered[max(0, -(-p * len(ordered) // 100) - 1)], 1) for p in (50, 90, 99)}
    return {"n": len(ordered), **rank, "max": round(1000 * ordered[-1], 1)}


async def _idle(folder: Path, count: int, core: int | None) -> dict[str, Any]:
    """Open sockets whose candidates say nothing, and see what memory they take and how soon a ping is answered."""
    async with (
        rig(folder, Timing(0.0, 0.0), core) as load,
        httpx2.AsyncClient(base_url=load.url, timeout=60.0) as http,
    ):
        gate = asyncio.Semaphore(GATE)

        async def open_one() -> Any:
            async with gate:
                socket = await join(load.url, await create(http))
                async for raw in socket:
                    if '"stage":"waiting"' in str(raw):
                        return socket

        sockets = [await open_one() for _ in range(GATE)]  # so that what is loaded once is not counted as theirs
        before = load.process().memory_info().rss
        sockets += await asyncio.gather(*(open_one() for _ in range(count)))
        after = load.process().memory_info().rss
        pings = []
        for socket in sockets[:200]:
            began = asyncio.get_running_loop().time()
            await socket.send('{"type":"ping"}')
            async for raw in socket:
                if '"pong"' in str(raw):
                    break
            pings.append(asyncio.get_running_loop().time() - began)
        with suppress(Exception):
            await asyncio.wait_for(asyncio.gather(*(s.close() for s in sockets)), 10)
        return {
            "sockets": count,
            "kb_per_socket": round((after - before) / count / 1000, 1),
            "memory_mb": round(after / 1e6, 1),
            "ping_ms": percentiles(pings),
        }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    busy = found["busy_before"] > BUSY
    note = (
        f"\n\n**Measured on a busy machine**: {found['busy_before']:.0%} of it was in use before the start. "
        "Take the delays as upper bounds."
        if busy
        else ""
    )
    rows = "\n".join(
        f"| {r['sessions']} | {r['streaming']} | {r['added_ms']['n']} | {r['added_ms']['p50']} "
        f"| {r['added_ms']['p99']} | {r['first_word_ms']['p50']} "
        f"| {r['first_word_ms']['p99']} | {r['load_lag_ms']['p99']} "
        f"| {r['frames_per_second']} | {r['turns_per_second']} | {r['processor']} | {r['memory_mb']} | {r['dropped']} |"
        for r in found["streams"]
    )
    idle = found["idle"]
    return f"""# The service under load

{describe(found["machine"])}

Command: `{found["command"]}`{note}

## Streams

Simulated engine, {found["token_ms"]:g} ms from token to token of each stream; candidates answer after
{found["think_seconds"]:g} s on average; {found["seconds"]:g} s measured after as many of warm-up; SQLite;
processors: {found["cores"]}. *streaming*: sessions whose question was being generated or sent, on average.
*added*: milliseconds from the earliest moment a frame could be sent, by the engine's stamp or the reading pace, to its
arrival. *load lag*: by how much the load's own clock was late, which is in every figure. *processor*: seconds of it
per second.

| {" | ".join(COLUMNS)} |
|{"---|" * len(COLUMNS)}
{rows}

## Idle sockets

{idle["sockets"]} sockets: {idle["kb_per_socket"]} kB each, {idle["memory_mb"]} MB in all;
ping answered after {idle["ping_ms"]["p50"]} ms (median),
{idle["ping_ms"]["p99"]} ms (99 %), n {idle["ping_ms"]["n"]}.

## Long sessions

One whole turn, answer to next question, with a model and a judge that take no time.
Turn 202 takes {found["turn_growth"]} times turn 3.

{table(found["turns_ms"], "ms")}

## Many sessions in the store

SQLite file. That each of these uses an index is a test (`tests/store/test_plans.py`).

{table(found["store_ms"], "ms")}
"""
