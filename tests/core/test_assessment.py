from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from interviewer.core.assessment import CriterionAssessment, Probabilities, cap, expected_level, normalise, spread
from interviewer.core.calibration import UNCALIBRATED, Calibration, Fit

weights = st.tuples(*[st.floats(0, 1e6)] * 4).filter(lambda w: sum(w) > 1e-6)
fits = st.builds(
    Fit,
    temperature=st.floats(0.2, 5),
    bias=st.tuples(*[st.floats(-4, 4)] * 4),
    cuts=st.tuples(st.floats(0, 1), st.floats(1, 2), st.floats(2, 3)),
)


@pytest.mark.parametrize(
    "bad",
    [(1.0,) * 3, (1.0,) * 5, (0.0,) * 4, (1.0, -0.1, 0.0, 0.0), (float("nan"), 1.0, 1.0, 1.0), (float("inf"),) * 4],
)
def test_no_distribution_is_invented(bad: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="cannot make a distribution"):
        normalise(bad)


def test_normalise_scales() -> None:
    assert normalise((1, 1, 2, 0)) == (0.25, 0.25, 0.5, 0)


@pytest.mark.parametrize(
    ("p", "mean", "deviation"),
    [
        ((1.0, 0.0, 0.0, 0.0), 0, 0),
        ((0.0, 0.5, 0.5, 0.0), 1.5, 0.5),
        ((0.5, 0.0, 0.0, 0.5), 1.5, 1.5),
        ((0.0, 0.1, 0.8, 0.1), 2.0, 0.2**0.5),
    ],
)
def test_mean_and_spread(p: Probabilities, mean: float, deviation: float) -> None:
    assert expected_level(p) == pytest.approx(mean)
    assert spread(p) == pytest.approx(deviation)


@pytest.mark.parametrize(
    ("highest", "expected"),
    [
        (3, (0.1, 0.2, 0.3, 0.4)),
        (2, (0.1, 0.2, 0.7, 0.0)),
        (1, (0.1, 0.9, 0.0, 0.0)),
        (0, (1.0, 0.0, 0.0, 0.0)),
    ],
)
def test_a_cap_moves_probability_down(highest: int, expected: Probabilities) -> None:
    assert cap((0.1, 0.2, 0.3, 0.4), highest) == pytest.approx(expected)


@given(weights, st.integers(0, 3))
def test_a_cap_never_raises_a_level(w: tuple[float, float, float, float], highest: int) -> None:
    p = normalise(w)
    capped = cap(p, highest)
    assert sum(capped) == pytest.approx(1)
    assert expected_level(capped) <= expected_level(p) + 1e-9
    assert expected_level(capped) <= highest + 1e-9


@pytest.mark.parametrize("p", [(0.5, 0.4, 0.0, 0.0), (1.2, -0.2, 0.0, 0.0)])
def test_probabilities_have_to_sum_to_one(p: Probabilities) -> None:
    with pytest.raises(ValidationError, match="do not sum to 1"):
        CriterionAssessment(criterion="measurement", probabilities=p, level=0, confidence=0.5)


def test_the_expected_level_is_the_mean() -> None:
    read = CriterionAssessment(criterion="measurement", probabilities=(0.0, 0.5, 0.25, 0.25), level=1, confidence=0.5)
    assert read.expected == 1.75


@given(weights, fits)
def test_calibration_keeps_the_sum_at_one(w: tuple[float, float, float, float], fit: Fit) -> None:
    p, level = Calibration(version="t", default=fit).apply("measurement", normalise(w))
    assert sum(p) == pytest.approx(1)
    assert min(p) >= 0
    assert level in (0, 1, 2, 3)
    assert level == sum(expected_level(p) >= c for c in fit.cuts)


@given(weights)
def test_no_calibration_changes_nothing(w: tuple[float, float, float, float]) -> None:
    raw = normalise(w)
    p, _ = UNCALIBRATED.apply("measurement", raw)
    assert p == pytest.approx(raw, abs=1e-8)


@pytest.mark.parametrize(
    ("p", "level"),
    [((0.51, 0.49, 0.0, 0.0), 0), ((0.49, 0.51, 0.0, 0.0), 1), ((0.0, 0.0, 0.6, 0.4), 2), ((0.0, 0.0, 0.4, 0.6), 3)],
)
def test_uncalibrated_levels_step_at_the_halves(p: Probabilities, level: int) -> None:
    assert UNCALIBRATED.apply("anything", p)[1] == level


def test_temperature_bias_and_cuts_by_hand() -> None:
    fit = Fit(temperature=2, bias=(0.0, 0.0, log(2), 0.0), cuts=(0.1, 0.2, 2.9))
    calibration = Calibration(version="7", kinds={"measurement": fit})
    p, level = calibration.apply("measurement", (0.25, 0.25, 0.25, 0.25))
    assert p == pytest.approx((0.2, 0.2, 0.4, 0.2))  # equal after any temperature; the bias doubles level 2
    assert level == 2  # mean 1.6 is past the first two cuts
    hot, _ = calibration.apply("measurement", (0.64, 0.16, 0.04, 0.16))
    roots = (0.8, 0.4, 0.2 * exp(log(2)), 0.4)
    assert hot == pytest.approx(normalise(roots))
    assert calibration.apply("other", (1.0, 0.0, 0.0, 0.0))[1] == 0


def test_the_lean_of_the_words_tilts_the_levels_by_hand() -> None:
    calibration = Calibration(version="7", default=Fit(words=log(2)))
    flat: Probabilities = (0.25, 0.25, 0.25, 0.25)
    assert calibration.apply("any", flat, 0.0)[0] == pytest.approx(flat)
    assert calibration.apply("any", flat, 1.0)[0] == pytest.approx((1 / 15, 2 / 15, 4 / 15, 8 / 15))
    assert calibration.apply("any", flat, -1.0)[0] == pytest.approx((8 / 15, 4 / 15, 2 / 15, 1 / 15))
