"""The simulated candidates that ship, and how one of them chooses what to say."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from eval.candidates import FOLDER, SPENT, Candidate, Speaker, load_candidates
from interviewer.adapters.documents import DocumentError, load_library
from interviewer.core.assessment import CriterionAssessment
from interviewer.core.coverage import Coverage, CriterionState, Reading
from interviewer.core.rubric import Move
from interviewer.core.verdict import ORDER, judge_round
from tests.core.builders import IMPACT, MEASURE, TRADE, exactly, question, target
from tests.eval.kit import LONG, candidate

LIBRARY = load_library()
ALL = load_candidates(LIBRARY)


def test_there_are_enough_of_them_in_every_round_and_at_both_levels() -> None:
    assert len(ALL) >= 12
    assert {round_ for one in ALL for round_ in one.rounds} == set(LIBRARY.rubrics)
    assert {one.level for one in ALL} == {"mid", "senior"}
    assert len({one.verdict for one in ALL}) >= 5
    expected = Counter(flag for one in ALL for flag in one.flags.raised)
    assert len(expected) >= 10, "most flags have a candidate who has to raise them"


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_the_expected_verdict_is_within_one_step_of_what_the_rule_says_of_the_true_levels(one: Candidate) -> None:
    for round_ in one.rounds:
        rubric = LIBRARY.rubrics[round_]
        states = []
        for criterion, weight in rubric.weights.items():
            level = one.levels[criterion]
            read = CriterionAssessment(criterion=criterion, probabilities=exactly(level), level=level, confidence=1.0)
            states.append(
                CriterionState(
                    criterion=criterion,
                    weight=weight,
                    must_ask=criterion in rubric.must_ask,
                    readings=(Reading(turn=1, question_id="q", assessment=read),),
                )
            )
        step = judge_round(rubric, Coverage(criteria=tuple(states)), (), one.level, 0).step
        assert step is not None
        assert abs(ORDER.index(step) - ORDER.index(one.verdict)) <= 1, (round_, step)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_a_bank_lasts_for_a_short_session(one: Candidate) -> None:
    must = {criterion for round_ in one.rounds for criterion in LIBRARY.rubrics[round_].must_ask}
    assert sum(len(one.bank(criterion)) for criterion in one.answers) >= 20
    assert all(len(one.bank(criterion)) >= 2 for criterion in must)


def test_the_schema_beside_the_documents_is_the_generated_one() -> None:
    shipped = json.loads((FOLDER / "candidate.schema.json").read_text(encoding="utf-8"))
    assert shipped == json.loads(json.dumps(Candidate.model_json_schema()))


def test_only_those_named_are_loaded_and_an_unknown_name_is_refused() -> None:
    assert [one.id for one in load_candidates(LIBRARY, ["terse-expert", "api-tourist"])] == [
        "api-tourist",
        "terse-expert",
    ]
    with pytest.raises(DocumentError, match="there is no candidate 'nobody'"):
        load_candidates(LIBRARY, ["nobody"])


def test_a_document_that_does_not_fit_says_what_to_change() -> None:
    wrong = candidate(
        rounds=["deep_dive", "tea"],
        weakest="tradeoff_reasoning",
        flags={"raised": ["bluffing", "shy"], "absent": ["bluffing"]},
        answers={"measurement": [f"Same, {LONG}", f"Same, {LONG}"]},
    )
    found = "\n".join(wrong.problems(LIBRARY))
    assert "there is no flag 'shy'" in found
    assert "'bluffing' cannot be both" in found
    assert "there is no round 'tea'" in found
    assert "'deep_dive' asks for 'llm_serving_depth'" in found
    assert "an answer stands there twice" in found
    assert list(ALL[0].problems(LIBRARY)) == []


def test_the_weakest_targets_of_a_question() -> None:
    one = candidate()
    assert one.weakest_of(question("cache", target(TRADE, "x"), target(MEASURE, "x"), target(IMPACT, "x"))) == {MEASURE}
    level = question("cache", target(TRADE, "x"), target("intellectual_honesty", "x"), target("unheard_of", "x"))
    assert one.weakest_of(level) == {TRADE, "intellectual_honesty"}


def test_an_answer_is_chosen_by_question_then_move_and_never_said_twice() -> None:
    cache, batch = question("cache"), question("batch")
    speaker = Speaker(candidate())
    assert speaker.reply(batch, MEASURE, Move.ASK_NUMBER).startswith("Figure for the batch")
    assert speaker.reply(cache, MEASURE, Move.ASK_NUMBER).startswith("Figure for the number")
    assert speaker.reply(cache, MEASURE, Move.ASK_NUMBER).startswith("Plain figure")
    assert speaker.reply(cache, MEASURE, Move.CLARIFY) == SPENT
    assert speaker.reply(cache, "unheard_of", None) == SPENT
    assert speaker.spent == 2


def test_a_main_question_is_answered_on_what_most_is_left_to_say_about() -> None:
    speaker = Speaker(candidate())
    cache = question("cache", target(TRADE, "x", 3.0), target(MEASURE, "x"), target(IMPACT, "x"))
    assert speaker.reply(cache, None, None).startswith("Plain figure")  # three answers against two
    assert speaker.reply(cache, None, None).startswith("First trade")  # two each: the heavier target
