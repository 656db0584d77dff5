"""A stubborn candidate for `eval faults`, and what must hold between what it saw and what the log says.

It answers turn by turn, comes back with the last ``seq`` that it has whenever the connection breaks, and sends an
answer again under the same id until it has seen it stored: what every client has to do.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import httpx2
from websockets.exceptions import WebSocketException

from interviewer.client import Socket, open_socket
from interviewer.core import events as ev
from interviewer.core.session import IllegalEvent, fold
from interviewer.web import wire

Stage: TypeAlias = Literal["connecting", "sending", "reading", "choosing", "asking", "speaking", "waiting", "ending"]
STAGES: tuple[Stage, ...] = ("connecting", "sending", "reading", "choosing", "asking", "speaking", "waiting", "ending")
"""Of a turn, as the client sees it: no socket; answer sent, not acknowledged; stored, not read; read, next question not
chosen; chosen, no word of it; being said; the candidate has the word; the end was asked for."""
GONE = (OSError, WebSocketException, EOFError, TimeoutError, httpx2.HTTPError)
PATIENCE = 30.0
"""Seconds without any message after which a client looks again; no step of a turn takes as long."""
PRACTICE = (
    "We held p99 latency at 800 ms at batch 8 because the tail decides for the user.",
    "I gave up 15 percent of throughput, and measured it on the same load for a week.",
    "Paging costs an indirection per block, which we saw in the attention kernel.",
    "I do not know that one; I would measure the cache hit rate first.",
)


@dataclass
class Candidate:
    """One client with one session, and all that it saw."""

    url: str
    turns: int
    chance: random.Random
    changed: Callable[[], None]
    """Called whenever the stage changes."""
    stage: Stage = "connecting"
    id: str = ""
    sent: dict[str, str] = field(default_factory=dict)
    """Every answer that was sent, by message id."""
    acknowledged: set[str] = field(default_factory=set)
    """Answers whose event was seen."""
    seen: dict[int, str] = field(default_factory=dict)
    """Type of each event that was seen, by seq."""
    problems: list[str] = field(default_factory=list)
    """What this client saw that cannot be."""
    ended: bool = False
    connections: int = 0
    _text: str = ""
    _turn: int = 0

    async def run(self) -> None:
        """Hold the session to its end, whatever happens to the service."""
        token = await self._create()
        while not self.ended:
            self._enter("connecting")
            try:
                async with open_socket(self.url, self.id, token, self.seq) as socket:
                    self.connections += 1
                    await self._follow(socket)
            except GONE:
                pass
            if not self.ended:
                await asyncio.sleep(self.chance.uniform(0.05, 0.3))

    @property
    def seq(self) -> int:
        """Highest seq that was seen."""
        return max(self.seen, default=0)

    async def _create(self) -> str:
        body = {"persona": "deep_dive", "minutes": 120, "seed": self.chance.randrange(2**31)}
        async with httpx2.AsyncClient(base_url=self.url, timeout=10.0) as http:
            while True:
                try:
                    answer = await http.post("/v1/sessions", json=body)
                except GONE:
                    answer = None
                if answer is not None and answer.status_code == 201:
                    opened = answer.json()
                    self.id = opened["id"]
                    self.changed()
                    return str(opened["token"])
                await asyncio.sleep(0.2)

    async def _follow(self, socket: Socket) -> None:
        while not self.ended:
            async with asyncio.timeout(PATIENCE):
                message = await socket.receive()
            match message:
                case wire.Welcome():
                    self._text = message.partial
                case wire.Resync():
                    self.problems.append(f"told to start over at {self.seq}: the log is shorter than what was seen")
                    self.seen.clear()
                case wire.EventMessage() | wire.AssessmentMessage():
                    self._note(message.seq, message.recorded.event)
                case wire.QuestionDelta():
                    if message.turn != self._turn:
                        self._turn = message.turn
                        self._text = self._text if message.offset else ""
                    self._text = self._text[: message.offset] + message.text
                    self._enter("speaking")
                case wire.QuestionDone():
                    self._see(message.seq, "question_asked")
                    if self._text and not message.interrupted and self._text != message.text:
                        self.problems.append(f"turn {message.turn}: shown and stored question differ")
                    self._text = ""
                case wire.Status(stage="waiting"):
                    self._enter("waiting")
                    await asyncio.sleep(self.chance.uniform(0.0, 0.1))  # a fast reader
                    await self._speak(socket, message.turn)
                case wire.Status(stage="asking"):
                    self._enter("asking")
                case wire.Status(stage="reading"):
                    self._enter("reading")
                case wire.ErrorMessage():
                    return  # whatever it is, coming back is how to go on; nothing is taken back by it
                case _:
                    pass

    async def _speak(self, socket: Socket, turn: int) -> None:
        if turn > self.turns:
            self._enter("ending")
            await socket.send(wire.End())
            return
        msg_id = f"m{turn}"
        self.sent.setdefault(msg_id, f"{PRACTICE[turn % len(PRACTICE)]} That was {turn} of {self.id}.")
        self._enter("sending")
        await socket.send(wire.Answer(msg_id=msg_id, text=self.sent[msg_id]))

    def _note(self, seq: int, event: ev.Event) -> None:
        self._see(seq, event.type)
        match event:
            case ev.AnswerGiven():
                self.acknowledged.add(event.msg_id)
                self._enter("reading")
            case ev.AnswerAssessed() | ev.AnswerUnscored():
                self._enter("choosing")
            case ev.ProbeChosen():
                self._text = ""
                self._enter("asking")
            case ev.SessionEnded():
                self.ended = True
                self._enter("ending")
            case _:
                pass

    def _see(self, seq: int, kind: str) -> None:
        if seq in self.seen:
            self.problems.append(f"event {seq} was sent twice")
        elif seq != self.seq + 1:
            self.problems.append(f"event {seq} came after {self.seq}")
        self.seen[seq] = kind

    def _enter(self, stage: Stage) -> None:
        if stage != self.stage:
            self.stage = stage
            self.changed()


def violations(log: Sequence[ev.Recorded], who: Candidate) -> list[str]:
    """Return what does not hold for one session whose end the client saw; empty when all does."""
    found = list(who.problems)
    if [r.seq for r in log] != list(range(1, len(log) + 1)):
        found.append("the log has a gap")
    answers = [r.event for r in log if isinstance(r.event, ev.AnswerGiven)]
    times = Counter(a.msg_id for a in answers)
    found += [f"answer {name} was applied {n} times" for name, n in times.items() if n > 1]
    found += [f"accepted answer {name} was lost" for name in sorted(who.acknowledged - set(times))]
    found += [f"answer {name} was never taken" for name in sorted(set(who.sent) - set(times) - who.acknowledged)]
    found += [f"answer {a.msg_id} is not what was sent" for a in answers if who.sent.get(a.msg_id) != a.text]
    once = (ev.ProbeChosen, ev.QuestionAsked, ev.AnswerGiven)
    steps = Counter((type(r.event).__name__, r.event.turn) for r in log if isinstance(r.event, once))
    read = Counter(r.event.turn for r in log if isinstance(r.event, ev.AnswerAssessed | ev.AnswerUnscored))
    found += [f"turn {turn} has {n} {name}" for (name, turn), n in steps.items() if n > 1]
    found += [f"the answer of turn {a.turn} was read {read[a.turn]} times" for a in answers if read[a.turn] != 1]
    if not log or not isinstance(log[-1].event, ev.SessionEnded):
        found.append("the session did not come to its end")
    try:
        fold(log)
    except IllegalEvent as error:
        found.append(f"the log is no session: {error}")
    if who.seen != {r.seq: r.event.type for r in log if r.seq <= who.seq}:
        found.append("what the client saw is not what the log says")
    return found
