"""Documents as data: wordings, references, drills and the library."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from interviewer.core.library import Library
from interviewer.core.rubric import Criterion, Move, Probe, anchor
from tests.core.builders import (
    HONEST,
    IMPACT,
    MEASURE,
    TRADE,
    drills,
    persona,
    question,
    rubric,
    target,
    vocabulary,
)


def test_a_senior_is_asked_the_senior_wording() -> None:
    deep = Probe(move=Move.FIND_EDGE, text="Simple?", senior="Deep?")
    flat = Probe(move=Move.FIND_EDGE, text="Simple?")
    assert [deep.wording("mid"), deep.wording("senior"), flat.wording("senior")] == ["Simple?", "Deep?", "Simple?"]
    asked = question("cache", senior="Deeper cache?")
    assert (asked.wording("mid"), asked.wording("senior")) == ("What would you do about cache?", "Deeper cache?")
    assert question("cache").wording("senior") == "What would you do about cache?"


def test_anchors_by_level() -> None:
    criterion = Criterion(asks="Is it so?", levels={0: "none", 1: "named", 2: "reasoned", 3: "usable"})
    assert [anchor(criterion, n) for n in range(4)] == ["none", "named", "reasoned", "usable"]
    with pytest.raises(KeyError):
        anchor(criterion, 4)


def test_all_four_anchors_are_needed() -> None:
    with pytest.raises(ValidationError):
        Criterion(asks="Is it so?", levels={0: "none", 1: "named", 2: "reasoned"})


def test_questions_and_targets_are_found_by_name() -> None:
    round_ = rubric()
    asked = round_.question("batch")
    assert asked is not None and asked.topic == "Topic of batch"
    assert round_.question("nothing") is None
    aimed = asked.target(MEASURE)
    assert aimed is not None and aimed.criterion == MEASURE
    assert asked.target(IMPACT) is None


def test_a_sound_rubric_has_no_problems() -> None:
    assert list(rubric().problems(vocabulary())) == []


@pytest.mark.parametrize(
    ("changes", "at", "message"),
    [
        ({"weights": {TRADE: 1, MEASURE: 1, HONEST: 1, "charm": 1}}, ("weights", "charm"), "unknown criterion 'charm'"),
        ({"must_ask": (TRADE, "charm")}, ("must_ask", 1), "unknown criterion 'charm'"),
        ({"veto": ("charm",)}, ("veto", 0), "unknown criterion 'charm'"),
        ({"weights": {TRADE: 1, MEASURE: 1, IMPACT: 1}, "veto": (HONEST,)}, ("veto", 0), "no weight in this round"),
        (
            {"questions": (question("cache"), question("cache"))},
            ("questions", 1, "id"),
            "question id 'cache' is used twice",
        ),
        (
            {"questions": (question("q1", *(target(c, "q1") for c in (TRADE, TRADE, HONEST))),)},
            ("questions", 0, "targets", 1, "criterion"),
            "targeted twice by 'q1'",
        ),
        (
            {"weights": {TRADE: 1, MEASURE: 1, IMPACT: 1}, "veto": ()},
            ("questions", 0, "targets", 2, "criterion"),
            "'intellectual_honesty' has no weight",
        ),
        (
            {
                "questions": (
                    question(
                        "q1",
                        target(TRADE, "q1", moves=(Move.CLARIFY, Move.CLARIFY, Move.ASK_REDO)),
                        target(MEASURE, "q1"),
                        target(HONEST, "q1"),
                    ),
                )
            },
            ("questions", 0, "targets", 0, "probes"),
            "three different moves",
        ),
    ],
)
def test_broken_references_are_named(changes: dict[str, Any], at: tuple[str | int, ...], message: str) -> None:
    found = list(rubric(**changes).problems(vocabulary()))
    assert found[0][0] == at
    assert message in found[0][1]


def test_documents_refuse_unknown_keys() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        persona(colour="green")


def test_the_drill_that_trains_most_comes_first() -> None:
    chosen = drills(("first", (TRADE, MEASURE)), ("second", (MEASURE, TRADE)), ("third", (HONEST,)))
    assert [getattr(chosen.best_for(c), "id", None) for c in (TRADE, MEASURE, HONEST, IMPACT)] == [
        "first",
        "second",
        "third",
        None,
    ]


def test_a_used_drill_is_taken_only_when_nothing_else_fits() -> None:
    chosen = drills()
    other, only = chosen.best_for(TRADE, frozenset({"first"})), chosen.best_for(IMPACT, frozenset({"second"}))
    assert other is not None and other.id == "second"
    assert only is not None and only.id == "second"


def test_a_question_is_found_with_its_round() -> None:
    one, two = rubric(question("cache")), rubric(question("batch"), id="behavioral")
    library = Library(vocabulary(), {"deep_dive": one, "behavioral": two}, {"deep_dive": persona()}, drills(), {})
    assert library.find_question("batch") == (two, two.questions[0])
    assert library.find_question("rank") is None
