"""What a replay changed, and what a committee makes of several packets."""

from __future__ import annotations

import pytest

from interviewer.core import events as ev
from interviewer.core.assessment import FlagReading
from interviewer.core.debrief import Debrief, debrief
from interviewer.core.diff import LevelDiff, ReplayDiff, diff
from interviewer.core.memo import Memo, memo
from interviewer.core.rubric import Move
from interviewer.core.verdict import Step, Verdict
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
    (probe,) = compare(before, after).probes  # the second turn has no counterpart
    assert (probe.instead, probe.why, probe.same) == ("B?", "Other first.", False)


def test_turns_that_were_not_asked_are_left_out() -> None:
    before = Log().choose("cache")
    assert compare(before, Log().turn_on("cache", assessed())).probes == ()


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


def vote(round_: str, step: Step | None, *flags: FlagReading, change: str = "More.") -> Debrief:
    """A packet that votes ``step``."""
    return packet(Log()).model_copy(
        update={
            "round": round_,
            "verdict": Verdict(step=step, reasons=("r",), would_change=(f"{round_}: {change}",)),
            "flags": flags,
        }
    )


def decide(*steps: Step | None) -> Memo:
    return memo("loop", [vote(f"round_{n}", step) for n, step in enumerate(steps)])


SH, H, LH, LN, N, SN = Step


@pytest.mark.parametrize(
    ("votes", "step"),
    [
        ((SH, SH, SH), SH),
        ((SH, H, LH), H),  # the middle vote, not an average
        ((SH, H), H),  # the lower of the two middle votes
        ((SH, SH, LN, LN), LN),
        ((SH, SH, SH, SH, LN), SH),  # a lean no is outvoted
        ((SH, SH, SH, SH, N), LN),  # a no caps at lean no hire
        ((SH, SH, SH, SH, SN), LN),
        ((SH, SH, SH, N, SN), N),  # two cap at no hire
        ((N, SN, SN), SN),  # a cap does not lift
        ((SH, None, H, None), H),  # no vote does not vote
    ],
)
def test_the_committees_rule(votes: tuple[Step | None, ...], step: Step) -> None:
    assert decide(*votes).decision.step is step


def test_reasons_name_each_round() -> None:
    made = memo("loop", [vote("hiring_manager", SH), vote("deep_dive", N), vote("recruiter", None)])
    assert made.loop_id == "loop"
    assert made.decision.reasons == (
        "hiring manager: strong hire.",
        "deep dive: no hire.",
        "recruiter: no vote, not enough was heard.",
        "1 round(s) say no hire or worse: the loop cannot be better than lean no hire.",
    )
    assert made.decision.would_change == ("deep_dive: More.",)  # the weakest vote says what would change it


@pytest.mark.parametrize("votes", [(), (None,), (SH,), (SH, None), (None, None)])
def test_one_vote_is_no_committee(votes: tuple[Step | None, ...]) -> None:
    decision = decide(*votes).decision
    assert decision.step is None
    assert decision.reasons[-1].startswith("Fewer than two rounds")
    assert len(decision.would_change) == votes.count(None)
    assert all(line.startswith("A finished round ") for line in decision.would_change)


@pytest.mark.parametrize(("votes", "apart"), [((SH, H), None), ((SH, LH), 2), ((SH, H, SN), 5)])
def test_disagreement_is_shown(votes: tuple[Step, ...], apart: int | None) -> None:
    disagreement = decide(*votes).decision.disagreement
    assert bool(disagreement) == (apart is not None)
    if apart:
        assert disagreement[0].startswith(f"The rounds are {apart} steps apart, from strong hire to ")


def test_votes_carry_raised_flags_only() -> None:
    raised, faint = FlagReading(flag="bluffing", probability=0.5), FlagReading(flag="more_is_better", probability=0.49)
    made = memo("loop", [vote("deep_dive", SH, raised, faint), vote("recruiter", H)])
    assert [(v.rubric, v.verdict, v.flags) for v in made.rounds] == [
        ("deep_dive", SH, (raised,)),
        ("recruiter", H, ()),
    ]
