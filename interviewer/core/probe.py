"""What to ask next, and why. Explicit code over the rubric state; no model takes part in the decision.

Invariant: the same state, rubric, persona, elapsed share and seed give the same decision. Ties are broken by a hash
of the seed, never by order of insertion or chance.
"""

from __future__ import annotations

import hashlib
from typing import Literal, TypeAlias

from interviewer.core.assessment import Frozen
from interviewer.core.coverage import Coverage, CriterionState, coverage
from interviewer.core.persona import Persona
from interviewer.core.requests import gave_up
from interviewer.core.resume import Cited
from interviewer.core.rubric import Move, Probe, Question, Rubric, Target
from interviewer.core.session import SessionState
from interviewer.core.text import capital, label

PROBES_PER_CRITERION = 2
"""Most follow-ups on one criterion within one question: pressing on past the edge shows nothing new."""
OPEN = 0.2
"""A criterion less open than this is not worth a follow-up; the next question is."""
WEIGHT_SAYS = 0.25
"""Exponent of the weights among the targets of one question: there the gap leads and the weights settle what is close.
At 1 a heavy target that stands well is dug into before a light one that does not (``design/0009``)."""
AGAIN = 0.3
"""How much a target is still worth after a follow-up on it: the others come first, as the weakest may be among them."""
MINUTES_PER_QUESTION = 8
"""A main question with its follow-ups, as people talk."""
MINUTES_PER_ANSWER = 3
"""A follow-up with its answer. The last question of a drill may have more time than its persona's patience fills; it is
dug into for as long as there is something open."""
NEARLY = 0.8
"""Share of the best question's worth from which another one may be asked in its place."""
GAP_SHARE = 0.65
"""How much of the need is distance to the top level; the rest is uncertainty of the reading."""

EASIER = frozenset({Move.CLARIFY, Move.ASK_NUMBER, Move.OTHER_SIDE, Move.MOVE_DOMAIN})
"""Ways in that are left after "I do not know": none that raises the bar."""

_FIT_LOW: dict[Move, float] = {
    Move.CLARIFY: 1.2,
    Move.ASK_NUMBER: 1.2,
    Move.OTHER_SIDE: 1.1,
    Move.MOVE_DOMAIN: 0.9,
    Move.ASK_REDO: 0.8,
    Move.MOVE_CONSTRAINT: 0.7,
    Move.FIND_EDGE: 0.5,
}
_FIT_HIGH: dict[Move, float] = {
    Move.CLARIFY: 0.5,
    Move.ASK_NUMBER: 1.0,
    Move.OTHER_SIDE: 1.1,
    Move.MOVE_DOMAIN: 1.0,
    Move.ASK_REDO: 1.1,
    Move.MOVE_CONSTRAINT: 1.3,
    Move.FIND_EDGE: 1.2,
}
MOVE_NAMES: dict[Move, str] = {
    Move.MOVE_CONSTRAINT: "move a constraint",
    Move.OTHER_SIDE: "ask for the other side",
    Move.ASK_NUMBER: "ask for the number",
    Move.ASK_REDO: "ask for the redo",
    Move.MOVE_DOMAIN: "move the domain",
    Move.FIND_EDGE: "find the edge",
    Move.CLARIFY: "ask what was meant",
}


class Ask(Frozen):
    """Put a main question (``criterion`` is ``None``) or a follow-up."""

    question_id: str
    criterion: str | None
    move: Move | None
    probe: str
    reason: str
    cited: tuple[Cited, ...] = ()
    """The candidate's own words that the question goes back to."""


class Close(Frozen):
    """End the round."""

    cause: Literal["time", "complete"]
    reason: str


Decision: TypeAlias = Ask | Close


def decide(
    state: SessionState, rubric: Rubric, persona: Persona, elapsed: float, only: frozenset[str] | None = None
) -> Decision:
    """Choose the next question of a session.

    Args:
        state: The session so far.
        rubric: The round.
        persona: Who asks; their liking for moves and their patience count.
        elapsed: Share of the round's minutes that has passed, 0 or more.
        only: Question ids to open with; ``None`` for the whole round.

    Returns:
        What to ask with the reason in words, or that the round ends and why.
    """
    known = coverage(state, rubric)
    if elapsed >= 1 and state.turns:
        return Close(cause="time", reason="The round's minutes are over.")
    current = _current_question(state, rubric)
    if current is not None:
        follow_up = _follow_up(state, rubric, persona, known, current, elapsed)
        if follow_up is not None:
            return follow_up
    return _next_question(state, rubric, known, elapsed, only)


def need(criterion: CriterionState) -> float:
    """Return how much a criterion is worth asking about: weight times gap and uncertainty, 0 to 3."""
    if criterion.expected is None:
        return criterion.weight
    gap = (3 - criterion.expected) / 3
    return criterion.weight * (GAP_SHARE * gap + (1 - GAP_SHARE) * min(1.0, criterion.uncertainty))


def openness(criterion: CriterionState) -> float:
    """Return how open a criterion is whatever its weight: its gap and the uncertainty of its reading, 0 to 1."""
    return need(criterion) / criterion.weight


def planned_questions(rubric: Rubric, minutes: int) -> int:
    """Return how many main questions fit the minutes: at least two where there are two, at most all."""
    return min(len(rubric.questions), max(2, round(minutes / MINUTES_PER_QUESTION)))


