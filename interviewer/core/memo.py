"""The committee's memo over the packets of a loop's rounds. Every sentence rests on a packet; nothing is averaged."""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core.assessment import FlagReading, Frozen
from interviewer.core.debrief_rows import Debrief
from interviewer.core.flags import RAISED
from interviewer.core.text import label
from interviewer.core.verdict import ORDER, Step


class RoundVote(Frozen):
    """One round's vote."""

    rubric: str
    session_id: str
    verdict: Step | None
    flags: tuple[FlagReading, ...]


class LoopDecision(Frozen):
    """What the committee decides, and why."""

    step: Step | None
    reasons: tuple[str, ...]
    disagreement: tuple[str, ...]
    would_change: tuple[str, ...]


class Memo(Frozen):
    """The memo."""

    loop_id: str
    rounds: tuple[RoundVote, ...]
    decision: LoopDecision


def memo(loop_id: str, packets: Sequence[Debrief]) -> Memo:
    """Write the memo from independent packets.

    The rule: a no hire or worse in any round caps the loop at lean no hire, two of them at no hire; otherwise the loop
    takes the lower of the two middle votes. Rounds without a verdict do not vote and are named.
    """
    votes = tuple(
        RoundVote(
            rubric=p.round,
            session_id=p.session_id,
            verdict=p.verdict.step,
            flags=tuple(f for f in p.flags if f.probability >= RAISED),
        )
        for p in packets
    )
    cast = sorted((v.verdict for v in votes if v.verdict is not None), key=ORDER.index)
    silent = [v.rubric for v in votes if v.verdict is None]
    reasons = [f"{label(v.rubric)}: {_words(v.verdict)}." for v in votes if v.verdict]
    reasons += [f"{label(name)}: no vote, not enough was heard." for name in silent]
    if len(cast) < 2:
        reasons.append("Fewer than two rounds have a verdict; a committee would not meet on that.")
        return Memo(
            loop_id=loop_id,
            rounds=votes,
            decision=LoopDecision(
                step=None,
                reasons=tuple(reasons),
                disagreement=(),
                would_change=tuple(f"A finished {label(name)} round." for name in silent),
            ),
        )
    step = cast[len(cast) // 2]
    noes = [s for s in cast if ORDER.index(s) >= ORDER.index(Step.NO_HIRE)]
    if noes:
        floor = Step.NO_HIRE if len(noes) > 1 else Step.LEAN_NO_HIRE
        step = max(step, floor, key=ORDER.index)
        reasons.append(f"{len(noes)} round(s) say no hire or worse: the loop cannot be better than {_words(floor)}.")
    apart = ORDER.index(cast[-1]) - ORDER.index(cast[0])
    disagreement = (
        (f"The rounds are {apart} steps apart, from {_words(cast[0])} to {_words(cast[-1])}.",) if apart >= 2 else ()
    )
    weakest = max((p for p in packets if p.verdict.step), key=lambda p: ORDER.index(p.verdict.step or Step.STRONG_HIRE))
    return Memo(
        loop_id=loop_id,
        rounds=votes,
        decision=LoopDecision(
            step=step, reasons=tuple(reasons), disagreement=disagreement, would_change=weakest.verdict.would_change
        ),
    )


def _words(step: Step | None) -> str:
    return label(step) if step else "no vote"
