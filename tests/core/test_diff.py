"""What a replay changed."""

from __future__ import annotations

from interviewer.core import events as ev
from interviewer.core.assessment import FlagReading
from interviewer.core.debrief import debrief
from interviewer.core.debrief_rows import Debrief
from interviewer.core.diff import FlagDiff, LevelDiff, ReplayDiff, diff
from interviewer.core.rubric import Move
from tests.core.builders import HONEST, IMPACT, MEASURE, TRADE, VERSIONS, Log, assessed, drills, rubric, vocabulary


def packet(log: Log) -> Debrief:
    return debrief(log.state, rubric(), vocabulary(), drills())


def compare(before: Log, after: Log) -> ReplayDiff:
    return diff(before.state, packet(before), after.state, packet(after))


def other(turn: int, probe: str) -> ev.ProbeChosen:
    return ev.ProbeChosen(
        turn=turn,
        question_id="batch",
        criterion=MEASURE,
        move=Move.FIND_EDGE,
        probe=probe,
        reason="It is thinner.",
        elapsed=0,
        counterfactual=True,
    )


def test_the_same_session_does_not_differ() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 1}))
    found = compare(log, log)
    assert (found.parent, found.child, found.persona, found.rubric) == (
        "s",
        "s",
        ("deep_dive",) * 2,
        ("deep_dive",) * 2,
    )
    assert found.moved == 0
    assert [(p.same, p.instead, p.why) for p in found.probes] == [(True, None, None)]
    assert LevelDiff(criterion=TRADE, before=1, after=1) in found.levels
    assert LevelDiff(criterion=MEASURE, before=None, after=None) in found.levels
    assert found.judge == (VERSIONS.judge,) * 2


def test_another_persona_would_have_asked_something_else() -> None:
    before = Log().turn_on("cache", assessed(**{TRADE: 1})).turn_on("cache", assessed(**{TRADE: 1}), criterion=TRADE)
    after = Log(origin="replay", persona="recruiter").choose("cache").ask().add(other(1, "Probe 1?")).answer()
    after.read(assessed(**{TRADE: 3})).choose("cache", TRADE).ask().add(other(2, "Where does it end?")).answer()
    after.read(assessed(**{TRADE: 3, MEASURE: 3, HONEST: 3}))
    found = compare(before, after)
    assert found.persona == ("deep_dive", "recruiter")
    same, moved = found.probes
    assert (same.same, same.instead, same.why) == (True, None, "It is thinner.")
    assert (moved.turn, moved.asked, moved.asked_criterion, moved.asked_move) == (2, "Question 2?", TRADE, None)
    assert (moved.instead, moved.instead_criterion, moved.instead_move) == ("Where does it end?", MEASURE, "find_edge")
    assert (moved.same, moved.why, found.moved) == (False, "It is thinner.", 1)
    assert {d.criterion: (d.before, d.after) for d in found.levels} == {
        TRADE: (1, 3),
        MEASURE: (None, 3),
        HONEST: (None, 3),
        IMPACT: (None, None),
    }
    assert found.verdict == ("no_hire", "strong_hire")


def test_a_replay_that_went_its_own_way_differs_by_its_own_probe() -> None:
    before = Log().turn_on("cache", assessed(**{TRADE: 1}), probe="A?").turn_on("cache", assessed(**{TRADE: 1}))
    after = Log(origin="replay").turn_on("batch", assessed(**{TRADE: 1}), probe="B?", reason="Other first.")
    found = compare(before, after)
    probe, lone = found.probes
    assert (probe.instead, probe.why, probe.same, probe.only) == ("B?", "Other first.", False, None)
    assert (lone.turn, lone.asked, lone.instead, lone.only) == (2, "Question 2?", None, "original")
    assert found.moved == 1, "a turn without a counterpart is not a question that differs"
    first, new = compare(after, before).probes
    assert (first.only, new.turn, new.asked, new.instead, new.only) == (None, 2, None, "Probe 2?", "replay")


