"""The committee's packet for one round: verdict, levels with quotes, flags, why each probe was asked, what to do next.

Invariant: everything here is computed from the log and the documents; every quote is an exact piece of the candidate's
answer in the turn that it names.
"""

from __future__ import annotations

from interviewer.core.assessment import Assessment, FlagReading, Frozen, Notice, Probabilities, Unscored
from interviewer.core.code import CodeReport
from interviewer.core.coverage import Coverage, CriterionState, Reading, coverage
from interviewer.core.drills import Drills
from interviewer.core.events import QuestionAsked, Versions
from interviewer.core.facts import Finding, check_answer
from interviewer.core.flags import read_flags
from interviewer.core.receipt import Receipt, receipt
from interviewer.core.rubric import Rubric, SeniorityLevel, Vocabulary, anchor
from interviewer.core.scenario import Scenario, asked
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import Quote, label
from interviewer.core.verdict import Verdict, judge_round


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


class NextStep(Frozen):
    """One thing to work on, with the drill that fits."""

    criterion: str
    why: str
    drill: str
    how: str
    bad: str | None
    """How the answer usually goes wrong, from the rubric; ``None`` when no question of the round targets it."""
    good: str | None


class Debrief(Frozen):
    """The packet."""

    session_id: str
    round: str
    persona: str
    level: SeniorityLevel
    verdict: Verdict
    criteria: tuple[CriterionRow, ...]
    flags: tuple[FlagReading, ...]
    facts: tuple[Finding, ...]
    """Claims that could be checked, in the order in which they were made."""
    code: tuple[CodeRow, ...] = ()
    """Code that was given where a question asks for it, in order."""
    scenario: ScenarioRow | None = None
    probes: tuple[ProbeRow, ...]
    next_steps: tuple[NextStep, ...]
    receipt: Receipt
    notices: tuple[Notice, ...]
    versions: Versions


def debrief(
    state: SessionState, rubric: Rubric, vocabulary: Vocabulary, drills: Drills, scenario: Scenario | None = None
) -> Debrief:
    """Write the packet of a session, ended or not, from its state and the documents."""
    known = coverage(state, rubric)
    rows = tuple(_row(c, vocabulary, state) for c in known.criteria)
    flags = session_flags(state, known)
    probes = tuple(_probe(turn, turn.question) for turn in state.turns if turn.question)
    hints = len(state.hints)
    return Debrief(
        session_id=state.id,
        round=rubric.id,
        persona=state.persona,
        level=state.started.level,
        verdict=judge_round(rubric, known, flags, state.started.level, hints),
        criteria=rows,
        flags=flags,
        facts=_facts(state, rubric),
        scenario=_scenario(state, scenario) if scenario else None,
        code=tuple(CodeRow(turn=t.number, report=t.code) for t in state.turns if t.code),
        probes=probes,
        next_steps=_next_steps(known, rubric, vocabulary, drills),
        receipt=receipt(state, rubric, known),
        notices=_notices(state),
        versions=state.started.versions,
    )


def session_flags(state: SessionState, known: Coverage) -> tuple[FlagReading, ...]:
    """Read the flags from the whole of what was said."""
    said = [
        Quote(start=0, end=len(text), text=text, turn=t.number)
        for t in state.turns
        if t.answer
        for text in [t.answer.text]
    ]
    levels = {c.criterion: p for c in known.criteria if (p := c.probabilities) is not None}
    evidence = {c.criterion: best.assessment.evidence for c in known.criteria if (best := c.best)}
    return read_flags(levels, said, evidence)


def _facts(state: SessionState, rubric: Rubric) -> tuple[Finding, ...]:
    return tuple(
        fact
        for t in state.turns
        if t.answer
        for fact in check_answer(t.answer.text, rubric.question(t.question_id or ""), t.number)
    )


def _scenario(state: SessionState, scenario: Scenario) -> ScenarioRow:
    earned, over = asked(state, scenario), state.ended is not None
    facts = tuple(
        ScenarioFactRow(
            fact=fact.id,
            about=fact.about,
            says=fact.says if over or fact.id in earned else None,
            asked_in=earned.get(fact.id),
        )
        for fact in scenario.facts
    )
    return ScenarioRow(scenario=scenario.id, title=scenario.title, facts=facts)


def _row(criterion: CriterionState, vocabulary: Vocabulary, state: SessionState) -> CriterionRow:
    text = vocabulary.criteria[criterion.criterion]
    level = criterion.level
    best = criterion.best
    return CriterionRow(
        criterion=criterion.criterion,
        asks=text.asks,
        level=level,
        expected=criterion.expected,
        confidence=criterion.confidence,
        probabilities=criterion.probabilities,
        anchor=None if level is None else anchor(text, level),
        next_anchor=None if level is None or level == 3 else anchor(text, level + 1),
        must_ask=criterion.must_ask,
        probed=criterion.probed,
        hints=max((r.hints for r in criterion.readings), default=0),
        quotes=_quotes(criterion.readings, best),
        why_not_assessed=None if criterion.assessed else _why_not(state),
    )


def _quotes(readings: tuple[Reading, ...], best: Reading | None) -> tuple[Quote, ...]:
    ordered = sorted(readings, key=lambda r: r is not best)
    quotes = [q for reading in ordered for q in reading.assessment.evidence]
    return tuple(dict.fromkeys(quotes))[:3]


def _why_not(state: SessionState) -> str:
    failed = next((t.result for t in reversed(state.turns) if isinstance(t.result, Unscored)), None)
    if failed is not None:
        return f"No answer could be read on it ({label(failed.reason)})."
    return "No question brought it out."


def _probe(turn: Turn, question: QuestionAsked) -> ProbeRow:
    probe = turn.probe
    return ProbeRow(
        turn=turn.number,
        asked=question.text,
        criterion=probe.criterion if probe else None,
        move=probe.move if probe else None,
        reason=probe.reason if probe else "Asked in the imported transcript.",
        source=question.source,
        interrupted=question.interrupted,
        unscored=turn.result.detail if isinstance(turn.result, Unscored) else None,
    )


def _next_steps(known: Coverage, rubric: Rubric, vocabulary: Vocabulary, drills: Drills) -> tuple[NextStep, ...]:
    weak = [(c.weight * (3 - c.expected), c) for c in known.criteria if c.expected is not None and c.expected < 2.5]
    weak.sort(key=lambda pair: -pair[0])
    steps: list[NextStep] = []
    used: frozenset[str] = frozenset()
    for _, criterion in weak:
        drill = drills.best_for(criterion.criterion, used)
        if drill is None or len(steps) == 2:
            continue
        used |= {drill.id}
        contrast = next((q.coaching for q in rubric.questions if q.target(criterion.criterion)), None)
        missing = anchor(vocabulary.criteria[criterion.criterion], min(3, (criterion.level or 0) + 1))
        steps.append(
            NextStep(
                criterion=criterion.criterion,
                why=f"The next level asks for: {missing}",
                drill=drill.title,
                how=drill.how,
                bad=contrast.bad if contrast else None,
                good=contrast.good if contrast else None,
            )
        )
    return tuple(steps)


def _notices(state: SessionState) -> tuple[Notice, ...]:
    own = [Notice(code=n.code, message=n.message) for n in state.notices]
    read = [
        Notice(code=n.code, message=f"Turn {t.number}: {n.message}")
        for t in state.turns
        if isinstance(t.result, (Assessment, Unscored))
        for n in t.result.notices
    ]
    return (*own, *read)
