"""Clarifying questions: what counts as one, when a message is nothing else, and what it earns."""

from __future__ import annotations

import pytest

from eval.agreement import answers
from interviewer.core.givens import earned, only_asks, questions
from interviewer.core.rubric import Given, given_problems
from interviewer.core.standing import case

from .builders import shipped

USERS = Given(
    id="q-users",
    about="How many use it",
    says="Two hundred at once.",
    asked_by=("how_many|number users|people", "what|which load|traffic|concurrency"),
)
CARD = Given(id="q-card", about="The card", says="One card of 80 GB.", asked_by=("what|which card|gpu|hardware",))


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What do the queries look like?", True),
        ("I'd first ask how fresh an answer must be.", True),
        ("First, I would want to know who calls.", True),
        ("Tell me about the traffic.", True),
        ("My first question is about the traffic.", True),
        ("Can you tell me when it began.", True),
        ("I would ask the model to answer.", True),
        ("I know how fresh it must be.", True),
        ("We asked what the queries look like.", False),
        ("It depends on how fresh an answer must be.", False),
        ("I would index the articles.", False),
    ],
)
def test_only_sentences_that_ask_are_questions(text: str, asks: bool) -> None:
    assert bool(questions(text)) is asks


@pytest.mark.parametrize(
    "text",
    [
        "How many users at once?",
        "Before I start, how many users are on it?",
        "A few questions first. How many users? And which card?",
        "Okay. Let me ask two things. What is the latency target? Who pays for it?",
        "I'd like to know the load.",
        "Good question! Is it one card or several?",
        "Can I ask you something first? What load do we have",
    ],
)
def test_a_message_of_questions_alone_is_no_answer_yet(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Okay.",
        "I would batch. How many users are there?",
        "How many users? Say 200. Then the cache is 40 GB.",
        "What breaks first? The cache does.",
        "Why would I do that? It is the cheapest first step.",
        "Two hundred users.",
        "How many users? " * 40,
    ],
)
def test_a_message_that_says_anything_is_an_answer(text: str) -> None:
    assert not only_asks(text)


def test_an_answer_of_the_labelled_data_is_never_taken_for_questions_alone() -> None:
    assert [a["id"] for a in answers() if only_asks(a["answer"])] == []


def test_what_is_asked_for_is_earned_in_the_order_of_the_questions() -> None:
    assert earned((USERS, CARD), "Which GPU is it? And how many people use it at once?") == (CARD, USERS)
    assert earned((USERS, CARD), "What is the load? How many users?") == (USERS,)
    assert earned((USERS, CARD), "Which city is it in?") == ()
    assert earned((USERS, CARD), "The number of users decides which GPU I take.") == ()


def test_a_scenario_stands_in_place_of_the_case_of_the_question_that_it_puts() -> None:
    question = shipped().rubrics["hiring_manager"].question("hm-support-first-steps")
    scenarios = shipped().scenarios
    assert question is not None and question.givens
    assert case(question, None) == case(question, scenarios["bh-crisis-feed"]) == question.givens
    assert case(question, scenarios["hm-live-support"]) == case(None, None) == ()


def test_ids_are_unique_and_a_cue_has_two_terms() -> None:
    loose = USERS.model_copy(update={"asked_by": ("users",)})
    assert list(given_problems((USERS, CARD))) == []
    assert [at for at, _ in given_problems((USERS, loose))] == [(1, "id"), (1, "asked_by", 0)]
