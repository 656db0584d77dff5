"""The state of one session: an immutable fold of its log, and the rules about which event may follow.

Invariant: ``fold(log)`` either returns a state or raises :class:`IllegalEvent`; it never guesses.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, Frozen, Unscored
from interviewer.core.code import CodeReport

PAUSE_CAP = 600.0
"""Longest gap between two events that counts as interview time, in seconds."""


class IllegalEvent(ValueError):
    """The event does not fit the state; the message names both."""


class Phase(StrEnum):
    """What the session is waiting for."""

    CHOOSING = "choosing"
    """The policy has to choose what to ask."""
    ASKING = "asking"
    """A probe is chosen; its question has to be put."""
    AWAITING = "awaiting"
    """The candidate has the word."""
    JUDGING = "judging"
    """An answer was accepted; it has to be read."""
    ENDED = "ended"


class Turn(Frozen):
    """One question with its answer and what was read from it."""

    number: int
    probe: ev.ProbeChosen | None = None
    question: ev.QuestionAsked | None = None
    answer: ev.AnswerGiven | None = None
    code: CodeReport | None = None
    """What was found out about the code in the answer, when it has some that the question asked for."""
    result: Assessment | Unscored | None = None
    """Reading of all that was said on the turn's question so far, this answer included."""
    alternative: ev.ProbeChosen | None = None
    """In a replay: what the other persona would have asked in place of this turn's question."""

    @property
    def question_id(self) -> str | None:
        """Rubric question that the turn belongs to, when known."""
        return self.probe.question_id if self.probe else None


class SessionState(Frozen):
    """Everything that is known about a session after ``seq`` events."""

    id: str
    seq: int
    active_seconds: float = 0.0
    """Time spent, in seconds; a pause counts as at most :data:`PAUSE_CAP`, so that resuming tomorrow costs nothing."""
    started: ev.SessionStarted
    started_at: datetime
    last_at: datetime
    persona: str
    adapter: str | None
    phase: Phase
    turns: tuple[Turn, ...] = ()
    hints: tuple[ev.HintGiven, ...] = ()
    notices: tuple[ev.SessionNotice, ...] = ()
    msg_ids: frozenset[str] = frozenset()
    ended: ev.SessionEnded | None = None

    @property
    def current(self) -> Turn | None:
        """The turn that is under way, or the last one."""
        return self.turns[-1] if self.turns else None

    def rungs_used(self, question_id: str) -> int:
        """Return how many hints were given on a question, 0 to 3."""
        return max((h.rung for h in self.hints if h.question_id == question_id), default=0)

    def on_question(self, question_id: str) -> tuple[Turn, ...]:
        """Return the turns spent on a rubric question, in order."""
        return tuple(t for t in self.turns if t.question_id == question_id)


def evolve(state: SessionState | None, recorded: ev.Recorded) -> SessionState:
    """Apply one recorded event.

    Raises:
        IllegalEvent: the event may not follow, its ``seq`` is not the next one, or it is of another session.
    """
    event = recorded.event
    if state is None:
        if not isinstance(event, ev.SessionStarted) or recorded.seq != 1:
            raise IllegalEvent(f"a log starts with session_started at seq 1, not {event.type} at {recorded.seq}")
        return SessionState(
            id=recorded.session_id,
            seq=1,
            started=event,
            started_at=recorded.at,
            last_at=recorded.at,
            persona=event.persona,
            adapter=event.versions.adapter,
            phase=Phase.CHOOSING,
        )
    if recorded.session_id != state.id or recorded.seq != state.seq + 1:
        raise IllegalEvent(
            f"expected seq {state.seq + 1} of {state.id}, got seq {recorded.seq} of {recorded.session_id}"
        )
    gap = min(PAUSE_CAP, max(0.0, (recorded.at - state.last_at).total_seconds()))
    return _apply(state, event).model_copy(
        update={"seq": recorded.seq, "last_at": recorded.at, "active_seconds": state.active_seconds + gap}
    )


def fold(log: Iterable[ev.Recorded]) -> SessionState:
    """Fold a whole log.

    Raises:
        IllegalEvent: the log is empty or not a legal sequence.
    """
    state: SessionState | None = None
    for recorded in log:
        state = evolve(state, recorded)
    if state is None:
        raise IllegalEvent("an empty log is not a session")
    return state


