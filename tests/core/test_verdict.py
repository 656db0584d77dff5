"""The verdict's rule, row by row. Means and shares are worked out by hand in the tables."""

from __future__ import annotations

import pytest

from interviewer.core.assessment import FlagReading, Probabilities
from interviewer.core.flags import SERIOUS, STRENGTHS
from interviewer.core.rubric import SeniorityLevel
from interviewer.core.verdict import Step, Verdict, judge_round
from tests.core.builders import HONEST, IMPACT, MEASURE, TRADE, heard, known, rubric

Dist = Probabilities | int
MUST = (TRADE, MEASURE, HONEST, IMPACT)
ROUND = rubric(weights=dict.fromkeys(MUST, 1.0), must_ask=MUST, veto=())
HALF = (0.0, 0.5, 0.5, 0.0)
"""Mean 1.5, standard deviation 0.5."""


def judge(
    *levels: Dist | None, level: SeniorityLevel = "mid", hints: int = 0, flags: tuple[FlagReading, ...] = ()
) -> Verdict:
    """Judge four must-ask criteria of equal weight."""
    states = [heard(name, p) for name, p in zip(MUST, levels, strict=True)]
    return judge_round(ROUND, known(*states), flags, level, hints)


@pytest.mark.parametrize(
    ("levels", "mid", "senior"),
    [
        ((3, 3, 3, 3), "strong_hire", "strong_hire"),  # mean 3
        ((3, 3, 3, 2), "strong_hire", "hire"),  # 2.75; senior: 3 of 4 at the bar
        ((3, 3, 2, 2), "strong_hire", "lean_hire"),  # 2.5; senior: 2 of 4
        ((3, 2, 2, 2), "hire", "lean_no_hire"),  # 2.25; senior: 1 of 4
        ((2, 2, 2, 2), "hire", "lean_no_hire"),  # 2.0; senior: none
        ((3, 2, 2, 1), "hire", "lean_no_hire"),  # 2.0, mid: 3 of 4
        ((3, 3, 1, 1), "lean_hire", "lean_hire"),  # 2.0, 2 of 4
        ((3, 3, 1, 0), "lean_hire", "lean_no_hire"),  # 1.75, 2 of 4
        ((2, 2, 2, 0), "lean_no_hire", "no_hire"),  # 1.5, 3 of 4
        ((3, 2, 0, 0), "lean_no_hire", "no_hire"),  # 1.25
        ((2, 1, 1, 0), "no_hire", "no_hire"),  # 1.0
        ((1, 1, 1, 0), "no_hire", "strong_no_hire"),  # 0.75
        ((1, 1, 0, 0), "strong_no_hire", "strong_no_hire"),  # 0.5
        ((0, 0, 0, 0), "strong_no_hire", "strong_no_hire"),
    ],
)
def test_the_profile_sets_the_step(levels: tuple[int, int, int, int], mid: str, senior: str) -> None:
    assert judge(*levels).step == mid
    assert judge(*levels, level="senior").step == senior
    assert judge(*levels).also_possible is None  # nothing is uncertain here


def test_strong_hire_needs_a_top_level_that_was_reported() -> None:
    states = [heard(name, 3, level=2) for name in MUST]
    assert judge_round(ROUND, known(*states), (), "mid", 0).step == "hire"


def test_what_is_not_asked_for_moves_the_mean_but_is_not_required() -> None:
    round_ = rubric(weights={TRADE: 1.0, MEASURE: 1.0, IMPACT: 2.0}, must_ask=(TRADE, MEASURE), veto=())
    states = (heard(TRADE, 3), heard(MEASURE, 3), heard(IMPACT, 1, weight=2.0, must=False))
    verdict = judge_round(round_, known(*states), (), "mid", 0)
    assert verdict.step == "hire"  # both at the bar; mean (3 + 3 + 2 * 1) / 4 = 2.0
    assert verdict.reasons[0].startswith("2 of 2 must-ask criteria reach the mid bar of 1.75; weighted level 2.00")


@pytest.mark.parametrize(("heard_weight", "step"), [(1.0, None), (2.0, "hire"), (2.5, "hire")])
def test_half_of_the_must_ask_weight_has_to_be_heard(heard_weight: float, step: str | None) -> None:
    states = (heard(TRADE, 3, weight=heard_weight), heard(MEASURE, None, weight=4.0 - heard_weight))
    verdict = judge_round(ROUND, known(*states), (), "mid", 0)
    if step is None:
        assert verdict.step is None
        assert verdict.reasons == ("Not enough was heard: 25% of what this round must bring out was assessed.",)
        assert verdict.would_change == ("Answers that show measurement.",)
        assert verdict.better_role is None
    else:
        assert verdict.step is not None
        assert "An answer on measurement, which was not heard." in verdict.would_change


def test_nothing_heard_is_no_verdict_and_not_a_no() -> None:
    verdict = judge(None, None, None, None)
    assert verdict.step is None
    assert verdict.would_change == (
        "Answers that show tradeoff reasoning, measurement, intellectual honesty, business impact.",
    )


