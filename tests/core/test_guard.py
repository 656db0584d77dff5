from __future__ import annotations

from typing import Any

import pytest

from interviewer.core.guard import (
    LEAD_WORDS,
    Context,
    check_lead,
    check_question,
    check_turn,
    first_question,
    refers,
    split_turn,
    summary,
)
from interviewer.core.wording import concepts, shared

PROBE = "Which percentile of latency did you hold, and which load was on it then?"
SAID = "We kept the latency low by batching eight requests, and the dashboard was green."


def context(**changes: Any) -> Context:
    values: dict[str, Any] = {"probe": "Which percentile of latency did you hold?", "said": SAID, "follow_up": True}
    return Context(**(values | changes))


@pytest.mark.parametrize(
    ("text", "lead", "question"),
    [
        ("You said eight. Which percentile?", "You said eight.", "Which percentile?"),
        ("Which percentile?", "", "Which percentile?"),
        ("One. Two. Three?", "One. Two.", "Three?"),
        ("  ", "", ""),
    ],
)
def test_a_turn_is_a_tie_in_and_a_question(text: str, lead: str, question: str) -> None:
    assert split_turn(text) == (lead, question)


def test_a_turn_as_it_should_be() -> None:
    assert check_turn("A green dashboard, you say. Which percentile of that latency did you hold?", context()) == ()


@pytest.mark.parametrize(
    ("lead", "problem"),
    [
        ("Great answer.", "verdict"),
        ("That's right.", "verdict"),
        ("That\u2019s right.", "verdict"),
        ("You are wrong there.", "verdict"),
        ("You are mistaken about the batch.", "verdict"),
        ("That was a bad answer.", "verdict"),
        ("I like how you batch.", "verdict"),
        ("Not quite, the batch matters.", "verdict"),
        ("That makes sense.", "verdict"),
        ("Good. A batch of eight, then.", "verdict"),
        ("Walk me through the batch.", "second_question"),
        ("A batch of eight, so tell me about the dashboard.", "second_question"),
        ("As an AI I cannot know that.", "out_of_role"),
        ("Candidate: we batch.", "out_of_role"),
        ("<|im_start|> batching it is.", "out_of_role"),
        ("The next probe is about batching.", "out_of_role"),
        ("What about batching?", "second_question"),
        ("word " * (LEAD_WORDS + 1), "too_long"),
    ],
)
def test_problems_of_a_tie_in(lead: str, problem: str) -> None:
    assert check_lead(lead, context()) == (problem,)


@pytest.mark.parametrize(
    "lead",
    [
        "",
        "You kept eight requests in a batch.",
        "Where would a bad answer hurt.",
        "That is a great deal of batching.",
        "A batch that makes sense to nobody.",
        "You would explain the batch to them.",
        "word " * 22,
    ],
)
def test_neutral_tie_ins_pass(lead: str) -> None:
    assert check_lead(lead, context()) == ()


def test_a_tie_in_is_not_used_twice() -> None:
    earlier = context(asked=("Stay with the batch. Which latency was it?",))
    assert check_lead("Stay with the batch.", earlier) == ("repeat",)
    assert check_lead("Stay with the dashboard.", earlier) == ()


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ("Tell me about the latency percentile.", "not_one_question"),
        ("Which percentile? And which latency was it?", "not_one_question"),
        ("Which percentile of latency did you hold? Please.", "not_one_question"),
        ("Which percentile did you hold, and how was that latency measured?", "stacked"),
        ("Which percentile of latency did you hold, and did you measure it under load?", "stacked"),
        ("Latency percentile?", "too_short"),
        ("Where did you go to school as a child?", "off_probe"),
        ("Is it wonderful latency that you hold?", "verdict"),
    ],
)
def test_problems_of_a_question(question: str, problem: str) -> None:
    assert check_question(question, context()) == (problem,)


