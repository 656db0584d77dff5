"""Request and response bodies of the HTTP contract."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from interviewer.core.diff import ReplayDiff
from interviewer.core.events import Mode, Recorded
from interviewer.core.intake import MAX_TRANSCRIPT
from interviewer.core.resume import MAX_RESUME
from interviewer.core.rubric import SeniorityLevel
from interviewer.service.importing import Format
from interviewer.service.ports import SessionRow
from interviewer.service.score_request import BatchEntry
from interviewer.service.scoring import BatchOutcome
from interviewer.web.state import AdapterVersion

Notes = Annotated[str, Field(max_length=MAX_RESUME)]
Name = Annotated[str, Field(min_length=1, max_length=64)]
Minutes = Annotated[int, Field(ge=5, le=240)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(_Body):
    """One thing that is wrong with a request."""

    at: str
    problem: str


class ErrorBody(_Body):
    """Why a request was refused."""

    code: str
    """For machines."""
    message: str
    """For people."""
    details: tuple[Problem, ...] | None = None
    """All problems of a request that has not the right shape."""
    choices: tuple[str, ...] | None = None
    """What to choose from, where a choice is the way out: the speakers of a transcript."""


class ErrorView(_Body):
    """The one shape of every refusal."""

    error: ErrorBody


class NewSession(_Body):
    """Start an interview; ``persona`` may be left out for a drill or a question, which have their own."""

    drill: Name | None = None
    """An exercise in place of the whole round, see ``GET /v1/drills``; it brings its round, minutes and rules."""
    question: Name | None = None
    """Question to open with, see ``GET /v1/questions``; it brings its round, and the policy goes on from there."""
    persona: Annotated[Name | None, Field(validate_default=True)] = None
    rubric: Name | None = None
    level: SeniorityLevel = "mid"
    background: Notes = ""
    resume: Notes = ""
    job: Notes = ""
    minutes: Minutes | None = None
    mode: Mode = "practice"
    seed: Seed | None = None
    scenario: Name | None = None
    """A situation to open with, see ``GET /v1/scenarios``; ``any`` takes one by the seed."""

    @field_validator("persona")
    @classmethod
    def _somebody_asks(cls, persona: str | None, others: ValidationInfo) -> str | None:
        if persona is None and not (others.data.get("drill") or others.data.get("question")):
            raise ValueError("name a persona, or a drill or a question, which have their own")
        return persona


class Opened(_Body):
    """A session with the token that its client shows."""

    id: str
    token: str
    ws_url: str


class Token(_Body):
    """A new token; the old one is void."""

    token: str
    ws_url: str


class OpenedRound(Opened):
    """A session of a loop."""

    rubric: str
    persona: str


class NewLoop(_Body):
    """Start five rounds of one candidate."""

    level: SeniorityLevel = "mid"
    mode: Mode = "practice"
    minutes: Minutes | None = None
    """Of each round."""
    background: Notes = ""
    resume: Notes = ""
    job: Notes = ""


class OpenedLoop(_Body):
    """A loop with its sessions, in order."""

    id: str
    sessions: tuple[OpenedRound, ...]


class LoopView(_Body):
    """A loop and where its rounds stand."""

    id: str
    sessions: tuple[SessionRow, ...]


class SessionList(_Body):
    """Sessions, newest first."""

    sessions: tuple[SessionRow, ...]


class Progress(_Body):
    """How much of a session was read."""

    assessed: int
    total: int


class SessionView(SessionRow):
    """One session: its row in the list, and where it stands."""

    phase: str
    questions: int
    minutes: int
    elapsed_seconds: float
    progress: Progress
    replays: tuple[str, ...] = ()
    """Replays of it and theirs, which are deleted with it."""


class NewTranscript(_Body):
    """Somebody's transcript."""

    format: Format = "auto"
    """``auto`` looks: labelled text and Markdown, WebVTT, SRT, or JSON (this project's own, or chat messages)."""
    content: Annotated[str, Field(min_length=1, max_length=MAX_TRANSCRIPT)]
    rubric: Name
    persona: Name | None = None
    level: SeniorityLevel = "mid"
    candidate: Annotated[str, Field(max_length=80)] | None = None


class UnplacedView(_Body):
    """A line of a transcript that belongs to nobody known."""

    line: int
    text: str


class ImportedView(_Body):
    """An imported transcript; its answers are read in the background."""

    id: str
    token: str
    ws_url: str
    turns: int
    unplaced: tuple[UnplacedView, ...]
    notices: tuple[str, ...]
    """What was taken for granted or put right while reading."""
    repeated: bool
    """The same content was imported before with the same parameters; this is that session, with a new token."""


class NewRestore(_Body):
    """A session out of an export."""

    events: Annotated[tuple[Recorded, ...], Field(min_length=1, max_length=20_000)]


class RestoredView(_Body):
    """A session that is back."""

    id: str
    """Another one than in the export where that is taken by something else."""
    token: str
    ws_url: str
    repeated: bool
    """The very session was there already; this is it, with a new token."""


class NewReplay(_Body):
    """Replay as somebody else, or go on live from an edited answer."""

    persona: Name | None = None
    rubric: Name | None = None
    judge: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    """``again`` reads the answers once more with the judge that runs now, a name of ``/v1/about`` with that one."""
    from_turn: Annotated[int, Field(ge=1)] | None = None
    edits: dict[Annotated[int, Field(ge=1)], Annotated[str, Field(max_length=20_000)]] = Field(default_factory=dict)


class ReplayView(_Body):
    """A replay and what it changed; ``diff`` is absent while a what-if is still live."""

    id: str
    token: str
    ws_url: str
    diff: ReplayDiff | None


class Batch(_Body):
    """Answers to score."""

    items: Annotated[tuple[BatchEntry, ...], Field(min_length=1)]


class BatchResult(_Body):
    """Outcomes, in the order of the items."""

    results: tuple[BatchOutcome, ...]


class CheckView(_Body):
    """One thing that has to work."""

    ok: bool
    detail: str


class Ready(_Body):
    """Whether interviews can be held."""

    ready: bool
    checks: dict[str, CheckView]


class AdapterList(_Body):
    """Versions of adapters."""

    adapters: tuple[AdapterVersion, ...]


class ActivateVersion(_Body):
    """Which version new turns shall use."""

    version: Annotated[str, Field(pattern="^[0-9a-f]{8}$")]
    """Its eight hexadecimal digits, as listed."""
