from __future__ import annotations

import pytest

from interviewer.core import events as ev
from interviewer.core.assessment import Notice, Unscored, UnscoredReason
from interviewer.core.debrief import debrief
from interviewer.core.debrief_rows import CriterionRow, Debrief
from interviewer.core.rubric import Move
from interviewer.core.text import Quote
from tests.core.builders import (
    HONEST,
    IMPACT,
    MEASURE,
    TRADE,
    VERSIONS,
    Log,
    assessed,
    drills,
    found,
    question,
    rubric,
    target,
    unscored,
    vocabulary,
)


def packet(log: Log) -> Debrief:
    return debrief(log.state, rubric(), vocabulary(), drills())


def row(of: Debrief, criterion: str) -> CriterionRow:
    return next(r for r in of.criteria if r.criterion == criterion)


def cut(text: str, turn: int) -> Quote:
    return Quote(start=0, end=len(text), text=text, turn=turn)


def test_a_packet_names_its_session_and_versions() -> None:
    made = packet(Log(level="senior").end())
    assert (made.session_id, made.round, made.persona, made.level) == ("s", "deep_dive", "deep_dive", "senior")
    assert made.versions == VERSIONS
    assert [r.criterion for r in made.criteria] == [TRADE, MEASURE, HONEST, IMPACT]


def test_what_was_not_asked_is_not_assessed_and_has_no_number() -> None:
    made = packet(Log())
    for one in made.criteria:
        assert (one.level, one.expected, one.confidence, one.probabilities, one.anchor, one.next_anchor) == (None,) * 6
        assert one.why_not_assessed == "No question brought it out."
        assert (one.quotes, one.hints) == ((), 0)
    assert made.verdict.step is None
    assert made.next_steps == ()
    assert made.receipt.missed == (TRADE, MEASURE)


def test_a_judge_that_failed_is_named_and_nothing_is_held_against_the_candidate() -> None:
    log = Log().turn_on("cache", assessed(**{MEASURE: 3}))
    log.turn_on("cache", unscored(UnscoredReason.JUDGE_TIMEOUT)).turn_on("batch", unscored())
    made = packet(log)
    assert row(made, TRADE).why_not_assessed == "No answer could be read on it (judge unavailable)."
    assert row(made, TRADE).level is None
    assert (row(made, MEASURE).level, row(made, MEASURE).why_not_assessed) == (3, None)
    assert made.receipt.unscored == 2
    assert [p.unscored for p in made.probes] == [
        None,
        "the judge could not be reached",
        "the judge could not be reached",
    ]


def test_levels_come_with_their_anchor_and_the_next_one() -> None:
    made = packet(Log().turn_on("cache", assessed(**{TRADE: 2, MEASURE: 3, HONEST: 0})))
    shown = {r.criterion: (r.level, r.anchor, r.next_anchor) for r in made.criteria if r.level is not None}
    assert shown == {
        TRADE: (2, f"{TRADE} anchor 2", f"{TRADE} anchor 3"),
        MEASURE: (3, f"{MEASURE} anchor 3", None),
        HONEST: (0, f"{HONEST} anchor 0", f"{HONEST} anchor 1"),
    }
    assert (row(made, TRADE).expected, row(made, TRADE).confidence, row(made, TRADE).must_ask) == (2, 1, True)
    assert row(made, IMPACT).must_ask is False


def test_quotes_of_the_best_answer_come_first_and_are_at_most_three() -> None:
    log = Log()
    for n, level in enumerate((1, 3, 2, 2), 1):
        log.turn_on(f"q{n}", assessed(found(TRADE, level, None, cut(f"Said {n}", n), cut("Twice", 9))))
    quotes = row(packet(log), TRADE).quotes
    assert [(q.text, q.turn) for q in quotes] == [("Said 2", 2), ("Twice", 9), ("Said 1", 1)]


def test_hints_and_probes_are_counted_per_criterion() -> None:
    log = Log().choose("cache").ask().hint("cache", 1).answer().read(assessed(**{TRADE: 3}))
    log.turn_on("cache", assessed(**{TRADE: 3}), criterion=TRADE, move=Move.CLARIFY)
    made = packet(log)
    assert (row(made, TRADE).hints, row(made, TRADE).probed, row(made, TRADE).level) == (1, 1, 2)
    assert made.receipt.hints == 1


def test_why_each_question_was_asked() -> None:
    log = Log().choose("cache", reason="It is open.").ask("Greetings. What cache?", interrupted=True)
    log.answer().read(assessed(**{TRADE: 1}))
    log.choose("cache", TRADE, Move.ASK_NUMBER, reason="It is low.").ask("How much?", source="generated")
    log.answer().read(assessed(**{TRADE: 1})).choose("batch")  # chosen and not yet asked
    first, second = packet(log).probes
    assert (first.turn, first.asked, first.criterion, first.move) == (1, "Greetings. What cache?", None, None)
    assert (first.reason, first.source, first.interrupted) == ("It is open.", "authored", True)
    assert (second.criterion, second.move, second.reason) == (TRADE, "ask_number", "It is low.")


