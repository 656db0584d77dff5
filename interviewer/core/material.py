"""Puts the candidate's own material into what is asked: the resume, the job description, and earlier answers.

:func:`choose` is the policy with that material. Without any it is :func:`interviewer.core.probe.decide` itself. Every
question that goes back to the candidate's words is authored around an exact quote, and the decision carries the quote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from interviewer.core import guard
from interviewer.core.contradiction import Contradiction, contradictions
from interviewer.core.job import steered, steers
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask, Decision, decide, unit_hash
from interviewer.core.requests import gave_up
from interviewer.core.resume import Cited, ClaimKind, read_resume, shortened
from interviewer.core.rubric import Move, Rubric
from interviewer.core.scenario import Scenario, opens_with
from interviewer.core.session import SessionState
from interviewer.core.standing import stands
from interviewer.core.text import Quote, Span, label

MOST_WORDS = 60
"""Most words of a question with quotes in it."""
TRANSFER = "dd-resume-transfer"
"""Question that moves a project of the resume to LLMs."""
_PROJECT = (
    'Your resume says: "{quote}". If the thing in the middle of that had been a language model, what would you have '
    "kept of it?"
)
_PROJECT_SENIOR = (
    'Your resume says: "{quote}". Put a language model where the core of that system was: which of your moves there '
    "would survive, mechanically?"
)
_CLAIMS: Mapping[ClaimKind, tuple[Move, str, tuple[str, ...]]] = {
    "number": (
        Move.ASK_NUMBER,
        'Your resume says: "{quote}". Against which baseline was that measured?',
        ("measurement", "hands_on_specificity", "business_impact", "tradeoff_reasoning"),
    ),
    "scale": (
        Move.CLARIFY,
        'Your resume says: "{quote}". Which part of the system felt that size first?',
        ("hands_on_specificity", "llm_serving_depth", "constraint_adaptation", "measurement", "problem_framing"),
    ),
    "led": (
        Move.CLARIFY,
        'Your resume says: "{quote}". Which decision there was yours alone?',
        ("hands_on_specificity", "stakeholder_decision", "failure_reflection", "role_fit", "intellectual_honesty"),
    ),
}
"""How a claim is checked: the move, the frame, and the criteria on which the answer may show something."""
_CLEARED_BY = ("intellectual_honesty", "hands_on_specificity", "measurement")
"""Criteria on which an explanation may show something, if the question has one of them."""
_CONFLICT = 'I have two statements here: {where} "{first}", and now "{second}". How do the two go together?'


def choose(
    state: SessionState, rubric: Rubric, persona: Persona, elapsed: float, scenario: Scenario | None = None
) -> Decision:
    """Choose the next question with what is known of the candidate; arguments as for ``decide``, less ``only``.

    The session's own question or its ``scenario`` opens the round, and a question that was only asked about stands.
    """
    still = stands(state, rubric, scenario) if elapsed < 1 else None
    if still is not None:
        return still
    started = state.started
    wanted = opens_with(state, scenario)
    project = _project(state, rubric)
    if wanted is None and not state.turns and project is not None:
        wanted = frozenset({TRANSFER})
    decision = decide(state, steered(rubric, started.job), persona, elapsed, wanted)
    if not isinstance(decision, Ask):
        return decision
    differs = _conflict(state, rubric)
    if differs is not None:
        return differs
    if decision.criterion is None:
        if decision.question_id == TRANSFER and project is not None:
            return project_ask(decision, project, started.level == "senior")
        return _with_job(decision, state, rubric)
    plain = _with_job(decision, state, rubric)
    if state.current is not None and gave_up(state.current):
        return plain  # somebody who is stuck is helped on, and not checked
    return _claim(decision, state, rubric) or plain


def project_ask(ask: Ask, project: Quote, senior: bool) -> Ask:
    """Return ``ask`` with the candidate's own project in it."""
    frame = _PROJECT_SENIOR if senior else _PROJECT
    return ask.model_copy(
        update={
            "probe": frame.format(quote=_flat(project.text)),
            "reason": f"{ask.reason} It moves a project of the resume to LLMs.",
            "cited": (Cited(source="resume", quote=project),),
        }
    )


