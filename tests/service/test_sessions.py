"""All sessions of a process: creating, loading once, following, forgetting, deleting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from interviewer.adapters.store import SqlEventStore
from interviewer.core.facts import VERSION as FACTS
from interviewer.core.session import Phase, fold
from interviewer.service.errors import Refused
from interviewer.service.frames import Committed, Delta, Frame, Progress
from interviewer.service.ports import UnknownSession
from interviewer.service.sessions import LOOP_ORDER, Follower, Sessions, hash_token
from interviewer.testing import ScriptedModel

from .kit import ANSWER, SECONDS, deps, eventually, kinds, library


@pytest_asyncio.fixture
async def sessions(memory: SqlEventStore) -> AsyncIterator[Sessions]:
    made = Sessions(deps(memory, ScriptedModel(delay=0.001)))
    yield made
    await made.stop()


async def frames(follower: Follower, until: Frame) -> list[Frame]:
    found: list[Frame] = []
    async with asyncio.timeout(SECONDS):
        while not found or found[-1] != until:
            frame = await follower.get()
            assert frame is not None
            found.append(frame)
    return found


async def test_a_session_records_what_shapes_it(memory: SqlEventStore) -> None:
    world = deps(memory, served={"recruiter": "recruiter@ab12"}, base="smollm2")
    session_id, token = await Sessions(world).create(
        persona="recruiter", level="senior", mode="real", seed=9, background="b", resume="r", job="j"
    )
    state = fold(await memory.load(session_id))
    started = state.started
    assert (started.persona, started.rubric, started.level, started.mode) == (
        "recruiter",
        "recruiter",
        "senior",
        "real",
    )
    assert (started.background, started.resume, started.job, started.seed) == ("b", "r", "j", 9)
    assert started.minutes == library().rubrics["recruiter"].minutes
    assert started.versions.rubric == library().hashes["rubric:recruiter"]
    assert started.versions.persona == library().hashes["persona:recruiter"]
    assert (started.versions.model, started.versions.adapter) == ("smollm2", "recruiter@ab12")
    assert started.versions.judge == f"scripted:facts-{FACTS}"
    assert await memory.token_hash(session_id) == hash_token(token)
    assert token not in str(await memory.load(session_id))


@pytest.mark.parametrize(
    ("persona", "rubric", "code"),
    [("pirate", None, "unknown_persona"), ("recruiter", "poker", "unknown_rubric"), ("", None, "unknown_persona")],
)
async def test_unknown_documents_are_refused(
    sessions: Sessions, memory: SqlEventStore, persona: str, rubric: str | None, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        await sessions.create(persona=persona, rubric=rubric)
    assert refused.value.code == code
    assert await memory.rows() == []


async def test_two_sessions_with_no_seed_differ(sessions: Sessions) -> None:
    first, _ = await sessions.create(persona="recruiter")
    second, _ = await sessions.create(persona="recruiter")
    assert (await sessions.state(first)).started.seed != (await sessions.state(second)).started.seed


async def test_a_token_opens_its_own_session_only(sessions: Sessions) -> None:
    first, token = await sessions.create(persona="recruiter")
    second, other = await sessions.create(persona="recruiter")
    assert await sessions.check_token(first, token)
    assert not await sessions.check_token(first, other)
    assert not await sessions.check_token(second, token)
    assert not await sessions.check_token(first, "")
    renewed = await sessions.new_token(first)
    assert await sessions.check_token(first, renewed)
    assert not await sessions.check_token(first, token), "the old one is void"
    with pytest.raises(UnknownSession):
        await sessions.check_token("nobody", token)


async def test_a_session_is_loaded_once_and_told_to_its_follower(sessions: Sessions) -> None:
    session_id, _ = await sessions.create(persona="recruiter")
    one, two = await asyncio.gather(sessions.open(session_id), sessions.open(session_id))
    assert one is two
    follower = one.follow()
    told = await frames(follower, Progress("waiting", 1))
    assert [f.recorded.seq for f in told if isinstance(f, Committed)] == [2, 3]
    assert sessions.loaded == 1


async def test_a_second_follower_takes_over(sessions: Sessions) -> None:
    session_id, _ = await sessions.create(persona="recruiter")
    live = await sessions.open(session_id)
    first = live.follow()
    second = live.follow()
    assert await first.get() is None and first.replaced
    live.unfollow(first)
    assert live.follower is second, "who was replaced cannot end the other's following"
    await frames(second, Progress("waiting", 1))


async def test_a_session_that_nobody_follows_is_forgotten_when_its_turn_is_over(sessions: Sessions) -> None:
    session_id, _ = await sessions.create(persona="deep_dive")
    live = await sessions.open(session_id)
    follower = live.follow()
    await frames(follower, Progress("waiting", 1))
    await live.interview.answer("m1", ANSWER)
    live.unfollow(follower)
    sessions.release(session_id)
    assert sessions.loaded == 1, "the answer is still read"
    await eventually(lambda: sessions.loaded == 0)
    state = await sessions.state(session_id)
    assert state.phase is Phase.AWAITING and len(state.turns) == 2


async def test_a_session_with_a_follower_is_not_forgotten(sessions: Sessions) -> None:
    session_id, _ = await sessions.create(persona="recruiter")
    live = await sessions.open(session_id)
    live.follow()
    sessions.release(session_id)
    assert sessions.loaded == 1


async def test_a_session_whose_rubric_is_gone_is_refused(memory: SqlEventStore) -> None:
    world = deps(memory)
    session_id, _ = await Sessions(world).create(persona="recruiter")
    fewer = {name: rubric for name, rubric in library().rubrics.items() if name != "recruiter"}
    later = Sessions(replace(world, library=replace(library(), rubrics=fewer)))
    with pytest.raises(Refused) as refused:
        await later.open(session_id)
    assert refused.value.code == "unknown_rubric"
    assert later.loaded == 0


async def test_deleting_stops_the_turn_and_leaves_nothing(sessions: Sessions, memory: SqlEventStore) -> None:
    session_id, _ = await sessions.create(persona="deep_dive")
    live = await sessions.open(session_id)
    follower = live.follow()
    await frames(follower, Progress("waiting", 1))
    await live.interview.answer("m1", ANSWER)
    await sessions.delete(session_id)
    assert not live.interview.busy
    assert follower.replaced
    assert sessions.loaded == 0
    assert await memory.rows() == []
    for look in (sessions.state(session_id), sessions.open(session_id), sessions.delete(session_id)):
        with pytest.raises(UnknownSession):
            await look
    live.interview.resume()
    assert not live.interview.busy, "what is deleted does not go on"


async def test_a_loop_is_five_rounds_in_order(sessions: Sessions, memory: SqlEventStore) -> None:
    loop_id, created = await sessions.create_loop(level="senior", mode="real", minutes=30)
    assert await memory.loop_exists(loop_id)
    states = [await sessions.state(session_id) for session_id, _ in created]
    assert [s.started.rubric for s in states] == list(LOOP_ORDER)
    assert [s.started.persona for s in states] == list(LOOP_ORDER)
    assert {(s.started.level, s.started.mode, s.started.minutes) for s in states} == {("senior", "real", 30)}
    rows = await memory.rows(loop_id=loop_id)
    assert {row.id for row in rows} == {session_id for session_id, _ in created}


async def test_a_loop_without_its_rubrics_is_refused_whole(memory: SqlEventStore) -> None:
    only = {"recruiter": library().rubrics["recruiter"]}
    few = Sessions(deps(memory, library=replace(library(), rubrics=only)))
    with pytest.raises(Refused) as refused:
        await few.create_loop(level="mid", mode="practice", minutes=None)
    assert refused.value.code == "unknown_rubric"
    assert await memory.rows() == []


async def test_after_a_restart_the_session_goes_on(memory: SqlEventStore) -> None:
    world = deps(memory)
    first = Sessions(world)
    session_id, _ = await first.create(persona="deep_dive")
    live = await first.open(session_id)
    follower = live.follow()
    await frames(follower, Progress("waiting", 1))
    await live.interview.answer("m1", ANSWER)
    await first.stop()
    second = Sessions(world)
    again = await second.open(session_id)
    await again.interview.settled()
    assert kinds([r.event for r in await memory.load(session_id)])[3:] == [
        "answer_given",
        "answer_assessed",
        "probe_chosen",
        "question_asked",
    ]
    await second.stop()


class TestFollower:
    """Frames that wait for a reader."""

    async def test_pieces_of_one_question_are_merged_while_they_wait(self) -> None:
        follower = Follower()
        for i in range(10_000):
            follower.put(Delta(1, i, "x"))
        assert await follower.get() == Delta(1, 0, "x" * 10_000)

    async def test_memory_is_bounded_by_the_number_of_stored_events(self) -> None:
        follower = Follower()
        for turn in range(1, 4):
            follower.put(Progress("asking", turn))
            for i in range(500):
                follower.put(Delta(turn, i, "x"))
        assert len(follower._frames) == 6

    async def test_order_is_kept_around_other_frames(self) -> None:
        follower = Follower()
        sent: list[Frame] = [Progress("asking", 1), Delta(1, 0, "a"), Progress("waiting", 1), Delta(2, 0, "b")]
        for frame in sent:
            follower.put(frame)
        assert [await follower.get() for _ in sent] == sent

    async def test_a_reader_waits_for_the_next_frame(self) -> None:
        follower = Follower()
        reading = asyncio.create_task(follower.get())
        await asyncio.sleep(0)
        assert not reading.done()
        follower.put(Delta(1, 0, "a"))
        assert await reading == Delta(1, 0, "a")

    async def test_a_replaced_reader_is_woken(self) -> None:
        follower = Follower()
        reading = asyncio.create_task(follower.get())
        await asyncio.sleep(0)
        follower.replace()
        assert await reading is None
