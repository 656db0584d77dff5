"""What the service tells about itself: figures to monitor it by and a log line per turn; never words of anybody.

The figures of a turn are read off the frames that a session sends anyway, so that an interview knows nothing of this.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from interviewer.core import events as ev
from interviewer.service.frames import Committed, Delta, Failed, Frame, Progress, Sink

_log = logging.getLogger("interviewer.turns")

Stage: TypeAlias = Literal["reading", "choosing", "first_word", "question", "reply"]
"""reading: judge and sandbox look at an answer; choosing: the next probe is picked and stored; first_word: from then to
the first word that is sent; question: from then to the whole question, stored; reply: from an accepted answer to the
first word of the next question, which is what a candidate waits for."""


class Telemetry(Protocol):
    """Takes figures; must not block, and must not fail."""

    def began(self, session_id: str, stage: Stage) -> None:
        """Note that a stage of a session's turn begins."""
        ...

    def took(self, session_id: str, stage: Stage, seconds: float) -> None:
        """Note how long a stage of a turn took."""
        ...

    def asked(self, session_id: str, turn: int, persona: str, source: str, *, model_away: bool) -> None:
        """Note a question: who asked it, where its words came from, and whether the model could not be reached."""
        ...

    def stopped(self, session_id: str, code: str) -> None:
        """Note a turn that could not go on."""
        ...

    def ended(self, session_id: str) -> None:
        """Note a session that ended: what its last turn began comes to no question."""
        ...

    def judged(self, outcome: str, seconds: float) -> None:
        """Note one pass of the judge: ``scored``, or why not."""
        ...

    def closed(self, reason: str) -> None:
        """Note a socket that ended."""
        ...


class Unwatched:
    """Keeps nothing; for tools and tests."""

    def began(self, session_id: str, stage: Stage) -> None:
        """Do nothing."""

    def took(self, session_id: str, stage: Stage, seconds: float) -> None:
        """Do nothing."""

    def asked(self, session_id: str, turn: int, persona: str, source: str, *, model_away: bool) -> None:
        """Do nothing."""

    def stopped(self, session_id: str, code: str) -> None:
        """Do nothing."""

    def ended(self, session_id: str) -> None:
        """Do nothing."""

    def judged(self, outcome: str, seconds: float) -> None:
        """Do nothing."""

    def closed(self, reason: str) -> None:
        """Do nothing."""


class Watch:
    """Follows the frames of one session and tells how long each stage took."""

    def __init__(
        self, session_id: str, telemetry: Telemetry, sink: Sink, now: Callable[[], float] = time.perf_counter
    ) -> None:
        """Stand before ``sink``; ``now`` gives seconds on a clock that never goes back."""
        self._session_id = session_id
        self._telemetry = telemetry
        self._sink = sink
        self._now = now
        self._since: dict[str, float] = {}
        self._took: dict[str, float] = {}

    def __call__(self, frame: Frame) -> None:
        """Note what a frame says, and pass it on."""
        match frame:
            case Progress(stage="asking"):
                self._begin("first_word", "question")
            case Delta():
                self._end("first_word", "reply")
            case Committed():
                self._stored(frame.recorded.event)
            case Failed():
                self._forget()
                self._telemetry.stopped(self._session_id, frame.code)
            case _:
                pass
        self._sink(frame)

    def _stored(self, event: ev.Event) -> None:
        match event:
            case ev.AnswerGiven():
                self._begin("reading", "reply")
            case ev.AnswerAssessed() | ev.AnswerUnscored():
                self._end("reading")
                self._begin("choosing")
            case ev.ProbeChosen():
                self._end("choosing")
            case ev.QuestionAsked():
                self._asked(event)
            case ev.SessionEnded():
                self._forget()
                self._telemetry.ended(self._session_id)
            case _:
                pass

    def _forget(self) -> None:
        self._since.clear()
        self._took.clear()

    def _asked(self, event: ev.QuestionAsked) -> None:
        if event.interrupted:  # the candidate's decision; how long it took says nothing about the service
            self._since.pop("question", None)
        self._end("question")
        source = "interrupted" if event.interrupted else event.source
        away = "model_unavailable" in event.problems
        self._telemetry.asked(self._session_id, event.turn, event.persona, source, model_away=away)
        took = {stage: round(seconds, 3) for stage, seconds in self._took.items()}
        self._took.clear()
        _log.info(
            "question %d of session %s asked: %s",
            event.turn,
            self._session_id,
            ", ".join([source, *(f"{stage} {seconds} s" for stage, seconds in took.items())]),
            extra={
                "session": self._session_id,
                "turn": event.turn,
                "persona": event.persona,
                "source": source,
                "seconds": took,
            },
        )

    def _begin(self, *stages: Stage) -> None:
        self._since.update(dict.fromkeys(stages, self._now()))
        for stage in stages:
            self._telemetry.began(self._session_id, stage)

    def _end(self, *stages: Stage) -> None:
        for stage in stages:
            if (since := self._since.pop(stage, None)) is not None:
                self._took[stage] = self._now() - since
                self._telemetry.took(self._session_id, stage, self._took[stage])