def _project(state: SessionState, rubric: Rubric) -> Quote | None:
    """Return the project that the deep dive moves: one of the first that can be quoted, by the seed."""
    if rubric.question(TRANSFER) is None or not state.started.resume:
        return None
    frame = _PROJECT_SENIOR if state.started.level == "senior" else _PROJECT
    usable = [q for q in read_resume(state.started.resume).projects if _sayable(frame.format(quote=_flat(q.text)))]
    usable = usable[:3]
    return max(usable, key=lambda q: unit_hash(state.started.seed, "project", q.text)) if usable else None


def _claim(ask: Ask, state: SessionState, rubric: Rubric) -> Ask | None:
    """Return a check of one claim of the resume, once a session, where the question under way can show it."""
    question = rubric.question(ask.question_id)
    checked = any(t.probe and t.probe.criterion and t.probe.cited for t in state.turns)
    if question is None or checked or not state.started.resume:
        return None
    opened = {q.quote.text for t in state.turns if t.probe for q in t.probe.cited}
    options = []
    for claim in read_resume(state.started.resume).claims:
        move, frame, criteria = _CLAIMS[claim.kind]
        criterion = next((c for c in criteria if question.target(c)), None)
        probe = frame.format(quote=_flat(claim.quote.text))
        if criterion and claim.quote.text not in opened and _sayable(probe):
            options.append((claim, move, criterion, probe))
    if not options:
        return None
    claim, move, criterion, probe = max(
        options, key=lambda option: unit_hash(state.started.seed, "claim", option[0].quote.text)
    )
    return ask.model_copy(
        update={
            "criterion": criterion,
            "move": move,
            "probe": probe,
            "reason": f"The resume makes a claim that is worth checking ({_WHY[claim.kind]}); asked for "
            f"{label(criterion)}.",
            "cited": (Cited(source="resume", quote=claim.quote),),
        }
    )


_WHY: Mapping[ClaimKind, str] = {
    "number": "a change without what it is against",
    "scale": "a size",
    "led": "a leading role",
}


def _conflict(state: SessionState, rubric: Rubric) -> Ask | None:
    """Return a kind question about a conflict that the last answer brought, on the question under way."""
    last = state.current
    question = rubric.question(last.question_id) if last and last.question_id else None
    if last is None or question is None or gave_up(last):
        return None
    aimed = next((c for c in _CLEARED_BY if question.target(c)), question.targets[0].criterion)
    for found in contradictions(state):
        if found.second.quote.turn != last.number:
            continue
        first, second = _short(found.first.quote), _short(found.second.quote)
        where = "your resume says" if found.first.source == "resume" else "you said before"
        probe = _CONFLICT.format(where=where, first=first, second=second)
        if _sayable(probe):
            return Ask(
                question_id=question.id,
                criterion=aimed,
                move=Move.CLARIFY,
                probe=probe,
                reason=f"Two statements differ ({_differs(found)}); asked so that it can be cleared up, and not held "
                "against anybody.",
                cited=(found.first, found.second),
            )
    return None


def _differs(found: Contradiction) -> str:
    return "who led" if found.about == "role" else "one quantity, two values"


def _with_job(ask: Ask, state: SessionState, rubric: Rubric) -> Ask:
    """Say in the reason which words of the job made a criterion weigh more."""
    question = rubric.question(ask.question_id)
    if question is None or not state.started.job:
        return ask
    about = {ask.criterion} if ask.criterion else {t.criterion for t in question.targets}
    named = [s for s in steers(state.started.job) if s.criterion in about and s.criterion in rubric.weights]
    if not named:
        return ask
    why = "; ".join(
        f"{label(s.criterion)} weighs x{s.factor:g} as the job says " + ", ".join(f"'{q.text}'" for q in s.because[:3])
        for s in named
    )
    return ask.model_copy(update={"reason": f"{ask.reason} For this job: {why}."})


def _sayable(probe: str) -> bool:
    """Whether a question with a quote in it still is one question that an interviewer may ask."""
    context = guard.Context(probe=probe, said="", follow_up=False, max_words=80)
    lead, question = guard.split_turn(probe)
    # Two quotes make a lead long, and that is what it is for.
    wrong = set(guard.check_lead(lead, context)) - {"too_long"} | set(guard.check_question(question, context))
    return not wrong and len(probe.split()) <= MOST_WORDS


def _short(found: Quote) -> str:
    return _flat(shortened(found.text, Span(0, len(found.text))).of(found.text))


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace('"', "'")
