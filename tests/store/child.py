"""What child processes run."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection

from interviewer.adapters.store import SqlEventStore, migrate
from interviewer.service.ports import StoreError

from .samples import NOON, answer, later, started


def migrate_on_go(url: str, ready: Connection) -> None:
    ready.send("ready")
    ready.recv()
    try:
        migrate(url)
        ready.send("ok")
    except StoreError as exc:
        ready.send(str(exc))


def answer_for_ever(url: str, acknowledged: Connection) -> None:
    async def run() -> None:
        store = SqlEventStore.open(url)
        await store.create("s1", NOON, [started()], token_hash="h")
        for seq in range(1, 100_000):
            await store.append("s1", later(seq), [answer(seq)], expected_seq=seq)
            acknowledged.send(seq + 1)

    asyncio.run(run())
