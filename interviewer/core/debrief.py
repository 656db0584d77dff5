"""The committee's packet for one round: verdict, levels with quotes, flags, why each probe was asked, what to do next.

Invariant: everything here is computed from the log and the documents; every quote is an exact piece of the candidate's
answer in the turn that it names.
"""

from __future__ import annotations

from collections.abc import Mapping

from interviewer.core.assessment import Assessment, Notice, Unscored
from interviewer.core.coaching import CoachingPlan, coach
from interviewer.core.contradiction import contradictions
from interviewer.core.coverage import Coverage, CriterionState, Reading, coverage
from interviewer.core.debrief_rows import (
    CodeRow,
    CriterionRow,
    Debrief,
    DrillNews,
    DrillRow,
    NextStep,
    ProbeRow,
    RoundMain,
    ScenarioFactRow,
    ScenarioRow,
)
from interviewer.core.drills import Drill, Drills, narrowed
from interviewer.core.events import QuestionAsked
from interviewer.core.facts import Finding, check_answer
from interviewer.core.job import in_common, steers
from interviewer.core.reading import Said, recent
from interviewer.core.receipt import receipt
from interviewer.core.resume import read_resume
from interviewer.core.round_flags import round_flags
from interviewer.core.rubric import Rubric, Vocabulary, anchor
from interviewer.core.scenario import Scenario, asked
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import Quote, label
from interviewer.core.verdict import judge_round


def debrief(
    state: SessionState, rubric: Rubric, vocabulary: Vocabulary, drills: Drills, scenario: Scenario | None = None
) -> Debrief:
    """Write the packet of a session, ended or not, from its state and the documents."""
    drill = drills.get(state.started.drill)
    rubric = narrowed(rubric, drill)
    known = coverage(state, rubric)
    rows = tuple(_row(c, vocabulary, state, rubric.veto) for c in known.criteria)
    flags = round_flags(state, known)
    claims = _claims(state, rubric)
    plans = _plans(state, rubric, vocabulary, claims)
    probes = tuple(_probe(turn, turn.question, state, plans) for turn in state.turns if turn.question)
    hints = len(state.hints)
    return Debrief(
        session_id=state.id,
        round=rubric.id,
        persona=state.persona,
        level=state.started.level,
        verdict=judge_round(rubric, known, flags, state.started.level, hints),
        main=_main(plans, known),
        criteria=rows,
        flags=flags,
        facts=tuple(fact for found in claims.values() for fact in found),
        scenario=_scenario(state, scenario) if scenario else None,
        drill=_drill(state, rubric, known, drill) if drill else None,
        code=tuple(CodeRow(turn=t.number, report=t.code) for t in state.turns if t.code),
        contradictions=contradictions(state),
        job=tuple(s for s in steers(state.started.job) if s.criterion in rubric.weights),
        probes=probes,
        next_steps=_next_steps(known, rubric, vocabulary, drills),
        receipt=receipt(state, rubric, known),
        notices=_notices(state),
        versions=state.started.versions,
    )


def _claims(state: SessionState, rubric: Rubric) -> dict[int, tuple[Finding, ...]]:
    """Check the claims of every answer that counts, by turn."""
    void = state.superseded
    return {
        t.number: check_answer(t.answer.text, rubric.question(t.question_id or ""), t.number)
        for t in state.turns
        if t.answer and t.number not in void
    }


def _plans(
    state: SessionState, rubric: Rubric, vocabulary: Vocabulary, claims: Mapping[int, tuple[Finding, ...]]
) -> dict[int, CoachingPlan]:
    """Coach every answer that was read and counts, by turn; ``claims`` are those that were checked in them."""
    plans: dict[int, CoachingPlan] = {}
    said: dict[str, list[Said]] = {}
    facts: dict[str, list[Finding]] = {}
    for turn in state.turns:
        if turn.answer is None or turn.number not in claims:
            continue
        key = turn.question_id or f"turn-{turn.number}"
        before, checked = said.setdefault(key, []), facts.setdefault(key, [])
        checked += claims[turn.number]
        if isinstance(turn.result, Assessment):
            known = tuple(c for c in turn.result.criteria if c.criterion in vocabulary.criteria)
            read = turn.result.model_copy(update={"criteria": known})
            question = rubric.question(turn.question_id or "")
            plans[turn.number] = coach(
                read, vocabulary, question, turn.answer.text, checked, turn.number, recent(before)
            )
        before.append(Said(turn=turn.number, text=turn.answer.text))
    return plans


