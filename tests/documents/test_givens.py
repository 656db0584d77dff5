"""What the shipped rounds tell to who asks: each fact is earned by fair questions for it, and gives nothing away."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from interviewer.core.givens import earned, only_asks
from interviewer.core.guard import Context, check_lead
from interviewer.core.rubric import Given, Question

from ..core.builders import shipped

FOLDER = Path(__file__).parent / "givens"
QUESTIONS = [q for rubric in shipped().rubrics.values() for q in rubric.questions if q.givens]
GIVENS = [(q, given) for q in QUESTIONS for given in q.givens]


@cache
def asked() -> dict[str, dict[str, list[str]]]:
    """Return what candidates ask, by question and by what it earns; ``open`` earns nothing."""
    found: dict[str, Any] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        found |= YAML(typ="safe").load(file)
    return found


def test_every_fact_has_its_questions_and_no_question_is_left_over() -> None:
    told = {q.id: {given.id for given in q.givens} | {"open"} for q in QUESTIONS}
    assert {name: set(texts) for name, texts in asked().items()} == told


@pytest.mark.parametrize(("question", "given"), GIVENS, ids=[given.id for _, given in GIVENS])
def test_a_fair_question_earns_its_fact_and_no_other(question: Question, given: Given) -> None:
    for text in asked()[question.id][given.id]:
        assert only_asks(text), text
        assert [g.id for g in earned(question.givens, text)] == [given.id], text


@pytest.mark.parametrize("question", QUESTIONS, ids=[q.id for q in QUESTIONS])
def test_what_the_case_leaves_open_earns_nothing(question: Question) -> None:
    for text in asked()[question.id]["open"]:
        assert only_asks(text), text
        assert earned(question.givens, text) == (), text


@pytest.mark.parametrize(("question", "given"), GIVENS, ids=[given.id for _, given in GIVENS])
def test_a_fact_of_the_case_gives_nothing_away(question: Question, given: Given) -> None:
    terms = tuple(term for fact in question.facts for term in fact.terms)
    known = f"{question.text} {question.senior or ''}"
    context = Context(probe=known, said="", follow_up=False, asked=(), giveaways=terms, max_words=80)
    assert set(check_lead(given.says, context)) <= {"too_long"}
    assert len(given.says.split()) <= 26
