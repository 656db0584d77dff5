from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from serving.train.answers import Answer
from serving.train.baselines import best_sentences, error_of, ridge, to_markdown, whole_answers

WORDS = ("cache", "batch", "tail", "maybe")


def embed(texts: Sequence[str]) -> torch.Tensor:
    """Which of four words a text has, as a vector of length one."""
    found = torch.tensor([[float(word in text) for word in WORDS] + [0.1] for text in texts])
    return torch.nn.functional.normalize(found, dim=-1)


def answer(number: int, text: str, level: int, evidence: str = "") -> Answer:
    labels = {"llm_serving_depth": level}
    shown = {"llm_serving_depth": evidence or None}
    return Answer.model_validate(
        {"id": f"a-{number}", "question_id": f"q-{number}", "round": "deep_dive", "question": "Why?", "answer": text}
        | {"labels": labels, "evidence": shown}
    )


def test_ridge_learns_what_each_criterion_values() -> None:
    table = embed(["cache", "batch"] * 10)
    fitted = ridge(table.repeat(2, 1), ["depth"] * 20 + ["impact"] * 20, [3.0, 0.0] * 10 + [0.0, 3.0] * 10, 0.1)
    for criterion, best in (("depth", 0), ("impact", 1)):
        read = fitted.score(criterion, embed(["cache", "batch"])).tolist()
        assert read[best] == pytest.approx(3, abs=0.3)
        assert read[1 - best] == pytest.approx(0, abs=0.3)


def test_the_best_sentence_decides_however_much_is_said_beside_it() -> None:
    shown = [answer(n, "The tail is read first. Well, maybe.", 3, "The tail is read first.") for n in range(6)]
    empty = [answer(10 + n, "Well, maybe. It is maybe so.", 0) for n in range(6)]
    long = answer(99, "Maybe. Well, maybe. It is maybe so. The tail matters. And maybe more.", 3)
    train = [*shown, *empty]
    by_sentence = best_sentences(embed, [*train, long], train, 0.1)
    by_whole = whole_answers(embed, [*train, long], train, 0.1)
    assert by_sentence([(long, "llm_serving_depth")])[0] > 2
    assert by_sentence([(empty[0], "llm_serving_depth")])[0] < 0.5
    assert error_of(by_sentence, train) < 0.2
    assert error_of(by_whole, train) < 0.2


def test_the_report_lists_everything_by_agreement() -> None:
    def row(kappa: float) -> dict[str, float | list[float]]:
        return {
            **{"kappa": kappa, "spearman": 0.5, "mean_signed_error": -0.1, "recall_0_1": 0.9, "recall_3": 0.4},
            "kappa_difference_95": [0.1, 0.2],
        }

    text = to_markdown(
        {
            "machine": "a machine",
            "versions": {"torch": "2"},
            "command": "python -m serving.train.baselines",
            "seconds": 120,
            "answers": {"train": 3, "calibration": 2, "test": 1},
            "questions": 1,
            "evaluator": row(0.8) | {"kappa_95": [0.7, 0.9]},
            "measured_in_training": {"answer_length": row(0.2)},
            "baselines": {"minilm_ridge_whole": row(0.4)},
        }
    )
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ") and "0.50" in line]
    assert rows == ["| what ships", "| minilm ridge whole", "| answer length"]
    assert "+0.10 to +0.20" in text
