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
    requests: tuple[ev.RequestMade, ...] = ()
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

    @property
    def told(self) -> dict[str, int]:
        """Facts of a case, a scenario or a drill that were said so far, with the turn that said them."""
        return {fact: t.number for t in self.turns if t.question for fact in t.question.revealed}

    @property
    def retries(self) -> dict[int, Turn]:
        """Turns that are another attempt, by the number of the turn whose answer they stand in for, answered or not."""
        again = [(t.probe.again_of, t) for t in self.turns if t.probe and t.probe.again_of is not None]
        if not again:  # nearly always, and this is asked for many times a turn
            return {}
        answered = {t.number for t in self.turns if t.answer}
        return {of: t for of, t in again if of in answered}

    @property
    def superseded(self) -> frozenset[int]:
        """Turns whose answer was given again: the later one counts, the earlier one stays in the log."""
        return frozenset(number for number, turn in self.retries.items() if turn.answer)

    @property
    def set_aside(self) -> ev.ProbeChosen | None:
        """What was being asked when the last turn, another attempt, was taken in its place; it is still owed."""
        if len(self.turns) < 2 or self.turns[-1] not in self.retries.values():
            return None
        return self.turns[-2].probe if self.turns[-2].answer is None else None

    @property
    def may_retry(self) -> Turn | None:
        """The turn whose answer can be given again now: the last answered one, while that can still prove something."""
        last = self.turns[-1] if self.turns else None
        before = next((t for t in reversed(self.turns) if t.answer), None)
        if last is None or last.answer is not None or before is None or last in self.retries.values():
            return None
        question = before.question_id
        return before if question is not None and self.price(question) < 2 else None

    def price(self, question_id: str) -> int:
        """Return how many levels below the top an answer to a question is capped, 0 to 3: one per hint and retry."""
        done = self.superseded
        tries = sum(1 for t in self.turns if t.number in done and t.question_id == question_id)
        return min(3, self.rungs_used(question_id) + tries)

    def on_question(self, question_id: str) -> tuple[Turn, ...]:
        """Return the turns spent on a rubric question, in order."""
        return tuple(t for t in self.turns if t.question_id == question_id)


def evolve(state: SessionState | None, recorded: ev.Recorded) -> SessionState:
    """Apply one recorded event.

    Raises:
        IllegalEvent: the event may not follow, its ``seq`` is not the next one, or it is of another session.
    """
    draft = _first(recorded) if state is None else _Draft(state).apply(recorded)
    return draft.state()


def fold(log: Iterable[ev.Recorded]) -> SessionState:
    """Fold a whole log; the same as :func:`evolve` over it, but in time that grows with its length alone.

    Raises:
        IllegalEvent: the log is empty or not a legal sequence.
    """
    draft: _Draft | None = None
    for recorded in log:
        draft = _first(recorded) if draft is None else draft.apply(recorded)
    if draft is None:
        raise IllegalEvent("an empty log is not a session")
    return draft.state()


_LEGAL: dict[type[Frozen], frozenset[Phase]] = {
    ev.PersonaChanged: frozenset({Phase.CHOOSING, Phase.ASKING, Phase.AWAITING, Phase.JUDGING}),
    ev.ProbeChosen: frozenset({Phase.CHOOSING}),
    ev.QuestionAsked: frozenset({Phase.ASKING}),
    ev.AnswerGiven: frozenset({Phase.AWAITING}),
    ev.RequestMade: frozenset({Phase.AWAITING}),
    ev.CodeChecked: frozenset({Phase.JUDGING}),
    ev.AnswerAssessed: frozenset(Phase),
    ev.AnswerUnscored: frozenset(Phase),
    ev.HintGiven: frozenset({Phase.AWAITING}),
    ev.SessionNotice: frozenset(Phase),
    ev.SessionEnded: frozenset(Phase) - {Phase.ENDED},
}


def _first(recorded: ev.Recorded) -> _Draft:
    event = recorded.event
    if not isinstance(event, ev.SessionStarted) or recorded.seq != 1:
        raise IllegalEvent(f"a log starts with session_started at seq 1, not {event.type} at {recorded.seq}")
    return _Draft(
        SessionState(
            id=recorded.session_id,
            seq=1,
            active_seconds=event.spent_seconds,
            started=event,
            started_at=recorded.at,
            last_at=recorded.at,
            persona=event.persona,
            adapter=event.versions.adapter,
            phase=Phase.CHOOSING,
        )
    )


