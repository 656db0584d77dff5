"""Typed messages of the socket, subprotocol ``interview.v1``. Text frames of JSON, one message each.

Every stored event reaches the client as ``event`` with its ``seq``; deltas carry no ``seq`` because only finished
questions are stored. A client that lost its connection says ``hello`` with the last ``seq`` it has and gets the rest.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from interviewer.core.events import Recorded

SUBPROTOCOL = "interview.v1"
MAX_FRAME = 64 * 1024
"""Bytes of one client frame."""
MAX_ANSWER = 20_000
"""Characters of one answer."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Hello(_Message):
    """First message of every connection."""

    type: Literal["hello"] = "hello"
    token: Annotated[str, Field(min_length=8, max_length=200)]
    last_seq: Annotated[int, Field(ge=0)] = 0


class Answer(_Message):
    """The candidate's words; sending the same ``msg_id`` again changes nothing."""

    type: Literal["answer"] = "answer"
    msg_id: Annotated[str, Field(min_length=1, max_length=64)]
    text: str


class Interrupt(_Message):
    """Stop speaking. ``seen`` is how many characters of the running question the client showed."""

    type: Literal["interrupt"] = "interrupt"
    last_seq: Annotated[int, Field(ge=0)] = 0
    seen: Annotated[int, Field(ge=0)] | None = None


class SwapPersona(_Message):
    """Let somebody else go on."""

    type: Literal["persona"] = "persona"
    persona: Annotated[str, Field(min_length=1, max_length=64)]


class Hint(_Message):
    """Ask for the next rung of help; the answer can prove less from then on."""

    type: Literal["hint"] = "hint"


class Retry(_Message):
    """Practice mode: answer the question before this one again; its price is in ``prices``."""

    type: Literal["retry"] = "retry"


class End(_Message):
    """End the session now."""

    type: Literal["end"] = "end"


class Ping(_Message):
    """Application heartbeat; browsers cannot send protocol pings."""

    type: Literal["ping"] = "ping"


ClientMessage: TypeAlias = Annotated[
    Hello | Answer | Interrupt | SwapPersona | Hint | Retry | End | Ping, Field(discriminator="type")
]
CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)


class EventMessage(_Message):
    """A stored event."""

    type: Literal["event"] = "event"
    seq: int
    recorded: Recorded


class QuestionDelta(_Message):
    """A piece of the question that is being asked; ``offset`` is where it starts in the question."""

    type: Literal["question.delta"] = "question.delta"
    turn: int
    offset: int
    text: str


class QuestionDone(_Message):
    """The question as it is stored; it equals the joined deltas unless the client interrupted."""

    type: Literal["question.done"] = "question.done"
    seq: int
    turn: int
    text: str
    source: str
    interrupted: bool


class AssessmentMessage(_Message):
    """Practice mode: what the judge read from the last answer."""

    type: Literal["assessment"] = "assessment"
    seq: int
    turn: int
    recorded: Recorded


class Prices(_Message):
    """Practice mode: what help costs now, before it is taken. A cap is the highest level that is left after it."""

    type: Literal["prices"] = "prices"
    turn: int
    hint_rung: int | None
    """The next hint on this question; ``None``: all were given."""
    hint_cap: int | None
    retry_turn: int | None
    """Turn whose answer can be given again, in place of the earlier one; ``None``: none can."""
    retry_cap: int | None


class Status(_Message):
    """What the service is doing, for progress."""

    type: Literal["status"] = "status"
    stage: Literal["reading", "choosing", "asking", "waiting", "ended"]
    turn: int


class ReportReady(_Message):
    """The session is over; the report can be fetched."""

    type: Literal["report.ready"] = "report.ready"
    seq: int
    url: str


class ErrorMessage(_Message):
    """Something was refused; the connection stays open unless the code says otherwise."""

    type: Literal["error"] = "error"
    code: str
    message: str
    retryable: bool
    msg_id: str | None = None


class Pong(_Message):
    """Answer to ``ping``."""

    type: Literal["pong"] = "pong"
    seq: int


class Resync(_Message):
    """``last_seq`` is ahead of the log, or too far behind; forget what you have, the whole log follows."""

    type: Literal["resync"] = "resync"
    seq: int


class GoingAway(_Message):
    """The service restarts: a running turn goes on to its end, then the connection closes. Come back after the time."""

    type: Literal["going_away"] = "going_away"
    retry_after_ms: int


class Welcome(_Message):
    """Answer to ``hello``; missed events follow at once."""

    type: Literal["welcome"] = "welcome"
    session_id: str
    seq: int
    partial: str = ""
    """What was already streamed of the question that is being asked now."""


ServerMessage: TypeAlias = Annotated[
    Welcome
    | EventMessage
    | QuestionDelta
    | QuestionDone
    | AssessmentMessage
    | Prices
    | Status
    | ReportReady
    | ErrorMessage
    | Pong
    | Resync
    | GoingAway,
    Field(discriminator="type"),
]
SERVER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)
