from __future__ import annotations

from pathlib import Path
from typing import Any

from serving.train import PERSONAS
from serving.train.output import evaluator_card, persona_card
from serving.train.report import evaluator_result, to_markdown

ROW = {"kappa": 0.5, "spearman": 0.6, "mean_signed_error": -0.1, "recall_0_1": 0.8, "recall_3": 0.7, "n": 40}
TEST: dict[str, Any] = {
    "answers": 10,
    "questions": 2,
    "evaluator": ROW | {"kappa_95": [0.4, 0.6], "evidence_found": 0.5},
    "baselines": {"answer_length": ROW | {"kappa_difference_95": [0.1, 0.3]}},
    "by_criterion": {"measurement": ROW},
    "alterations": {"padded": {"mean_change_of_expected_level": 0.02, "same_level": 0.9}},
}
SETTINGS = {"base": "Base", "rank": 16, "alpha": 32, "targets": ["q_proj"], "first_layer": 20}


def found(evaluator: dict[str, Any] | None) -> dict[str, Any]:
    own = {n: {a: 2.0 if a == n else 3.0 for a in PERSONAS} for n in PERSONAS}
    spoke = {"n": 10, "passed": 9, "problems": {"off_probe": 1}, "examples": []}
    return {
        "measured": "2026-01-01",
        "machine": "a machine",
        "versions": {"torch": "1", "peft": "2"},
        "command": "do it",
        "seconds": 130,
        "held_out": {n: {"examples": 10, "questions": ["q"]} for n in PERSONAS},
        "loss": {n: {"base": 4.0, "base_with_prompt": 3.5, "adapters": own[n]} for n in PERSONAS},
        "turns": {n: {"base_with_prompt": spoke | {"passed": 1}, "adapter": spoke} for n in PERSONAS},
        "evaluator": evaluator,
    }


def test_the_report_shows_who_predicts_whom() -> None:
    text = to_markdown(found(TEST))
    assert "best for 5 of 5 personas" in text
    assert "| recruiter | 10 | 4.00 | 3.50 | **2.00** | 3.00 |" in text
    assert "| deep_dive | 1 of 10 | 9 of 10 | off_probe 1 |" in text
    assert "| answer length | 0.50 |" in text
    assert "0.40 to 0.60" in text


def test_the_report_does_without_an_evaluator(tmp_path: Path) -> None:
    assert evaluator_result(tmp_path) is None
    assert "evaluator" not in to_markdown(found(None))


def test_cards_say_how_well_and_how_to_repeat() -> None:
    evaluator = evaluator_card(
        {
            "test": TEST,
            "loss": {"note": "stopped early"},
            "settings": SETTINGS,
            "data": {"answers": {"train": 1, "calibration": 2, "test": 3}, "split": "split.json"},
            "command": "interviewer train evaluator",
            "seconds": 60,
        }
    )
    assert "+0.10 to +0.30" in evaluator
    assert "0.40 to 0.60" in evaluator
    assert "The run was stopped early." in evaluator
    persona = persona_card(
        {
            "name": "recruiter",
            "settings": SETTINGS,
            "loss": {"base": 4.0, "base_with_prompt": 3.5, "adapter": 3.0},
            "data": {"examples": {"train": 7, "held_out": 3}, "held_out_questions": ["q"]},
            "command": "interviewer train recruiter",
            "seconds": 60,
        }
    )
    assert "**3.000**" in persona