class _Draft:
    """A state that is being changed. It is private to one fold: what is shared are frozen states only."""

    def __init__(self, state: SessionState) -> None:
        self._base = state
        self._seq, self._last_at, self._active = state.seq, state.last_at, state.active_seconds
        self._persona, self._adapter = state.persona, state.adapter
        self._phase = state.phase
        self._turns = list(state.turns)
        self._hints: list[ev.HintGiven] = []
        self._requests: list[ev.RequestMade] = []
        self._notices: list[ev.SessionNotice] = []
        self._msg_ids: set[str] = set()
        self._ended = state.ended

    def state(self) -> SessionState:
        """Return what the draft came to; the one place that copies everything."""
        base = self._base
        return base.model_copy(
            update={
                "seq": self._seq,
                "active_seconds": self._active,
                "last_at": self._last_at,
                "persona": self._persona,
                "adapter": self._adapter,
                "phase": self._phase,
                "turns": tuple(self._turns),
                "hints": (*base.hints, *self._hints),
                "requests": (*base.requests, *self._requests),
                "notices": (*base.notices, *self._notices),
                "msg_ids": base.msg_ids | self._msg_ids if self._msg_ids else base.msg_ids,
                "ended": self._ended,
            }
        )

    def apply(self, recorded: ev.Recorded) -> _Draft:
        """Apply one event; after an :class:`IllegalEvent` the draft is of no more use."""
        if recorded.session_id != self._base.id or recorded.seq != self._seq + 1:
            raise IllegalEvent(
                f"expected seq {self._seq + 1} of {self._base.id}, got seq {recorded.seq} of {recorded.session_id}"
            )
        self._change(recorded.event)
        self._active += min(PAUSE_CAP, max(0.0, (recorded.at - self._last_at).total_seconds()))
        self._seq, self._last_at = recorded.seq, recorded.at
        return self

    def _change(self, event: ev.Event) -> None:
        if isinstance(event, ev.SessionStarted):
            raise IllegalEvent("a session starts once")
        if self._phase not in _LEGAL[type(event)] and not self._excepted(event):
            raise IllegalEvent(f"{event.type} may not follow while the session is {self._phase}")
        match event:
            case ev.PersonaChanged():
                self._persona, self._adapter = event.persona, event.adapter
            case ev.ProbeChosen(counterfactual=True):
                self._amend(self._phase, alternative=event)
            case ev.ProbeChosen():
                self._turns.append(Turn(number=event.turn, probe=event))
                self._phase = Phase.ASKING
            case ev.QuestionAsked():
                self._amend(Phase.AWAITING, event.turn, question=event)
            case ev.AnswerGiven():
                self._once(event.msg_id)
                self._amend(Phase.JUDGING, event.turn, answer=event)
            case ev.RequestMade():
                self._once(event.msg_id)
                self._amend(Phase.AWAITING, event.turn)
                self._requests.append(event)
            case ev.CodeChecked():
                self._amend(Phase.JUDGING, event.turn, code=event.report)
            case ev.AnswerAssessed():
                self._read(event.turn, event.assessment)
            case ev.AnswerUnscored():
                self._read(event.turn, Unscored(reason=event.reason, detail=event.detail, notices=event.notices))
            case ev.HintGiven():
                self._hints.append(event)
            case ev.SessionNotice():
                self._notices.append(event)
            case ev.SessionEnded():  # pragma: no branch - the union is closed
                self._phase, self._ended = Phase.ENDED, event

    def _once(self, msg_id: str) -> None:
        if msg_id in self._msg_ids or msg_id in self._base.msg_ids:
            raise IllegalEvent(f"message {msg_id!r} was applied before")
        self._msg_ids.add(msg_id)

    def _excepted(self, event: ev.Event) -> bool:
        """Allow another attempt in place of an answer, and what replays and imports add.

        These are other choices beside a turn, and turns that are read only later.
        """
        if not isinstance(event, ev.ProbeChosen) or not self._turns:
            return False
        if event.again_of is not None and self._phase is Phase.AWAITING:
            return True
        imported = self._base.started.origin == "imported"
        return event.counterfactual or (imported and self._phase is Phase.JUDGING)

    def _read(self, number: int, result: Assessment | Unscored) -> None:
        """Attach a reading to the turn it is for; a later reading of the same turn replaces it."""
        # Turns are numbered in order from 1, so the guess is right and a long log is not searched for each reading.
        guess = number - 1
        if not (0 <= guess < len(self._turns) and self._turns[guess].number == number):
            guess = next((i for i, turn in enumerate(self._turns) if turn.number == number), -1)
        if guess < 0 or self._turns[guess].answer is None:
            raise IllegalEvent(f"turn {number} has no answer that could be read")
        self._turns[guess] = self._turns[guess].model_copy(update={"result": result})
        if guess == len(self._turns) - 1 and self._phase is Phase.JUDGING:
            self._phase = Phase.CHOOSING

    def _amend(self, phase: Phase, number: int | None = None, **changes: object) -> None:
        if not self._turns:
            raise IllegalEvent("there is no turn yet that the event could change")
        turn = self._turns[-1]
        if number is not None and number != turn.number:
            raise IllegalEvent(f"event is for turn {number}, but turn {turn.number} is under way")
        self._turns[-1], self._phase = turn.model_copy(update=changes), phase
