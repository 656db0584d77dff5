"""An engine that dies in mid-turn: the turn is tried once more when it is back, and the client is told once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from interviewer.adapters.store import SqlEventStore
from interviewer.core.assessment import Assessment, Unscored
from interviewer.core.reading import CriterionSpec, RawReading, Window
from interviewer.core.session import Phase
from interviewer.service.deps import Limits
from interviewer.service.ports import JudgeError
from interviewer.testing import MODEL_DOWN, ScriptedJudge, ScriptedModel

from .kit import Desk, Saying, begin, deps, eventually, kinds


class Away:
    """A model that is away until it is let back."""

    def __init__(self, *, comes_back: bool = True, at_once: bool = False) -> None:
        self.back = asyncio.Event()
        if at_once:
            self.back.set()
        self.comes_back = comes_back
        self.asked = 0

    async def recovered(self) -> bool:
        self.asked += 1
        await self.back.wait()
        return self.comes_back


class FailingOnce(ScriptedJudge):
    """A judge whose first reading breaks off."""

    failures = 1

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        if self.failures:
            self.failures -= 1
            raise JudgeError("the model endpoint cannot be reached")
        return await super().read(window, criteria)


TOLD_AT_ONCE = Limits(tell_seconds=0.0)


def notices(desk: Desk) -> list[str]:
    return [notice.code for notice in desk.state.notices]


async def test_a_reading_that_broke_off_is_read_again(memory: SqlEventStore) -> None:
    away = Away()
    desk = await begin(deps(memory, judge=FailingOnce(2), recovered=away.recovered, limits=TOLD_AT_ONCE))
    answering = asyncio.create_task(desk.answer())
    await eventually(lambda: notices(desk) == ["model_restarting"])
    assert desk.stages[-1] == "reading"
    away.back.set()
    await answering
    assert isinstance(desk.state.turns[0].result, Assessment)
    assert desk.state.phase is Phase.AWAITING
    assert notices(desk) == ["model_restarting"]
    assert away.asked == 1


async def test_a_question_that_broke_off_is_asked_by_the_persona(memory: SqlEventStore) -> None:
    away = Away()
    model = ScriptedModel(
        MODEL_DOWN, "You said p99 at batch 8. What happens at the first token that the large model does not agree with?"
    )
    desk = await begin(deps(memory, model, recovered=away.recovered, limits=TOLD_AT_ONCE))
    answering = asyncio.create_task(desk.answer())
    await eventually(lambda: "model_restarting" in notices(desk))
    away.back.set()
    await answering
    assert len(model.requests) == 2
    assert model.requests[0] == model.requests[1], "the same turn, once more"
    assert "model_unavailable" not in desk.question(2).problems
    assert notices(desk) == ["model_restarting"]


async def test_a_replica_that_takes_over_quickly_is_not_worth_a_notice(memory: SqlEventStore) -> None:
    away = Away(at_once=True)
    desk = await begin(deps(memory, judge=FailingOnce(2), recovered=away.recovered))
    await desk.answer()
    assert isinstance(desk.state.turns[0].result, Assessment)
    assert notices(desk) == []


async def test_a_second_failure_is_final(memory: SqlEventStore) -> None:
    away = Away(at_once=True)
    judge = FailingOnce(2)
    judge.failures = 5
    desk = await begin(deps(memory, ScriptedModel(MODEL_DOWN), judge, recovered=away.recovered))
    await desk.answer()
    assert isinstance(desk.state.turns[0].result, Unscored)
    assert judge.failures == 3, "read twice, not more"
    assert desk.question(2).source == "fallback"
    assert notices(desk) == ["model_unavailable"]


async def test_a_model_that_does_not_come_back_is_not_asked_again(memory: SqlEventStore) -> None:
    away = Away(comes_back=False, at_once=True)
    model = ScriptedModel(MODEL_DOWN)
    desk = await begin(deps(memory, model, recovered=away.recovered))
    await desk.answer()
    assert len(model.requests) == 1
    assert desk.question(2).source == "fallback"


async def test_what_was_said_is_not_said_again(memory: SqlEventStore) -> None:
    away = Away(at_once=True)
    model = Saying(lambda probe: "You mentioned the tail. Which ", then=MODEL_DOWN)
    desk = await begin(deps(memory, model, recovered=away.recovered))
    await desk.answer()
    assert desk.question(2).source == "mixed"
    assert desk.question(2).text.count("You mentioned the tail.") == 1
    assert away.asked == 0


async def test_an_interrupt_ends_the_wait(memory: SqlEventStore) -> None:
    away = Away()
    desk = await begin(deps(memory, ScriptedModel(MODEL_DOWN), recovered=away.recovered, limits=TOLD_AT_ONCE))
    answering = asyncio.create_task(desk.answer())
    await eventually(lambda: "model_restarting" in notices(desk))
    await desk.interview.interrupt()
    await answering
    assert desk.state.phase is Phase.AWAITING


async def test_the_log_of_a_turn_that_waited_is_complete(memory: SqlEventStore) -> None:
    away = Away()
    desk = await begin(deps(memory, judge=FailingOnce(2), recovered=away.recovered, limits=TOLD_AT_ONCE))
    answering = asyncio.create_task(desk.answer())
    await eventually(lambda: notices(desk) == ["model_restarting"])
    away.back.set()
    await answering
    assert kinds(await desk.log())[3:] == [
        "answer_given",
        "notice",
        "answer_assessed",
        "probe_chosen",
        "question_asked",
    ]
