"""Telling personas apart: the classifier on texts that can be counted, and what it must not see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import personas
from eval.personas import Bayes, distance, features, read_runs
from interviewer.core.events import WORDED


def test_features_are_words_pairs_and_the_opening() -> None:
    assert features("Okay, why?") == ["okay", "why", "^ okay", "okay why"]


def test_words_of_the_probe_are_taken_out_with_their_pairs() -> None:
    assert features("Okay, which percentile then?", "Which percentile?") == ["okay", "then", "^ okay"]


def test_the_more_frequent_speaker_of_a_word_is_guessed() -> None:
    model = Bayes([("a", ["okay", "so"]), ("a", ["okay"]), ("b", ["so", "then"])])
    # a: okay 2, so 1 of 3 (+1.5); b: so 1, then 1 of 2 (+1.5)
    assert model.guess(["okay"]) == "a"
    assert model.guess(["then"]) == "b"
    assert model.guess(["so"]) == "b"  # 1.5 / 3.5 against 1.5 / 4.5
    assert model.guess(["never", "heard"]) == "a"  # nothing known: the first by name


def test_the_distance_of_distributions() -> None:
    assert distance({"x": 0.5, "y": 0.5}, {"x": 0.5, "y": 0.5}) == 0
    assert distance({"x": 1.0}, {"y": 1.0}) == 1
    assert distance({"x": 0.7, "y": 0.3}, {"x": 0.4, "y": 0.6}) == pytest.approx(0.3)


def test_no_question_is_in_training_and_test() -> None:
    rows = [{"persona": who, "question_id": f"{who}-{n}"} for who in "ab" for n in range(7)]
    folds = personas._fold_of(rows)
    assert sorted(folds.values()) == sorted([*(n % 5 for n in range(7))] * 2)
    assert set(folds) == {row["question_id"] for row in rows}


def row(who: str, n: int, said: str) -> dict[str, str]:
    return {
        "persona": who,
        "question_id": f"{who}-{n}",
        "question": "Q?",
        "probe": "P?",
        "said": "",
        "utterance": said,
    }


def test_two_manners_are_told_apart_on_questions_that_were_not_seen() -> None:
    rows = [row("a", n, "Okay, noted, so when?") for n in range(5)] + [
        row("b", n, "One step down, where does that end?") for n in range(5)
    ]
    found = personas._folds(rows, "utterance", manner=True)
    assert (found["turns"], found["accuracy"]) == (10, 1.0)
    assert found["confusion"] == {"a": {"a": 5, "b": 0}, "b": {"a": 0, "b": 5}}
    together = personas._folds([*rows, *rows], "utterance", manner=False, together=2)
    assert (together["turns"], together["accuracy"]) == (10, 1.0)


def test_what_a_model_worded_and_all_that_was_asked_are_told_apart_in_sessions() -> None:
    rows = [row("a", n, "Okay, noted, so when?") for n in range(5)] + [row("b", n, "One step down?") for n in range(5)]
    runs = [
        {
            "persona": "a",
            "questions": [
                {"source": "generated", "question_id": "a-0", "text": "Okay, noted, what?"},
                {"source": "fallback", "question_id": "a-0", "text": "One step down?"},
                {"source": "tied", "question_id": "new", "text": "One step down?"},
            ],
        }
    ]
    found = personas._asked(rows, runs, WORDED)
    assert (found["turns"], found["accuracy"]) == (2, 0.5)
    assert personas._asked(rows, runs)["turns"] == 3
    assert personas._asked(rows, [])["accuracy"] is None


def test_what_somebody_asked_on_another_question_helps_to_know_them_and_on_the_same_one_does_not() -> None:
    rows = [row("a", n, "Fine, so when?") for n in range(5)] + [row("b", n, "Well, why?") for n in range(5)]
    asked = [
        {"source": "tied", "question_id": "a-0", "text": "Noted, where?"},
        {"source": "tied", "question_id": "new", "text": "Noted, where?"},
    ]
    found = personas._asked(rows, [{"persona": "b", "questions": asked}])
    assert (found["turns"], found["accuracy"]) == (2, 1.0)
    alone = personas._asked(rows, [{"persona": "b", "questions": asked[:1] * 2}])
    assert (alone["turns"], alone["accuracy"]) == (2, 0.0)


def test_a_report_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"kappa": 1}), encoding="utf-8")
    with pytest.raises(ValueError, match="is not a report of"):
        read_runs(path)
    path.write_text(json.dumps({"rows": [{"persona": "a"}]}), encoding="utf-8")
    assert read_runs(path) == [{"persona": "a"}]
