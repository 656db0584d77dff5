"""Crash safety: whatever the log holds when the process dies, the session goes on to the same end.

A client that does not know whether its message arrived sends it again under the same id; so does the script here.
"""

from __future__ import annotations

import asyncio

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.session import Phase, fold
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.ports import ConcurrentAppend, StoreError
from interviewer.testing import FakeClock, ScriptedJudge

from .kit import Desk, FlakyStore, Saying, begin, deps, kinds

ANSWERS = (
    "We held p99 latency at 800 ms at batch 8 because the tail decides for the user.",
    "I gave up 15 percent of throughput, and measured it on the same load for a week.",
    "Paging costs an indirection per block, which we saw in the attention kernel.",
    "I do not know that one; I would measure the cache hit rate first.",
)
HINT_AT, SWAP_AT = 2, 3
TURNS = 4


def given(store: SqlEventStore | FlakyStore) -> Deps:
    return deps(
        store,
        Saying(lambda p: f"You mentioned that. {p}"),
        ScriptedJudge(lambda criterion, text: (len(criterion) + len(text)) % 4),
        clock=FakeClock(step=0.0),
    )


async def play(desk: Desk) -> None:
    """Do the rest of the script, whatever of it was done already."""
    while desk.state.phase is Phase.AWAITING:
        turn = len(desk.state.turns)
        if turn == HINT_AT and not desk.state.hints:
            await desk.interview.hint()
        if turn == SWAP_AT and desk.state.persona == "deep_dive":
            await desk.interview.swap("hiring_manager")
        if turn > TURNS:
            await desk.interview.end()
            return
        for earlier in range(1, turn):  # a client repeats what it has no receipt for
            await desk.interview.answer(f"m{earlier}", "sent again")
        await desk.answer(ANSWERS[turn - 1], f"m{turn}")


@pytest.fixture
async def whole(memory: SqlEventStore) -> list[ev.Event]:
    desk = await begin(given(memory))
    await play(desk)
    return await desk.log()


async def test_the_script_covers_every_kind_of_event(whole: list[ev.Event]) -> None:
    assert set(kinds(whole)) == {
        "session_started",
        "probe_chosen",
        "question_asked",
        "answer_given",
        "answer_assessed",
        "hint_given",
        "persona_changed",
        "session_ended",
    }
    assert kinds(whole).count("answer_given") == TURNS


async def test_a_crash_after_any_event_changes_nothing(memory: SqlEventStore, whole: list[ev.Event]) -> None:
    for kept in range(1, len(whole) + 1):
        world = given(memory)
        name = f"crashed-{kept}"
        await memory.create(name, world.clock.now(), whole[:kept], token_hash="x")
        desk = await Desk(fold(await memory.load(name)), world).settle()
        await play(desk)
        log = await desk.log()
        assert log == whole, f"after a crash at event {kept}"


async def test_a_store_that_fails_at_any_append_loses_and_doubles_nothing(
    flaky: FlakyStore, whole: list[ev.Event]
) -> None:
    for number in range(1, len(whole)):
        flaky.appends, flaky.fail_at = 0, frozenset({number})
        name = f"flaky-{number}"
        world = given(flaky)
        await flaky.create(name, world.clock.now(), whole[:1], token_hash="x")
        desk = await Desk(fold(await flaky.load(name)), world).settle()
        failed = list(desk.failures)
        for _ in range(3):
            try:
                await desk.settle()
                await play(desk)
            except StoreError:
                failed.append("raised")
            if desk.state.phase is Phase.ENDED:
                break
        assert await desk.log() == whole, f"append {number} failed"
        assert desk.state == fold(await flaky.load(name)), "memory and log agree"
        told = [*failed, *desk.failures]
        assert told, "somebody is told"
        for turn in desk.state.turns:
            assert turn.question is not None
            assert desk.streamed(turn.number) == turn.question.text


async def test_a_question_is_not_said_twice_when_it_could_not_be_stored(flaky: FlakyStore) -> None:
    model = Saying(lambda p: f"You mentioned that. {p}")
    desk = await begin(deps(flaky, model))
    flaky.fail_at = frozenset({flaky.appends + 4})  # answer, reading, probe, question
    await desk.answer(ANSWERS[0])
    assert desk.failures == ["store_unavailable"]
    assert desk.state.phase is Phase.ASKING
    said = desk.streamed(2)
    with pytest.raises(Refused) as refused:
        await desk.interview.answer("m2", ANSWERS[1])
    assert (refused.value.code, refused.value.retryable) == ("turn_in_progress", True)
    await desk.interview.settled()
    assert desk.question(2).text == said
    assert model.closed == 1, "no second generation"
    await desk.answer(ANSWERS[1], "m2")
    assert desk.state.turns[1].answer is not None and desk.state.turns[1].answer.text == ANSWERS[1]


async def test_an_answer_that_was_not_stored_is_not_accepted_and_can_be_sent_again(flaky: FlakyStore) -> None:
    desk = await begin(deps(flaky))
    flaky.fail_at = frozenset({flaky.appends + 1})
    with pytest.raises(StoreError):
        await desk.interview.answer("m1", ANSWERS[0])
    assert desk.state.phase is Phase.AWAITING and "m1" not in desk.state.msg_ids
    await desk.answer(ANSWERS[0], "m1")
    assert kinds(await desk.log()).count("answer_given") == 1


async def test_an_accepted_answer_goes_on_even_when_its_sender_is_gone(flaky: FlakyStore) -> None:
    desk = await begin(deps(flaky))
    flaky.hold = asyncio.Event()
    sending = asyncio.create_task(desk.interview.answer("m1", ANSWERS[0]))
    await asyncio.sleep(0.01)
    sending.cancel()  # the connection is torn down
    await asyncio.wait([sending])
    flaky.hold.set()
    await asyncio.sleep(0.05)
    await desk.interview.settled()
    assert kinds(await desk.log())[3:] == ["answer_given", "answer_assessed", "probe_chosen", "question_asked"]


async def test_a_stopped_session_does_nothing_more(flaky: FlakyStore) -> None:
    desk = await begin(deps(flaky))
    flaky.hold = asyncio.Event()
    sending = asyncio.create_task(desk.interview.answer("m1", ANSWERS[0]))
    await asyncio.sleep(0.01)
    stopping = asyncio.create_task(desk.interview.stop())
    await asyncio.sleep(0.01)
    flaky.hold.set()
    await asyncio.wait([sending, stopping])
    assert not desk.interview.busy
    assert kinds(await desk.log())[3:] == ["answer_given"], "the answer is kept for the next start"
    again = await Desk(fold(await flaky.load(desk.state.id)), desk.deps).settle()
    assert kinds(await again.log())[3:] == ["answer_given", "answer_assessed", "probe_chosen", "question_asked"]


async def test_somebody_elses_append_is_a_conflict_and_nothing_is_overwritten(memory: SqlEventStore) -> None:
    world = deps(memory)
    desk = await begin(world)
    other = ev.SessionNotice(code="elsewhere", message="another process")
    await memory.append(desk.state.id, world.clock.now(), [other], expected_seq=3)
    with pytest.raises(ConcurrentAppend):
        await desk.interview.answer("m1", ANSWERS[0])
    assert kinds(await desk.log())[-1] == "notice"
