"""What a committee makes of several packets: its rule, and that every sentence rests on a packet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core import committee
from interviewer.core.assessment import FlagReading
from interviewer.core.debrief import debrief
from interviewer.core.debrief_rows import Debrief
from interviewer.core.memo import memo
from interviewer.core.memo_parts import Memo, OpenRound, Sentence
from interviewer.core.memo_render import memo_markdown
from interviewer.core.text import quote
from interviewer.core.text import sentences as split
from interviewer.core.verdict import ORDER, Step, Verdict
from tests.core.builders import HONEST, IMPACT, MEASURE, TRADE, Log, assessed, drills, found, rubric, vocabulary

SH, H, LH, LN, N, SN = Step
ANSWER = "We held p99 at 800 ms. It cost 15% of peak throughput. I never measured p50."
ROUNDS = ("recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral")


def packet(round_: str, log: Log, level: str = "mid", **changes: Any) -> Debrief:
    """The packet of one round, under the name of ``round_``."""
    state = log.state.model_copy(update={"id": f"s-{round_}"})
    state = state.model_copy(update={"started": state.started.model_copy(update={"level": level})})
    made = debrief(state, rubric(id=round_), vocabulary(), drills())
    return made.model_copy(update=changes)


def held(round_: str, levels: dict[str, int], *, sentence: int = 0, level: str = "mid") -> Debrief:
    """A round in which one answer was read, with a quote of it."""
    cut = quote(ANSWER, split(ANSWER)[sentence], 1)
    read = [found(criterion, value, None, cut) for criterion, value in levels.items()]
    return packet(round_, Log().turn_on("cache", assessed(*read), text=ANSWER), level)


def vote(round_: str, step: Step | None, *flags: FlagReading, change: str = "More.", **changes: Any) -> Debrief:
    """A packet that votes ``step`` and has nothing else."""
    verdict = Verdict(step=step, reasons=(f"{round_} reason.",), would_change=(change,), better_role=None)
    return packet(round_, Log(), **{"verdict": verdict, "flags": flags, **changes})


def decide(*steps: Step | None) -> Memo:
    return memo("loop", [vote(f"round_{n}", step) for n, step in enumerate(steps)])


def texts(said: Sequence[Sentence]) -> list[str]:
    return [s.text for s in said]


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


STEPS = st.lists(st.sampled_from(ORDER), min_size=2, max_size=6)


@given(STEPS, st.data())
def test_a_better_vote_never_makes_the_decision_worse(votes: list[Step], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(votes) - 1))
    better = data.draw(st.sampled_from(ORDER[: ORDER.index(votes[at]) + 1]))
    before, after = committee.decide(votes), committee.decide([*votes[:at], better, *votes[at + 1 :]])
    assert before is not None and after is not None
    assert ORDER.index(after) <= ORDER.index(before)


@given(STEPS, st.lists(st.sampled_from(ORDER), max_size=3))
def test_what_is_still_possible_holds_whatever_the_open_rounds_vote(votes: list[Step], more: list[Step]) -> None:
    reach = committee.reach(votes, len(more))
    then = committee.decide([*votes, *more])
    assert reach is not None and then is not None
    assert ORDER.index(reach[0]) <= ORDER.index(then) <= ORDER.index(reach[1])


@given(STEPS, st.data(), st.booleans())
def test_the_turning_vote_is_the_nearest_that_changes_the_decision(
    votes: list[Step], data: st.DataObject, better: bool
) -> None:
    at = data.draw(st.integers(0, len(votes) - 1))
    turned = committee.turning(votes, at, better)
    side = [s for s in ORDER if (ORDER.index(s) < ORDER.index(votes[at])) == better and s != votes[at]]
    changing = [s for s in side if committee.decide([*votes[:at], s, *votes[at + 1 :]]) != committee.decide(votes)]
    if turned is None:
        assert changing == []
        return
    nearest = min(changing, key=lambda s: abs(ORDER.index(s) - ORDER.index(votes[at])))
    assert turned == (nearest, committee.decide([*votes[:at], nearest, *votes[at + 1 :]]))


def test_the_committee_says_how_the_votes_make_its_own() -> None:
    rounds = [vote("hiring_manager", SH), vote("deep_dive", N), vote("behavioral", SH), vote("recruiter", None)]
    made = memo("loop", rounds)
    decision = made.decision
    assert texts(decision.vote) == ["We vote lean no hire, at the mid level."]
    assert (
        texts(decision.reasons)
        == [
            "3 rounds have a vote; we take the middle one, the lower where there are two: strong hire.",
            "The deep dive round votes no hire or worse, which holds the loop at lean no hire or below.",
        ]
        or decision.step is N
    )
    assert texts(decision.unfinished) == ["The recruiter round is over and has no vote: not enough was heard."]
    assert [(r.rubric, r.verdict, texts(r.says)) for r in made.rounds] == [
        ("hiring_manager", SH, ["hiring_manager reason."]),
        ("deep_dive", N, ["deep_dive reason."]),
        ("behavioral", SH, ["behavioral reason."]),
        ("recruiter", None, ["recruiter reason."]),
    ]


@pytest.mark.parametrize("votes", [(), (None,), (SH,), (SH, None), (None, None)])
def test_one_vote_is_no_committee(votes: tuple[Step | None, ...]) -> None:
    decision = decide(*votes).decision
    assert decision.step is None and decision.reasons == () and decision.role == ()
    assert len(decision.vote) == bool(votes)
    assert len(decision.would_change) == votes.count(None)


def test_rounds_that_are_not_over_are_said_to_be_so_and_what_they_can_still_do() -> None:
    rounds = [OpenRound(rubric="deep_dive", session_id="s-4", begun=True)]
    rounds += [OpenRound(rubric="behavioral", session_id="s-5", begun=False)]
    made = memo("loop", [vote("recruiter", H), vote("hiring_manager", H), vote("coding_design", H)], rounds)
    assert texts(made.decision.unfinished) == [
        "The deep dive round is not over, so it has no vote and no packet.",
        "The behavioral round has not begun, so it has no vote and no packet.",
    ]
    last = made.decision.would_change[-1]
    assert last.text == "With 2 rounds not over, this can still end anywhere from hire to no hire."
    assert {s.session_id for s in last.sources} == {"s-4", "s-5", "s-recruiter", "s-hiring_manager", "s-coding_design"}
    nothing = memo("loop", [], rounds)
    assert texts(nothing.decision.vote) == ["No round has a vote yet, so there is nothing to decide."]
    assert texts(nothing.decision.would_change) == ["A finished deep dive round.", "A finished behavioral round."]


def test_evidence_is_quoted_exactly_for_and_against() -> None:
    flag = FlagReading(flag="bluffing", probability=0.7, evidence=(quote(ANSWER, split(ANSWER)[2], 1),))
    faint = FlagReading(flag="more_is_better", probability=0.49)
    one = held("deep_dive", {TRADE: 3, MEASURE: 1, HONEST: 0}).model_copy(update={"flags": (flag, faint)})
    said = memo("loop", [one, vote("recruiter", H)]).decision.evidence
    assert texts(said) == [
        "In the deep dive round, for: tradeoff reasoning at level 3, usable as a decision.",
        "In the deep dive round, against: intellectual honesty at level 0, not shown.",
        "In the deep dive round, against: bluffing (probability 0.70).",
    ]
    assert [s.sources[0].quotes[0].text for s in said] == [
        "We held p99 at 800 ms.",
        "We held p99 at 800 ms.",
        "I never measured p50.",
    ]


def test_disagreement_on_a_criterion_and_between_flags_is_shown_with_both_sides() -> None:
    strength, concern = (FlagReading(flag=f, probability=0.9) for f in ("honest_about_limits", "bluffing"))
    high = held("deep_dive", {TRADE: 3, MEASURE: 2}).model_copy(update={"flags": (strength,)})
    low = held("hiring_manager", {TRADE: 1, MEASURE: 2}, sentence=1).model_copy(update={"flags": (concern,)})
    said = memo("loop", [high, low]).decision.disagreement
    sides = "at level 3 in the deep dive round and at level 1 in the hiring manager round"
    assert f"Tradeoff reasoning was read {sides}; both stand." in texts(said)
    assert "The deep dive round hears honest about limits, the hiring manager round bluffing." in texts(said)
    both = next(s for s in said if s.text.startswith("Tradeoff"))
    assert [s.quotes[0].text for s in both.sources] == ["We held p99 at 800 ms.", "It cost 15% of peak throughput."]
    assert not any("Measurement" in text for text in texts(said)), "2 and 2 agree"


@pytest.mark.parametrize(("votes", "apart"), [((SH, H), None), ((SH, LH), 2), ((SH, H, SN), 5)])
def test_votes_that_are_far_apart_are_named(votes: tuple[Step, ...], apart: int | None) -> None:
    disagreement = texts(decide(*votes).decision.disagreement)
    assert bool(disagreement) == (apart is not None)
    if apart:
        assert disagreement[0].startswith(f"The rounds are {apart} steps apart: strong hire in the round 0 round, ")


def test_a_veto_that_was_not_shown_or_never_heard_is_a_gap() -> None:
    shown, open_ = held("deep_dive", {TRADE: 2, MEASURE: 2, HONEST: 0}), held("recruiter", {TRADE: 2, MEASURE: 2})
    assert texts(memo("loop", [shown, open_]).decision.gaps) == [
        "Intellectual honesty was asked for in the deep dive round and not shown at all; there it decides.",
        "Intellectual honesty decides in the recruiter round and was not heard there: a gap, not a no.",
    ]


@pytest.mark.parametrize(
    ("shown", "asked", "fits", "says"),
    [
        # Two must-ask criteria in each of two rounds; bars are 1.75 and 2.15.
        ((3, 3), "mid", "senior", "4 the senior bar of 2.15, 4 the mid bar of 1.75 reach: this reads as senior."),
        ((3, 2), "senior", "mid", "2 the senior bar of 2.15, 4 the mid bar of 1.75 reach: this reads as mid."),
        ((2, 1), "mid", "mid", "0 the senior bar of 2.15, 2 the mid bar of 1.75 reach: this reads as mid."),
        ((1, 1), "mid", None, "0 the senior bar of 2.15, 0 the mid bar of 1.75 reach: this reads as below mid."),
    ],
)
def test_the_level_is_read_off_the_must_ask_criteria(
    shown: tuple[int, int], asked: str, fits: str | None, says: str
) -> None:
    rounds = [held(name, dict(zip((TRADE, MEASURE), shown, strict=True)), level=asked) for name in ROUNDS[:2]]
    decision = memo("loop", rounds).decision
    assert decision.fits == fits
    assert decision.seniority[0].text == f"Of 4 must-ask readings, {says}"
    assert (len(decision.seniority) == 2) == (fits == "senior" and asked == "mid")


def test_the_role_is_this_one_or_the_one_of_the_clearest_no() -> None:
    assert texts(decide(H, H).decision.role) == ["This role would fit, at the mid level."]
    no = [held(name, {TRADE: 0, MEASURE: 0}) for name in ROUNDS[:2]]
    assert texts(memo("loop", no).decision.role) == [
        "The role that would fit, as the recruiter round sees it: A platform team."
    ]
    assert texts(decide(N, SN).decision.role) == [], "no packet names one"


def test_what_would_change_the_vote_names_the_round_that_turns_it() -> None:
    made = memo("loop", [vote("recruiter", SH), vote("deep_dive", N, change="A number."), vote("behavioral", SH)])
    assert made.decision.step is LN
    assert texts(made.decision.would_change) == [
        "If the deep dive round voted lean no hire in place of no hire, we would vote strong hire.",
        "The deep dive round asks for: A number.",
        "If the recruiter round voted no hire in place of strong hire, we would vote no hire.",
    ]
    stuck = memo("loop", [vote("recruiter", SN), vote("deep_dive", SN), vote("behavioral", SN)])
    assert texts(stuck.decision.would_change) == [
        "No single vote lifts this: the recruiter, deep dive and behavioral rounds would have to change together."
    ]
    assert texts(decide(SH, SH, SH).decision.would_change) == [
        "If the round 0 round voted no hire in place of strong hire, we would vote lean no hire."
    ], "there is nothing better, and a lean no would be outvoted"


def test_votes_carry_raised_flags_only() -> None:
    raised, faint = FlagReading(flag="bluffing", probability=0.5), FlagReading(flag="more_is_better", probability=0.49)
    made = memo("loop", [vote("deep_dive", SH, raised, faint), vote("recruiter", H)])
    assert [(v.rubric, v.verdict, v.flags) for v in made.rounds] == [
        ("deep_dive", SH, (raised,)),
        ("recruiter", H, ()),
    ]


LEVELS = st.dictionaries(st.sampled_from((TRADE, MEASURE, HONEST, IMPACT)), st.integers(0, 3))
LOOPS = st.lists(st.none() | LEVELS, max_size=5)
"""Per round: what was shown in it; ``None`` while it is not over."""


def written(shown: list[dict[str, int] | None]) -> tuple[Memo, list[Debrief]]:
    packets = [
        held(name, s, sentence=i % 3) for i, (name, s) in enumerate(zip(ROUNDS, shown, strict=False)) if s is not None
    ]
    open_ = [
        OpenRound(rubric=name, session_id=f"s-{name}", begun=i % 2 == 0)
        for i, (name, s) in enumerate(zip(ROUNDS, shown, strict=False))
        if s is None
    ]
    return memo("loop", packets, open_), packets


@given(LOOPS)
def test_every_sentence_rests_on_a_round_of_the_loop_and_every_quote_is_exact(
    shown: list[dict[str, int] | None],
) -> None:
    made, packets = written(shown)
    by_id = {p.session_id: p for p in packets}
    for said in made.sentences:
        assert said.sources
        for source in said.sources:
            if source.part == "not_over":
                assert source.session_id in {o.session_id for o in made.open}
                continue
            assert by_id[source.session_id].round == source.round
            names: dict[str, list[str | None]] = {
                "criterion": [r.criterion for r in by_id[source.session_id].criteria],
                "verdict": [None],
            }
            assert source.name in names.get(source.part, [f.flag for f in by_id[source.session_id].flags])
            for cut in source.quotes:
                assert ANSWER[cut.start : cut.end] == cut.text
                assert cut.text not in said.text, "the committee's words and the candidate's stay apart"
    assert {o.session_id for o in made.open} <= {s.session_id for u in made.decision.unfinished for s in u.sources}
    text = memo_markdown(made)
    assert all(said.text in text for said in made.sentences)


@given(LOOPS.filter(lambda shown: any(s is not None for s in shown)), st.data())
def test_a_round_votes_the_same_whatever_the_others_say(
    shown: list[dict[str, int] | None], data: st.DataObject
) -> None:
    at = data.draw(st.sampled_from([i for i, s in enumerate(shown) if s is not None]))
    others = data.draw(st.lists(st.none() | LEVELS, min_size=len(shown), max_size=len(shown)))
    one, two = written(shown)[0], written([*others[:at], shown[at], *others[at + 1 :]])[0]
    mine = [next(v for v in made.rounds if v.rubric == ROUNDS[at]) for made in (one, two)]
    assert mine[0] == mine[1]
