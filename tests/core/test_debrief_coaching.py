"""The coaching of each answer in a debrief, and the one main thing of the round."""

from __future__ import annotations

from interviewer.core.debrief import debrief
from interviewer.core.debrief_rows import Debrief, ProbeRow
from interviewer.core.render import report_markdown
from interviewer.core.text import Quote
from tests.core.builders import MEASURE, TRADE, Log, assessed, drills, found, rubric, shipped, unscored

FALSE = "With temperature 0 the model is deterministic."
TIMED = "At batch 16 the p95 was 300 ms."


def packet(log: Log) -> Debrief:
    return debrief(log.state, rubric(), shipped().vocabulary, drills())


def said(made: Debrief, turn: int) -> str:
    """The line of a turn's main thing."""
    plan = made.probes[turn - 1].coaching
    assert plan is not None and plan.first is not None
    return plan.first.line


def needs(row: ProbeRow) -> dict[str, int | None]:
    """Clauses of the next level, with the turn that shows each."""
    assert row.coaching is not None
    return {c.needs: c.shown.turn if c.shown else None for note in row.coaching.notes for c in note.clauses}


def test_each_answer_that_was_read_is_coached_in_its_own_words() -> None:
    made = packet(Log().turn_on("cache", assessed(**{MEASURE: 1}), TIMED).turn_on("batch", unscored()))
    first, second = made.probes
    assert first.coaching is not None and second.coaching is None
    (note,) = first.coaching.notes
    assert (note.criterion, note.level) == (MEASURE, 1)
    assert note.clauses[0].shown == Quote(start=0, end=len(TIMED), text=TIMED, turn=1)
    assert first.coaching.contrast is not None and first.coaching.contrast.bad == "Bad on cache."


def test_what_an_earlier_answer_on_the_question_showed_is_not_asked_for_again() -> None:
    log = Log().turn_on("cache", assessed(**{MEASURE: 1}), TIMED)
    log.turn_on("cache", assessed(**{MEASURE: 1}), "It was the cache.", criterion=MEASURE)
    log.turn_on("batch", assessed(**{MEASURE: 1}), "It was the batch.")
    _, again, other = packet(log).probes
    number = next(need for need, turn in needs(again).items() if turn == 1)
    assert needs(other)[number] is None, "another question is another matter"


def test_an_answer_that_was_given_again_is_coached_once() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 1}), "LoRA is cheap.")
    log.turn_on("cache", assessed(**{TRADE: 1}), "Full fine-tuning is dear.", again_of=1)
    first, second = packet(log).probes
    assert first.replaced and first.coaching is None
    assert second.coaching is not None


def test_an_imported_answer_without_a_question_has_no_contrast() -> None:
    state = Log(origin="imported").turn_on("cache", assessed(**{TRADE: 1}), "LoRA is cheap.").state
    bare = state.model_copy(update={"turns": (state.turns[0].model_copy(update={"probe": None}),)})
    (row,) = debrief(bare, rubric(), shipped().vocabulary, drills()).probes
    assert row.coaching is not None and row.coaching.contrast is None and row.coaching.first is not None


def test_a_criterion_that_no_longer_has_a_wording_is_left_out() -> None:
    (row,) = packet(Log().turn_on("cache", assessed(**{TRADE: 1, "long_gone": 1}), "LoRA is cheap.")).probes
    assert row.coaching is not None and [n.criterion for n in row.coaching.notes] == [TRADE]


def test_the_main_thing_is_where_the_verdict_has_most_to_gain() -> None:
    log = Log().turn_on("cache", assessed(**{MEASURE: 1}), "It was faster.")
    log.turn_on("batch", assessed(**{TRADE: 1}), "LoRA is cheap.")  # of twice the weight
    made = packet(log)
    assert made.main is not None and (made.main.turn, made.main.criterion) == (2, TRADE)
    assert made.main.line == said(made, 2)


def test_of_a_criterion_the_answer_closest_to_the_next_level_is_taken() -> None:
    low, high = found(TRADE, (0.3, 0.7, 0, 0), 1), found(TRADE, (0, 0.7, 0.3, 0), 1)
    log = Log().turn_on("cache", assessed(low), "LoRA is cheap.").turn_on("batch", assessed(high), "vLLM is quick.")
    made = packet(log)
    assert made.main is not None and made.main.turn == 2


def test_a_wrong_claim_goes_before_everything_and_only_its_own_turn_is_corrected() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 0}), "LoRA is cheap.")
    log.turn_on("batch", assessed(**{MEASURE: 2}), FALSE)
    log.turn_on("batch", assessed(**{MEASURE: 2}), "It was the cache.", criterion=MEASURE)
    made = packet(log)
    assert made.main is not None and made.main.turn == 2 and made.main.line.startswith(f'You said "{FALSE[:-1]}". ')
    after = made.probes[2].coaching
    assert after is not None and after.corrections == ()


def test_nothing_read_or_nothing_open_has_no_main_thing() -> None:
    assert packet(Log()).main is None
    assert packet(Log().turn_on("cache", assessed(**{TRADE: 3}), "LoRA is cheap.")).main is None


def test_markdown_has_the_main_things_alone() -> None:
    log = (
        Log()
        .turn_on("cache", assessed(**{TRADE: 1, MEASURE: 1}), f"LoRA\nis cheap. {FALSE}")
        .turn_on("batch", assessed(**{MEASURE: 1}), "It was faster.")
    )
    made = packet(log)
    text = report_markdown(made)
    assert text.index("**The main thing** (turn 1, ") < text.index("## Criteria")
    assert text.count("   - Work on: ") == 2
    assert f"   - Work on: {said(made, 2)}\n" in text
    others = [c.needs for p in made.probes if p.coaching for n in p.coaching.notes for c in n.clauses]
    assert others and not any(need in text for need in others)