@pytest.mark.parametrize(
    ("zeros", "p0", "expected"), [(0, 1.0, "hire"), (1, 0.49, "hire"), (1, 0.5, "no_hire"), (2, 0.5, "strong_no_hire")]
)
def test_a_veto_decides(zeros: int, p0: float, expected: str) -> None:
    round_ = rubric(weights=dict.fromkeys(MUST, 1.0), must_ask=MUST[:2], veto=(HONEST, IMPACT))
    vetoed = [
        heard(name, (p0, 0.0, 0.0, 1 - p0) if n < zeros else 2, weight=0.01, must=False)
        for n, name in enumerate((HONEST, IMPACT))
    ]
    verdict = judge_round(round_, known(heard(TRADE, 2), heard(MEASURE, 2), *vetoed), (), "mid", 0)
    assert verdict.step == expected
    decided = [r for r in verdict.reasons if r.endswith("in this round that decides.")]
    assert len(decided) == (zeros if p0 >= 0.5 else 0)
    assert all(r.startswith(("Intellectual honesty", "Business impact")) for r in decided)


def test_a_veto_that_was_not_heard_does_not_count() -> None:
    round_ = rubric(weights=dict.fromkeys(MUST, 1.0), must_ask=MUST[:2], veto=(HONEST,))
    states = (heard(TRADE, 2), heard(MEASURE, 2), heard(HONEST, None, must=False))
    assert judge_round(round_, known(*states), (), "mid", 0).step == "hire"


@pytest.mark.parametrize("flag", sorted(SERIOUS))
def test_a_serious_flag_caps_at_lean_no_hire(flag: str) -> None:
    assert judge(3, 3, 3, 3, flags=(FlagReading(flag=flag, probability=0.49),)).step == "strong_hire"
    verdict = judge(3, 3, 3, 3, flags=(FlagReading(flag=flag, probability=0.5),))
    assert verdict.step == "lean_no_hire"
    assert any(r.startswith("Raised: ") and r.endswith("(probability 0.50).") for r in verdict.reasons)
    assert verdict.would_change[0].startswith("Evidence against what caps this verdict")
    assert judge(0, 0, 0, 0, flags=(FlagReading(flag=flag, probability=0.9),)).step == "strong_no_hire"


@pytest.mark.parametrize("flag", [*sorted(STRENGTHS), "more_is_better", "api_tourist", "throughput_tunnel_vision"])
def test_other_flags_do_not_cap(flag: str) -> None:
    assert judge(3, 3, 3, 3, flags=(FlagReading(flag=flag, probability=1.0),)).step == "strong_hire"


def test_a_hint_rules_out_strong_hire() -> None:
    verdict = judge(3, 3, 3, 3, hints=1)
    assert verdict.step == "hire"
    assert "1 hint(s) were given: those answers prove less, and strong hire is ruled out." in verdict.reasons
    assert judge(2, 2, 2, 2, hints=3).step == "hire"


@pytest.mark.parametrize(
    ("p", "step", "also"),
    [
        # four equal readings: the error of the mean is half of one standard deviation
        ((0.0, 0.1, 0.8, 0.1), "hire", "lean_hire"),  # 2.0 +- 0.22: down to 1.78
        ((0.0, 0.15, 0.85, 0.0), "lean_hire", "hire"),  # 1.85 +- 0.18: up to 2.03, down to 1.67
        ((0.0, 0.0, 1.0, 0.0), "hire", None),
        (HALF, "lean_no_hire", None),  # 1.5 +- 0.25: 1.25 is the same step, 1.75 meets no bar
        ((0.0, 0.7, 0.3, 0.0), "lean_no_hire", "no_hire"),  # 1.3 +- 0.23: down to 1.07
        ((0.5, 0.5, 0.0, 0.0), "strong_no_hire", "no_hire"),  # 0.5 +- 0.25: up to 0.75
    ],
)
def test_too_close_to_call(p: Probabilities, step: str, also: str | None) -> None:
    verdict = judge(p, p, p, p)
    assert (verdict.step, verdict.also_possible) == (step, also)
    assert any(r.startswith("Too close to call between ") for r in verdict.reasons) == (also is not None)


def test_a_spread_that_reaches_past_the_next_step_is_still_too_close() -> None:
    wild = (0.5, 0.0, 0.0, 0.5)  # 1.5 +- 1.06 over two: down to 0.44, two steps below
    verdict = judge_round(ROUND, known(heard(TRADE, wild), heard(MEASURE, wild)), (), "mid", 0)
    assert (verdict.step, verdict.also_possible) == ("lean_no_hire", "no_hire")


def test_a_cap_is_not_too_close_to_call() -> None:
    p = (0.0, 0.1, 0.8, 0.1)
    verdict = judge(p, p, p, p, flags=(FlagReading(flag="bluffing", probability=0.8),))
    assert (verdict.step, verdict.also_possible) == ("lean_no_hire", None)


def test_a_no_names_the_role_that_would_fit() -> None:
    assert judge(3, 3, 1, 1).better_role is None
    for levels in ((2, 2, 2, 0), (1, 1, 1, 0), (0, 0, 0, 0)):
        assert judge(*levels).better_role == "A platform team."


def test_what_would_change_the_vote_is_the_heaviest_gap() -> None:
    states = (
        heard(TRADE, 1, weight=1.0),
        heard(MEASURE, 0, weight=0.5),
        heard(IMPACT, 1, weight=2.0),
        heard(HONEST, 3),
    )
    verdict = judge_round(ROUND, known(*states), (), "mid", 0)
    # gaps to 1.75: 0.75, 0.875 and 1.5
    assert verdict.would_change == (
        "Business impact shown at level 2 or above on another question.",
        "Measurement shown at level 2 or above on another question.",
    )
    assert judge(3, 3, 3, 3).would_change == ("A clearly weaker answer on a must-ask criterion.",)


def test_the_scale_is_ordered_best_first() -> None:
    assert [s.value for s in Step] == [
        "strong_hire",
        "hire",
        "lean_hire",
        "lean_no_hire",
        "no_hire",
        "strong_no_hire",
    ]
