"""A client that only listens is told what another process did: a key revoked, a session deleted or taken over."""

from __future__ import annotations

import asyncio
from pathlib import Path

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from tests.service.kit import FlakyStore, deps

from .access_kit import house
from .kit import running

OFTEN = 0.05
"""Seconds between two looks."""


async def test_a_revoked_key_ends_a_socket_that_says_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, watch_seconds=OFTEN) as home:
        key, secret = await home.accounts.add("carol")
        async with home.server.joined(await home.create(secret)) as client:
            await client.stage("waiting")
            await home.accounts.revoke(key.id)
            await client.refused("unauthorized")
            assert await client.closed() == 4401


async def test_a_session_that_goes_on_or_is_deleted_elsewhere_is_told(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    elsewhere = SqlEventStore.open(url)
    async with running(deps(FlakyStore.open(url)), watch_seconds=OFTEN) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            waiting = await client.stage("waiting", 1)
            seq = (await elsewhere.row(opened["id"])).seq
            note = ev.SessionNotice(code="elsewhere", message="another process was here")
            await elsewhere.append(opened["id"], server.service.deps.clock.now(), [note], expected_seq=seq)
            await client.refused("conflict")
            assert waiting and await client.closed() == 4409
        async with server.joined(opened, last_seq=seq) as client:
            await client.stage("waiting", 1)
            assert client.seqs() == [seq + 1], "it is loaded again with what was added"
            await elsewhere.delete(opened["id"])
            await client.refused("taken_over")
            assert await client.closed() == 4001
    await elsewhere.close()


async def test_a_store_that_fails_for_a_while_ends_no_socket(tmp_path: Path) -> None:
    async with running(deps(FlakyStore.open("sqlite://")), watch_seconds=OFTEN) as server:
        async with server.joined(await server.create()) as client:
            await client.stage("waiting", 1)
            server.store.broken = True
            await asyncio.sleep(4 * OFTEN)
            await client.alive()
            server.store.broken = False
            await client.alive()