def test_a_turn_without_a_choice_was_asked_by_somebody_else() -> None:
    state = Log(origin="imported").turn_on("cache", unscored()).state
    bare = state.model_copy(update={"turns": (state.turns[0].model_copy(update={"probe": None}),)})
    probe = debrief(bare, rubric(), vocabulary(), drills()).probes[0]
    assert (probe.criterion, probe.move, probe.reason) == (None, None, "Asked in the imported transcript.")


def test_the_receipt_counts_how_questions_were_worded() -> None:
    log = Log()
    sources: tuple[ev.QuestionSource, ...] = ("authored", "generated", "mixed", "fallback")
    for n, source in enumerate(sources):
        log.choose("cache", TRADE if n else None).ask(source=source).answer().read(assessed(**{TRADE: 1}))
    receipt = packet(log).receipt
    assert (receipt.questions, receipt.follow_ups, receipt.generated, receipt.fell_back) == (4, 3, 2, 2)
    assert receipt.missed == (MEASURE,)


def test_the_heaviest_gaps_are_worked_on_next_with_two_different_drills() -> None:
    # weight times distance to 3: trade 2 * 2, honest 1 * 3, measure 1 * 1; nothing trains honest
    made = packet(Log().turn_on("cache", assessed(**{TRADE: 1, HONEST: 0, MEASURE: 2, IMPACT: 3})))
    assert [(s.criterion, s.drill, s.how) for s in made.next_steps] == [
        (TRADE, "Drill first", "How to first"),
        (MEASURE, "Drill second", "How to second"),
    ]
    first = made.next_steps[0]
    assert first.why == f"The next level asks for: {TRADE} anchor 2"
    assert (first.bad, first.good) == ("Bad on cache.", "Good on cache.")


def test_at_most_two_things_to_work_on() -> None:
    made = packet(Log().turn_on("cache", assessed(**{TRADE: 0, MEASURE: 0, IMPACT: 0})))
    assert [s.criterion for s in made.next_steps] == [TRADE, MEASURE]


def test_a_criterion_that_no_question_targets_has_no_contrast() -> None:
    made = packet(Log().turn_on("cache", assessed(**{IMPACT: 2})))
    assert [(s.criterion, s.bad, s.good) for s in made.next_steps] == [(IMPACT, None, None)]


def test_nothing_is_left_to_do_at_the_top() -> None:
    assert packet(Log().turn_on("cache", assessed(**{TRADE: 3, MEASURE: 3}))).next_steps == ()


def test_flags_are_read_from_the_whole_round_with_the_best_evidence() -> None:
    listed = "There is vLLM, TensorRT-LLM, SGLang, TGI and Ollama, any of them will do."
    log = Log().turn_on("cache", assessed(**{TRADE: 0}), "We use vLLM.")
    log.turn_on("batch", assessed(**{TRADE: 0}), listed).choose("rank").ask()
    flags = {f.flag: f for f in packet(log).flags}
    assert flags["knows_tools_not_tradeoffs"].probability > 0.5
    assert flags["knows_tools_not_tradeoffs"].evidence == (cut(listed, 2),)


def test_a_serious_flag_caps_the_verdict() -> None:
    levels = assessed(**{TRADE: 3, MEASURE: 3, "problem_framing": 0})
    round_ = rubric(
        question("cache", *(target(c, "cache") for c in (TRADE, MEASURE, "problem_framing"))),
        weights={TRADE: 2.0, MEASURE: 1.0, "problem_framing": 0.1},
        veto=(),
    )
    words = vocabulary().model_copy(
        update={"criteria": {**vocabulary().criteria, "problem_framing": vocabulary().criteria[TRADE]}}
    )
    calm = debrief(Log().turn_on("cache", levels).state, round_, words, drills())
    recited = "A vector store, embeddings, a reranker and a gateway."
    flagged = debrief(Log().turn_on("cache", levels, recited).state, round_, words, drills())
    assert (calm.verdict.step, flagged.verdict.step) == ("strong_hire", "lean_no_hire")


def test_notices_name_their_turn() -> None:
    seen = assessed(**{TRADE: 1}).model_copy(update={"notices": (Notice(code="repetition", message="Said twice."),)})
    failed = Unscored(
        reason=UnscoredReason.NOT_ENGLISH, detail="d", notices=(Notice(code="not_english", message="Not English."),)
    )
    log = Log().turn_on("cache", seen).turn_on("cache", failed).add(ev.SessionNotice(code="slow", message="Slow."))
    assert [(n.code, n.message) for n in packet(log).notices] == [
        ("slow", "Slow."),
        ("repetition", "Turn 1: Said twice."),
        ("not_english", "Turn 2: Not English."),
    ]


@pytest.mark.parametrize("hints", [0, 1])
def test_a_hint_anywhere_is_known_to_the_verdict(hints: int) -> None:
    log = Log().choose("cache").ask()
    for rung in range(1, hints + 1):
        log.hint("other", rung)
    log.answer().read(assessed(**{TRADE: 3, MEASURE: 3, HONEST: 3, IMPACT: 3}))
    assert packet(log).verdict.step == ("hire" if hints else "strong_hire")
