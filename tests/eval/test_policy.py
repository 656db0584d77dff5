"""The simulation behind the comparison of policies: its noise, its measures and its sessions, by hand."""

from __future__ import annotations

import pytest

from eval.agreement import quadratic_kappa
from eval.candidates import load_candidates
from eval.candidates.simulated import Noise, play, reach
from eval.policy import POLICIES, at_random, fixed_list, interval, measure, to_markdown
from interviewer.adapters.documents import load_library
from interviewer.core.probe import decide
from tests.core.builders import HONEST, IMPACT, MEASURE, TRADE, persona, question, rubric, target
from tests.eval.kit import candidate

LIBRARY = load_library()
EXACT = Noise(0.999, [0.25] * 4)
NOISY = Noise(0.6, [0.25] * 4)
ROUND = rubric(question("cache"), question("batch"), question("rank"))


def test_the_error_gives_the_wanted_agreement() -> None:
    # 4,000 pairs in the proportions of the table itself
    pairs = [(t, r) for t in range(4) for r in range(4) for _ in range(round(1000 * NOISY.rows[t][r]))]
    assert quadratic_kappa(pairs) == pytest.approx(0.6, abs=0.01)
    assert all(sum(row) == pytest.approx(1) for row in NOISY.rows)
    assert NOISY.width > EXACT.width


def test_a_draw_falls_into_the_part_of_its_level() -> None:
    noise = Noise(0.6, [0.25] * 4)
    noise.rows[2] = [0.1, 0.2, 0.4, 0.3]
    assert [noise.read(2, coin) for coin in (0.0, 0.09, 0.11, 0.31, 0.69, 0.71, 0.999)] == [0, 0, 1, 2, 2, 3, 3]


def test_a_second_look_makes_the_belief_surer() -> None:
    noise = Noise(0.6, [0.25] * 4)
    noise.rows[:] = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]]
    assert noise.belief([]) == pytest.approx((0.25, 0.25, 0.25, 0.25))
    assert noise.belief([1])[1] == pytest.approx(0.7)
    assert noise.belief([1, 1])[1] == pytest.approx(0.49 / 0.52)  # 0.7^2 against three times 0.1^2
    assert noise.belief([1, 2])[1] == pytest.approx(0.07 / 0.16)
    assert noise.recall((0, 1)) == pytest.approx(0.8)


def test_reach_counts_follow_ups_of_each_question_and_turns_of_the_session() -> None:
    one = candidate()  # measurement 0, trade and honesty 2
    asked = [("cache", None), ("cache", TRADE), ("cache", MEASURE), ("batch", None), ("batch", HONEST)]
    found = reach(one, ROUND, asked)
    assert found.questions == (2, None)  # rank was not asked at all
    assert (found.candidate, found.turn) == (2, 3)
    nothing = reach(one, ROUND, [("cache", None)])
    assert (nothing.questions, nothing.candidate, nothing.turn) == ((None,), None, None)


def test_a_question_without_a_weakness_is_not_counted() -> None:
    strong = candidate(levels={TRADE: 3, MEASURE: 3, HONEST: 3, IMPACT: 3})
    assert reach(strong, ROUND, [("cache", None), ("cache", TRADE)]).questions == ()


def test_a_fixed_list_goes_through_targets_in_their_order() -> None:
    played = play(candidate(), ROUND, persona(), fixed_list, EXACT, seed=1, minutes=60, turns=6)
    assert [(a.question_id, a.criterion) for a in played.asked] == [
        ("cache", None),
        ("cache", TRADE),
        ("cache", MEASURE),
        ("cache", HONEST),
        ("batch", None),
        ("batch", TRADE),
    ]
    assert (played.heard, played.probed) == (1.0, 1.0)  # must ask: trade and measurement


def test_chance_repeats_nothing_and_is_the_same_for_a_seed() -> None:
    one, two, other = (
        play(candidate(), ROUND, persona(), at_random, EXACT, seed=seed, minutes=60) for seed in (1, 1, 2)
    )
    assert one == two and one.asked != other.asked
    assert len({a.probe for a in one.asked}) == len(one.asked)
    assert len(one.asked) == 12  # three questions with three follow-ups each


def test_our_policy_goes_to_the_weakest_first_when_the_judge_is_right() -> None:
    played = play(candidate(), ROUND, persona(), decide, EXACT, seed=1, minutes=24)
    assert set(played.reach.questions) == {1}
    assert played.reach.turn == 2


def test_a_light_target_that_stands_low_comes_before_a_heavy_one_that_stands_well() -> None:
    round_ = rubric(question("cache", target(TRADE, "c", 3.0), target(MEASURE, "c", 0.5), target(HONEST, "c")))
    played = play(candidate(), round_, persona(), decide, EXACT, seed=1, minutes=24)
    assert played.asked[1].criterion == MEASURE


@pytest.mark.parametrize("seed", range(3))
def test_the_true_verdict_is_found_without_noise(seed: int) -> None:
    for one in load_candidates(LIBRARY):
        rubric_ = LIBRARY.rubrics[one.rounds[0]]
        who = LIBRARY.personas[rubric_.persona]
        off = play(one, rubric_, who, decide, EXACT, seed=seed, minutes=rubric_.minutes).off(one.verdict)
        assert off is not None and off <= 1, one.id


def test_within_three_follow_ups_of_the_weakest_on_shipped_documents_with_the_real_judges_error() -> None:
    hits = []
    for one in load_candidates(LIBRARY):
        for round_ in one.rounds:
            rubric_ = LIBRARY.rubrics[round_]
            who = LIBRARY.personas[rubric_.persona]
            for seed in range(2):
                played = play(one, rubric_, who, decide, NOISY, seed=seed, minutes=rubric_.minutes)
                hits += [(n or 99) <= 3 for n in played.reach.questions]
    assert sum(hits) / len(hits) >= 0.9


def test_an_interval_holds_its_mean_and_shrinks_to_it() -> None:
    assert interval([0.5, 0.5, 0.5]) == (0.5, 0.5, 0.5)
    middle, low, high = interval([0.0, 1.0] * 10)
    assert middle == 0.5 and low < 0.5 < high
    assert interval([0.0, 1.0] * 10) == (middle, low, high)


def test_the_report_compares_all_policies_at_equal_turns() -> None:
    found = measure(load_candidates(LIBRARY, ["api-tourist"]), LIBRARY, 2, NOISY)
    for policies in found["lengths"].values():
        assert {policies[name]["turns"] for name in POLICIES} == {policies["ours"]["turns"]}
        assert policies["ours - random"]["turns"] == (0.0, 0.0, 0.0)
    text = to_markdown(found)
    assert "| measure | ours | fixed list | random | ours - fixed list | ours - random |" in text
    assert "interviewer eval policy --seeds 2" in text
