"""What a committee says in its memo: every function reads packets and returns sentences with their sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from interviewer.core import committee
from interviewer.core.debrief_rows import CriterionRow, Debrief
from interviewer.core.flags import RAISED, STRENGTHS
from interviewer.core.memo_parts import OpenRound, Sentence, Source
from interviewer.core.render import LEVEL_WORDS
from interviewer.core.rubric import SeniorityLevel
from interviewer.core.text import Quote, capital, label
from interviewer.core.verdict import BAR, ORDER, SURE, Step

APART = 2
"""Steps between two votes, or levels between two readings of a criterion, from which rounds disagree."""
OPPOSED = (("honest_about_limits", "bluffing"), ("decision_chain", "knows_tools_not_tradeoffs"))
"""A strength, and the concern that says the opposite."""
FITS: tuple[tuple[SeniorityLevel, float], ...] = (("senior", 0.7), ("mid", 0.45))
"""Share of the must-ask criteria heard that has to reach a level's bar; what a hire and a lean hire ask of a round."""


def vote(
    step: Step | None, voted: Sequence[Debrief], packets: Sequence[Debrief], open_: Sequence[OpenRound]
) -> tuple[Sentence, ...]:
    """Say the decision; nothing of a loop without rounds."""
    if step is not None:
        return (_say(f"We vote {label(step)}, at the {voted[0].level} level.", map(_verdict, voted)),)
    if voted:
        text = f"Only {_rounds(voted)} has a vote, and we do not decide on fewer than two."
        return (_say(text, map(_verdict, voted)),)
    sources = (*map(_verdict, packets), *map(_not_over, open_))
    return (_say("No round has a vote yet, so there is nothing to decide.", sources),) if sources else ()


def own_reasons(packet: Debrief) -> tuple[Sentence, ...]:
    """Return a packet's reasons as they stand in it."""
    return tuple(_say(reason, [_verdict(packet)]) for reason in packet.verdict.reasons)


def reasons(voted: Sequence[Debrief], votes: Sequence[Step]) -> tuple[Sentence, ...]:
    """Say how the votes make the decision."""
    middle = committee.middle(votes)
    said = [
        _say(
            f"{_count(len(votes), 'round')} have a vote; we take the middle one, the lower where there are two: "
            f"{label(middle)}.",
            map(_verdict, voted),
        )
    ]
    noes = [p for p, v in zip(voted, votes, strict=True) if committee.refuses(v)]
    if noes:
        verb = "votes" if len(noes) == 1 else "vote"
        held = label(committee.ceiling(votes))
        said.append(
            _say(
                f"{capital(_rounds(noes))} {verb} no hire or worse, which holds the loop at {held} or below.",
                map(_verdict, noes),
            )
        )
    return tuple(said)


def evidence(voted: Sequence[Debrief]) -> tuple[Sentence, ...]:
    """Say what speaks for and against in each round, with the quotes that carry it."""
    said: list[Sentence] = []
    for packet in voted:
        where = f"In {_round(packet)}"
        heard = [r for r in packet.criteria if r.expected is not None and r.level is not None]
        best = max((r for r in heard if (r.level or 0) >= 2), key=_strength, default=None)
        if best is not None:
            said.append(_say(f"{where}, for: {_reading(best)}.", [_criterion(packet, best)]))
        short = [r for r in heard if (r.expected or 0) < BAR[packet.level]]
        worst = min(short, key=lambda r: (not (r.veto or r.must_ask), r.expected or 0), default=None)
        if worst is not None:
            said.append(_say(f"{where}, against: {_reading(worst)}.", [_criterion(packet, worst)]))
        for flag in packet.flags:
            if flag.probability >= RAISED:
                kind = "for" if flag.flag in STRENGTHS else "against"
                source = _source(packet, "flag", flag.flag, flag.evidence)
                said.append(
                    _say(f"{where}, {kind}: {label(flag.flag)} (probability {flag.probability:.2f}).", [source])
                )
    return tuple(said)


