"""A candidate who asks before answering is told what the case leaves open, and the question stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, Unscored
from interviewer.core.coverage import coverage
from interviewer.core.library import Library
from interviewer.core.receipt import receipt
from interviewer.core.rubric import Given
from interviewer.core.session import fold
from interviewer.core.standing import GO_ON, OPEN
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions

from .kit import ANSWER, Desk, begin, deps, library

FRAMED, UNFRAMED = "cd-serving-design", "cd-kv-budget"
"""Questions of one round: the first aims at how a problem is framed, the second does not."""
WAIT = "Nobody waits longer than a second for the first word."
TEAM = "Two people run it, in one time zone."
ASKS = "Before I start: how long may somebody wait? And which cloud is it?"
TOLD = f"{WAIT} {OPEN} {GO_ON}"


def told(question: str) -> tuple[Given, ...]:
    """Return two facts of a question's case."""
    wait = Given(id=f"{question}-wait", about="The wait", says=WAIT, asked_by=("how_long|latency wait|target",))
    team = Given(id=f"{question}-team", about="The team", says=TEAM, asked_by=("who|how_many team|people|runs",))
    return wait, team


def documents() -> Library:
    """Return the shipped documents with these facts in two questions."""
    rubric = library().rubrics["coding_design"]
    changed = tuple(
        q.model_copy(update={"givens": told(q.id)}) if q.id in (FRAMED, UNFRAMED) else q for q in rubric.questions
    )
    rubrics = {**library().rubrics, "coding_design": rubric.model_copy(update={"questions": changed})}
    return replace(library(), rubrics=rubrics)


async def start(store: SqlEventStore, question: str = FRAMED, **fields: Any) -> Desk:
    """Begin a round with one question."""
    given = deps(store, library=documents(), **fields)
    return await begin(given, persona="coding_design", minutes=60, question=question)


async def test_what_is_asked_for_is_told_once_and_the_question_stands(memory: SqlEventStore) -> None:
    desk = await start(memory)
    await desk.answer(ASKS)
    second = desk.question(2)
    assert second.text == TOLD and second.revealed == (f"{FRAMED}-wait",) and desk.streamed(2) == TOLD
    probe = desk.state.turns[1].probe
    assert probe and probe.restates and probe.question_id == FRAMED and probe.criterion is None
    await desk.answer(f"{ANSWER} How long may somebody wait?")
    assert WAIT not in desk.question(3).text and desk.state.turns[2].probe and desk.state.turns[2].probe.criterion


async def test_a_follow_up_that_was_asked_about_is_put_again_in_its_own_words(memory: SqlEventStore) -> None:
    desk = await start(memory)
    await desk.answer(ANSWER)
    await desk.answer("Who is on the team?")
    follow_up, again = desk.state.turns[1].probe, desk.state.turns[2].probe
    assert follow_up and again and again.restates and again.probe == follow_up.probe
    assert desk.question(3).text == f"{TEAM} {OPEN} {follow_up.probe}"


async def test_questions_alone_are_read_for_the_framing_and_for_nothing_else(memory: SqlEventStore) -> None:
    desk = await start(memory)
    await desk.answer(ASKS)
    read = desk.state.turns[0].result
    assert isinstance(read, Assessment) and [c.criterion for c in read.criteria] == ["problem_framing"]
    await desk.answer(ANSWER)
    full = desk.state.turns[1].result
    assert isinstance(full, Assessment) and len(full.criteria) > 2


async def test_where_framing_is_not_aimed_at_nothing_is_held_against_who_asks(memory: SqlEventStore) -> None:
    desk = await start(memory, UNFRAMED)
    await desk.answer(ASKS)
    assert isinstance(desk.state.turns[0].result, Unscored)
    known = coverage(desk.state, documents().rubrics["coding_design"])
    assert not any(c.assessed for c in known.criteria)
    assert desk.question(2).text == TOLD


async def test_questions_that_the_case_leaves_open_are_an_answer_like_any_other(memory: SqlEventStore) -> None:
    desk = await start(memory)
    await desk.answer("Which cloud is it? Is there a preferred vendor?")
    probe = desk.state.turns[1].probe
    assert probe and probe.criterion is not None and desk.question(2).revealed == ()


async def test_a_question_is_put_again_twice_at_most_and_facts_are_told_all_the_same(memory: SqlEventStore) -> None:
    desk = await start(memory)
    facts = told(FRAMED)
    for text in ("How long may somebody wait?", "Who is on the team?"):
        await desk.answer(text)
    await desk.answer("How long may somebody wait? Who runs it?")
    probes = [t.probe for t in desk.state.turns]
    assert [bool(p and p.restates) for p in probes] == [False, True, True, False]
    assert [desk.question(n).revealed for n in (2, 3, 4)] == [(facts[0].id,), (facts[1].id,), ()]


async def test_asking_costs_no_follow_up(memory: SqlEventStore) -> None:
    desk, other = await start(memory), await start(memory, new_id=lambda: "another")
    await desk.answer(ASKS)
    for each in (desk, other):
        for _ in range(4):
            await each.answer(ANSWER)
    asked = [sum(bool(t.probe and t.probe.criterion) for t in d.state.on_question(FRAMED)) for d in (desk, other)]
    assert asked[0] == asked[1] > 1


async def test_an_assumption_that_asks_for_a_fact_is_told_it(memory: SqlEventStore) -> None:
    desk = await start(memory)
    await desk.answer("Can I assume that the latency target is a second?")
    assert desk.committed(ev.RequestMade) == [] and desk.question(2).text == TOLD


async def test_the_receipt_holds_nothing_against_a_question_that_stands(memory: SqlEventStore) -> None:
    desk = await start(memory)
    await desk.answer(ASKS)
    await desk.answer("Who is on the team?")
    rubric = documents().rubrics["coding_design"]
    found = receipt(desk.state, rubric, coverage(desk.state, rubric))
    assert found.repeats == () and found.untied == () and found.leaks == ()


async def test_a_replay_chooses_the_same_and_reads_the_same(memory: SqlEventStore) -> None:
    desk = await start(memory)
    await desk.answer(ASKS)
    await desk.answer(ANSWER)
    await desk.interview.end()
    child, _, diff = await Replays(desk.deps, Sessions(desk.deps)).replay(desk.state.id, judge="again")
    state = fold(await memory.load(child))
    alternative = state.turns[1].alternative
    assert alternative and alternative.restates and diff.probes[0].same
    read = state.turns[0].result
    assert isinstance(read, Assessment) and [c.criterion for c in read.criteria] == ["problem_framing"]


@pytest.mark.parametrize("text", ["How long may somebody wait?", f"How long may somebody wait? {ANSWER}"])
async def test_facts_of_a_case_are_told_only_to_who_asks_and_says_no_more(memory: SqlEventStore, text: str) -> None:
    desk = await start(memory)
    await desk.answer(text)
    assert (WAIT in desk.question(2).text) is (ANSWER not in text)
