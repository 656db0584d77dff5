"""Clarifying questions before an answer: what the next turn tells, and that the question stands.

A message that only asks is an answer all the same: the judge reads how the problem is framed. It is pressed on by no
probe; what it asked for is told, and the question is put again.
"""

from __future__ import annotations

from interviewer.core.givens import MOST_AT_ONCE, earned, only_asks
from interviewer.core.probe import Ask
from interviewer.core.rubric import Given, Move, Question, Rubric
from interviewer.core.scenario import Scenario, due
from interviewer.core.session import SessionState, Turn

GO_ON = "So, how would you go about it?"
"""Stands for a main question, which is too long to be said twice."""
OPEN = "Anything else is open: state your assumption and go on from there."
FRAMING = "problem_framing"
MOST = 2
"""How often one question is put again; whoever goes on asking is asked a follow-up."""


def case(question: Question | None, scenario: Scenario | None) -> tuple[Given, ...]:
    """Return the facts of a question's own case; none where a scenario puts it, as its brief may differ."""
    if question is None or (scenario is not None and scenario.question == question.id):
        return ()
    return question.givens


def owed(state: SessionState, rubric: Rubric, scenario: Scenario | None) -> tuple[Given, ...]:
    """Return what the next turn tells: what was asked for of the scenario, and of the question's own case."""
    waiting = due(state, scenario) if scenario else ()
    last = _answered(state)
    text = _only_asked(last)
    if last is None or not text or state.turns[-1].question_id != last.question_id:
        return waiting
    told = state.told
    facts = case(rubric.question(last.question_id or ""), scenario)
    asked = [given for given in earned(facts, text) if given.id not in told]
    return (*waiting, *asked[:MOST_AT_ONCE])


def stands(state: SessionState, rubric: Rubric, scenario: Scenario | None) -> Ask | None:
    """Return the question under way once more, when its last answer only asked and something is told; else ``None``."""
    turn = _answered(state)
    if turn is None or turn.probe is None or not _only_asked(turn):
        return None
    question = rubric.question(turn.probe.question_id)
    if question is None or not owed(state, rubric, scenario):
        return None
    if sum(1 for t in state.on_question(question.id) if t.probe and t.probe.restates) >= MOST:
        return None
    main = turn.probe.criterion is None and not turn.probe.restates
    return Ask(
        question_id=question.id,
        criterion=None,
        move=Move.CLARIFY,
        probe=GO_ON if main else turn.probe.probe,
        reason="The candidate asked before answering: what they asked for is told, and the question stands.",
    )


def read_on(state: SessionState, rubric: Rubric, scenario: Scenario | None) -> tuple[str, ...]:
    """Return the criteria that the last answer is read on; one that only asked shows how a case is framed, no more."""
    turn = _answered(state)
    every = rubric.read_on(turn.question_id if turn else None)
    return every if stands(state, rubric, scenario) is None else tuple(c for c in every if c == FRAMING)


def _answered(state: SessionState) -> Turn | None:
    return next((turn for turn in reversed(state.turns) if turn.answer), None)


def _only_asked(turn: Turn | None) -> str:
    """Return the answer of a turn when all of it asks, else nothing."""
    return turn.answer.text if turn and turn.answer and only_asks(turn.answer.text) else ""
