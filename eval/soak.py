"""Hours in the life of a service, on a simulated engine: does its memory stay where it was?

Candidates interview one session after the other, some of them by a connection that breaks in the middle of a question,
and read their report; half of the sessions are deleted. Beside them answers are scored, a transcript is imported and
replayed, and the history is read. What the service holds is written down all the while.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil
from websockets.exceptions import ConnectionClosed

from eval.gateway_load import ANSWER, LoadError, create, join, rig
from eval.machine import describe, machine
from serving.simulated import Timing

SAMPLE_SECONDS = 10.0
BREAKS = 0.1
"""Share of questions in whose middle the connection is cut and made again."""
DELETED = 0.5
"""Share of ended sessions that are deleted."""
TRANSCRIPT = """Interviewer: How did you serve the model?
Candidate: On one A10 with vLLM, {n} requests at once, because the cache of a longer batch did not fit.
Interviewer: What broke first?
Candidate: The tail. At batch {n} the p99 went from 900 ms to 4 s, so I capped it and told the users.
"""


@dataclass(frozen=True)
class Plan:
    """How long and how much."""

    minutes: float = 30.0
    candidates: int = 40
    think_seconds: float = 2.0
    """Mean pause before an answer, uniform from 0 to twice that."""
    token_ms: float = 50.0


@dataclass(frozen=True)
class Sample:
    """What the service held at one moment."""

    minute: float
    memory_mb: float
    files: int
    threads: int
    loaded: int
    """Sessions in its memory."""
    stored: int
    """Sessions that were made so far and not deleted."""


class _Life:
    """What all who use the service share."""

    def __init__(self, url: str, http: httpx2.AsyncClient, plan: Plan) -> None:
        self.url = url
        self.http = http
        self.plan = plan
        self.chance = random.Random(1)
        self.done: Counter[str] = Counter()
        self.stored = 0

    async def candidate(self) -> None:
        """Interview for ever."""
        while True:
            opened = await create(self.http, minutes=10)
            self.stored += 1
            await self._interview(opened)
            self._took("report", await self.http.get(f"/v1/sessions/{opened['id']}/report"))
            if self.chance.random() < DELETED:
                self._took("delete", await self.http.delete(f"/v1/sessions/{opened['id']}"))
                self.stored -= 1

    async def _interview(self, opened: dict[str, str]) -> None:
        last, number, ended = 0, 0, False
        while not ended:
            socket = await join(self.url, opened, last)
            cut = False
            try:
                async for raw in socket:
                    message = json.loads(raw)
                    last = max(last, message.get("seq") or 0)
                    if message["type"] == "error":
                        raise LoadError(str(message["code"]))
                    if message["type"] == "question.delta" and not cut and message["offset"]:
                        cut = True
                        if self.chance.random() < BREAKS:
                            socket.transport.abort()
                            self.done["connection cut"] += 1
                    stage = message["stage"] if message["type"] == "status" else None
                    if stage == "ended":
                        ended = True
                        break
                    if stage == "waiting":
                        cut, number = False, number + 1
                        await asyncio.sleep(self.chance.uniform(0, 2 * self.plan.think_seconds))
                        answer = {"type": "answer", "msg_id": f"m{number}", "text": ANSWER.format(n=number)}
                        await socket.send(json.dumps(answer))
                        self.done["answer"] += 1
            except ConnectionClosed:
                pass
            finally:
                await socket.close()
        self.done["interview"] += 1

    async def scorer(self) -> None:
        """Score an answer now and then."""
        n = 0
        while True:
            n += 1
            body = {"question": {"id": "dd-paged-kv"}, "answer": ANSWER.format(n=n)}
            self._took("score", await self.http.post("/v1/score", json=body))
            await asyncio.sleep(2.0)

    async def reader(self) -> None:
        """Import, replay, delete, and look at the history."""
        n = 0
        while True:
            n += 1
            body = {"content": TRANSCRIPT.format(n=n), "rubric": "deep_dive"}
            made = await self.http.post("/v1/transcripts", json=body)
            self._took("import", made)
            parent = made.json()["id"]
            again = await self.http.post(f"/v1/sessions/{parent}/replays", json={"persona": "recruiter"})
            self._took("replay", again)
            child = again.json()["id"]
            self._took("diff", await self.http.get(f"/v1/sessions/{child}/diff"))
            self._took("delete", await self.http.delete(f"/v1/sessions/{parent}"))
            for path in ("/v1/sessions", "/v1/progress", "/metrics", "/readyz"):
                self._took("read", await self.http.get(path))
            await asyncio.sleep(10.0)

    def _took(self, what: str, answer: httpx2.Response) -> None:
        if answer.status_code >= 300:
            raise LoadError(f"{what}: {answer.status_code} {answer.text[:200]}")
        self.done[what] += 1


def measure(plan: Plan, progress: Callable[[str], None], command: str) -> dict[str, Any]:
    """Let the service live for a while.

    Raises:
        WorldError: the service does not come up.
        LoadError: it refuses what it has to do.
    """
    return asyncio.run(_measure(plan, progress, command))


async def _measure(plan: Plan, progress: Callable[[str], None], command: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        async with (
            rig(Path(folder), Timing(0.1, plan.token_ms / 1000), None) as load,
            httpx2.AsyncClient(base_url=load.url, timeout=60.0) as http,
        ):
            life = _Life(load.url, http, plan)
            lives: list[Awaitable[None]] = [life.candidate() for _ in range(plan.candidates)]
            tasks = [asyncio.ensure_future(each) for each in (*lives, life.scorer(), life.reader())]
            watch = asyncio.create_task(_watch(life, load.process(), progress))
            try:
                done, _ = await asyncio.wait([*tasks, watch], return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                for task in (*tasks, watch):
                    task.cancel()
                await asyncio.gather(*tasks, watch, return_exceptions=True)
        size = await asyncio.to_thread(_size, Path(folder))
    samples = watch.result()
    return {
        "machine": machine(),
        "command": command,
        "plan": vars(plan),
        "done": dict(sorted(life.done.items())),
        "database_mb": round(size / 1e6, 1),
        "samples": [vars(sample) for sample in samples],
        "thirds": thirds(samples),
    }


def _size(folder: Path) -> int:
    """Return the bytes of the database, with what is not merged into it yet."""
    return sum(path.stat().st_size for path in folder.glob("interviews.db*"))


async def _watch(life: _Life, process: psutil.Process, progress: Callable[[str], None]) -> list[Sample]:
    """Look at the service every ten seconds until the time is over."""
    began, samples = time.monotonic(), []
    while (now := time.monotonic() - began) <= life.plan.minutes * 60:
        loaded = (await life.http.get("/metrics")).text.partition("\ninterviewer_sessions_loaded ")[2].split("\n")[0]
        samples.append(
            Sample(
                minute=round(now / 60, 2),
                memory_mb=round(process.memory_info().rss / 1e6, 1),
                files=process.num_fds(),
                threads=process.num_threads(),
                loaded=int(float(loaded or 0)),
                stored=life.stored,
            )
        )
        if len(samples) % 6 == 1:
            progress(f"minute {samples[-1].minute:.0f}: {samples[-1].memory_mb} MB, {life.done['answer']} answers")
        await asyncio.sleep(SAMPLE_SECONDS - (time.monotonic() - began) % SAMPLE_SECONDS)
    return samples


def thirds(samples: Sequence[Sample]) -> list[dict[str, float]]:
    """Return the medians of each third of the samples: the first has the warm-up, the last two should be alike.

    Raises:
        ValueError: there are fewer than three.
    """
    size = len(samples) // 3
    if not size:
        raise ValueError("at least three samples are needed")
    parts = (samples[:size], samples[size:-size], samples[-size:])
    names = ("memory_mb", "files", "threads", "loaded", "stored")
    return [{name: round(median(getattr(s, name) for s in part), 1) for name in names} for part in parts]


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    plan, (first, middle, last) = found["plan"], found["thirds"]
    rows = "\n".join(_row(name, row) for name, row in (("first", first), ("second", middle), ("last", last)))
    minutes = "\n".join(_row(f"{sample['minute']:.0f}", sample) for sample in found["samples"][::30])
    did = ", ".join(f"{name} {count}" for name, count in found["done"].items())
    grown = last["memory_mb"] - middle["memory_mb"]
    hours = plan["minutes"] / 3 / 60
    return f"""# A long soak

{describe(found["machine"])}

Command: `{found["command"]}`

{plan["minutes"]:g} minutes, {plan["candidates"]} candidates on a simulated engine ({plan["token_ms"]:g} ms a token),
who think {plan["think_seconds"]:g} s on average, break off in {BREAKS:.0%} of the questions, and begin the next
interview when one ends; SQLite, {found["database_mb"]} MB at the end. Done meanwhile: {did}. Nothing was refused.

Medians of each third of the {len(found["samples"])} samples. From the second to the last: {grown:+.1f} MB, that is
{grown / hours:+.1f} MB an hour.

| third | MB | open files | threads | sessions loaded | sessions stored |
|---|---|---|---|---|---|
{rows}

| minute | MB | open files | threads | sessions loaded | sessions stored |
|---|---|---|---|---|---|
{minutes}
"""


def _row(name: str, held: dict[str, float]) -> str:
    return (
        f"| {name} | {held['memory_mb']} | {held['files']:g} | {held['threads']:g} | {held['loaded']:g} "
        f"| {held['stored']:g} |"
    )
