"""A disk that fills up under a real process: every acknowledged event is there, and nothing of the one that failed."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from interviewer.adapters.store import SqlEventStore

from .conftest import sqlite_url
from .samples import answer, later

CHILD = """
import asyncio, json, resource, sys
from interviewer.adapters.store import SqlEventStore
from interviewer.service.ports import StoreError
from tests.store.samples import NOON, answer, later, started

async def fill():
    store = SqlEventStore.open(sys.argv[1])
    log = await store.create("s1", NOON, [started()], token_hash="h")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    for number in range(1, 200):
        try:
            log += await store.append("s1", later(number), [answer(text="x" * 20_000)], expected_seq=number)
        except StoreError as error:
            again = await store.load("s1")
            print(json.dumps({"acknowledged": len(log), "readable": len(again), "said": str(error)}))
            return

asyncio.run(fill())
"""


async def test_no_file_may_grow_any_more(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "interviews.db")
    words = [sys.executable, "-c", CHILD, url]
    done = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert 2 < told["acknowledged"] < 100
    assert told["readable"] == told["acknowledged"], "what is stored can be read while nothing can be written"
    assert "space" in told["said"] or "disk" in told["said"], told["said"]
    store = SqlEventStore.open(url)  # there is room again
    log = await store.load("s1")
    assert [r.seq for r in log] == list(range(1, told["acknowledged"] + 1))
    assert len(await store.append("s1", later(500), [answer()], expected_seq=len(log))) == 1
    await store.close()
