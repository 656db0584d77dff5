"""What is asked next, on a rubric small enough to work the choice out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from interviewer.core.probe import Ask, Close, Decision, decide, need, planned_questions
from interviewer.core.rubric import Move, Probe, Rubric, Target
from interviewer.core.session import SessionState
from tests.core.builders import (
    HONEST,
    IMPACT,
    MEASURE,
    TRADE,
    Log,
    assessed,
    heard,
    persona,
    question,
    rubric,
    target,
    unscored,
)

ONE = rubric(question("cache"), question("batch"))


def ask(state: SessionState, round_: Rubric = ONE, elapsed: float = 0.0, **changes: Any) -> Ask:
    """Decide, and expect a question."""
    decision = decide(state, round_, persona(**changes), elapsed)
    assert isinstance(decision, Ask), decision
    return decision


def follow(log: Log, chosen: Ask, *, elapsed: float = 0.0, **levels: int) -> Log:
    """Put what was chosen and read ``levels`` from the answer."""
    return log.turn_on(
        chosen.question_id,
        assessed(**levels),
        criterion=chosen.criterion,
        move=chosen.move,
        probe=chosen.probe,
        elapsed=elapsed,
    )


def test_the_first_question_brings_out_what_must_be_asked() -> None:
    round_ = rubric(question("side", *(target(c, "side") for c in (IMPACT, HONEST, "other"))), question("main"))
    chosen = ask(Log().state, round_)
    assert (chosen.question_id, chosen.criterion, chosen.move) == ("main", None, None)
    assert chosen.probe == "What would you do about main?"
    assert chosen.reason == "Main question 1 of about 2: brings out tradeoff reasoning, measurement."


def test_a_senior_gets_the_senior_wording() -> None:
    deep = Probe(move=Move.FIND_EDGE, text="Plain?", senior="Deep?")
    probes = (deep, Probe(move=Move.CLARIFY, text="Clear?"), Probe(move=Move.ASK_REDO, text="Redo?"))
    aimed = Target(criterion=TRADE, weight=3, probes=probes)
    main = question("cache", aimed, target(MEASURE, "cache"), target(HONEST, "cache"), senior="Deep cache?")
    only_edge = dict.fromkeys(Move, 0.0) | {Move.FIND_EDGE: 1.0}
    for level, wordings in (
        ("mid", ("What would you do about cache?", "Plain?")),
        ("senior", ("Deep cache?", "Deep?")),
    ):
        log = Log(level=level)
        first = ask(log.state, rubric(main))
        second = ask(follow(log, first, **{TRADE: 0}).state, rubric(main), moves=only_edge)
        assert (first.probe, second.probe) == wordings


def test_the_follow_up_goes_where_least_was_shown() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 3, MEASURE: 0, HONEST: 3}))
    chosen = ask(log.state)
    assert (chosen.question_id, chosen.criterion) == ("cache", MEASURE)
    # certain level 0: weight 1 times 0.65 of the whole gap
    assert chosen.reason.startswith("Measurement stands at level 0.0 (+-0.0).")
    assert "(need 0.65)" in chosen.reason


def test_what_was_not_heard_is_said_to_be_open() -> None:
    chosen = ask(Log().turn_on("cache", unscored()).state)
    assert chosen.criterion == TRADE  # weight 2
    assert chosen.reason.startswith("Nothing was heard on tradeoff reasoning yet.")
    assert "(need 2.00)" in chosen.reason


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (None, 2.0),
        ((1.0, 0.0, 0.0, 0.0), 1.3),  # 2 * 0.65
        ((0.0, 0.0, 0.0, 1.0), 0.0),
        ((0.0, 0.5, 0.5, 0.0), 1.0),  # 2 * (0.65 * 0.5 + 0.35 * 0.5)
        ((0.5, 0.0, 0.0, 0.5), 1.35),  # the uncertainty counts at most 1
    ],
)
def test_need_is_weight_times_gap_and_uncertainty(p: Any, expected: float) -> None:
    assert need(heard(TRADE, p, weight=2.0)) == pytest.approx(expected)


@pytest.mark.parametrize(("minutes", "planned"), [(5, 2), (16, 2), (24, 3), (60, 3)])
def test_minutes_set_the_number_of_main_questions(minutes: int, planned: int) -> None:
    assert planned_questions(rubric(), minutes) == planned


def test_low_answers_are_clarified_and_high_ones_are_pushed() -> None:
    moves = (Move.CLARIFY, Move.MOVE_CONSTRAINT, Move.FIND_EDGE)
    round_ = rubric(question("cache", *(target(c, "cache", moves=moves) for c in (TRADE, MEASURE, HONEST))))
    low = ask(Log().turn_on("cache", assessed(**{TRADE: 0, MEASURE: 3, HONEST: 3})).state, round_)
    high = ask(Log().turn_on("cache", assessed(**{TRADE: 2, MEASURE: 3, HONEST: 3})).state, round_)
    assert (low.criterion, low.move) == (TRADE, Move.CLARIFY)
    assert (high.criterion, high.move) == (TRADE, Move.MOVE_CONSTRAINT)


def test_a_move_that_the_persona_never_makes_is_not_chosen() -> None:
    log = Log().turn_on("cache", unscored())
    liked = {move: 1.0 if move is Move.OTHER_SIDE else 0.0 for move in Move}
    assert ask(log.state, moves=liked).move is Move.OTHER_SIDE
    nothing = ask(log.state, moves=dict.fromkeys(Move, 0.0))
    assert (nothing.question_id, nothing.criterion) == ("batch", None)


def test_the_same_move_is_not_made_twice_in_a_row() -> None:
    log = Log().turn_on("cache", unscored(), criterion=TRADE, move=Move.ASK_NUMBER)
    level = dict.fromkeys(Move, 1.0) | {Move.CLARIFY: 0.9}
    assert ask(log.state, moves=level).move is not Move.ASK_NUMBER


def test_no_more_than_two_follow_ups_on_one_criterion() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 0, MEASURE: 3, HONEST: 3}))
    asked = []
    for _ in range(3):
        chosen = ask(log.state)
        asked.append((chosen.question_id, chosen.criterion))
        follow(log, chosen, **{TRADE: 0, MEASURE: 3, HONEST: 3})
    assert asked == [("cache", TRADE), ("cache", TRADE), ("batch", None)]


def test_patience_ends_a_question() -> None:
    log = Log().turn_on("cache", unscored()).turn_on("cache", unscored(), criterion=TRADE)
    assert ask(log.state, followups=2).question_id == "cache"
    assert ask(log.state, followups=1).question_id == "batch"


def test_an_authored_probe_is_never_repeated() -> None:
    log = Log().turn_on("cache", unscored())
    first = ask(log.state)
    follow(log, first)
    assert ask(log.state).probe != first.probe


def test_a_question_that_is_clear_is_left() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 3, MEASURE: 3, HONEST: 3}))
    chosen = ask(log.state, rubric(question("cache"), question("batch"), must_ask=(TRADE, IMPACT)))
    assert (chosen.question_id, chosen.criterion) == ("batch", None)
    assert chosen.reason == "Main question 2 of about 2: digs where the picture is thinnest."


def test_a_question_that_took_its_time_is_left_while_something_must_be_asked() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 0}), elapsed=0.1)
    # two questions are planned: three quarters of the round are one and a half slices
    assert ask(log.state, elapsed=0.84).question_id == "cache"
    assert ask(log.state, elapsed=0.86).question_id == "batch"
    heard_all = Log().turn_on("cache", assessed(**{TRADE: 0, MEASURE: 0}), elapsed=0.1)
    assert ask(heard_all.state, elapsed=0.86).question_id == "cache"


def test_criteria_that_the_round_does_not_judge_are_not_pursued() -> None:
    odd = question("cache", target("charm", "cache", 3), target(TRADE, "cache"), target(MEASURE, "cache"))
    assert ask(Log().turn_on("cache", unscored()).state, rubric(odd)).criterion == TRADE


def close(state: SessionState, round_: Rubric = ONE, elapsed: float = 0.0, only: frozenset[str] | None = None) -> Close:
    decision: Decision = decide(state, round_, persona(followups=1), elapsed, only)
    assert isinstance(decision, Close), decision
    return decision


DONE = assessed(**{TRADE: 3, MEASURE: 3, HONEST: 3})


def test_the_round_ends_when_its_minutes_are_over() -> None:
    assert close(Log().turn_on("cache", unscored()).state, elapsed=1.0).cause == "time"
    assert ask(Log().state, elapsed=1.0).criterion is None  # at least one question is put


def test_the_round_ends_when_every_question_was_asked() -> None:
    log = Log().turn_on("cache", DONE).turn_on("batch", DONE)
    assert close(log.state).reason == "Every question of the round was asked."


def test_the_round_ends_when_all_was_heard() -> None:
    log = Log(minutes=16).turn_on("cache", DONE).turn_on("batch", DONE)
    ended = close(log.state, rubric())
    assert (ended.cause, ended.reason) == (
        "complete",
        "2 questions asked and every must-ask criterion was heard.",
    )
    silent = Log(minutes=16).turn_on("cache", assessed(**{TRADE: 3})).turn_on("batch", assessed(**{HONEST: 3}))
    goes_on = decide(silent.state, rubric(), persona(moves=dict.fromkeys(Move, 0.0)), 0.5)
    assert isinstance(goes_on, Ask) and goes_on.question_id == "rank"


def test_no_question_is_opened_that_cannot_be_finished() -> None:
    log = Log().turn_on("cache", DONE)
    # three questions are planned: half a slice is a sixth of the round
    assert close(log.state, rubric(), elapsed=0.84).reason.startswith("Too little time")
    assert ask(log.state, rubric(), elapsed=0.83).criterion is None
    open_ = Log().turn_on("cache", assessed(**{TRADE: 3, HONEST: 3}))
    moved_on = decide(open_.state, rubric(), persona(moves=dict.fromkeys(Move, 0.0)), 0.9)
    assert isinstance(moved_on, Ask)


def test_a_drill_stays_on_its_questions() -> None:
    only = frozenset({"batch"})
    first = decide(Log().state, rubric(), persona(), 0.0, only)
    assert isinstance(first, Ask) and first.question_id == "batch"
    assert close(Log().turn_on("batch", DONE).state, rubric(), only=only).cause == "complete"


def test_the_seed_chooses_among_questions_that_bring_out_nearly_as_much() -> None:
    full = [question(f"full{n}") for n in range(4)]
    poor = question("poor", *(target(c, "poor") for c in (IMPACT, HONEST, "other")))
    chosen = {ask(Log(seed=seed).state, rubric(poor, *full)).question_id for seed in range(60)}
    assert chosen == {q.id for q in full}


def test_ties_are_broken_by_the_seed_alone() -> None:
    many = rubric(*(question(f"q{n}") for n in range(8)))
    turned = rubric(*reversed(many.questions))
    chosen = [ask(Log(seed=seed).state, many).question_id for seed in range(40)]
    assert chosen == [ask(Log(seed=seed).state, turned).question_id for seed in range(40)]
    assert len(set(chosen)) >= 5