def _worth(criterion: CriterionState) -> float:
    return criterion.weight * (3 - (criterion.expected or 0))


def _main(plans: Mapping[int, CoachingPlan], known: Coverage) -> RoundMain | None:
    """Pick the one thing of the round: a wrong claim before a clause, then what moves the verdict most."""
    order = {c.criterion: n for n, c in enumerate(sorted(known.criteria, key=_worth, reverse=True))}
    best = {(c.best.turn, c.criterion) for c in known.criteria if c.best}
    found: list[tuple[bool, int, bool, int, RoundMain]] = []
    for turn, plan in plans.items():
        wrong = bool(plan.corrections)
        if wrong and plan.first:
            lines = [(plan.first.criterion, plan.first.line)]
        else:
            lines = [(n.criterion, c.line) for n in plan.notes for c in n.clauses if c.line]
        for criterion, line in lines:
            rank = order.get(criterion, len(order))
            # Of a criterion, the answer that carries its level is the one closest to the next.
            main = RoundMain(turn=turn, criterion=criterion, line=line)
            found.append((not wrong, rank, (turn, criterion) not in best, turn, main))
    return min(found, key=lambda f: f[:4])[4] if found else None


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
    shared = in_common(state.started.job, scenario)
    return ScenarioRow(scenario=scenario.id, title=scenario.title, facts=facts, in_common=shared)


def _row(criterion: CriterionState, vocabulary: Vocabulary, state: SessionState, veto: tuple[str, ...]) -> CriterionRow:
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
        veto=criterion.criterion in veto,
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


def _drill(state: SessionState, rubric: Rubric, known: Coverage, drill: Drill) -> DrillRow:
    told = state.told
    over = state.ended is not None
    shown = {c.criterion: c.level for c in known.criteria}
    return DrillRow(
        drill=drill.id,
        title=drill.title,
        how=drill.how,
        minutes=state.started.minutes,
        minutes_used=round(state.active_seconds / 60, 1),
        words=drill.words,
        longest=max((len(t.answer.text.split()) for t in state.turns if t.answer), default=0),
        questions=len(rubric.questions),
        asked=len({t.question_id for t in state.turns if t.question and t.question_id}),
        trained=tuple((c, shown.get(c)) for c in drill.trains if c in shown),
        news=tuple(
            DrillNews(minute=e.minute, says=e.says if over or e.id in told else None, told_in=told.get(e.id))
            for e in drill.events
        ),
    )


def _probe(turn: Turn, question: QuestionAsked, state: SessionState, plans: Mapping[int, CoachingPlan]) -> ProbeRow:
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
        cited=probe.cited if probe else (),
        again_of=probe.again_of if probe else None,
        replaced=turn.number in state.superseded,
        coaching=plans.get(turn.number),
    )


def _next_steps(known: Coverage, rubric: Rubric, vocabulary: Vocabulary, drills: Drills) -> tuple[NextStep, ...]:
    weak = [(_worth(c), c) for c in known.criteria if c.expected is not None and c.expected < 2.5]
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
    for name, text in (("Resume", state.started.resume), ("Job", state.started.job)):
        own += [Notice(code=n.code, message=f"{name}: {n.message}") for n in read_resume(text).notices]
    read = [
        Notice(code=n.code, message=f"Turn {t.number}: {n.message}")
        for t in state.turns
        if isinstance(t.result, (Assessment, Unscored))
        for n in t.result.notices
    ]
    return (*own, *read)
