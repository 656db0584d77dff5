"""Kills of service, engine and database connections in every stage of a turn, and what must hold after them.

Several candidates hold interviews at once; whenever one of them is in the stage whose turn it is, something is killed
with SIGKILL (connections: ``pg_terminate_backend``), comes back, and the interviews go on. In the end the log of every
session is compared with what its client sent and saw.
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eval.faults_client import STAGES, Candidate, Stage, violations
from eval.faults_world import Victim, World, WorldError, database
from eval.machine import describe, machine
from interviewer.adapters.store import SqlEventStore, connect
from interviewer.core import events as ev
from interviewer.service.ports import StoreError, UnknownSession

CLIENTS = 3
TURNS = 4
STAGE_WAIT = 30.0
"""Longest wait for a candidate in a stage before whatever is there is taken."""
FINISH_SECONDS = 180.0
"""Longest wait for the last interviews, after the last kill."""


@dataclass(frozen=True)
class Kill:
    """One kill: of what, where the candidate it was aimed at was, and the others, and what its log ended with."""

    victim: Victim
    stage: Stage
    others: list[Stage]
    log_ended_with: str
    store: str


def measure(
    kinds: tuple[str, ...], kills: int, seed: int, progress: Callable[[str], None], *, real: bool = False
) -> dict[str, object]:
    """Kill and check; everything that is started is stopped, also on Ctrl-C.

    Args:
        kinds: Databases, an equal share of the kills each: ``sqlite``, ``postgres``, or a URL.
        kills: How many in all.
        seed: Of victims, stages, delays and answers; the times at which processes come up are not in our hands.
        progress: Told what happens.
        real: Against the embedded engine instead of the simulated one.

    Raises:
        WorldError: something does not come up again.
    """
    began = time.monotonic()
    found: dict[str, Any] = {"kills": [], "sessions": 0, "violations": [], "counts": Counter()}
    with ExitStack() as stack:
        runs = []
        for number, kind in enumerate(kinds):
            share = kills // len(kinds) + (number < kills % len(kinds))
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="faults", ignore_cleanup_errors=True)))
            world = World(folder / "service", stack.enter_context(database(kind, folder)), real=real)
            runs.append(_Run(world, share, random.Random(f"{seed}:{number}"), progress, found))
        _run(_all(runs))
    rows = [asdict(kill) for kill in found["kills"]]
    return {
        "engine": "embedded" if real else "simulated",
        "databases": [kind if kind in ("sqlite", "postgres") else "postgres" for kind in kinds],
        "seed": seed,
        "machine": machine(),
        "seconds": round(time.monotonic() - began, 1),
        "kills": len(rows),
        "sessions": found["sessions"],
        "counts": dict(found["counts"]),
        "violations": found["violations"],
        "table": _table(found["kills"]),
        "each": rows,
    }


async def _all(runs: list[_Run]) -> None:
    """Hold all at once: most of the time of each goes into starting what was killed.

    Raises:
        WorldError: the first that was raised.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for run in runs:
                group.create_task(run.hold())
    except* WorldError as errors:
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end; SIGTERM stops as Ctrl-C does, so that no process is left."""

    async def guarded() -> None:
        task = asyncio.ensure_future(work)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        try:
            await task
        finally:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)

    try:
        asyncio.run(guarded())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


class _Run:
    def __init__(
        self, world: World, kills: int, chance: random.Random, progress: Callable[[str], None], found: dict[str, Any]
    ) -> None:
        self._world = world
        self._look = connect(world.database_url)
        self._chance = chance
        self._progress = progress
        self._found = found
        self._changed = asyncio.Event()
        self._candidates: list[Candidate] = []
        self._done: list[Candidate] = []
        self._enough = False
        pairs = [(victim, stage) for victim in world.victims for stage in STAGES]
        chance.shuffle(pairs)
        self._plan = Counter(pairs[n % len(pairs)] for n in range(kills))
        """What is left to do: the order follows from where the candidates are, so that no kill waits for its stage."""

    async def hold(self) -> None:
        try:
            await self._world.start()
            async with asyncio.TaskGroup() as group:
                clients = [group.create_task(self._client(n)) for n in range(CLIENTS)]
                kills = self._plan.total()
                for number in range(1, kills + 1):
                    kill = await self._strike(*await self._next())
                    self._found["kills"].append(kill)
                    at = f"{kill.stage}, the log at {kill.log_ended_with}"
                    self._progress(f"{number}/{kills}: {kill.victim} while {at} ({kill.store})")
                self._enough = True
                with suppress(TimeoutError):
                    async with asyncio.timeout(FINISH_SECONDS):
                        await asyncio.wait(clients)
                for task in clients:
                    task.cancel()
            await self._check()
        finally:
            self._world.stop()
            self._look.dispose()

    async def _client(self, number: int) -> None:
        while not self._enough:
            chance = random.Random(self._chance.randrange(2**31))
            candidate = Candidate(self._world.url, TURNS, chance, self._changed.set)
            self._candidates = [*self._candidates[:number], candidate, *self._candidates[number + 1 :]]
            self._done.append(candidate)
            await candidate.run()

    async def _strike(self, victim: Victim, aimed: Candidate) -> Kill:
        await asyncio.sleep(self._chance.choice((0.0, 0.0, self._chance.uniform(0.0, 0.15))))
        at, others = aimed.stage, [c.stage for c in self._candidates if c is not aimed]
        striking = asyncio.create_task(self._world.strike(victim, self._chance.uniform(0.0, 0.3)))
        try:
            await asyncio.sleep(0)
            last = await self._last_event(aimed.id)
            await striking
        finally:
            striking.cancel()
        kind = "postgres" if "database" in self._world.victims else "sqlite"
        return Kill(victim, at, others, last, kind)

    async def _next(self) -> tuple[Victim, Candidate]:
        """Return what to kill and a candidate in a stage for which that is still to do; any when none comes there."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STAGE_WAIT):
                while True:
                    self._changed.clear()
                    there = [(p, c) for c in self._candidates for p in +self._plan if p[1] == c.stage and c.id]
                    if there:
                        most = max(self._plan[pair] for pair, _ in there)
                        pair, aimed = self._chance.choice([at for at in there if self._plan[at[0]] == most])
                        self._plan[pair] -= 1
                        return pair[0], aimed
                    await self._changed.wait()
        pair = next(iter(+self._plan))
        self._plan[pair] -= 1
        return pair[0], self._chance.choice(self._candidates)

    async def _last_event(self, session_id: str) -> str:
        """Return the type of the last event that a session's log holds; our own connection may be among the killed."""
        store = SqlEventStore(self._look)
        for _ in range(5):
            with suppress(StoreError, UnknownSession):
                return (await store.load(session_id))[-1].event.type
            await asyncio.sleep(0.05)
        return "unknown"

    async def _check(self) -> None:
        store = SqlEventStore(self._look)
        counts = self._found["counts"]
        try:
            for candidate in self._done:
                if not candidate.id:
                    continue
                log = await store.load(candidate.id)
                events = [r.event for r in log]
                self._found["sessions"] += 1
                self._found["violations"] += [f"{candidate.id}: {text}" for text in violations(log, candidate)]
                counts["answers sent"] += len(candidate.sent)
                counts["answers in the logs"] += sum(isinstance(e, ev.AnswerGiven) for e in events)
                counts["answers not read"] += sum(isinstance(e, ev.AnswerUnscored) for e in events)
                counts["questions without the model"] += sum(
                    isinstance(e, ev.QuestionAsked) and "model_unavailable" in e.problems for e in events
                )
                counts["notices"] += sum(isinstance(e, ev.SessionNotice) for e in events)
                counts["connections"] += candidate.connections
        finally:
            await store.close()


