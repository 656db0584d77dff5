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


def messages(state: SessionState, recorded: ev.Recorded) -> list[wire.ServerMessage]:
    """Return the socket messages for one stored event; empty when it is not for the candidate's eyes yet."""
    event = recorded.event
    if not visible(state, event):
        return []
    match event:
        case ev.QuestionAsked():
            return [
                wire.QuestionDone(
                    seq=recorded.seq,
                    turn=event.turn,
                    text=event.text,
                    source=event.source,
                    interrupted=event.interrupted,
                )
            ]
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
