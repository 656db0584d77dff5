"""The session's events: the only truth that is stored. Everything shown is a fold of them.

Events are appended and never changed; a correction is a new event. Every event carries ``v`` so that a later
version can be read from old logs (see ``design/0002-event-log.md``).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from interviewer.core.assessment import Assessment, Frozen, Notice, UnscoredReason
from interviewer.core.code import CodeReport
from interviewer.core.resume import Cited
from interviewer.core.rubric import Move, SeniorityLevel

Mode: TypeAlias = Literal["practice", "real"]
Origin: TypeAlias = Literal["live", "imported", "replay"]
QuestionSource: TypeAlias = Literal["authored", "generated", "tied", "mixed", "fallback", "imported"]
WORDED: frozenset[QuestionSource] = frozenset({"generated", "tied"})
"""Sources of questions that the model put into words."""
"""authored: the rubric's wording on purpose; tied: generated question after a quote of the candidate, cut by code;
mixed: generated tie-in, authored question; fallback: nothing of the model's."""


class Versions(Frozen):
    """Content hashes of everything that shaped the session, and the names under which the engine served it."""

    rubric: str
    persona: str
    prompt: str
    model: str
    adapter: str | None
    judge: str
    scenario: str | None = None
    drill: str | None = None


class SessionStarted(Frozen):
    """The first event of every log."""

    type: Literal["session_started"] = "session_started"
    v: Literal[1] = 1
    persona: str
    rubric: str
    level: SeniorityLevel
    mode: Mode
    minutes: Annotated[int, Field(ge=5, le=240)]
    seed: int
    origin: Origin = "live"
    parent: str | None = None
    background: str = ""
    resume: str = ""
    job: str = ""
    scenario: str | None = None
    """Situation that the round opens with; its facts are given to who asks for them."""
    drill: str | None = None
    """Exercise that the session is; it narrows the round to its questions."""
    question: str | None = None
    """Question that was chosen to open with; what follows is the policy's choice."""
    spent_seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """In a what-if: seconds of the round that had passed in the parent where it goes on."""
    versions: Versions


class PersonaChanged(Frozen):
    """From here on somebody else asks; history and rubric state stay."""

    type: Literal["persona_changed"] = "persona_changed"
    v: Literal[1] = 1
    persona: str
    adapter: str | None


class ProbeChosen(Frozen):
    """What will be asked next, and why.

    ``criterion`` is ``None`` for a main question; so is ``move``, unless the question stands and is put once more, as
    the candidate asked before answering.
    """

    type: Literal["probe_chosen"] = "probe_chosen"
    v: Literal[1] = 1
    turn: int
    question_id: str
    criterion: str | None = None
    move: Move | None = None
    probe: str
    """Authored wording that the turn pursues."""
    reason: str
    elapsed: float
    """Share of the round's minutes that had passed, so that the decision can be repeated."""
    again_of: int | None = None
    """Turn whose question is put once more: its answer is tried again, or it was set aside for such a try."""
    counterfactual: bool = False
    """True in a replay: what this persona would have asked here, though it was not asked."""
    cited: tuple[Cited, ...] = ()
    """The candidate's own words that the question goes back to; it is asked as it is authored then."""

    @property
    def restates(self) -> bool:
        """Whether the question under way is put once more, with what the candidate asked for."""
        return self.criterion is None and self.move is not None


class QuestionAsked(Frozen):
    """What the candidate saw; shorter than what was generated when they interrupted."""

    type: Literal["question_asked"] = "question_asked"
    v: Literal[1] = 1
    turn: int
    text: str
    source: QuestionSource
    persona: str
    interrupted: bool = False
    problems: tuple[str, ...] = ()
    """What the guard found in what the model said, whether that was mended, tried again or replaced."""
    revealed: tuple[str, ...] = ()
    """Facts of the scenario that were given in it, as they had been asked for."""
    start: float | None = None
    """In an import: seconds into the recording at which it was said."""


class AnswerGiven(Frozen):
    """The candidate's words, unchanged. Applied once per ``msg_id``."""

    type: Literal["answer_given"] = "answer_given"
    v: Literal[1] = 1
    turn: int
    msg_id: str
    text: str
    start: float | None = None
    """In an import: seconds into the recording at which it was said."""


class RequestMade(Frozen):
    """The candidate asked for something in place of an answer and was told it: not a turn, and read by no judge."""

    type: Literal["request_made"] = "request_made"
    v: Literal[1] = 1
    turn: int
    msg_id: str
    kind: Literal["repeat", "rephrase", "clarify", "think"]
    text: str
    reply: str


class CodeChecked(Frozen):
    """What was found out about the code in the answer of ``turn``; stored because it cannot be folded: it was run."""

    type: Literal["code_checked"] = "code_checked"
    v: Literal[1] = 1
    turn: int
    report: CodeReport


class AnswerAssessed(Frozen):
    """What the judge read from the answer of ``turn``."""

    type: Literal["answer_assessed"] = "answer_assessed"
    v: Literal[1] = 1
    turn: int
    assessment: Assessment


class AnswerUnscored(Frozen):
    """The judge could not read the answer of ``turn``; nothing is held against the candidate."""

    type: Literal["answer_unscored"] = "answer_unscored"
    v: Literal[1] = 1
    turn: int
    reason: UnscoredReason
    detail: str
    notices: tuple[Notice, ...] = ()


class HintGiven(Frozen):
    """A hint was shown; answers to this question can prove less from now on."""

    type: Literal["hint_given"] = "hint_given"
    v: Literal[1] = 1
    turn: int
    question_id: str
    rung: Annotated[int, Field(ge=1, le=3)]
    text: str


class SessionNotice(Frozen):
    """Something that went wrong or was noticed, told to the candidate and kept."""

    type: Literal["notice"] = "notice"
    v: Literal[1] = 1
    code: str
    message: str


class SessionEnded(Frozen):
    """Nothing is asked or accepted after this."""

    type: Literal["session_ended"] = "session_ended"
    v: Literal[1] = 1
    reason: Literal["candidate", "time", "complete", "imported", "replayed"]
    farewell: str = ""


Event: TypeAlias = Annotated[
    SessionStarted
    | PersonaChanged
    | ProbeChosen
    | QuestionAsked
    | AnswerGiven
    | RequestMade
    | CodeChecked
    | AnswerAssessed
    | AnswerUnscored
    | HintGiven
    | SessionNotice
    | SessionEnded,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Parses and dumps one event."""


class Recorded(Frozen):
    """An event as it stands in the log."""

    session_id: str
    seq: Annotated[int, Field(ge=1)]
    at: datetime
    """UTC."""
    event: Event
