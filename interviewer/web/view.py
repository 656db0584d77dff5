"""What a client may see while the session runs: in real mode neither what is probed nor any level."""

from __future__ import annotations

from interviewer.core import events as ev
from interviewer.core.session import Phase, SessionState
from interviewer.web import wire


def visible(state: SessionState, event: ev.Event) -> bool:
    """Return whether ``event`` may be shown to the candidate now."""
    if state.phase is Phase.ENDED or state.started.origin == "imported":
        return True
    hidden = (ev.ProbeChosen, ev.CodeChecked, ev.AnswerAssessed, ev.AnswerUnscored)
    return state.started.mode == "practice" or not isinstance(event, hidden)


def shown(state: SessionState, recorded: ev.Recorded) -> ev.Recorded | None:
    """Return an event as the candidate may see it now; ``None`` when they may not see it yet.

    In practice mode too, what is pursued next and why shows only when the session has ended: it would give the
    question away before it is put, and afterwards what a good answer to it is about. The report so far tells it.
    """
    event = recorded.event
    if not visible(state, event):
        return None
    if isinstance(event, ev.ProbeChosen) and state.phase is not Phase.ENDED and state.started.origin != "imported":
        bare = event.model_copy(update={"criterion": None, "move": None, "probe": "", "reason": "", "cited": ()})
        return recorded.model_copy(update={"event": bare})
    return recorded


def prices(state: SessionState) -> list[wire.Prices]:
    """Return what a hint and another attempt cost now; empty when there are none, as in real mode."""
    turn = state.current
    if state.started.mode == "real" or state.phase is not Phase.AWAITING or turn is None or turn.question_id is None:
        return []
    if state.started.origin == "imported":
        return []
    rung = state.rungs_used(turn.question_id) + 1
    again = state.may_retry
    return [
        wire.Prices(
            turn=turn.number,
            hint_rung=rung if rung <= 3 else None,
            hint_cap=max(0, 2 - state.price(turn.question_id)) if rung <= 3 else None,
            retry_turn=again.number if again else None,
            retry_cap=2 - state.price(again.question_id) if again and again.question_id else None,
        )
    ]


def messages(state: SessionState, recorded: ev.Recorded) -> list[wire.ServerMessage]:
    """Return the socket messages for one stored event; empty when it is not for the candidate's eyes yet."""
    allowed = shown(state, recorded)
    if allowed is None:
        return []
    recorded, event = allowed, allowed.event
    match event:
        case ev.QuestionAsked():
            return [
                wire.QuestionDone(
                    seq=recorded.seq,
                    turn=event.turn,
                    text=event.text,
                    source=event.source,
                    interrupted=event.interrupted,
                ),
                *(prices(state) if state.current and state.current.number == event.turn else ()),
            ]
        case ev.HintGiven():
            return [wire.EventMessage(seq=recorded.seq, recorded=recorded), *prices(state)]
        case ev.AnswerAssessed() | ev.AnswerUnscored():
            return [wire.AssessmentMessage(seq=recorded.seq, turn=event.turn, recorded=recorded)]
        case ev.SessionEnded():
            url = f"/v1/sessions/{recorded.session_id}/report"
            return [
                wire.EventMessage(seq=recorded.seq, recorded=recorded),
                wire.ReportReady(seq=recorded.seq, url=url),
            ]
        case _:
            return [wire.EventMessage(seq=recorded.seq, recorded=recorded)]


def ws_url(session_id: str) -> str:
    """Return the path of a session's socket."""
    return f"/v1/sessions/{session_id}/ws"
