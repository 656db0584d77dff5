from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, Notice, Unscored, UnscoredReason
from interviewer.core.session import PAUSE_CAP, IllegalEvent, Phase, SessionState, evolve, fold
from tests.core.builders import MEASURE, START, TRADE, VERSIONS, Log, assessed, unscored


def full_log() -> Log:
    """Two turns with everything that may happen between start and end."""
    log = Log().turn_on("cache", assessed(**{TRADE: 1}))
    log.add(ev.PersonaChanged(persona="recruiter", adapter="r@2")).choose("cache", MEASURE).ask().hint("cache", 1)
    log.add(ev.SessionNotice(code="slow", message="The model was slow.")).hint("cache", 2)
    return log.answer("Two.").read(unscored()).end("Bye.")


def test_a_session_is_the_fold_of_its_log() -> None:
    state = full_log().state
    assert (state.id, state.seq, state.phase) == ("s", len(full_log().records), Phase.ENDED)
    assert (state.persona, state.adapter, state.started.persona) == ("recruiter", "r@2", "deep_dive")
    assert [t.number for t in state.turns] == [1, 2]
    first, second = state.turns
    assert first.answer is not None and first.answer.text == "An answer."
    assert isinstance(first.result, Assessment) and isinstance(second.result, Unscored)
    assert state.msg_ids == {"m1", "m2"}
    assert [n.code for n in state.notices] == ["slow"]
    assert state.ended is not None and state.ended.farewell == "Bye."
    assert state.current == second
    assert state.on_question("cache") == (first, second)
    assert (state.rungs_used("cache"), state.rungs_used("batch")) == (2, 0)


def test_a_new_session_has_no_turn() -> None:
    state = Log().state
    assert state.current is None
    assert state.phase is Phase.CHOOSING
    assert state.adapter == "a@1"


def test_each_event_moves_the_phase_on() -> None:
    log = Log()
    steps: tuple[Callable[[], Log], ...] = (
        lambda: log.choose("cache"),
        log.ask,
        log.answer,
        lambda: log.read(assessed(**{TRADE: 1})),
        log.end,
    )
    seen = [log.state.phase, *(step().state.phase for step in steps)]
    assert seen == [Phase.CHOOSING, Phase.ASKING, Phase.AWAITING, Phase.JUDGING, Phase.CHOOSING, Phase.ENDED]


@pytest.mark.parametrize("cut", range(len(full_log().records)))
def test_folding_on_from_any_point_gives_the_same_state(cut: int) -> None:
    records = full_log().records
    state = fold(records[: cut + 1])
    for recorded in records[cut + 1 :]:
        state = evolve(state, recorded)
    assert state == fold(records) == fold(list(records))


@given(st.permutations(full_log().records))
def test_no_other_order_is_a_session(records: list[ev.Recorded]) -> None:
    if [r.seq for r in records] == list(range(1, len(records) + 1)):
        assert fold(records) == full_log().state
    else:
        with pytest.raises(IllegalEvent):
            fold(records)


@given(st.permutations([r.event for r in full_log().records[1:]]))
def test_events_in_another_order_are_refused_or_make_a_legal_session(events: list[ev.Event]) -> None:
    log = Log()
    for event in events:
        log.add(event)
    try:
        state = log.state
    except IllegalEvent:
        return
    assert [t.number for t in state.turns] == [1, 2]
    assert all(t.answer and t.question for t in state.turns)


@pytest.mark.parametrize("gone", range(len(full_log().records)))
def test_a_log_with_a_hole_is_refused(gone: int) -> None:
    records = full_log().records
    if gone == len(records) - 1:
        assert fold(records[:-1]).phase is Phase.CHOOSING
    else:
        with pytest.raises(IllegalEvent):
            fold(records[:gone] + records[gone + 1 :])


def test_an_empty_log_is_not_a_session() -> None:
    with pytest.raises(IllegalEvent, match="empty log"):
        fold([])


def test_a_log_starts_with_its_start() -> None:
    late = Log().records[0].model_copy(update={"seq": 2})
    early = ev.Recorded(session_id="s", seq=1, at=START, event=ev.SessionEnded(reason="time"))
    for wrong, said in ((late, "not session_started at 2"), (early, "not session_ended at 1")):
        with pytest.raises(IllegalEvent, match=said):
            fold([wrong])


def test_an_event_of_another_session_is_refused() -> None:
    log = Log().end()
    foreign = log.records[1].model_copy(update={"session_id": "other"})
    with pytest.raises(IllegalEvent, match="expected seq 2 of s, got seq 2 of other"):
        fold([log.records[0], foreign])


ILLEGAL: list[tuple[Callable[[], Log], str]] = [
    (lambda: Log().add(Log().records[0].event), "starts once"),
    (lambda: Log().ask(), "question_asked may not follow while the session is choosing"),
    (lambda: Log().answer(), "answer_given may not follow while the session is choosing"),
    (lambda: Log().hint("cache", 1), "hint_given may not follow"),
    (lambda: Log().choose("cache").choose("batch"), "probe_chosen may not follow while the session is asking"),
    (lambda: Log().choose("cache").ask().ask(), "question_asked may not follow while the session is awaiting"),
    (lambda: Log().choose("cache").ask().answer().choose("batch"), "probe_chosen may not follow while .* judging"),
    (lambda: Log().choose("cache").ask().answer().answer(), "answer_given may not follow while .* judging"),
    (lambda: Log().end().end(), "session_ended may not follow while the session is ended"),
    (lambda: Log().end().choose("cache"), "probe_chosen may not follow while the session is ended"),
    (lambda: Log().end().add(ev.PersonaChanged(persona="x", adapter=None)), "persona_changed may not follow"),
    (lambda: Log().choose("cache").ask().read(assessed(**{TRADE: 1})), "turn 1 has no answer"),
    (lambda: Log().turn_on("cache", unscored()).read(unscored(), turn=9), "turn 9 has no answer"),
    (
        lambda: (
            Log().choose("cache").add(ev.QuestionAsked(turn=2, text="Really?", source="authored", persona="deep_dive"))
        ),
        "for turn 2, but turn 1 is under way",
    ),
    (
        lambda: (
            Log()
            .turn_on("cache", unscored())
            .choose("batch")
            .ask()
            .add(ev.AnswerGiven(turn=2, msg_id="m1", text="Again."))
        ),
        "message 'm1' was applied before",
    ),
    (lambda: Log().choose("cache", counterfactual=True), "no turn yet"),
]


