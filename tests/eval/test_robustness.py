"""The robustness list on judges that hold, are fooled by form or forget: the report says which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.flagged import flag_lines, flag_table
from eval.robustness import LINES, attack, compared, inserted, robustness_lines, shuffled, stability
from eval.scored import Scorer
from interviewer.testing import ScriptedJudge
from tests.site import Site

ANSWER: dict[str, Any] = {
    "id": "x-1",
    "question": "How would you find out why the service became slow last week?",
    "answer": "We saw queueing in traces. Doubling replicas halved the wait. I would keep the old image for a week.",
    "labels": {"measurement": 1, "tradeoff_reasoning": 1},
}
BY_NAME = {line.name: line for line in LINES}


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scorer]:
    with Site(tmp_path_factory.mktemp("site"), ScriptedJudge(1)) as site, Scorer(site.url) as scorer:
        yield scorer


def test_a_text_goes_before_between_and_after_the_sentences() -> None:
    assert [inserted("One is. Two is.", "X.", n) for n in range(3)] == [
        "X. One is. Two is.",
        "One is. X. Two is.",
        "One is. Two is. X.",
    ]


def test_shuffling_keeps_every_sentence_and_is_the_same_each_time() -> None:
    once = shuffled(ANSWER, 0)
    assert once == shuffled(ANSWER, 5)
    assert sorted(once.split()) == sorted(ANSWER["answer"].split())


def test_a_level_that_form_does_not_move_passes(steady: Scorer) -> None:
    found = attack(steady, [ANSWER] * 3, BY_NAME["padding"])
    assert found["held"] and found["mean_rise"] == 0 and found["levels"] == 6


def test_a_judge_that_likes_length_fails(tmp_path: Path) -> None:
    judge = ScriptedJudge(lambda _, text: 3 if len(text.split()) > 25 else 1)
    with Site(tmp_path, judge) as site, Scorer(site.url) as scorer:
        found = attack(scorer, [ANSWER], BY_NAME["padding"])
    assert not found["held"] and found["rose"] == 2


def test_an_injection_has_to_be_noticed(steady: Scorer) -> None:
    found = attack(steady, [ANSWER], BY_NAME["override"])
    assert found["held"] and found["noticed"] == 1


def test_what_is_not_the_candidates_own_is_level_0(steady: Scorer) -> None:
    assert attack(steady, [ANSWER], BY_NAME["question copied alone"])["held"]
    assert not attack(steady, [ANSWER], BY_NAME["terms in sentences alone"])["held"], "this judge gives 1 to any text"


def test_a_level_for_another_language_fails(steady: Scorer) -> None:
    found = attack(steady, [ANSWER], BY_NAME["not English"])
    assert not found["held"] and found["abstained"] == 0


def test_no_answers_hold_nothing(steady: Scorer) -> None:
    assert not any(attack(steady, [], line)["held"] for line in LINES)


def test_levels_are_compared_with_those_before_a_restart(steady: Scorer, tmp_path: Path) -> None:
    file = tmp_path / "levels.json"
    assert "after restart" not in stability(steady, [ANSWER], "judge-a", file)
    again = stability(steady, [ANSWER], "judge-a", file)
    assert {name: (r["same"], r["held"]) for name, r in again.items()} == dict.fromkeys(again, (2, True))
    assert "after restart" in again and "backwards in batches of 8" in again
    with pytest.raises(ValueError, match="name another file"):
        stability(steady, [ANSWER], "judge-b", file)


def test_one_level_in_a_hundred_may_differ_and_a_missing_one_counts() -> None:
    first = {str(n): 1 for n in range(100)}
    assert compared(first, first | {"0": 2})["held"]
    assert not compared(first, {k: 1 for k in first if int(k) > 1})["held"]
    assert not compared({}, {})["held"]


def test_the_report_says_pass_or_fail() -> None:
    row = {"expectation": "e", "held": False, "answers": 2, "levels": 4, "mean_rise": 0.5, "rose": 1}
    text = robustness_lines(
        {"padding": {**row, "noticed": None, "abstained": None}}, {"again": compared({"a": 1}, {"a": 1})}
    )
    assert "| padding | e | FAIL | 2 | 0.5 | 1 of 4 | - | - |" in text
    assert "| again | pass | 1 of 1 |" in text


def test_flags_are_counted_one_by_one() -> None:
    found = flag_table([({"a"}, {"a"}), ({"a"}, {"b"}), (set(), {"a"}), ({"b"}, {"b"}), (set(), set())])
    assert found["by_flag"]["a"] == {
        "labelled": 2, "raised": 2, "right": 1, "precision": 0.5, "recall": 0.5, "f1": 0.5,
    }  # fmt: skip
    assert found["by_flag"]["b"]["f1"] == 0.667
    assert found["macro_f1"] == 0.583
    assert {(r["labelled"], r["raised"], r["n"]) for r in found["confusion"]} == {("a", "b", 1), ("none", "a", 1)}
    assert "| a | 2 | 2 | 0.5 | 0.5 | 0.5 |" in flag_lines(found)
