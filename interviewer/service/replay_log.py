"""The log of a replay while it is made, and what a replay takes over from its parent."""

from __future__ import annotations

from datetime import datetime

from interviewer.core import events as ev
from interviewer.core.session import SessionState, evolve


class Log:
    """A log that is written in memory first, so that the child is stored whole or not at all."""

    def __init__(self, session_id: str, at: datetime, start: ev.SessionStarted) -> None:
        """Begin with how the child starts."""
        self.session_id = session_id
        self.at = at
        self.events: list[ev.Event] = []
        self._state: SessionState | None = None
        self.add(start)

    @property
    def state(self) -> SessionState:
        """The child so far."""
        assert self._state is not None
        return self._state

    def add(self, event: ev.Event) -> None:
        """Append an event.

        Raises:
            IllegalEvent: it does not fit; a replay is made of events that do.
        """
        self.events.append(event)
        recorded = ev.Recorded(session_id=self.session_id, seq=len(self.events), at=self.at, event=event)
        self._state = evolve(self._state, recorded)


def spent(state: SessionState) -> float:
    """Return the seconds of the round that had passed when the last answer was given.

    An import and a replay are stored in one moment; there the choice of the last question says it.
    """
    probe = state.turns[-1].probe
    chosen = probe.elapsed * 60 * state.started.minutes if probe else 0.0
    return round(max(state.active_seconds, chosen), 3)
