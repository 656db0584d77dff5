"""The parts of a committee's memo, as data.

Invariant: no sentence stands without a source, and a source names a round of the loop. A sentence never holds the
candidate's words: these are quotes of its sources, exact and with their place.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interviewer.core.assessment import FlagReading, Frozen
from interviewer.core.rubric import SeniorityLevel
from interviewer.core.text import Quote
from interviewer.core.verdict import Step


class Source(Frozen):
    """What a sentence rests on: a part of one round's packet or, for a round that is not over, that it is not."""

    round: str
    session_id: str
    part: Literal["verdict", "criterion", "flag", "not_over"]
    name: str | None = None
    """The criterion or flag."""
    quotes: tuple[Quote, ...] = ()


class Sentence(Frozen):
    """What the committee says, and what it rests on."""

    text: str
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]


class OpenRound(Frozen):
    """A round of the loop that is not over, and so has no packet."""

    rubric: str
    session_id: str
    begun: bool


class RoundVote(Frozen):
    """One round's vote, as its packet has it; the packet knows of no other round."""

    rubric: str
    session_id: str
    verdict: Step | None
    """``None``: the round is over and not enough was heard in it."""
    also_possible: Step | None = None
    flags: tuple[FlagReading, ...]
    """Those that are raised."""
    says: tuple[Sentence, ...] = ()
    """The packet's own reasons."""


class LoopDecision(Frozen):
    """What the committee decides, and why."""

    step: Step | None
    """``None`` with fewer than two votes."""
    fits: SeniorityLevel | None = None
    """The level that the answers read as; ``None`` below mid, or where nothing was heard that has to be."""
    vote: tuple[Sentence, ...] = ()
    reasons: tuple[Sentence, ...] = ()
    evidence: tuple[Sentence, ...] = ()
    """What speaks for and against, by round."""
    disagreement: tuple[Sentence, ...] = ()
    gaps: tuple[Sentence, ...] = ()
    """Criteria that can decide a round: not shown, or never heard."""
    seniority: tuple[Sentence, ...] = ()
    role: tuple[Sentence, ...] = ()
    """The role that would fit."""
    would_change: tuple[Sentence, ...] = ()
    unfinished: tuple[Sentence, ...] = ()
    """Rounds that have no vote, and why."""


class Memo(Frozen):
    """The memo."""

    loop_id: str
    level: SeniorityLevel | None = None
    """The level that the rounds were held at; ``None`` while none is over."""
    rounds: tuple[RoundVote, ...]
    """Rounds that are over, in the loop's order."""
    open: tuple[OpenRound, ...] = ()
    decision: LoopDecision

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Everything that the memo says, in order."""
        found = self.decision
        parts = (found.vote, found.reasons, found.evidence, found.disagreement, found.gaps, found.seniority)
        said = (s for part in (*parts, found.role, found.would_change, found.unfinished) for s in part)
        return (*said, *(s for vote in self.rounds for s in vote.says))
