"""Interruptions: the history holds what was seen, nothing more is sent, and the model stops working."""

from __future__ import annotations

import asyncio

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.session import Phase
from interviewer.core.transcript import of_session
from interviewer.service.errors import Refused
from interviewer.service.frames import Delta, Failed
from interviewer.service.ports import StoreError
from interviewer.testing import ScriptedModel

from .kit import ANSWER, Desk, FlakyStore, Saying, begin, deps, eventually, kinds

LEAD = "You mentioned the tail. "


async def speaking(store: SqlEventStore, model: Saying | None = None) -> Desk:
    """Return a session whose interviewer has said its lead and goes on."""
    desk = await begin(deps(store, model or Saying(lambda p: f"{LEAD}Which of", hang=True)))
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: desk.streamed(2) == LEAD)
    return desk


async def test_the_history_keeps_what_was_seen(memory: SqlEventStore) -> None:
    desk = await speaking(memory)
    await desk.interview.interrupt(seen=len("You mentioned"))
    asked = desk.question(2)
    assert (asked.text, asked.interrupted, asked.source) == ("You mentioned", True, "generated")
    assert desk.state.phase is Phase.AWAITING
    assert desk.interview.partial == ""
    assert of_session(desk.state).lines[-1].text == "You mentioned"


@pytest.mark.parametrize(("seen", "text"), [(None, LEAD.strip()), (9999, LEAD.strip()), (0, "")])
async def test_at_most_what_was_sent_is_kept(memory: SqlEventStore, seen: int | None, text: str) -> None:
    desk = await speaking(memory)
    await desk.interview.interrupt(seen)
    assert desk.question(2).text == text


async def test_the_generation_is_closed_and_nothing_more_is_sent(memory: SqlEventStore) -> None:
    model = Saying(lambda p: f"{LEAD}Which of", hang=True)
    desk = await speaking(memory, model)
    await desk.interview.interrupt()
    told = len(desk.frames)
    assert model.closed == 1
    assert not desk.interview.busy
    await asyncio.sleep(0.02)
    assert len(desk.frames) == told
    assert desk.stages[-1] == "waiting"


async def test_the_scripted_model_counts_the_generation_as_cancelled(memory: SqlEventStore) -> None:
    model = ScriptedModel("You mentioned latency. Which percentile of latency did you hold?", delay=0.02)
    desk = await begin(deps(memory, model))
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: bool(model.requests))
    await desk.interview.interrupt()
    assert model.cancelled == 1


async def test_before_the_first_token_nothing_was_seen(memory: SqlEventStore) -> None:
    model = Saying(lambda p: "", hang=True)
    desk = await begin(deps(memory, model))
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: desk.stages[-1] == "asking")
    await desk.interview.interrupt()
    assert (desk.question(2).text, desk.question(2).interrupted) == ("", True)
    assert not [f for f in desk.frames if isinstance(f, Delta) and f.turn == 2]
    assert [line.turn for line in of_session(desk.state).lines] == [1, 1], "a question nobody saw is not shown"
    await desk.interview.answer("m2", "I would rather say this first: prefill was what hurt.")
    assert desk.state.turns[1].answer is not None
    await desk.interview.stop()


@pytest.mark.parametrize("when", ["waiting", "reading", "ended"])
async def test_there_is_nothing_to_interrupt_otherwise(memory: SqlEventStore, when: str) -> None:
    desk = await begin(deps(memory))
    if when == "reading":
        await desk.interview.answer("m1", ANSWER)
    elif when == "ended":
        await desk.interview.end()
    before = desk.state
    await desk.interview.interrupt(3)
    assert desk.state == before
    if when == "reading":
        await desk.interview.settled()
        assert not desk.question(2).interrupted


