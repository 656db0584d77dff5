"""Several workers of the service on one database: what they carry together, against sessions and against one worker."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from eval.bench_gateway import BUSY, streams
from eval.bench_gateway import Plan as StreamPlan
from eval.curves import Panel, Series, draw
from eval.faults_world import database
from eval.machine import describe, machine

COLUMNS = (
    "workers sessions streaming turns/s frames/s added-p50 added-p99 first-word-p99 processor load-processor dropped"
).split()


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    workers: tuple[int, ...] = (1, 2)
    sessions: tuple[int, ...] = (50, 100, 200, 400, 800)
    seconds: float = 20.0
    """Measured, per number of sessions; as much again goes before."""
    token_ms: float = 100.0
    """From token to token of the engine, for each stream."""
    database: str = "postgres"
    """``sqlite``, ``postgres`` (a server of our own), or the URL of an empty database."""


def measure(plan: Plan, progress: Callable[[str], None], command: str) -> dict[str, Any]:
    """Measure every number of workers with every number of sessions.

    Raises:
        WorldError: the service or the database does not come up.
        LoadError: it refuses what it has to do.
    """
    found: dict[str, Any] = {"machine": machine(), "command": command, "database": _kind(plan.database)}
    found |= {"seconds": plan.seconds, "busy_before": round(psutil.cpu_percent(interval=1.0) / 100, 2), "rows": []}
    each = StreamPlan(seconds=plan.seconds, token_ms=plan.token_ms)
    found["token_ms"] = each.token_ms
    for workers in plan.workers:
        for count in plan.sessions:
            with tempfile.TemporaryDirectory(prefix="workers") as folder, database(plan.database, Path(folder)) as url:
                row = asyncio.run(streams(Path(folder), count, each, None, workers=workers, database=url))
            found["rows"].append({"workers": workers, **row})
            progress(f"{workers} workers, {count} sessions: {row['turns_per_second']} turns/s")
    return found


def _kind(name: str) -> str:
    """Return what a report calls a database: a URL may hold a password."""
    return name if name in ("sqlite", "postgres") else name.partition(":")[0]


def chart(found: dict[str, Any]) -> str:
    """Draw throughput and delay against sessions, a line per number of workers, as SVG."""

    def series(value: Callable[[dict[str, Any]], float]) -> list[Series]:
        counts = sorted({row["workers"] for row in found["rows"]})
        return [
            Series(
                f"{workers} worker" + "s" * (workers > 1),
                [(r["sessions"], value(r), value(r), value(r)) for r in found["rows"] if r["workers"] == workers],
            )
            for workers in counts
        ]

    panels = [
        Panel("Throughput", "sessions", "turns per second", series(lambda r: float(r["turns_per_second"]))),
        Panel("Delay", "sessions", "ms added, p99", series(lambda r: float(r["added_ms"]["p99"]))),
    ]
    return draw("The service by workers and sessions", panels)


def to_markdown(found: dict[str, Any], picture: str | None = None) -> str:
    """Write the report; ``picture`` is the file of :func:`chart` beside it."""
    shown = f"![Throughput and delay]({picture})\n\n" if picture else ""
    rows = "\n".join(
        f"| {r['workers']} | {r['sessions']} | {r['streaming']} | {r['turns_per_second']} | {r['frames_per_second']} "
        f"| {r['added_ms']['p50']} | {r['added_ms']['p99']} | {r['first_word_ms']['p99']} | {r['processor']} "
        f"| {r['load_processor']} | {r['dropped']} |"
        for r in found["rows"]
    )
    busy = f"\n\n**Measured on a busy machine**: {found['busy_before']:.0%} of it was in use before the start."
    return f"""# Workers

{describe(found["machine"])}

Command: `{found["command"]}`{busy if found["busy_before"] > BUSY else ""}

Workers share a database ({found["database"]}) and nothing else; a candidate stays with one worker. Simulated engine,
{found["token_ms"]:g} ms from token to token, candidates who answer at once, {found["seconds"]:g} s measured after as
many of warm-up. Workers, database, engine and candidates share the processors, so *processor*, seconds of it per second
for all workers, and *load processor*, for engine and candidates, say who had them. *added* is as in `gateway.md`.

{shown}| {" | ".join(COLUMNS)} |
|{"---|" * len(COLUMNS)}
{rows}
"""