def _table(kills: list[Kill]) -> dict[str, dict[str, int]]:
    victims = dict.fromkeys(kill.victim for kill in kills)
    return {v: {s: sum(k.victim == v and k.stage == s for k in kills) for s in STAGES} for v in victims}


def to_markdown(found: dict[str, Any]) -> str:
    """Return the report as text."""
    broken, counts = found["violations"], found["counts"]
    lines = [
        "# Kills in every stage of a turn",
        "",
        describe(found["machine"]),
        "",
        f"`interviewer eval faults --kills {found['kills']} --seed {found['seed']}`: {found['kills']} kills in "
        f"{found['seconds']:.0f} s, {found['engine']} engine, databases: {', '.join(found['databases'])}. "
        f"{found['sessions']} sessions, {counts.get('answers sent', 0)} answers.",
        "",
        f"**Invariants broken: {len(broken)}.** Checked for every session: no accepted answer lost, none applied "
        "twice, every sequence without a gap, each answer read once, the session resumed and came to its end, and the "
        "client saw exactly what the log says.",
        "",
        "Kills by victim and by the stage that the candidate saw at that moment (two other interviews were under way "
        "each time, in any stage):",
        "",
        f"| victim | {' | '.join(STAGES)} | all |",
        f"| --- |{' ---: |' * (len(STAGES) + 1)}",
    ]
    for victim, row in found["table"].items():
        lines.append(f"| {victim} | {' | '.join(str(row[s]) for s in STAGES)} | {sum(row.values())} |")
    ends = Counter(kill["log_ended_with"] for kill in found["each"])
    lines += ["", "What the log ended with at the kill: " + ", ".join(f"{k} {n}" for k, n in ends.most_common()) + "."]
    lines += [
        "",
        "| counted in the logs and by the clients | |",
        "| --- | ---: |",
        *(f"| {name} | {n} |" for name, n in counts.items()),
    ]
    lines += ["", *(f"- {text}" for text in broken)] if broken else []
    return "\n".join(lines) + "\n"