def disagreement(voted: Sequence[Debrief], votes: Sequence[Step]) -> tuple[Sentence, ...]:
    """Say where votes, readings of one criterion, or flags of two rounds do not go together."""
    said: list[Sentence] = []
    places = [ORDER.index(v) for v in votes]
    if places and max(places) - min(places) >= APART:
        best = [p for p, at in zip(voted, places, strict=True) if at == min(places)]
        last = [p for p, at in zip(voted, places, strict=True) if at == max(places)]
        text = (
            f"The rounds are {max(places) - min(places)} steps apart: {label(ORDER[min(places)])} in {_rounds(best)}, "
            f"{label(ORDER[max(places)])} in {_rounds(last)}."
        )
        said.append(_say(text, map(_verdict, (*best, *last))))
    for criterion in dict.fromkeys(r.criterion for p in voted for r in p.criteria):
        read = [(p, r) for p in voted for r in p.criteria if r.criterion == criterion and r.level is not None]
        high, low = max(read, key=_level, default=None), min(read, key=_level, default=None)
        if high and low and _level(high) - _level(low) >= APART:
            text = (
                f"{capital(label(criterion))} was read at level {_level(high)} in {_round(high[0])} and at level "
                f"{_level(low)} in {_round(low[0])}; both stand."
            )
            said.append(_say(text, [_criterion(*high), _criterion(*low)]))
    raised = {(f.flag, p.session_id): (p, f) for p in voted for f in p.flags if f.probability >= RAISED}
    for strength, concern in OPPOSED:
        sides = [[pair for (flag, _), pair in raised.items() if flag == name] for name in (strength, concern)]
        if all(sides):
            here, there = (_rounds([p for p, _ in side]) for side in sides)
            sources = [_source(p, "flag", f.flag, f.evidence) for side in sides for p, f in side]
            said.append(_say(f"{capital(here)} hears {label(strength)}, {there} {label(concern)}.", sources))
    return tuple(said)


def gaps(packets: Sequence[Debrief]) -> tuple[Sentence, ...]:
    """Name the criteria that decide a round by themselves and were not shown, or not heard."""
    said: list[Sentence] = []
    for packet in packets:
        for row in packet.criteria:
            name, source = capital(label(row.criterion)), [_criterion(packet, row)]
            if not row.veto:
                continue
            if row.level is None:
                text = f"{name} decides in {_round(packet)} and was not heard there: a gap, not a no."
                said.append(_say(text, source))
            elif row.probabilities and row.probabilities[0] >= SURE:
                said.append(
                    _say(f"{name} was asked for in {_round(packet)} and not shown at all; there it decides.", source)
                )
    return tuple(said)


def reads_as(voted: Sequence[Debrief]) -> SeniorityLevel | None:
    """Return the level that the answers read as; ``None`` below mid or where nothing was heard."""
    rows = _must(voted)
    return next((level for level, share in FITS if rows and _reaching(rows, level) >= share * len(rows)), None)


def seniority(voted: Sequence[Debrief], fits: SeniorityLevel | None) -> tuple[Sentence, ...]:
    """Say which level the answers read as, whatever the level was that they were asked at."""
    rows, held = _must(voted), voted[0].level if voted else "mid"
    if not rows:
        return ()
    counts = ", ".join(f"{_reaching(rows, name)} the {name} bar of {BAR[name]:.2f}" for name, _ in FITS)
    reads = f"reads as {fits}" if fits else "reads as below mid"
    heard = f"Of {_count(len(rows), 'must-ask reading')}, {counts}"
    said = [_say(f"{heard} {'reaches' if len(rows) == 1 else 'reach'}: this {reads}.", map(_verdict, voted))]
    if fits == "senior" and held == "mid":
        text = "The questions were put at the mid level, so senior depth was not asked for."
        said.append(_say(text, map(_verdict, voted)))
    return tuple(said)


def role(
    step: Step | None, voted: Sequence[Debrief], votes: Sequence[Step], fits: SeniorityLevel | None
) -> tuple[Sentence, ...]:
    """Say which role would fit: this one, or the one that the round which says no most clearly names."""
    if step is None:
        return ()
    if ORDER.index(step) < ORDER.index(Step.LEAN_NO_HIRE):
        return (_say(f"This role would fit, at the {fits or voted[0].level} level.", map(_verdict, voted)),)
    order = sorted(zip(voted, votes, strict=True), key=lambda pair: -ORDER.index(pair[1]))
    named = next((p for p, _ in order if p.verdict.better_role), None)
    if named is None:
        return ()
    return (
        _say(f"The role that would fit, as {_round(named)} sees it: {named.verdict.better_role}", [_verdict(named)]),
    )


