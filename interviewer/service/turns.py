"""What one turn depends on, taken out of a session's state. Pure; the same for live turns, replays and training."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from interviewer.core import events as ev
from interviewer.core import guard
from interviewer.core.assessment import Assessment, JudgeResult
from interviewer.core.code import CodeReport
from interviewer.core.drills import DrillEvent
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask
from interviewer.core.prompts import TurnRequest, history
from interviewer.core.reading import Said
from interviewer.core.requests import recognise
from interviewer.core.rubric import Given, Rubric
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import content_words, sentences


def turn_seed(seed: int, turn: int) -> int:
    """Derive a repeatable seed for one turn, below 2**31."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{turn}".encode()).digest()[:4], "big") >> 1


def turn_request(state: SessionState, rubric: Rubric, persona: Persona) -> tuple[TurnRequest, guard.Context]:
    """Return what the wording of the probe just chosen depends on, and what it is checked against."""
    probe = state.turns[-1].probe
    assert probe is not None
    question = rubric.question(probe.question_id)
    said = next((t.answer.text for t in reversed(state.turns) if t.answer), "")
    request = TurnRequest(
        level=state.started.level,
        question=question.wording(state.started.level) if question else probe.probe,
        said=said,
        probe=probe.probe,
        move=probe.move,
        earlier=history(state, rubric),
    )
    context = guard.Context(
        probe=probe.probe,
        said=said,
        follow_up=True,
        asked=tuple(t.question.text for t in state.turns if t.question),
        giveaways=tuple(term for fact in question.facts for term in fact.terms) if question else (),
        max_words=persona.max_words,
    )
    return request, context


def next_request(state: SessionState, rubric: Rubric) -> TurnRequest | None:
    """Return what is known of the follow-up to an answer that is still to come; None where none can follow.

    It renders to the beginning of what :func:`turn_request` will render to, up to the answer.
    """
    turn = state.current
    question = rubric.question(turn.question_id) if turn and turn.question_id else None
    if question is None:
        return None
    return TurnRequest(
        level=state.started.level,
        question=question.wording(state.started.level),
        said="",
        probe="",
        move=None,
        earlier=history(state, rubric, ahead=True),
    )


def heard(state: SessionState, turn: Turn, rubric: Rubric) -> tuple[Sequence[Said], str]:
    """Return all that was said on the turn's question so far, and that question."""
    turns = state.on_question(turn.question_id) if turn.question_id else (turn,)
    void = state.superseded
    given = [t.answer for t in turns if t.answer and t.number not in void]
    # "I do not know" after an answer takes nothing back from it; alone it is all there is to read.
    full = [a for a in given if recognise(a.text) is None] or given
    said = [Said(turn=a.turn, text=a.text) for a in full]
    question = rubric.question(turn.question_id) if turn.question_id else None
    if question is not None:
        return said, question.wording(state.started.level)
    return said, turn.question.text if turn.question else ""


def chosen(ask: Ask, turn: int, elapsed: float, *, counterfactual: bool = False) -> ev.ProbeChosen:
    """Return the event of a decision to ask; ``elapsed`` is the share of the round that had passed."""
    return ev.ProbeChosen(
        turn=turn,
        question_id=ask.question_id,
        criterion=ask.criterion,
        move=ask.move,
        probe=ask.probe,
        reason=ask.reason,
        cited=ask.cited,
        elapsed=elapsed,
        counterfactual=counterfactual,
    )


def reading(turn: int, result: JudgeResult) -> ev.AnswerAssessed | ev.AnswerUnscored:
    """Return the event of what the judge made of a turn's answer."""
    if isinstance(result, Assessment):
        return ev.AnswerAssessed(turn=turn, assessment=result)
    return ev.AnswerUnscored(turn=turn, reason=result.reason, detail=result.detail, notices=result.notices)


def wholly_said(text: str, facts: Sequence[Given | DrillEvent]) -> tuple[str, ...]:
    """Return the ids of the facts whose words all stand in ``text``: one that was interrupted is still owed."""
    return tuple(fact.id for fact in facts if fact.says in text)


HANDOVER_WORDS = 14
"""Longest quote of the candidate when somebody else takes over."""


def handover(state: SessionState, persona: Persona, name: str) -> str | None:
    """Return how a newcomer comes in, when the next turn is their first after somebody else's; never a greeting.

    Args:
        state: The session; its last turn is the one that is about to be asked.
        persona: Who asks it.
        name: Of who asked before.
    """
    before = next((t.question for t in reversed(state.turns) if t.question), None)
    if before is None or before.persona == persona.id:
        return None
    return f"I go on from here in place of {name}, with the same round and what you have said."


def picked_up(state: SessionState) -> str | None:
    """Return a sentence that quotes what the candidate said before; ``None`` when nothing short enough was said."""
    for turn in reversed(state.turns):
        if turn.answer is None or recognise(turn.answer.text) is not None:
            continue
        said = [s.of(turn.answer.text).strip() for s in sentences(turn.answer.text)]
        short = [s for s in said if 4 <= len(s.split()) <= HANDOVER_WORDS and "?" not in s and '"' not in s]
        if short:
            quote = max(short, key=lambda s: (len(content_words(s)), -said.index(s)))
            return f'You said: "{quote.rstrip(".! ")}".'
    return None


def latest_code(state: SessionState, turn: Turn) -> CodeReport | None:
    """Return the report on the last code that was given on the turn's question; an earlier try does not count."""
    turns = state.on_question(turn.question_id) if turn.question_id else (turn,)
    return next((t.code for t in reversed(turns) if t.code), None)
