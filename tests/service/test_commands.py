"""What a candidate can do beside answering: swap the interviewer, take a hint, end."""

from __future__ import annotations

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.coverage import coverage
from interviewer.core.session import Phase
from interviewer.service.errors import Refused
from interviewer.testing import ScriptedJudge, ScriptedModel

from .kit import begin, deps, kinds, library


async def test_a_swapped_persona_keeps_history_and_rubric_state(memory: SqlEventStore) -> None:
    model = ScriptedModel()
    served = {"deep_dive": "deep_dive@1", "hiring_manager": "hiring_manager@2"}
    desk = await begin(deps(memory, model, ScriptedJudge(2), served=served))
    await desk.answer()
    turns = desk.state.turns
    before = coverage(desk.state, library().rubrics["deep_dive"])
    await desk.interview.swap("hiring_manager")
    assert desk.state.turns == turns
    assert coverage(desk.state, library().rubrics["deep_dive"]) == before
    assert (desk.state.persona, desk.state.adapter) == ("hiring_manager", "hiring_manager@2")
    assert desk.state.started.persona == "deep_dive"
    await desk.answer()
    assert model.requests[-1][0] == "hiring_manager@2"
    system, user = model.requests[-1][1]
    assert library().personas["hiring_manager"].name in system["content"]
    assert "you asked:" in user["content"], "the newcomer knows what was said"
    assert desk.question(3).persona == "hiring_manager"
    assert desk.interview.rubric.id == "deep_dive", "the round stays the same"


async def test_a_newcomer_does_not_greet_again(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, judge=ScriptedJudge(3, sure=0.97)))
    await desk.answer()
    await desk.interview.swap("recruiter")
    while not (probe := desk.state.turns[-1].probe) or probe.criterion is not None:
        await desk.answer()
    openings = library().personas["recruiter"].openings
    assert not any(desk.question(len(desk.state.turns)).text.startswith(o[:12]) for o in openings)


async def test_swapping_to_the_same_persona_is_no_event(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.interview.swap("deep_dive")
    assert desk.state.seq == 3


async def test_an_unknown_persona_is_refused_with_those_there_are(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    with pytest.raises(Refused) as refused:
        await desk.interview.swap("pirate")
    assert refused.value.code == "unknown_persona"
    assert "behavioral, coding_design, deep_dive, hiring_manager, recruiter" in refused.value.message
    assert desk.state.persona == "deep_dive"


async def test_hints_climb_three_rungs_and_cost_the_top_levels(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, judge=ScriptedJudge(3)))
    question = library().rubrics["deep_dive"].question(desk.state.turns[0].question_id or "")
    assert question is not None
    for rung in (1, 2, 3):
        await desk.interview.hint()
        shown = desk.state.hints[-1]
        assert (shown.rung, shown.text, shown.turn) == (rung, question.hints[rung - 1], 1)
    with pytest.raises(Refused) as refused:
        await desk.interview.hint()
    assert (refused.value.code, refused.value.retryable) == ("no_hint", False)
    await desk.answer()
    known = coverage(desk.state, library().rubrics["deep_dive"])
    assert {c.level for c in known.criteria if c.assessed} == {0}
    assert {r.hints for c in known.criteria for r in c.readings} == {3}


@pytest.mark.parametrize(("rungs", "level"), [(1, 2), (2, 1)])
async def test_each_rung_costs_a_level(memory: SqlEventStore, rungs: int, level: int) -> None:
    desk = await begin(deps(memory, judge=ScriptedJudge(3)))
    for _ in range(rungs):
        await desk.interview.hint()
    await desk.answer()
    known = coverage(desk.state, library().rubrics["deep_dive"])
    assert {c.level for c in known.criteria if c.assessed} == {level}


async def test_there_are_no_hints_in_real_mode(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory), mode="real")
    with pytest.raises(Refused) as refused:
        await desk.interview.hint()
    assert (refused.value.code, refused.value.retryable) == ("no_hint", False)
    assert desk.state.hints == ()


async def test_there_is_no_hint_while_the_interviewer_has_the_word(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.interview.answer("m1", "We held p99 at 800 ms under load.")
    with pytest.raises(Refused) as refused:
        await desk.interview.hint()
    assert (refused.value.code, refused.value.retryable) == ("no_hint", True)
    await desk.interview.stop()


async def test_ending_is_final_and_idempotent(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.answer()
    await desk.interview.end()
    await desk.interview.end()
    ended = [e for e in await desk.log() if isinstance(e, ev.SessionEnded)]
    assert [e.reason for e in ended] == ["candidate"]
    assert desk.state.phase is Phase.ENDED
    assert desk.stages[-1] == "ended"
    desk.interview.resume()
    assert not desk.interview.busy, "nothing goes on after the end"


async def test_a_session_can_be_ended_before_anything_was_answered(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.interview.end()
    assert kinds(await desk.log()) == ["session_started", "probe_chosen", "question_asked", "session_ended"]
