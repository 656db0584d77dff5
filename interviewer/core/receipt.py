"""The interviewer's receipt: what it did in a session, counted after the fact, faults included.

Invariant: a pure fold of the log. The wording is checked again here with the guard's own rules, on what the candidate
saw, whoever worded it; so authored wording that was asked as a last resort can lose a tie and is counted too.
"""

from __future__ import annotations

from interviewer.core import guard
from interviewer.core.assessment import Frozen, Unscored
from interviewer.core.coverage import Coverage
from interviewer.core.events import WORDED
from interviewer.core.rubric import Rubric
from interviewer.core.session import SessionState

WEAK = 1
"""Highest level at which a criterion that nobody dug into is called a gap."""


class Receipt(Frozen):
    """What the interviewer did, counted. Turns are numbers of the session's turns."""

    questions: int
    follow_ups: int
    generated: int
    fell_back: int
    hints: int
    unscored: int
    tied: int = 0
    """Follow-ups that pick up something of the answer before them."""
    untied: tuple[int, ...] = ()
    """Follow-ups that pick up nothing; one that was interrupted is neither tied nor untied."""
    leaks: tuple[int, ...] = ()
    """Turns that named a known fact of their question before the candidate did."""
    repeats: tuple[int, ...] = ()
    """Turns that asked what an earlier one had asked."""
    missed: tuple[str, ...]
    """Must-ask criteria that the round never brought out."""
    gaps: tuple[str, ...] = ()
    """Criteria that stand at level 0 or 1 and at which no follow-up was aimed."""


def receipt(state: SessionState, rubric: Rubric, known: Coverage) -> Receipt:
    """Count what the interviewer did in a session, ended or not; ``known`` is the coverage of ``state``."""
    asked = [t for t in state.turns if t.question]
    sources = [t.question.source for t in asked if t.question]
    found = {t.number: turn_problems(state, t.number, rubric) for t in asked}
    complete = [t for t in asked if t.probe and t.probe.criterion and t.question and not t.question.interrupted]
    untied = tuple(t.number for t in complete if "not_tied" in found[t.number])
    return Receipt(
        questions=len(asked),
        follow_ups=sum(1 for t in asked if t.probe and t.probe.criterion),
        generated=sum(s in WORDED or s == "mixed" for s in sources),
        fell_back=sum(s in ("fallback", "mixed") for s in sources),
        hints=len(state.hints),
        unscored=sum(isinstance(t.result, Unscored) for t in state.turns),
        tied=len(complete) - len(untied),
        untied=untied,
        leaks=tuple(n for n, problems in found.items() if "leak" in problems),
        repeats=tuple(n for n, problems in found.items() if "repeat" in problems),
        missed=known.open_must_ask,
        gaps=tuple(c.criterion for c in known.criteria if (c.level or 0) <= WEAK and c.assessed and not c.probed),
    )


def turn_problems(state: SessionState, number: int, rubric: Rubric, max_words: int = 80) -> tuple[str, ...]:
    """Return the guard's findings, as codes, on the question that was asked in a turn; none where nothing was asked.

    A tie-in that was used before is ``repeated_lead``: the same phrase before another question repeats nothing.

    Args:
        state: The session.
        number: Of the turn.
        rubric: Of the session's round.
        max_words: Longest turn of the persona who asked it.
    """
    turn = next(t for t in state.turns if t.number == number)
    if turn.question is None:
        return ()
    before = state.turns[: state.turns.index(turn)]
    question = rubric.question(turn.question_id) if turn.question_id else None
    said = before[-1].answer.text if before and before[-1].answer else ""
    cited = [c.quote.text for c in turn.probe.cited] if turn.probe else []  # their own words, if of another place
    context = guard.Context(
        probe=turn.probe.probe if turn.probe else turn.question.text,
        said=" ".join((said, *cited)),
        follow_up=bool(turn.probe and turn.probe.criterion),
        asked=tuple(t.question.text for t in before if t.question),
        giveaways=tuple(term for fact in question.facts for term in fact.terms) if question else (),
        max_words=max_words,
    )
    problems = guard.check_turn(turn.question.text, context)
    if cited:  # the quote stands in the authored wording itself
        problems = tuple(p for p in problems if p != "echo")
    if turn.probe and turn.probe.restates:  # that is what it is for
        return tuple(p for p in problems if p != "repeat")
    if "repeat" in guard.check_question(guard.split_turn(turn.question.text)[1], context):
        return problems
    return tuple("repeated_lead" if p == "repeat" else p for p in problems)