async def test_an_interrupt_that_comes_too_late_leaves_the_whole_question(flaky: FlakyStore) -> None:
    desk = await begin(deps(flaky))
    flaky.hold = asyncio.Event()
    flaky.hold.set()
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: desk.state.phase is Phase.ASKING)
    flaky.hold.clear()
    await eventually(lambda: desk.streamed(2).endswith("?"))
    interrupting = asyncio.create_task(desk.interview.interrupt(4))
    await asyncio.sleep(0.01)
    flaky.hold.set()
    await interrupting
    assert not desk.question(2).interrupted
    assert desk.question(2).text == desk.streamed(2)
    assert desk.interview.partial == "", "a finished question is no longer on its way"
    assert desk.stages[-1] == "waiting"
    assert kinds(await desk.log()).count("question_asked") == 2


async def test_an_interrupt_that_cannot_be_stored_can_be_sent_again(flaky: FlakyStore) -> None:
    desk = await begin(deps(flaky, Saying(lambda p: f"{LEAD}Which of", hang=True)))
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: desk.streamed(2) == LEAD)
    flaky.fail_at = frozenset({flaky.appends + 1})
    with pytest.raises(StoreError):
        await desk.interview.interrupt(3)
    assert desk.interview.partial == LEAD
    await desk.interview.interrupt(3)
    assert desk.question(2).text == "You"


async def test_after_an_interrupt_that_could_not_be_stored_nothing_is_said_again(flaky: FlakyStore) -> None:
    model = Saying(lambda p: f"{LEAD}Which of", hang=True)
    desk = await begin(deps(flaky, model))
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: desk.streamed(2) == LEAD)
    flaky.fail_at = frozenset({flaky.appends + 1})
    with pytest.raises(StoreError):
        await desk.interview.interrupt(3)
    with pytest.raises(Refused):
        await desk.interview.answer("m2", ANSWER)
    await desk.settle()
    assert (desk.question(2).text, desk.question(2).interrupted) == ("You", True)
    assert model.closed == 1, "no second generation"


async def test_whoever_comes_while_an_interrupt_is_being_stored_waits_for_it(flaky: FlakyStore) -> None:
    """Its sender may leave before it is stored, and the next client makes the session go on."""
    desk = await begin(deps(flaky, Saying(lambda p: f"{LEAD}Which of", hang=True)))
    flaky.hold = asyncio.Event()
    flaky.hold.set()
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: desk.streamed(2) == LEAD)
    flaky.hold.clear()
    leaving = asyncio.create_task(desk.interview.interrupt(3))
    await asyncio.sleep(0.02)
    leaving.cancel()
    await asyncio.wait([leaving])
    desk.interview.resume()
    await asyncio.sleep(0.02)
    flaky.hold.set()
    await desk.interview.settled()
    assert (desk.question(2).text, desk.question(2).interrupted) == ("You", True)
    assert kinds(await desk.log()).count("question_asked") == 2
    assert not [f for f in desk.frames if isinstance(f, Failed)]


async def test_ending_in_mid_question_keeps_what_was_seen(memory: SqlEventStore) -> None:
    model = Saying(lambda p: f"{LEAD}Which of", hang=True)
    desk = await speaking(memory, model)
    await desk.interview.end()
    assert kinds(await desk.log())[-2:] == ["question_asked", "session_ended"]
    assert (desk.question(2).text, desk.question(2).interrupted) == (LEAD.strip(), True)
    assert model.closed == 1
    ended = desk.state.ended
    assert ended is not None and ended.reason == "candidate"


async def test_ending_while_an_answer_is_read_waits_for_its_reading(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.interview.answer("m1", ANSWER)
    assert desk.state.phase is Phase.JUDGING
    await desk.interview.end()
    await desk.interview.settled()
    assert kinds(await desk.log())[3:] == ["answer_given", "answer_assessed", "session_ended"]
    assert desk.stages[-1] == "ended"


async def test_a_persona_swapped_in_mid_question_asks_the_next_one(memory: SqlEventStore) -> None:
    desk = await speaking(memory)
    await desk.interview.swap("hiring_manager")
    await desk.interview.interrupt()
    assert desk.state.persona == "hiring_manager"
    changed = desk.committed(ev.PersonaChanged)
    assert [c.persona for c in changed] == ["hiring_manager"]
