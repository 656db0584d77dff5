"""How a committee decides over the votes of several rounds. Nothing is averaged.

The rule: the loop takes the middle vote, the lower one where there are two; one round at no hire or worse holds it at
lean no hire, two of them at no hire. Better votes never make it worse, which is what :func:`reach` rests on.
"""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core.verdict import ORDER, Step

ENOUGH = 2
"""Votes that a decision needs."""


def decide(votes: Sequence[Step]) -> Step | None:
    """Return the loop's decision; ``None`` with fewer than two votes."""
    if len(votes) < ENOUGH:
        return None
    return worse(middle(votes), ceiling(votes))


def middle(votes: Sequence[Step]) -> Step:
    """Return the middle one of some votes, the lower where there are two; there has to be one."""
    return sorted(votes, key=ORDER.index)[len(votes) // 2]


def refuses(vote: Step) -> bool:
    """Return whether a vote holds the loop down."""
    return ORDER.index(vote) >= ORDER.index(Step.NO_HIRE)


def ceiling(votes: Sequence[Step]) -> Step:
    """Return the best decision that the refusals among some votes leave open."""
    noes = sum(refuses(v) for v in votes)
    return (Step.STRONG_HIRE, Step.LEAN_NO_HIRE, Step.NO_HIRE)[min(noes, 2)]


def worse(a: Step, b: Step) -> Step:
    """Return the worse of two."""
    return max(a, b, key=ORDER.index)


def turning(votes: Sequence[Step], at: int, better: bool) -> tuple[Step, Step] | None:
    """Return the nearest other vote of one round that changes the decision, and what it makes it.

    Args:
        votes: All votes.
        at: Index of the vote that is changed.
        better: Look for a better vote, or for a worse one.
    """
    now = decide(votes)
    place = ORDER.index(votes[at])
    others = reversed(ORDER[:place]) if better else ORDER[place + 1 :]
    for other in others:
        then = decide([*votes[:at], other, *votes[at + 1 :]])
        if then is not None and then != now:
            return other, then
    return None


def reach(votes: Sequence[Step], open_rounds: int) -> tuple[Step, Step] | None:
    """Return the best and the worst decision that are possible once ``open_rounds`` more have voted."""
    best = decide([*votes, *[Step.STRONG_HIRE] * open_rounds])
    worst = decide([*votes, *[Step.STRONG_NO_HIRE] * open_rounds])
    return (best, worst) if best and worst else None