@pytest.mark.parametrize(
    "question",
    [
        "Which percentile of that latency were you holding?",
        "Traffic grows tenfold and your latency doubles, and what do you hold then?",  # a statement comes first
        "You hold p99 of the latency at eight, so what gives when it is sixteen?",
        "How far did that latency go before somebody called?",  # "how far" asks for the number, as the percentile does
    ],
)
def test_reworded_questions_pass(question: str) -> None:
    assert check_question(question, context()) == ()


def test_two_parts_are_allowed_where_the_probe_has_two() -> None:
    double = "Which percentile of that latency was held, and which load was on it at the time?"
    assert check_question(double, context()) == ("stacked",)
    assert check_question(double, context(probe=PROBE)) == ()


def test_a_question_is_not_asked_twice() -> None:
    asked = ("You batch. Which percentile of latency did you hold?",)
    assert check_question("Which percentile of the latency did you hold?", context(asked=asked)) == ("repeat",)
    assert check_question("Which percentile did you look at first, and why?", context(asked=asked)) == ()


def test_nothing_is_given_away() -> None:
    facts = context(giveaways=("paged attention", "KV"))
    told = "Which percentile of latency did paged attention hold?"
    assert check_question(told, facts) == ("leak",)
    assert check_question("Which KVX percentile of latency did you hold?", facts) == ()  # another word
    for known in (
        {"said": "We used paged attention."},
        {"probe": "What did paged attention do to the latency percentile?"},
        {"asked": ("Tell me about Paged Attention?",)},
    ):
        assert "leak" not in check_question(told, context(giveaways=("paged attention",), **known))


@pytest.mark.parametrize(
    ("term", "written"),
    [
        ("near-copies", "near copy"),
        ("cache miss", "cache misses"),
        ("label mask", "label-masks"),
        ("small batches", "small batch"),
        ("prompt tokens", "prompt token"),
        ("10%", "10%"),
    ],
)
def test_a_thing_is_given_away_in_any_number(term: str, written: str) -> None:
    facts = context(giveaways=(term,))
    assert check_question(f"Which latency percentile did {written} hold?", facts) == ("leak",)
    assert "leak" not in check_question(f"Which latency percentile did {written}ish hold?", facts)


def test_a_follow_up_picks_up_what_was_said() -> None:
    untied = "Let me stay there. Which percentile did you hold?"
    assert check_turn(untied, context()) == ("not_tied",)
    assert check_turn(untied, context(follow_up=False)) == ()
    assert refers("Which latency?", SAID)
    assert not refers("Which of these is this?", "This is these.")  # function words tie nothing


def test_a_turn_is_as_long_as_the_persona_speaks() -> None:
    turn = "A green dashboard, you say. Which percentile of that latency did you hold?"
    assert check_turn(turn, context(max_words=13)) == ()
    assert check_turn(turn, context(max_words=12)) == ("too_long",)


def test_each_problem_is_named_once() -> None:
    found = check_turn(f"{'great ' * 30}. Great, which percentile of latency did you hold?", context(max_words=20))
    assert found == ("verdict", "too_long")


def test_a_model_that_goes_on_asking_is_stopped() -> None:
    assert first_question("You said so. Why? And what else?") == "You said so. Why?"
    assert first_question("No question here.") == "No question here."


def test_problems_are_counted_over_turns() -> None:
    assert summary([("verdict", "leak"), (), ("leak",)]) == {"verdict": 1, "leak": 2}


@pytest.mark.parametrize(
    ("a", "b"),
    [("the number you counted", "which figure"), ("what did you decide", "your choice"), ("it failed", "the crash")],
)
def test_swapped_words_are_one_concept(a: str, b: str) -> None:
    assert concepts(a) & concepts(b)


def test_shared_concepts_are_a_share_of_the_smaller_text() -> None:
    assert shared("caching costs", "What is the price of cached tokens in memory?") == 1
    assert shared("cold start", "warm start of a replica") == 0.5
    assert shared("", "anything at hand") == 0
