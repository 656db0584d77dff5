"""The committee's memo over the packets of a loop's rounds.

Each packet was written from its own round alone; here they are read side by side for the first time. The decision is
:mod:`interviewer.core.committee`'s, the sentences are :mod:`interviewer.core.memo_says`'s.
"""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core import committee
from interviewer.core import memo_says as says
from interviewer.core.debrief_rows import Debrief
from interviewer.core.flags import RAISED
from interviewer.core.memo_parts import LoopDecision, Memo, OpenRound, RoundVote


def memo(loop_id: str, packets: Sequence[Debrief], unfinished: Sequence[OpenRound] = ()) -> Memo:
    """Write the memo.

    Args:
        loop_id: The loop.
        packets: Of the rounds that are over, in the loop's order.
        unfinished: The other rounds.
    """
    voted = [p for p in packets if p.verdict.step is not None]
    votes = [p.verdict.step for p in voted if p.verdict.step is not None]
    step = committee.decide(votes)
    fits = says.reads_as(voted)
    return Memo(
        loop_id=loop_id,
        level=packets[0].level if packets else None,
        rounds=tuple(_vote(p) for p in packets),
        open=tuple(unfinished),
        decision=LoopDecision(
            step=step,
            fits=fits,
            vote=says.vote(step, voted, packets, unfinished),
            reasons=says.reasons(voted, votes) if step else (),
            evidence=says.evidence(voted),
            disagreement=says.disagreement(voted, votes),
            gaps=says.gaps(packets),
            seniority=says.seniority(voted, fits),
            role=says.role(step, voted, votes, fits),
            would_change=says.would_change(step, voted, votes, packets, unfinished),
            unfinished=says.unfinished(packets, unfinished),
        ),
    )


def _vote(packet: Debrief) -> RoundVote:
    return RoundVote(
        rubric=packet.round,
        session_id=packet.session_id,
        verdict=packet.verdict.step,
        also_possible=packet.verdict.also_possible,
        flags=tuple(f for f in packet.flags if f.probability >= RAISED),
        says=says.own_reasons(packet),
    )
