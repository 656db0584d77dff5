"""One simulated candidate in a real session: through the service's own socket, from the greeting to the report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eval.candidates import Candidate, Speaker
from interviewer.client import Client, ServiceError, Socket, open_socket
from interviewer.core import events as ev
from interviewer.core.rubric import Rubric
from interviewer.web import wire

MOST_TURNS = 60
"""After so many questions the candidate ends the session; the service should have done so long before."""


@dataclass
class Held:
    """A session as it was held."""

    session_id: str
    log: list[ev.Recorded] = field(default_factory=list)
    """All events, as the service gives them out when the session is over."""
    report: Mapping[str, Any] = field(default_factory=dict)
    follow_up_ms: list[float] = field(default_factory=list)
    """Milliseconds from sending an answer to the first piece of the follow-up to it."""
    main_ms: list[float] = field(default_factory=list)
    """The same where a main question followed, which needs no persona model."""
    spent: int = 0
    """How often the candidate had nothing left to say."""


def hold(url: str, candidate: Candidate, rubric: Rubric, persona: str, *, seed: int, minutes: int) -> Held:
    """Hold one session in practice mode and return it with its log and report.

    Raises:
        ServiceError: the service refused something, or cannot be reached.
    """
    with Client(url) as client:
        body = {
            "persona": persona,
            "rubric": rubric.id,
            "level": candidate.level,
            "minutes": minutes,
            "seed": seed,
            "mode": "practice",
        }
        opened = client.post("/v1/sessions", body)
        held = Held(opened["id"])
        asyncio.run(_talk(url, opened["token"], Speaker(candidate), rubric, held))
        lines = client.text(f"/v1/sessions/{held.session_id}/events").splitlines()
        held.log = [ev.Recorded.model_validate_json(line) for line in lines]
        held.report = client.get(f"/v1/sessions/{held.session_id}/report")
    return held


async def _talk(url: str, token: str, speaker: Speaker, rubric: Rubric, held: Held) -> None:
    async with open_socket(url, held.session_id, token) as socket:
        probe: ev.ProbeChosen | None = None
        sent, first, answered = 0.0, True, 0
        while True:
            match await socket.receive():
                case wire.EventMessage(recorded=ev.Recorded(event=ev.ProbeChosen() as chosen)):
                    probe = chosen
                case wire.QuestionDelta() if answered and first:
                    first = False
                    times = held.follow_up_ms if probe and probe.criterion else held.main_ms
                    times.append(round((time.perf_counter() - sent) * 1000, 1))
                case wire.Status(stage="waiting", turn=turn) if probe is not None and turn > answered:
                    answered, first = turn, True
                    sent = time.perf_counter()
                    await _reply(socket, speaker, rubric, probe)
                    held.spent = speaker.spent
                case wire.Status(stage="ended") | wire.ReportReady():
                    return
                case wire.ErrorMessage(code=code, message=message):
                    raise ServiceError(code, f"session {held.session_id}: {message}")
                case _:
                    continue


async def _reply(socket: Socket, speaker: Speaker, rubric: Rubric, probe: ev.ProbeChosen) -> None:
    question = rubric.question(probe.question_id)
    if question is None:
        raise ServiceError(
            "unknown_question", f"the service asked {probe.question_id!r}, which is not in these rubrics"
        )
    if probe.turn > MOST_TURNS:
        await socket.send(wire.End())
        return
    await socket.answer(speaker.reply(question, probe.criterion, probe.move))
