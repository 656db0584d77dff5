"""The parts of a debrief, as data."""

from __future__ import annotations

from interviewer.core.assessment import FlagReading, Frozen, Notice, Probabilities
from interviewer.core.coaching import CoachingPlan, MainThing
from interviewer.core.code import CodeReport
from interviewer.core.contradiction import Contradiction
from interviewer.core.events import Versions
from interviewer.core.facts import Finding
from interviewer.core.job import Steer
from interviewer.core.receipt import Receipt
from interviewer.core.resume import Cited
from interviewer.core.rubric import SeniorityLevel
from interviewer.core.text import Quote
from interviewer.core.verdict import Verdict


class CriterionRow(Frozen):
    """One criterion in the report."""

    criterion: str
    asks: str
    level: int | None
    """``None``: not assessed."""
    expected: float | None
    confidence: float | None
    probabilities: Probabilities | None
    anchor: str | None
    """Anchor text of the level."""
    next_anchor: str | None
    """Anchor text of the level above."""
    must_ask: bool
    veto: bool = False
    """Level 0, seen with confidence, decides the round."""
    probed: int
    hints: int
    quotes: tuple[Quote, ...]
    why_not_assessed: str | None


class ProbeRow(Frozen):
    """One question of the session, with the reason for it."""

    turn: int
    asked: str
    criterion: str | None
    move: str | None
    reason: str
    source: str
    interrupted: bool
    unscored: str | None
    """Why the answer has no levels, when it has none."""
    cited: tuple[Cited, ...] = ()
    """The candidate's own words that the question goes back to."""
    again_of: int | None = None
    """Turn whose question it puts once more."""
    replaced: bool = False
    """Its answer was given again in a later turn, and that one counts."""
    coaching: CoachingPlan | None = None
    """What stands between the answer and its next level; ``None`` for one that was not read, or given again."""


class CodeRow(Frozen):
    """The code of one answer and what was found out about it."""

    turn: int
    report: CodeReport


class ScenarioFactRow(Frozen):
    """One fact of a scenario and whether it was earned."""

    fact: str
    about: str
    says: str | None
    """``None`` while the session runs and nobody asked for it."""
    asked_in: int | None
    """Turn whose answer asked for it; ``None``: never asked for."""


class ScenarioRow(Frozen):
    """The situation that the round opened with: what was asked for, and what never was."""

    scenario: str
    title: str
    facts: tuple[ScenarioFactRow, ...]
    in_common: tuple[Quote, ...] = ()
    """Words of the job description that the situation is about."""


class DrillNews(Frozen):
    """Something that happened on the clock of a drill."""

    minute: int
    says: str | None
    """``None`` while the session runs and it was not told."""
    told_in: int | None
    """Turn that told it; ``None``: the session ended before."""


class DrillRow(Frozen):
    """How the drill that the session was went, by its own rules."""

    drill: str
    title: str
    how: str
    minutes: int
    minutes_used: float
    words: int | None
    """Longest answer allowed, in words."""
    longest: int
    """Words of the longest answer given."""
    questions: int
    asked: int
    """Main questions of the drill that were put."""
    trained: tuple[tuple[str, int | None], ...]
    """What it trains with the level shown, the most trained first; ``None``: not assessed."""
    news: tuple[DrillNews, ...]


class NextStep(Frozen):
    """One thing to work on, with the drill that fits."""

    criterion: str
    why: str
    drill: str
    how: str
    bad: str | None
    """How the answer usually goes wrong, from the rubric; ``None`` when no question of the round targets it."""
    good: str | None


class RoundMain(MainThing):
    """The one thing of the whole round to work on first."""

    turn: int
    """Turn whose answer it is about."""


class Debrief(Frozen):
    """The packet."""

    session_id: str
    round: str
    persona: str
    level: SeniorityLevel
    verdict: Verdict
    main: RoundMain | None = None
    """A wrong claim if one was made, else the first open clause where the verdict has most to gain."""
    criteria: tuple[CriterionRow, ...]
    flags: tuple[FlagReading, ...]
    facts: tuple[Finding, ...]
    """Claims that could be checked, in the order in which they were made."""
    code: tuple[CodeRow, ...] = ()
    """Code that was given where a question asks for it, in order."""
    scenario: ScenarioRow | None = None
    drill: DrillRow | None = None
    contradictions: tuple[Contradiction, ...] = ()
    """Statements that cannot both be so, with both quotes; they move no level."""
    job: tuple[Steer, ...] = ()
    """Criteria that were pursued more for the job, and the words that caused it."""
    probes: tuple[ProbeRow, ...]
    next_steps: tuple[NextStep, ...]
    receipt: Receipt
    notices: tuple[Notice, ...]
    versions: Versions
