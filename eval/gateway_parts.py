"""The parts of the gateway benchmark that need no load: long sessions, and a store with many."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from eval.machine import summary
from interviewer.adapters.documents import load_library
from interviewer.adapters.store import SqlEventStore
from interviewer.adapters.store.engine import connect
from interviewer.adapters.store.rows import changes, event_rows, number
from interviewer.adapters.store.tables import EventTable, SessionTable
from interviewer.adapters.system import new_id
from interviewer.core import events as ev
from interviewer.core.assessment import UnscoredReason
from interviewer.service.deps import Deps
from interviewer.service.judging import Judging
from interviewer.service.sessions import Sessions, hash_token
from interviewer.testing import FakeClock, ScriptedJudge, ScriptedModel, words_count

LENGTHS = (1, 25, 50, 100, 200)
RESUMED = ", the first after loading"
BATCH = 2_000
BEGAN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


async def turns(repeats: int) -> dict[str, dict[str, float]]:
    """Return milliseconds of one whole turn after 2 to 201 turns: answer accepted to next question stored.

    Model and judge are doubles that take no time, the store is in memory: what is left is the service's own work. The
    turn before it is the first of the session in this process; it reads every earlier answer once and is reported
    apart, as that is what a session costs that is resumed elsewhere.
    """
    found = {}
    for length in LENGTHS:
        resumed: list[float] = []
        live: list[float] = []
        for run in range(repeats):
            deps = _deps()
            sessions = Sessions(deps)
            session_id = await _long(sessions, deps, length, run)
            interview = (await sessions.open(session_id)).interview
            await interview.settled()
            for times in (resumed, live):
                began = time.perf_counter()
                await interview.answer(new_id(), "We held p99 latency at 800 ms at batch 8 because the tail decides.")
                await interview.settled()
                times.append((time.perf_counter() - began) * 1000)
            await deps.store.close()
        found[f"turn {length + 1}{RESUMED}"] = summary(resumed)
        found[f"turn {length + 2}"] = summary(live)
    return found


def _deps() -> Deps:
    return Deps(
        library=load_library(),
        store=SqlEventStore.open("sqlite://"),
        model=ScriptedModel(),
        judging=Judging(ScriptedJudge(1), words_count, lambda _: True),
        clock=FakeClock(),
        new_id=new_id,
        count=words_count,
    )


async def _long(sessions: Sessions, deps: Deps, length: int, run: int) -> str:
    """Store a session of ``length`` turns on questions of its own, so that those of the rubric are still to come.

    Its texts are those of this run alone: nothing that was remembered of another run makes it cheaper.
    """
    session_id, _ = await sessions.create(persona="deep_dive", minutes=180, seed=3)
    events: list[ev.Event] = []
    for turn in range(1, length + 1):
        events += [
            ev.ProbeChosen(
                turn=turn, question_id=f"own-{turn}", criterion=None, move=None, probe=f"What of part {turn}?",
                reason="bench", elapsed=0.0,
            ),
            ev.QuestionAsked(turn=turn, text=f"What of part {turn}, {run}?", source="authored", persona="deep_dive"),
            ev.AnswerGiven(turn=turn, msg_id=f"m{turn}", text=f"Part {turn} took {turn} ms, under load {run}."),
            ev.AnswerUnscored(turn=turn, reason=UnscoredReason.NO_CRITERIA, detail="bench"),
        ]  # fmt: skip
    await deps.store.append(session_id, deps.clock.now(), events, expected_seq=1)
    return session_id


def fill(url: str, sessions: int) -> list[str]:
    """Put sessions of four events each into an empty database; returns their ids, oldest first."""
    engine = connect(url)
    ids = [f"s{i:07d}" for i in range(sessions)]
    with engine.begin() as connection:
        for chunk in _chunks(ids):
            rows: list[dict[str, Any]] = []
            events: list[dict[str, Any]] = []
            for session_id in chunk:
                at = BEGAN + timedelta(seconds=int(session_id[1:]))
                recorded = number(session_id, at, _four(), after=0)
                rows.append(
                    {
                        "id": session_id, "created_at": at, "token_hash": hash_token(session_id), "loop_id": None,
                        "owner": f"user-{int(session_id[1:]) % 100}", "rubric": "deep_dive", "level": "mid",
                        "mode": "practice", "origin": "live", "parent": None, "ended": False, **changes(recorded),
                    }
                )  # fmt: skip
                events += event_rows(recorded)
            connection.execute(sa.insert(SessionTable), rows)
            connection.execute(sa.insert(EventTable), events)
    engine.dispose()
    return ids


def _chunks(ids: list[str]) -> list[list[str]]:
    return [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]


def _four() -> list[ev.Event]:
    versions = ev.Versions(rubric="", persona="", prompt="", model="", adapter=None, judge="")
    return [
        ev.SessionStarted(
            persona="deep_dive", rubric="deep_dive", level="mid", mode="practice", minutes=20, seed=1, versions=versions
        ),
        ev.ProbeChosen(
            turn=1, question_id="q", criterion=None, move=None, probe="How did you serve it?", reason="r", elapsed=0.0
        ),
        ev.QuestionAsked(turn=1, text="How did you serve it?", source="authored", persona="deep_dive"),
        ev.AnswerGiven(turn=1, msg_id="m1", text="We held p99 at 800 ms at batch 8."),
    ]


async def many(folder: Path, sizes: tuple[int, ...], repeats: int) -> dict[str, dict[str, float]]:
    """Return milliseconds of what people do with a store, by how many sessions it holds."""
    found: dict[str, dict[str, float]] = {}
    for size in sizes:
        url = f"sqlite:///{folder / f'{size}.db'}"
        store = SqlEventStore.open(url)
        ids = await asyncio.to_thread(fill, url, size)
        ways = _ways(store, ids)
        for name, way in ways.items():
            times = []
            for _ in range(repeats):
                began = time.perf_counter()
                await way()
                times.append((time.perf_counter() - began) * 1000)
            found[f"{name}, {size:,} sessions"] = summary(times)
        await store.close()
    return found


def _ways(store: SqlEventStore, ids: list[str]) -> dict[str, Callable[[], Awaitable[object]]]:
    middle = BEGAN + timedelta(seconds=len(ids) // 2)
    one, other = ids[len(ids) // 3], ids[len(ids) // 2]
    return {
        "list the newest 50": lambda: store.rows(limit=50),
        "list 50 from the middle": lambda: store.rows(limit=50, before=middle),
        "list 50 of one owner": lambda: store.rows(limit=50, owner="user-7"),
        "open one": lambda: store.load(one),
        "append one event": lambda: _append(store, other),
    }


async def _append(store: SqlEventStore, session_id: str) -> None:
    seq = (await store.row(session_id)).seq
    await store.append(session_id, BEGAN, [ev.SessionNotice(code="bench", message="bench")], expected_seq=seq)


def flat(found: dict[str, dict[str, float]]) -> float:
    """Return the median of the longest session's live turn as a multiple of the shortest's."""
    values = [row["median"] for name, row in found.items() if not name.endswith(RESUMED)]
    return round(values[-1] / values[0], 2)
