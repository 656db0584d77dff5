"""Several writers, threads and processes: one wins, nobody waits for ever, nothing accepted is lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading

from interviewer.adapters.store import SqlEventStore
from interviewer.service.ports import ConcurrentAppend

from . import child
from .samples import NOON, answer, later, started

SPAWN = multiprocessing.get_context("spawn")


async def _compete(stores: list[SqlEventStore], writers: int) -> int:
    """Let all writers append at the same length, each in a thread; return how many won."""
    line = threading.Barrier(writers)
    wins: list[int] = []

    def run(store: SqlEventStore, number: int) -> None:
        async def attempt() -> None:
            await store.append("s1", later(number), [answer(number)], expected_seq=1)

        line.wait()
        try:
            asyncio.run(attempt())
            wins.append(number)
        except ConcurrentAppend:
            pass

    threads = [threading.Thread(target=run, args=(stores[n % len(stores)], n)) for n in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    return len(wins)


async def test_exactly_one_of_two_threads_wins(store: SqlEventStore) -> None:
    for _ in range(10):
        await store.create("s1", NOON, [started()], token_hash="h")
        assert await _compete([store], 2) == 1
        assert [r.seq for r in await store.load("s1")] == [1, 2]
        await store.delete("s1")


async def test_exactly_one_of_many_connections_wins(shared_url: str) -> None:
    stores = [SqlEventStore.open(shared_url) for _ in range(4)]
    await stores[0].create("s1", NOON, [started()], token_hash="h")
    assert await _compete(stores, 8) == 1
    assert [r.seq for r in await stores[-1].load("s1")] == [1, 2]
    for store in stores:
        await store.close()


async def test_exactly_one_of_many_creates_wins(store: SqlEventStore) -> None:
    attempts = [store.create("s1", later(n), [started(seed=n)], token_hash=str(n)) for n in range(10)]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    winners = [n for n, result in enumerate(results) if not isinstance(result, BaseException)]
    assert len(winners) == 1
    assert sum(isinstance(result, ConcurrentAppend) for result in results) == 9
    assert await store.token_hash("s1") == str(winners[0])


async def test_many_sessions_at_once(store: SqlEventStore) -> None:
    async def interview(name: str) -> None:
        await store.create(name, NOON, [started()], token_hash="h")
        for seq in range(1, 6):
            await store.append(name, later(seq), [answer(seq, f"{name} {seq}")], expected_seq=seq)
            assert len(await store.load(name)) == seq + 1

    names = [f"s{n}" for n in range(12)]
    await asyncio.gather(*(interview(name) for name in names))
    for name in names:
        texts = [getattr(r.event, "text", "") for r in await store.load(name)]
        assert texts == ["", *(f"{name} {seq}" for seq in range(1, 6))]


def test_processes_that_start_together_migrate_once(shared_url: str) -> None:
    pipes = [SPAWN.Pipe() for _ in range(3)]
    processes = [SPAWN.Process(target=child.migrate_on_go, args=(shared_url, theirs)) for _, theirs in pipes]
    for process in processes:
        process.start()
    for ours, _ in pipes:
        assert ours.recv() == "ready"
    for ours, _ in pipes:
        ours.send("go")
    outcomes = [ours.recv() for ours, _ in pipes]
    for process, (ours, theirs) in zip(processes, pipes, strict=True):
        process.join()
        process.close()
        ours.close()
        theirs.close()
    assert outcomes == ["ok"] * 3


async def test_an_acknowledged_answer_survives_kill_9(shared_url: str) -> None:
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=child.answer_for_ever, args=(shared_url, theirs))
    process.start()
    theirs.close()
    last = 0
    while last < 4:
        last = ours.recv()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    process.close()
    while True:  # what it still acknowledged before it died counts too
        try:
            last = ours.recv()
        except EOFError:
            break
    ours.close()
    store = SqlEventStore.open(shared_url)
    log = await store.load("s1")
    assert len(log) >= last
    assert [r.event for r in log] == [started(), *(answer(seq) for seq in range(1, len(log)))]
    row = await store.row("s1")
    assert row.seq == len(log)
    await store.append("s1", later(0), [answer(len(log))], expected_seq=len(log))
    await store.close()
