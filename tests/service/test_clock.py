"""The clock of the machine jumps: the round's time never runs backwards, and no turn is lost over it."""

from __future__ import annotations

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core.session import Phase, fold
from interviewer.testing import FakeClock

from .kit import ANSWER, begin, deps, kinds

DAY = 86_400.0


@pytest.mark.parametrize("jump", [-3600.0, -20 * 365 * DAY, 3600.0, 20 * 365 * DAY])
async def test_a_jump_in_mid_turn_changes_no_event(memory: SqlEventStore, jump: float) -> None:
    clock = FakeClock(step=0.0)
    desk = await begin(deps(memory, clock=clock), minutes=60)
    clock.advance(jump)
    before = desk.interview.elapsed()
    # A pause of more than ten minutes counts as ten: who went to lunch has not used the round up.
    assert before == pytest.approx(0.0 if jump < 0 else 600 / 3600)
    await desk.answer(ANSWER, "m1")
    assert desk.state.phase is Phase.AWAITING
    log = await memory.load(desk.state.id)
    assert kinds([r.event for r in log])[3:] == ["answer_given", "answer_assessed", "probe_chosen", "question_asked"]
    assert [r.seq for r in log] == [1, 2, 3, 4, 5, 6, 7]
    assert desk.interview.elapsed() >= before
    assert fold(log) == desk.state


async def test_a_clock_that_is_set_back_at_every_look_only_stops_the_time(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, clock=FakeClock(step=-60.0)))
    for turn in range(1, 4):
        await desk.answer(ANSWER, f"m{turn}")
    assert desk.interview.elapsed() == 0.0
    assert desk.state.phase is Phase.AWAITING and len(desk.state.turns) == 4