def would_change(
    step: Step | None,
    voted: Sequence[Debrief],
    votes: Sequence[Step],
    packets: Sequence[Debrief],
    open_: Sequence[OpenRound],
) -> tuple[Sentence, ...]:
    """Say which vote would turn the decision, what that round asks for, and what open rounds can still do."""
    said: list[Sentence] = []
    if step is not None:
        said += _turning(voted, votes, better=True)
        said += _turning(voted, votes, better=False)
        possible = committee.reach(votes, len(open_))
        if open_ and possible:
            text = (
                f"With {_count(len(open_), 'round')} not over, this can still end anywhere from {label(possible[0])} "
                f"to {label(possible[1])}."
            )
            said.append(_say(text, (*map(_not_over, open_), *map(_verdict, voted))))
        return tuple(said)
    for packet in packets:
        if packet.verdict.step is None:
            said += _asks(packet)
    said += [_say(f"A finished {label(o.rubric)} round.", [_not_over(o)]) for o in open_]
    return tuple(said)


def unfinished(packets: Sequence[Debrief], open_: Sequence[OpenRound]) -> tuple[Sentence, ...]:
    """Name every round without a vote."""
    said = [
        _say(f"{capital(_round(p))} is over and has no vote: not enough was heard.", [_verdict(p)])
        for p in packets
        if p.verdict.step is None
    ]
    for one in open_:
        state = "is not over" if one.begun else "has not begun"
        said.append(_say(f"The {label(one.rubric)} round {state}, so it has no vote and no packet.", [_not_over(one)]))
    return tuple(said)


def _turning(voted: Sequence[Debrief], votes: Sequence[Step], *, better: bool) -> list[Sentence]:
    """Say the smallest change of one vote that turns the decision one way, and what that round asks for."""
    found = [(i, t) for i in range(len(votes)) if (t := committee.turning(votes, i, better))]
    if not found:
        if better and (committee.decide(votes) or Step.STRONG_HIRE) is not Step.STRONG_HIRE:
            held = [p for p, v in zip(voted, votes, strict=True) if v is not Step.STRONG_HIRE]
            return [
                _say(f"No single vote lifts this: {_rounds(held)} would have to change together.", map(_verdict, held))
            ]
        return []
    at, (other, then) = min(found, key=lambda pair: abs(ORDER.index(pair[1][0]) - ORDER.index(votes[pair[0]])))
    packet = voted[at]
    text = f"If {_round(packet)} voted {label(other)} in place of {label(votes[at])}, we would vote {label(then)}."
    return [_say(text, [_verdict(packet)]), *(_asks(packet) if better else [])]


def _asks(packet: Debrief) -> list[Sentence]:
    return [
        _say(f"{capital(_round(packet))} asks for: {line}", [_verdict(packet)]) for line in packet.verdict.would_change
    ]


def _must(voted: Sequence[Debrief]) -> list[CriterionRow]:
    return [r for p in voted for r in p.criteria if r.must_ask and r.expected is not None]


def _reaching(rows: Sequence[CriterionRow], level: SeniorityLevel) -> int:
    return sum((r.expected or 0) >= BAR[level] for r in rows)


def _strength(row: CriterionRow) -> tuple[float, bool]:
    return row.expected or 0, row.must_ask


def _level(read: tuple[Debrief, CriterionRow]) -> int:
    return read[1].level or 0


def _reading(row: CriterionRow) -> str:
    level = row.level or 0
    hint = f", with {_count(row.hints, 'hint')}" if row.hints else ""
    return f"{label(row.criterion)} at level {level}, {LEVEL_WORDS[level]}{hint}"


def _round(packet: Debrief) -> str:
    return f"the {label(packet.round)} round"


def _rounds(packets: Sequence[Debrief]) -> str:
    names = [label(p.round) for p in packets]
    if len(names) == 1:
        return f"the {names[0]} round"
    return f"the {', '.join(names[:-1])} and {names[-1]} rounds"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _say(text: str, sources: Iterable[Source]) -> Sentence:
    return Sentence(text=text, sources=tuple(sources))


def _verdict(packet: Debrief) -> Source:
    return Source(round=packet.round, session_id=packet.session_id, part="verdict")


def _criterion(packet: Debrief, row: CriterionRow) -> Source:
    return _source(packet, "criterion", row.criterion, row.quotes)


def _source(packet: Debrief, part: Literal["criterion", "flag"], name: str, quotes: tuple[Quote, ...]) -> Source:
    return Source(round=packet.round, session_id=packet.session_id, part=part, name=name, quotes=quotes)


def _not_over(one: OpenRound) -> Source:
    return Source(round=one.rubric, session_id=one.session_id, part="not_over")
