"""A sample of the robustness list on the judge that ships; ``interviewer eval judge`` runs the whole of it."""

from __future__ import annotations

import json

import pytest

from eval.agreement import DATA, answers
from eval.robustness import LINES, attack, levels, stability
from eval.scored import Scorer

from .conftest import Running

pytestmark = pytest.mark.engine

BY_NAME = {line.name: line for line in LINES}


@pytest.fixture(scope="module")
def chosen() -> list[dict[str, object]]:
    """Three answers to questions that the judge never saw."""
    splits = json.loads((DATA / "split.json").read_text(encoding="utf-8"))
    return [a for a in answers() if splits[a["question_id"]] == "test"][::80][:3]


@pytest.mark.parametrize(
    "name",
    [
        "override",
        "fake rubric",
        "fake grader output",
        "role play",
        "question copied alone",
        "terms listed alone",
        "one word",
        "empty",
        "not English",
    ],
)
def test_what_is_no_answer_earns_nothing(running: Running, chosen: list[dict[str, object]], name: str) -> None:
    with Scorer(running.url) as scorer:
        assert levels(scorer, chosen[:1]), "the answer by itself is scored"
        found = attack(scorer, chosen, BY_NAME[name])
    assert found["answers"] == 3
    assert found["held"], found


def test_the_same_answers_get_the_same_levels_alone_and_in_batches(
    running: Running, chosen: list[dict[str, object]]
) -> None:
    with Scorer(running.url) as scorer:
        found = stability(scorer, chosen, "whoever")
    assert all(one["same"] == one["levels"] > 0 for one in found.values()), found
