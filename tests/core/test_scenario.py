"""Scenarios: which questions earn a fact, that it is given once, and what the report says of the rest."""

from __future__ import annotations

import pytest

from interviewer.core import events as ev
from interviewer.core.rubric import Given
from interviewer.core.scenario import Scenario, asked, due, opens_with
from interviewer.core.session import SessionState, Turn

from .builders import START, VERSIONS, shipped

ORDERS = "How many of them need the customer's order data?"
NOTHING_ASKED = "I would chunk the articles, embed them and put a model on top. Fresh articles are indexed again."


def state(*turns: tuple[str, tuple[str, ...]]) -> SessionState:
    """A session of answers, each with the facts that its question had given before."""
    started = ev.SessionStarted(
        persona="p", rubric="r", level="mid", mode="practice", minutes=30, seed=1, versions=VERSIONS
    )
    made = tuple(
        Turn(
            number=n,
            question=ev.QuestionAsked(turn=n, text="q", source="authored", persona="p", revealed=revealed),
            answer=ev.AnswerGiven(turn=n, msg_id=str(n), text=text) if text else None,
        )
        for n, (text, revealed) in enumerate(turns, 1)
    )
    return SessionState(
        id="s",
        seq=9,
        started=started,
        started_at=START,
        last_at=START,
        persona="p",
        adapter=None,
        phase="choosing",
        turns=made,
    )


def earned(scenario: str, text: str) -> list[str]:
    return list(asked(state((text, ())), shipped().scenarios[scenario]))


@pytest.mark.parametrize(
    ("scenario", "text", "facts"),
    [
        ("hm-live-support", "What do the queries look like?", ["query-mix"]),
        ("hm-live-support", ORDERS, ["account-data"]),
        (
            "hm-live-support",
            "I'd ask how often the articles change and how long a user will wait.",
            ["freshness", "latency"],
        ),
        ("hm-live-support", "What is the price of a wrong answer? And who is on the team?", ["wrong-answer", "people"]),
        ("hm-live-support", "How will you judge that it works?", ["success"]),
        ("hm-live-catalogue", "How many items change in an hour?", ["changed-share"]),
        ("hm-live-catalogue", "How stale may a price be?", ["stale-price"]),
        ("hm-live-catalogue", "Is there an API for stock?", ["source"]),
        ("hm-live-claims", "Which version of the wording applies to an old claim?", ["versions"]),
        ("hm-live-claims", "May the text leave your machines, or is a hosted API allowed?", ["access"]),
        ("bh-crisis-quantised", "What exactly do they mean by unstable?", ["unstable-means"]),
        ("bh-crisis-quantised", "Has anything changed since then?", ["what-changed"]),
        ("bh-crisis-quantised", "Can we roll back?", ["rollback"]),
        ("bh-crisis-their-prompt", "Did they change their prompt?", ["their-changes"]),
        ("bh-crisis-their-prompt", "Did we deploy a new model?", ["our-changes"]),
        (
            "bh-crisis-their-prompt",
            "Are their inputs longer than before, has the distribution shifted?",
            ["input-length"],
        ),
        ("bh-crisis-feed", "Was anybody harmed?", ["harm"]),
        ("bh-crisis-feed", "Can we restore the old index?", ["stopgap"]),
    ],
)
def test_a_question_earns_the_fact_that_it_asks_for_and_no_other(scenario: str, text: str, facts: list[str]) -> None:
    assert earned(scenario, text) == facts


@pytest.mark.parametrize("scenario", sorted(shipped().scenarios))
@pytest.mark.parametrize(
    "text",
    [
        NOTHING_ASKED,
        "Could you repeat the question?",
        "Is that clear so far?",
        "Do you want me to go on?",
        "Should I draw it?",
        "Why would I do that? It is the cheapest first step.",
        "I apologise, say what I know and what I do not, and name the time of my next call.",
        "",
    ],
)
def test_statements_and_questions_about_the_talk_itself_earn_nothing(scenario: str, text: str) -> None:
    assert earned(scenario, text) == []


def test_a_fact_is_due_until_it_was_said_and_then_never_again() -> None:
    scenario = shipped().scenarios["hm-live-support"]
    text = "What do the queries look like?"
    assert [f.id for f in due(state((text, ())), scenario)] == ["query-mix"]
    assert due(state((text, ()), ("", ("query-mix",))), scenario) == ()
    assert due(state((text, ()), (text, ("query-mix",))), scenario) == ()


def test_many_questions_at_once_are_answered_over_several_turns() -> None:
    scenario = shipped().scenarios["bh-crisis-quantised"]
    many = "When did it start? Has anything changed? Can we roll back? What does the contract say?"
    first = tuple(f.id for f in due(state((many, ())), scenario))
    assert first == ("started", "what-changed", "rollback")
    assert [f.id for f in due(state((many, ()), ("", first)), scenario)] == ["contract"]


def test_a_scenario_decides_the_first_question_only() -> None:
    scenario = shipped().scenarios["bh-crisis-feed"]
    assert opens_with(state(), scenario) == frozenset({"bh-crisis"})
    assert opens_with(state(("I call them.", ())), scenario) is None
    assert opens_with(state(), None) is None


def test_what_refers_to_nothing_or_could_be_met_by_accident_is_a_problem() -> None:
    good = shipped().scenarios["bh-crisis-feed"]
    assert list(good.problems(shipped().rubrics)) == []
    fact = Given(id="one", about="one thing", says="It is so.", asked_by=("when",))
    bad = Scenario.model_validate({**good.model_dump(), "question": "none", "facts": (fact,) * 4})
    messages = [message for _, message in bad.problems(shipped().rubrics)]
    assert messages[0] == "the round 'behavioral' has no question 'none'"
    assert messages[1] == "the cue 'when' needs two terms; one word is met by accident"
    assert "fact id 'one' is used twice" in messages
    lost = good.model_copy(update={"rubric": "none"})
    assert [at for at, _ in lost.problems(shipped().rubrics)] == [("rubric",)]


def test_there_are_three_situations_each_for_the_live_project_and_the_crisis() -> None:
    rounds = [s.rubric for s in shipped().scenarios.values()]
    assert rounds.count("hiring_manager") >= 3 and rounds.count("behavioral") >= 3