def test_a_turn_that_was_chosen_but_not_asked_is_left_out() -> None:
    before = Log().choose("cache")
    (probe,) = compare(before, Log().turn_on("cache", assessed())).probes
    assert (probe.asked, probe.only) == (None, "replay")
    assert compare(before, before).probes == ()


def test_who_would_have_asked_nothing_more_would_have_ended_the_round() -> None:
    before = Log().turn_on("cache", assessed(**{TRADE: 1})).turn_on("cache", assessed(**{TRADE: 1}))
    after = Log(origin="replay").choose("cache").ask().add(other(1, "Probe 1?")).answer().read(assessed(**{TRADE: 1}))
    after.choose("cache").ask().answer().read(assessed(**{TRADE: 1}))
    after.add(ev.SessionEnded(reason="replayed"))
    found = compare(before, after)
    assert [(p.ends, p.same) for p in found.probes] == [(False, True), (True, False)]
    assert found.moved == 1
    assert found.probes[1].why == "Nothing was left that they would have asked; they would have ended the round here."


def test_it_says_when_what_was_asked_and_why_and_that_an_answer_is_another_one() -> None:
    before = Log().turn_on("cache", assessed(**{TRADE: 1}), elapsed=0.25, reason="It is heavy.", text="Nine.")
    after = Log(origin="replay").turn_on("cache", assessed(**{TRADE: 1}), elapsed=0.5, text="Ten.")
    (probe,) = compare(before, after).probes
    minutes = before.state.started.minutes
    assert (probe.minute, probe.instead_minute) == (minutes / 4, minutes / 2)
    assert (probe.asked_why, probe.same, probe.answer_changed) == ("It is heavy.", True, True)


def test_judges_flags_and_verdict_stand_side_by_side() -> None:
    def read_by(judge: str, level: int) -> Log:
        return Log().turn_on("cache", assessed(**{TRADE: level}).model_copy(update={"judge": judge}))

    one, two = read_by("lora:a:c1", 1), read_by("lora:a:c2", 3)
    moved = compare(one, two)
    assert moved.judge == ("lora:a:c1", "lora:a:c2")
    assert moved.remarks == ("The answers were read by lora:a:c1, and in the replay by lora:a:c2.",)
    still = compare(one, read_by("lora:a:c2", 1))
    assert still.remarks[0].endswith("by lora:a:c2. Levels, flags and verdict are the same.")
    assert compare(one, one).remarks == (
        "Both have the readings of one judge (lora:a:c1). Levels, flags and verdict are the same.",
    )
    assert compare(one, read_by("lora:a:c1", 2)).remarks == ()
    flagged = packet(one).model_copy(update={"flags": (FlagReading(flag="bluffing", probability=0.7),)})
    found = diff(one.state, flagged, one.state, packet(one))
    assert found.flags == (FlagDiff(flag="bluffing", before=0.7, after=None),)
    assert found.remarks == (), "a flag that went away is a change"


def test_documents_that_changed_since_are_named() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 1}))
    versions = VERSIONS.model_copy(update={"rubric": "new", "persona": "new"})
    for persona, named in (("deep_dive", ["persona", "rubric"]), ("recruiter", ["rubric"])):
        started = log.state.started.model_copy(update={"versions": versions, "persona": persona})
        child = log.state.model_copy(update={"started": started})
        found = diff(log.state, packet(log), child, packet(log))
        assert [r.split()[1] for r in found.remarks[1:]] == named


def test_an_imported_turn_has_no_probe_to_compare() -> None:
    before, after = Log(origin="imported").turn_on("cache", assessed()), Log().turn_on("cache", assessed())
    bare = before.state.model_copy(
        update={"turns": tuple(t.model_copy(update={"probe": None}) for t in before.state.turns)}
    )
    (probe,) = diff(bare, packet(before), after.state, packet(after)).probes
    assert (probe.asked_criterion, probe.asked_move, probe.same) == (None, None, True)
    replayed = after.state.turns[0].model_copy(update={"alternative": other(1, "Else?")})
    child = after.state.model_copy(update={"turns": (replayed,)})
    (probe,) = diff(bare, packet(before), child, packet(after)).probes
    assert (probe.instead, probe.same) == ("Else?", False)
