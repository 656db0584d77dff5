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
from interviewer.core.guard import split_turn
from interviewer.core.rubric import Move, Question, Rubric, SeniorityLevel
from interviewer.core.wording import shared
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
        asked, follows = "", False
        sent, first, answered = 0.0, True, 0
        while True:
            match await socket.receive():
                case wire.EventMessage(recorded=ev.Recorded(event=ev.ProbeChosen() as chosen)):
                    follows = probe is not None and probe.question_id == chosen.question_id
                    probe = chosen
                case wire.QuestionDone(text=text):
                    asked = text
                case wire.QuestionDelta() if answered and first:
                    first = False
                    times = held.follow_up_ms if follows else held.main_ms
                    times.append(round((time.perf_counter() - sent) * 1000, 1))
                case wire.Status(stage="waiting", turn=turn) if probe is not None and turn > answered:
                    answered, first = turn, True
                    sent = time.perf_counter()
                    await _reply(socket, speaker, rubric, probe, asked if follows else None)
                    held.spent = speaker.spent
                case wire.Status(stage="ended") | wire.ReportReady():
                    return
                case wire.ErrorMessage(code=code, message=message):
                    raise ServiceError(code, f"session {held.session_id}: {message}")
                case _:
                    continue


async def _reply(
    socket: Socket, speaker: Speaker, rubric: Rubric, probe: ev.ProbeChosen, follow_up: str | None
) -> None:
    question = rubric.question(probe.question_id)
    if question is None:
        raise ServiceError(
            "unknown_question", f"the service asked {probe.question_id!r}, which is not in these rubrics"
        )
    if probe.turn > MOST_TURNS:
        await socket.send(wire.End())
        return
    aim = aimed_at(question, follow_up, speaker.candidate.level) if follow_up else (None, None)
    await socket.answer(speaker.reply(question, *aim))


def aimed_at(question: Question, asked: str, level: SeniorityLevel) -> tuple[str, Move]:
    """Return what a follow-up is heard to be after, the criterion and the move, by its words alone.

    While a session runs the service does not tell what it pursues; a candidate has the question and no more.
    """
    probes = [(target.criterion, probe) for target in question.targets for probe in target.probes]
    criterion, probe = max(probes, key=lambda one: shared(split_turn(asked)[1] or asked, one[1].wording(level)))
    return criterion, probe.move
