"""The interviewer's receipt, on sessions short enough to count by eye."""

from __future__ import annotations

from interviewer.core.coverage import coverage
from interviewer.core.receipt import Receipt, receipt, turn_problems
from interviewer.core.rubric import Move
from tests.core.builders import HONEST, MEASURE, TRADE, Log, assessed, question, rubric, unscored

ROUND = rubric(question("cache"), question("batch"))
PROBE = "Which percentile of latency did you hold under load?"


def receipt_of(log: Log) -> Receipt:
    return receipt(log.state, ROUND, coverage(log.state, ROUND))


def opened(text: str = "We held latency at 800 ms.") -> Log:
    """A session after its first answer; the question asked nothing but about the cache."""
    log = Log().choose("cache").ask("Hello there. What would you do about cache?").answer(text)
    return log.read(assessed(**{TRADE: 2, MEASURE: 0, HONEST: 1}))


def follow(log: Log, text: str, criterion: str = TRADE, **asked: bool) -> Log:
    return log.choose("cache", criterion, Move.ASK_NUMBER, probe=PROBE).ask(text, source="generated", **asked)


def test_a_follow_up_that_picks_up_a_word_is_tied() -> None:
    made = receipt_of(follow(opened(), f"You held latency. {PROBE}"))
    assert (made.follow_ups, made.tied, made.untied) == (1, 1, ())
    assert (made.leaks, made.repeats) == ((), ())


def test_one_that_picks_up_nothing_is_named_by_its_turn() -> None:
    made = receipt_of(follow(opened("Bananas are yellow."), f"One step down. {PROBE}"))
    assert (made.tied, made.untied) == (0, (2,))


def test_a_known_fact_that_is_given_away_is_a_leak_until_the_candidate_said_it() -> None:
    asked = "You held latency. Which percentile of memory-bound latency did you hold under load?"
    assert receipt_of(follow(opened(), asked)).leaks == (2,)
    assert receipt_of(follow(opened("Our latency is memory-bound."), asked)).leaks == ()


def test_the_same_question_twice_is_a_repeat() -> None:
    log = follow(opened(), f"You held latency. {PROBE}").answer("Our p99 latency.").read(assessed(**{TRADE: 2}))
    made = receipt_of(follow(log, f"Your p99 latency, then. {PROBE}"))
    assert (made.follow_ups, made.repeats) == (2, (3,))


def test_the_same_tie_in_before_another_question_repeats_no_question() -> None:
    log = follow(opened(), f"You held latency. {PROBE}").answer("We held latency.").read(assessed(**{TRADE: 2}))
    follow(log, "You held latency. Who paid for the slower batch?")
    assert receipt_of(log).repeats == ()
    assert "repeated_lead" in turn_problems(log.state, 3, ROUND)


def test_a_follow_up_that_was_interrupted_is_neither_tied_nor_untied() -> None:
    made = receipt_of(follow(opened(), "Which", interrupted=True))
    assert (made.follow_ups, made.tied, made.untied) == (1, 0, ())


def test_what_stands_low_and_was_never_dug_into_is_a_gap() -> None:
    # read: trade 2, measurement 0, honesty 1; impact was not heard at all
    assert receipt_of(opened()).gaps == (MEASURE, HONEST)
    assert receipt_of(follow(opened(), PROBE, criterion=MEASURE)).gaps == (HONEST,)
    assert receipt_of(Log().turn_on("cache", unscored())).gaps == ()


def test_a_turn_without_a_question_or_a_choice_has_no_problems_of_its_own() -> None:
    log = opened().choose("batch")
    assert turn_problems(log.state, 2, ROUND) == ()
    state = opened().state
    bare = state.model_copy(update={"turns": (state.turns[0].model_copy(update={"probe": None}),)})
    made = receipt(bare, ROUND, coverage(bare, ROUND))
    assert (made.questions, made.follow_ups, made.tied, made.leaks, made.repeats) == (1, 0, 0, (), ())
