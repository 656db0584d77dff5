"""Two workers on one database: any of them goes on with any session, and one that was overtaken stores nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from interviewer.core import events as ev
from interviewer.core.session import Phase
from interviewer.service.deps import Deps
from interviewer.service.frames import Failed, Frame
from interviewer.service.ports import ConcurrentAppend
from interviewer.service.sessions import Follower, Live, Sessions
from interviewer.testing import ScriptedModel

from .kit import ANSWER, SECONDS, FlakyStore, deps


@dataclass
class Worker:
    """What one process has of its own: everything but the database."""

    given: Deps
    sessions: Sessions

    async def settled(self, session_id: str) -> Live:
        """Open a session here, and wait until the candidate has the word."""
        live = await self.sessions.open(session_id)
        async with asyncio.timeout(SECONDS):
            await live.interview.settled()
        return live


@pytest_asyncio.fixture
async def workers(tmp_path: Path) -> AsyncIterator[tuple[Worker, Worker]]:
    made = []
    for _ in range(2):
        given = deps(FlakyStore.open(f"sqlite:///{tmp_path / 'shared.db'}"), ScriptedModel())
        made.append(Worker(given, Sessions(given)))
    yield made[0], made[1]
    for worker in made:
        await worker.sessions.stop()
        await worker.given.store.close()


def told(follower: Follower) -> list[Frame]:
    return list(follower._frames)


async def test_any_worker_goes_on_where_another_left(workers: tuple[Worker, Worker]) -> None:
    first, second = workers
    session_id, _ = await first.sessions.create(persona="deep_dive", minutes=20, seed=3)
    for number, worker in enumerate((first, second, first, second), start=1):
        live = await worker.settled(session_id)
        assert (live.interview.state.phase, len(live.interview.state.turns)) == (Phase.AWAITING, number)
        await live.interview.answer(f"m{number}", ANSWER)
        async with asyncio.timeout(SECONDS):
            await live.interview.settled()
        worker.sessions.release(session_id)
    log = await second.given.store.load(session_id)
    assert [r.seq for r in log] == list(range(1, len(log) + 1))
    assert [r.event.msg_id for r in log if isinstance(r.event, ev.AnswerGiven)] == ["m1", "m2", "m3", "m4"]


async def test_a_worker_that_was_overtaken_stores_nothing_and_catches_up(workers: tuple[Worker, Worker]) -> None:
    stale, ahead = workers
    session_id, _ = await stale.sessions.create(persona="deep_dive", minutes=20, seed=3)
    old = await stale.settled(session_id)
    new = await ahead.settled(session_id)
    await new.interview.answer("m1", ANSWER)
    async with asyncio.timeout(SECONDS):
        await new.interview.settled()
    before = await ahead.given.store.load(session_id)
    # The fence: what the old holder decided was decided for a position that is taken.
    with pytest.raises(ConcurrentAppend):
        await old.interview.answer("m1-from-the-past", "An answer to a question that was answered.")
    with pytest.raises(ConcurrentAppend):
        await old.interview.end()
    assert await ahead.given.store.load(session_id) == before
    stale.sessions.release(session_id)  # as the socket does, which the conflict ends
    caught_up = await stale.settled(session_id)
    assert caught_up.interview.state == new.interview.state


async def test_of_two_workers_in_one_turn_one_stores_it(workers: tuple[Worker, Worker]) -> None:
    """A client moves from one worker to the other while its answer is read: both go on with the turn."""
    first, second = workers
    session_id, _ = await first.sessions.create(persona="deep_dive", minutes=20, seed=3)
    live = await first.settled(session_id)
    store = first.given.store
    assert isinstance(store, FlakyStore)
    await live.interview.answer("m1", ANSWER)  # stored; reading it goes on in the background, at both
    moved = await second.sessions.open(session_id)
    followers = live.follow(), moved.follow()
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(live.interview.settled(), moved.interview.settled())
    losers = [f for f in followers if any(isinstance(x, Failed) and x.code == "conflict" for x in told(f))]
    assert len(losers) == 1
    log = await store.load(session_id)
    asked = [r.event.turn for r in log if isinstance(r.event, ev.QuestionAsked)]
    assert asked == sorted(set(asked))
    assert len([r for r in log if isinstance(r.event, ev.AnswerAssessed)]) == 1


async def test_a_report_is_that_of_the_log_whoever_holds_the_session(workers: tuple[Worker, Worker]) -> None:
    stale, ahead = workers
    session_id, _ = await stale.sessions.create(persona="deep_dive", minutes=20, seed=3)
    await stale.settled(session_id)
    live = await ahead.settled(session_id)
    await live.interview.answer("m1", ANSWER)
    async with asyncio.timeout(SECONDS):
        await live.interview.settled()
    await live.interview.end()
    assert (await stale.sessions.state(session_id)) == live.interview.state
    assert (await stale.sessions.state(session_id)).phase is Phase.ENDED
