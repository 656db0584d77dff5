"""A round with a scenario: its question opens it, facts are told when asked for, and the report lists the rest."""

from __future__ import annotations

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core.debrief_rows import Debrief
from interviewer.core.render import report_markdown
from interviewer.core.session import fold
from interviewer.service.deps import Limits
from interviewer.service.errors import Refused
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions

from .kit import ANSWER, Desk, begin, deps, eventually, library

SUPPORT = library().scenarios["hm-live-support"]
SAYS = {fact.id: fact.says for fact in SUPPORT.facts}


async def support(store: SqlEventStore) -> Desk:
    return await begin(deps(store), persona="hiring_manager", minutes=60, scenario="hm-live-support")


def packet(desk: Desk) -> Debrief:
    return Replays(desk.deps, Sessions(desk.deps)).packet(desk.state)


async def test_the_round_opens_with_the_brief_and_its_question(memory: SqlEventStore) -> None:
    desk = await support(memory)
    turn = desk.state.turns[0]
    assert turn.question_id == "hm-support-first-steps"
    assert turn.question and turn.probe and turn.question.text.endswith(f"{SUPPORT.brief} {turn.probe.probe}")
    assert desk.state.started.versions.scenario == library().hashes["scenario:hm-live-support"]


async def test_a_fact_is_said_before_the_next_question_once_and_only_when_asked_for(memory: SqlEventStore) -> None:
    desk = await support(memory)
    await desk.answer(f"{ANSWER} What do the queries look like?")
    await desk.answer(f"{ANSWER} And what do the queries look like?")
    second, third = desk.question(2), desk.question(3)
    assert second.text.startswith(f"{SAYS['query-mix']} ") and second.text.endswith("?")
    assert second.revealed == ("query-mix",) and third.revealed == ()
    assert desk.streamed(2) == second.text
    assert not any(says in third.text for says in SAYS.values())


async def test_without_a_scenario_nothing_is_told(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory), persona="hiring_manager", minutes=60)
    await desk.answer(f"{ANSWER} What do the queries look like?")
    assert desk.question(2).revealed == () and desk.state.started.scenario is None
    assert packet(desk).scenario is None


async def test_the_report_lists_what_was_asked_and_keeps_the_rest_until_the_end(memory: SqlEventStore) -> None:
    desk = await support(memory)
    await desk.answer(f"{ANSWER} What do the queries look like?")
    running = packet(desk).scenario
    assert running is not None
    assert {f.fact: (f.says, f.asked_in) for f in running.facts if f.says} == {"query-mix": (SAYS["query-mix"], 1)}
    await desk.interview.end()
    text = report_markdown(packet(desk))
    assert f"{SUPPORT.title}. 1 of 8 facts were asked for." in text
    assert f"- Asked for in turn 1: What the tickets ask for. {SAYS['query-mix']}" in text
    assert f"- Never asked for: What a wrong answer costs. {SAYS['wrong-answer']}" in text


async def test_a_fact_that_was_interrupted_is_told_the_next_time(memory: SqlEventStore) -> None:
    desk = await support(memory)
    slow = deps(memory, limits=Limits(word_seconds=60.0))
    desk = Desk(fold(await memory.load(desk.state.id)), slow)
    await desk.interview.answer("m1", f"{ANSWER} What do the queries look like?")
    await eventually(lambda: bool(desk.interview.partial))
    await desk.interview.interrupt()
    assert desk.question(2).interrupted and desk.question(2).revealed == ()
    again = await Desk(fold(await memory.load(desk.state.id)), deps(memory)).settle()
    await again.answer(ANSWER, "m2")
    assert again.question(3).revealed == ("query-mix",)


async def test_any_takes_one_of_the_round_by_the_seed(memory: SqlEventStore) -> None:
    ids = [s.id for s in library().scenarios.values() if s.rubric == "behavioral"]
    given = deps(memory)
    desks = [await begin(given, persona="behavioral", scenario="any", seed=seed) for seed in (4, 1, 4)]
    assert [d.state.started.scenario for d in desks] == [ids[1], ids[1], ids[1]]
    assert (await begin(given, persona="behavioral", scenario="any", seed=2)).state.started.scenario == ids[2]


@pytest.mark.parametrize(
    ("persona", "scenario"), [("deep_dive", "any"), ("behavioral", "hm-live-support"), ("behavioral", "x")]
)
async def test_a_scenario_that_the_round_does_not_have_is_refused(
    memory: SqlEventStore, persona: str, scenario: str
) -> None:
    with pytest.raises(Refused, match="has no scenario"):
        await Sessions(deps(memory)).create(persona=persona, scenario=scenario)


async def test_a_replay_keeps_the_situation_and_what_was_told(memory: SqlEventStore) -> None:
    desk = await support(memory)
    await desk.answer(f"{ANSWER} What do the queries look like?")
    await desk.interview.end()
    child, _, diff = await Replays(desk.deps, Sessions(desk.deps)).replay(desk.state.id, judge="again")
    state = fold(await memory.load(child))
    assert state.started.scenario == "hm-live-support"
    assert state.turns[1].question and state.turns[1].question.revealed == ("query-mix",)
    assert diff.probes[0].same