@pytest.mark.parametrize(("build", "message"), ILLEGAL, ids=[message for _, message in ILLEGAL])
def test_illegal_events_are_refused_with_both_named(build: Callable[[], Log], message: str) -> None:
    records = build().records
    fold(records[:-1])
    with pytest.raises(IllegalEvent, match=message):
        fold(records)


def test_a_second_reading_replaces_the_first_even_after_the_end() -> None:
    log = Log().turn_on("cache", unscored()).turn_on("batch", assessed(**{TRADE: 0})).end()
    log.read(assessed(**{TRADE: 2}), turn=1)
    state = log.state
    assert state.phase is Phase.ENDED
    assert state.turns[0].result == assessed(**{TRADE: 2})
    assert state.turns[1].result == assessed(**{TRADE: 0})


def test_reading_an_earlier_turn_does_not_end_the_judging_of_the_current_one() -> None:
    log = Log().turn_on("cache", unscored()).choose("batch").ask().answer().read(assessed(**{TRADE: 2}), turn=1)
    assert log.state.phase is Phase.JUDGING


def test_an_unscored_answer_keeps_its_reason_and_notices() -> None:
    notice = Notice(code="not_english", message="Not English.")
    result = Unscored(reason=UnscoredReason.NOT_ENGLISH, detail="French", notices=(notice,))
    assert Log().turn_on("cache", result).state.turns[0].result == result


def test_a_replay_notes_what_another_persona_would_have_asked() -> None:
    log = Log(origin="replay").choose("cache").ask().answer()
    log.add(ev.ProbeChosen(turn=1, question_id="batch", probe="Other?", reason="else", elapsed=0, counterfactual=True))
    turn = log.state.turns[0]
    assert turn.alternative is not None and turn.alternative.probe == "Other?"
    assert turn.probe is not None and turn.probe.probe == "Probe 1?"
    assert log.state.phase is Phase.JUDGING


def test_an_imported_session_is_read_only_later() -> None:
    log = Log(origin="imported").choose("cache").ask().answer().choose("batch").ask().answer()
    assert [t.number for t in log.state.turns] == [1, 2]


def test_a_pause_costs_at_most_its_cap_and_a_clock_set_back_nothing() -> None:
    log = Log()
    log.add(ev.SessionNotice(code="a", message="soon"), after=30)
    log.add(ev.SessionNotice(code="b", message="tomorrow"), after=86_400)
    log.add(ev.SessionNotice(code="c", message="earlier"), after=-50)
    assert log.state.active_seconds == 30 + PAUSE_CAP
    assert log.state.last_at == START + timedelta(seconds=30 + 86_400 - 50)


@pytest.mark.parametrize("recorded", full_log().records, ids=lambda r: r.event.type)
def test_every_event_survives_storage(recorded: ev.Recorded) -> None:
    assert ev.EVENT.validate_json(ev.EVENT.dump_json(recorded.event)) == recorded.event
    assert recorded.event.v == 1


def test_versions_are_part_of_the_record() -> None:
    assert Log().state.started.versions == VERSIONS


def folding(turns: int) -> tuple[Counter[str], SessionState]:
    """Fold a session of so many turns; returns how often each function was called, and the state."""
    log = Log()
    for number in range(turns):
        log.choose("cache").ask().hint("cache", 1).answer().read(assessed(**{TRADE: 1}))
        if number % 2:
            log.read(assessed(**{TRADE: 2}), turn=number)  # read again, far from the end for a reader that searches
    called: Counter[str] = Counter()

    def count(frame: FrameType, kind: str, _: object) -> None:
        if kind in ("call", "c_call"):
            called[frame.f_code.co_qualname] += 1

    sys.setprofile(count)
    try:
        state = fold(log.records)
    finally:
        sys.setprofile(None)
    return called, state


def test_folding_a_long_log_takes_steps_in_proportion_to_its_length() -> None:
    (few, _), (many, state) = folding(500), folding(5_000)
    assert len(state.turns) == len(state.hints) == 5_000
    copies = "_Draft.state"  # the one place that copies what has gathered; other steps touch one turn
    assert few.pop(copies) == many.pop(copies)
    assert sum(many.values()) <= 10.1 * sum(few.values())


def test_a_fold_is_the_same_as_one_event_after_the_other() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 1})).choose("cache").ask().hint("cache", 1).answer()
    log.add(ev.PersonaChanged(persona="recruiter", adapter=None)).read(assessed(**{TRADE: 2})).end()
    state: SessionState | None = None
    for recorded in log.records:
        before = state and state.model_copy()
        following = evolve(state, recorded)
        assert state == before, "a state that somebody holds never changes"
        state = following
    assert state == fold(log.records)


def test_a_what_if_starts_with_the_time_that_was_spent() -> None:
    assert Log(spent_seconds=90.0).choose("cache").state.active_seconds == 91.0