def patience(persona: Persona, minutes: int, planned: int) -> int:
    """Return how many follow-ups a round's last question gets: what the persona likes, or what its minutes hold."""
    return max(persona.followups, round(minutes / planned / MINUTES_PER_ANSWER))


def _current_question(state: SessionState, rubric: Rubric) -> Question | None:
    turn = state.current
    return rubric.question(turn.question_id) if turn and turn.question_id else None


def _follow_up(
    state: SessionState, rubric: Rubric, persona: Persona, known: Coverage, question: Question, elapsed: float
) -> Ask | None:
    every = state.on_question(question.id)
    spent = tuple(t for t in every if t.number not in state.superseded) or every
    pressed = sum(1 for t in spent[1:] if not (t.probe and t.probe.restates))
    planned = planned_questions(rubric, state.started.minutes)
    more = any(q.id not in {t.question_id for t in state.turns} for q in rubric.questions)
    if pressed >= (persona.followups if more else patience(persona, state.started.minutes, planned)):
        return None
    given = [how for turn in spent if (how := gave_up(turn))]
    stuck = gave_up(spent[-1])
    if stuck == "skip" or (stuck and len(given) > 1):
        return None
    started = spent[0].probe.elapsed if spent[0].probe else 0.0
    if more and elapsed - started > 1.5 / planned and known.open_must_ask:
        return None
    used = {t.probe.probe for t in state.turns if t.probe}
    last_move = spent[-1].probe.move if spent[-1].probe else None
    best: tuple[float, float, Target, Probe] | None = None
    for target in question.targets:
        criterion = known.of(target.criterion)
        aimed = sum(1 for t in spent if t.probe and t.probe.criterion == target.criterion)
        if criterion is None or aimed >= PROBES_PER_CRITERION or openness(criterion) < OPEN:
            continue
        weight = (criterion.weight * target.weight) ** WEIGHT_SAYS
        worth = openness(criterion) * weight * (AGAIN if aimed else 1.0)
        for probe in target.probes:
            if {probe.text, probe.wording(state.started.level)} & used:
                continue
            if stuck and probe.move not in EASIER:
                continue
            liking = persona.moves.get(probe.move, 1.0) * _fit(probe.move, criterion)
            liking *= 0.7 if probe.move == last_move else 1.0
            liking += 0.01 * unit_hash(state.started.seed, question.id, target.criterion, probe.text)
            if liking > 0.02 and (best is None or (worth, liking) > best[:2]):
                best = (worth, liking, target, probe)
    if best is None:
        return None
    _, _, target, probe = best
    criterion = known.of(target.criterion)
    assert criterion is not None
    return Ask(
        question_id=question.id,
        criterion=target.criterion,
        move=probe.move,
        probe=probe.wording(state.started.level),
        reason=f"{_standing(criterion)} It is the most open target of this question (need {need(criterion):.2f}); "
        f"move: {MOVE_NAMES[probe.move]}.",
    )


def _fit(move: Move, criterion: CriterionState) -> float:
    return _FIT_HIGH[move] if (criterion.expected or 0) >= 1.75 else _FIT_LOW[move]


def _standing(criterion: CriterionState) -> str:
    name = label(criterion.criterion)
    if criterion.expected is None:
        return f"Nothing was heard on {name} yet."
    return f"{capital(name)} stands at level {criterion.expected:.1f} (+-{criterion.uncertainty:.1f})."


def _next_question(
    state: SessionState, rubric: Rubric, known: Coverage, elapsed: float, only: frozenset[str] | None
) -> Decision:
    asked = {t.question_id for t in state.turns}
    left = [q for q in rubric.questions if q.id not in asked and (only is None or q.id in only)]
    planned = planned_questions(rubric, state.started.minutes)
    if not left:
        return Close(cause="complete", reason="Every question of the round was asked.")
    if len(asked) >= planned and not known.open_must_ask:
        return Close(cause="complete", reason=f"{len(asked)} questions asked and every must-ask criterion was heard.")
    if elapsed > 1 - 0.5 / planned and asked and not known.open_must_ask:
        return Close(cause="time", reason="Too little time is left to open another question fairly.")

    def worth(question: Question) -> float:
        total = 0.0
        for target in question.targets:
            criterion = known.of(target.criterion)
            if criterion is not None:
                boost = 2.0 if criterion.must_ask and not criterion.assessed else 1.0
                total += boost * target.weight * need(criterion)
        return round(total, 6)

    values = {question.id: worth(question) for question in left}
    # Among those that bring out nearly as much the seed decides, so that a second interview opens another door.
    enough = NEARLY * max(values.values())
    near = [q for q in left if values[q.id] >= enough]
    question = max(near, key=lambda q: unit_hash(state.started.seed, "question", q.id))
    new = [t.criterion for t in question.targets if t.criterion in known.open_must_ask]
    why = f"brings out {', '.join(map(label, new))}" if new else "digs where the picture is thinnest"
    why = "it was chosen to open with" if only else why
    return Ask(
        question_id=question.id,
        criterion=None,
        move=None,
        probe=question.wording(state.started.level),
        reason=f"Main question {len(asked) + 1} of about {planned}: {why}.",
    )


def unit_hash(seed: int, *parts: str) -> float:
    """Return a number in [0, 1) that depends on nothing but its arguments."""
    digest = hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