_LEGAL: dict[type[Frozen], frozenset[Phase]] = {
    ev.PersonaChanged: frozenset({Phase.CHOOSING, Phase.ASKING, Phase.AWAITING, Phase.JUDGING}),
    ev.ProbeChosen: frozenset({Phase.CHOOSING}),
    ev.QuestionAsked: frozenset({Phase.ASKING}),
    ev.AnswerGiven: frozenset({Phase.AWAITING}),
    ev.CodeChecked: frozenset({Phase.JUDGING}),
    ev.AnswerAssessed: frozenset(Phase),
    ev.AnswerUnscored: frozenset(Phase),
    ev.HintGiven: frozenset({Phase.AWAITING}),
    ev.SessionNotice: frozenset(Phase),
    ev.SessionEnded: frozenset(Phase) - {Phase.ENDED},
}


def _apply(state: SessionState, event: ev.Event) -> SessionState:
    if isinstance(event, ev.SessionStarted):
        raise IllegalEvent("a session starts once")
    if state.phase not in _LEGAL[type(event)] and not _excepted(state, event):
        raise IllegalEvent(f"{event.type} may not follow while the session is {state.phase}")
    match event:
        case ev.PersonaChanged():
            return state.model_copy(update={"persona": event.persona, "adapter": event.adapter})
        case ev.ProbeChosen(counterfactual=True):
            return _amend(state, state.phase, alternative=event)
        case ev.ProbeChosen():
            turn = Turn(number=event.turn, probe=event)
            return state.model_copy(update={"turns": (*state.turns, turn), "phase": Phase.ASKING})
        case ev.QuestionAsked():
            return _amend(state, Phase.AWAITING, event.turn, question=event)
        case ev.AnswerGiven():
            if event.msg_id in state.msg_ids:
                raise IllegalEvent(f"message {event.msg_id!r} was applied before")
            answered = _amend(state, Phase.JUDGING, event.turn, answer=event)
            return answered.model_copy(update={"msg_ids": state.msg_ids | {event.msg_id}})
        case ev.CodeChecked():
            return _amend(state, Phase.JUDGING, event.turn, code=event.report)
        case ev.AnswerAssessed():
            return _read(state, event.turn, event.assessment)
        case ev.AnswerUnscored():
            unscored = Unscored(reason=event.reason, detail=event.detail, notices=event.notices)
            return _read(state, event.turn, unscored)
        case ev.HintGiven():
            return state.model_copy(update={"hints": (*state.hints, event)})
        case ev.SessionNotice():
            return state.model_copy(update={"notices": (*state.notices, event)})
        case ev.SessionEnded():  # pragma: no branch - the union is closed
            return state.model_copy(update={"phase": Phase.ENDED, "ended": event})


def _excepted(state: SessionState, event: ev.Event) -> bool:
    """Allow what replays and imports add: other choices beside a turn, and turns that are read only later."""
    if not isinstance(event, ev.ProbeChosen) or not state.turns:
        return False
    return event.counterfactual or (state.started.origin == "imported" and state.phase is Phase.JUDGING)


def _read(state: SessionState, number: int, result: Assessment | Unscored) -> SessionState:
    """Attach a reading to the turn it is for; a later reading of the same turn replaces it."""
    at = next((i for i, turn in enumerate(state.turns) if turn.number == number and turn.answer), None)
    if at is None:
        raise IllegalEvent(f"turn {number} has no answer that could be read")
    turns = (*state.turns[:at], state.turns[at].model_copy(update={"result": result}), *state.turns[at + 1 :])
    current = at == len(state.turns) - 1 and state.phase is Phase.JUDGING
    return state.model_copy(update={"turns": turns, "phase": Phase.CHOOSING if current else state.phase})


def _amend(state: SessionState, phase: Phase, number: int | None = None, **changes: object) -> SessionState:
    if not state.turns:
        raise IllegalEvent("there is no turn yet that the event could change")
    turn = state.turns[-1]
    if number is not None and number != turn.number:
        raise IllegalEvent(f"event is for turn {number}, but turn {turn.number} is under way")
    return state.model_copy(update={"turns": (*state.turns[:-1], turn.model_copy(update=changes)), "phase": phase})
