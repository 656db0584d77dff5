"""A drill is a piece of a round, and names only what is there."""

from __future__ import annotations

import pytest

from interviewer.adapters.documents import load_library
from interviewer.core.drills import Drill, Drills, narrowed

LIBRARY = load_library()
SEVEN = (
    "lora-from-memory",
    "batch-sweep",
    "two-failures",
    "explain-an-optimisation",
    "customer-crisis",
    "translate-the-resume",
    "rebuild-a-customer-story",
)


def test_the_seven_ways_to_prepare_are_there() -> None:
    assert tuple(d.id for d in LIBRARY.drills.drills) == SEVEN
    assert list(LIBRARY.drills.problems(LIBRARY.rubrics)) == []
    assert LIBRARY.drills.get(None) is LIBRARY.drills.get("nothing") is None


@pytest.mark.parametrize("drill", LIBRARY.drills.drills, ids=lambda d: d.id)
def test_a_drill_keeps_the_weights_of_its_round_and_no_criterion_that_it_cannot_bring_out(drill: Drill) -> None:
    whole = LIBRARY.rubrics[drill.rubric]
    cut = narrowed(whole, drill)
    aimed = {t.criterion for q in cut.questions for t in q.targets}
    assert {q.id for q in cut.questions} == set(drill.questions)
    assert cut.weights == {c: w for c, w in whole.weights.items() if c in aimed}
    assert set(cut.must_ask) == set(whole.must_ask) & aimed
    assert aimed & set(drill.trains), "it trains something that its questions bring out"
    assert all(event.minute < drill.minutes for event in drill.events)
    assert "?" not in drill.brief


def test_another_round_is_not_cut() -> None:
    drill = LIBRARY.drills.drills[0]
    assert narrowed(LIBRARY.rubrics["recruiter"], drill) is LIBRARY.rubrics["recruiter"]
    assert narrowed(LIBRARY.rubrics["recruiter"], None) is LIBRARY.rubrics["recruiter"]


def test_a_question_that_the_round_has_not_is_named_and_an_absent_round_is_not() -> None:
    lost = LIBRARY.drills.drills[0].model_copy(update={"questions": ("cd-nothing",)})
    drills = Drills(version=1, drills=(lost,))
    (problem,) = drills.problems(LIBRARY.rubrics)
    assert "'lora-from-memory'" in problem and "'cd-nothing'" in problem
    assert list(drills.problems({})) == []
