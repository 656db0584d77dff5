from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.assessment import Probabilities, expected_level, normalise
from interviewer.core.coverage import CriterionState, Reading, capped, coverage
from tests.core.builders import HONEST, IMPACT, MEASURE, TRADE, Log, assessed, exactly, found, heard, rubric, unscored


def state_of(*levels: Probabilities | int) -> CriterionState:
    readings = tuple(Reading(turn=n, question_id=f"q{n}", assessment=found(TRADE, p)) for n, p in enumerate(levels, 1))
    return CriterionState(criterion=TRADE, weight=1, must_ask=True, readings=readings)


def test_what_was_not_asked_has_no_level() -> None:
    nothing = heard(TRADE, None)
    assert not nothing.assessed
    assert (nothing.level, nothing.expected, nothing.probabilities, nothing.confidence, nothing.best) == (None,) * 5
    assert nothing.uncertainty == 1.5


def test_one_reading_is_taken_as_it_is() -> None:
    state = heard(TRADE, (0.1, 0.2, 0.6, 0.1))
    assert state.probabilities == (0.1, 0.2, 0.6, 0.1)
    assert (state.level, state.confidence) == (2, 0.6)
    assert state.expected == pytest.approx(1.7)


def test_the_best_reading_carries_seven_tenths() -> None:
    state = state_of(3, 1, 2)
    assert state.best is not None and state.best.turn == 1
    assert state.probabilities == pytest.approx((0, 0.15, 0.15, 0.7))
    assert state.expected == pytest.approx(0.15 + 0.3 + 2.1)


@pytest.mark.parametrize(
    ("levels", "reported"), [((2,), 2), ((3, 2), 3), ((3, 1), 2), ((1, 3, 3), 2), ((2, 0), 1), ((0, 0), 0)]
)
def test_a_much_weaker_answer_elsewhere_costs_a_level(levels: tuple[int, ...], reported: int) -> None:
    assert state_of(*levels).level == reported


def test_the_earlier_of_two_equal_readings_is_the_best() -> None:
    best = state_of(1, 2, 2).best
    assert best is not None and best.turn == 2


probabilities = st.tuples(*[st.floats(0, 1)] * 4).filter(lambda w: sum(w) > 0.01).map(normalise)


@given(st.lists(probabilities, min_size=1, max_size=5))
def test_the_mix_stays_between_the_readings(levels: list[Probabilities]) -> None:
    state = state_of(*levels)
    means = [expected_level(p) for p in levels]
    assert state.expected is not None and state.probabilities is not None
    assert sum(state.probabilities) == pytest.approx(1)
    assert min(means) - 1e-9 <= state.expected <= max(means) + 1e-9


@pytest.mark.parametrize(("hints", "level", "p3"), [(0, 3, 0.7), (1, 2, 0.0), (2, 1, 0.0), (3, 0, 0.0)])
def test_a_hint_caps_what_an_answer_proves(hints: int, level: int, p3: float) -> None:
    after = capped(found(TRADE, (0.0, 0.1, 0.2, 0.7)), hints)
    assert (after.level, after.probabilities[3]) == (level, p3)
    assert after.confidence == pytest.approx(after.probabilities[level])
    assert sum(after.probabilities) == pytest.approx(1)


def test_a_hint_does_not_touch_a_level_below_its_cap() -> None:
    assert capped(found(TRADE, exactly(1)), 1).probabilities == exactly(1)


def test_hints_count_on_their_question_only() -> None:
    log = Log().choose("cache").ask().hint("cache", 1).hint("cache", 2).answer().read(assessed(**{TRADE: 3, HONEST: 1}))
    log.turn_on("batch", assessed(**{MEASURE: 3}))
    known = coverage(log.state, rubric())
    levels = {c.criterion: (c.level, [r.hints for r in c.readings]) for c in known.criteria}
    assert levels == {TRADE: (1, [2]), MEASURE: (3, [0]), HONEST: (1, [2]), IMPACT: (None, [])}


def test_a_later_reading_of_a_question_replaces_the_earlier_one() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 1, HONEST: 2}))
    log.turn_on("cache", assessed(**{TRADE: 3}), criterion=TRADE)
    log.turn_on("batch", assessed(**{TRADE: 2}))
    trade = coverage(log.state, rubric()).of(TRADE)
    honest = coverage(log.state, rubric()).of(HONEST)
    assert trade is not None and honest is not None
    assert [(r.question_id, r.turn, r.assessment.level) for r in trade.readings] == [("cache", 2, 3), ("batch", 3, 2)]
    assert trade.probed == 1
    assert honest.level == 2


def test_unscored_is_never_zero() -> None:
    known = coverage(Log().turn_on("cache", unscored()).state, rubric())
    assert all(c.level is None and not c.assessed for c in known.criteria)
    assert known.open_must_ask == (TRADE, MEASURE)


def test_what_the_round_does_not_judge_is_left_out() -> None:
    log = Log().turn_on("cache", assessed(charm=3, **{TRADE: 2}), criterion="charm")
    known = coverage(log.state, rubric())
    assert known.of("charm") is None
    assert known.open_must_ask == (MEASURE,)


def test_a_turn_without_a_question_of_the_rubric_counts_by_itself() -> None:
    state = Log().turn_on("cache", assessed(**{TRADE: 2})).turn_on("batch", assessed(**{TRADE: 1})).state
    free = state.model_copy(update={"turns": tuple(t.model_copy(update={"probe": None}) for t in state.turns)})
    trade = coverage(free, rubric()).of(TRADE)
    assert trade is not None
    assert [r.question_id for r in trade.readings] == ["turn-1", "turn-2"]
