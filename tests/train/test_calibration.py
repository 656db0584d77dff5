from __future__ import annotations

import random

import pytest

from interviewer.core.assessment import Probabilities, expected_level, normalise
from serving.train.fit_calibration import ENOUGH, Reading, fit_calibration, fit_cuts, steps
from serving.train.metrics import agreement, bootstrap, quadratic_kappa, recall, spearman


def reading(label: int, raw: Probabilities, criterion: str = "measurement") -> Reading:
    return Reading(answer_id="a", question_id="q", criterion=criterion, label=label, raw=raw)


def around(level: int, certainty: float = 0.7) -> Probabilities:
    weights = [(1 - certainty) ** abs(level - other) for other in range(4)]
    return normalise(tuple(weights))


def test_a_judge_that_is_one_level_too_low_is_lifted() -> None:
    readings = [reading(level, around(max(0, level - 1))) for level in range(4) for _ in range(25)]
    calibration = fit_calibration(readings, "v")
    levels = [calibration.apply(r.criterion, r.raw)[1] for r in readings]
    before = [round(expected_level(r.raw)) for r in readings]
    labels = [r.label for r in readings]
    assert quadratic_kappa(labels, levels) > quadratic_kappa(labels, before)
    assert abs(sum(levels) - sum(labels)) / len(labels) < 0.3
    assert levels[-1] == 3


def test_overconfidence_is_cooled() -> None:
    chance = random.Random(5)
    readings = []
    for _ in range(200):
        level = chance.randrange(4)
        seen = level if chance.random() < 0.6 else chance.randrange(4)
        readings.append(reading(level, around(seen, 0.98)))
    calibration = fit_calibration(readings, "v")
    assert calibration.default.temperature > 1.2


def test_a_judge_that_is_right_is_left_alone() -> None:
    readings = [reading(level, around(level, 0.9)) for level in range(4) for _ in range(20)]
    calibration = fit_calibration(readings, "v")
    assert [calibration.apply(r.criterion, r.raw)[1] for r in readings] == [r.label for r in readings]
    assert max(map(abs, calibration.default.bias)) < 0.3


def test_a_criterion_gets_its_own_fit_only_with_labels_enough() -> None:
    few = [reading(level, around(level), "role_fit") for level in range(4)]
    many = [reading(min(3, level + 1), around(level)) for level in range(4) for _ in range(ENOUGH // 4)]
    calibration = fit_calibration([*few, *many], "v")
    assert set(calibration.kinds) == {"measurement"}
    low, _, _, high = calibration.kinds["measurement"].bias
    assert high - low > calibration.default.bias[3] - calibration.default.bias[0]


def test_nothing_to_fit_on_is_an_error() -> None:
    with pytest.raises(ValueError, match="calibration split"):
        fit_calibration([], "v")


def test_cuts_are_in_order_and_follow_the_scores() -> None:
    scores = [0.4 + 0.5 * level for level in range(4) for _ in range(20)]
    labels = [level for level in range(4) for _ in range(20)]
    cuts = fit_cuts(scores, labels)
    assert list(cuts) == sorted(cuts)
    assert steps(scores, cuts) == labels
    assert cuts == fit_cuts(scores, labels)


def test_kappa_of_known_cases() -> None:
    assert quadratic_kappa([0, 1, 2, 3], [0, 1, 2, 3]) == 1
    assert quadratic_kappa([0, 3], [3, 0]) == -1
    assert quadratic_kappa([1, 1], [1, 1]) == 0
    assert quadratic_kappa([], []) == 0
    # By hand: observed 0.5, expected by chance 1.0.
    assert quadratic_kappa([0, 1, 1, 2], [1, 1, 2, 2]) == pytest.approx(0.5)


def test_spearman_with_ties_and_without_variation() -> None:
    assert spearman([1, 2, 3], [10, 20, 30]) == 1
    assert spearman([1, 2, 3], [3, 2, 1]) == -1
    assert spearman([1, 1, 2], [5, 5, 9]) == 1
    assert spearman([1, 2, 3], [4, 4, 4]) == 0


def test_recall_counts_a_range() -> None:
    assert recall([0, 1, 3], [1, 0, 2], (0, 1)) == 1
    assert recall([0, 1, 3], [1, 2, 2], (3,)) == 0
    assert recall([2], [2], (3,)) == 0


def test_agreement_reports_every_measure() -> None:
    found = agreement([0, 1, 2, 3], [0, 1, 2, 2], [0.1, 1.0, 2.0, 2.4])
    assert found["n"] == 4
    assert found["mean_signed_error"] == -0.25
    assert found["exact"] == 0.75
    assert found["spearman"] == 1


def test_the_bootstrap_draws_whole_groups() -> None:
    low, high = bootstrap([[1.0] * 5, [3.0] * 5], lambda units: sum(units) / len(units), 400, 1)
    assert (low, high) == (1.0, 3.0)
    assert bootstrap([[2.0], [2.0]], lambda units: sum(units) / len(units), 100, 1) == (2.0, 2.0)
