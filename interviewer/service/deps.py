"""Everything the service is given, in one plain value. Built by ``bootstrap``; tests build their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from interviewer.core.library import Library
from interviewer.core.prompts import Count
from interviewer.service.judging import Judging
from interviewer.service.ports import ChatModel, Clock, CodeRunner, EventStore, NewId
from interviewer.service.telemetry import Telemetry, Unwatched


async def not_away() -> bool:
    """Return that there is nothing to wait for."""
    return False


@dataclass(frozen=True)
class Limits:
    """Bounds of one turn."""

    prompt_tokens: int = 640
    """Most tokens of a persona prompt; what is older is summarised by the rubric state."""
    answer_tokens: int = 72
    """Most tokens of a generated turn."""
    temperature: float = 0.3
    quote_first: bool = False
    """Whether a follow-up begins with a quote of the candidate, sent before the model has said anything, which then
    words the question after it. The endpoint has to be one that continues a begun message, as vLLM does."""
    word_seconds: float = 0.0
    """Pause between the words of a sentence that passed the guard: it is read as it appears, not thrown at once."""
    model_seconds: float = 20.0
    """Longest wait for a generated turn before the authored wording is asked instead."""
    warm: bool = False
    """Whether the model reads the known part of the next prompt while the candidate thinks: it is in the prefix cache
    then, and the next first token comes sooner."""
    tell_seconds: float = 2.0
    """A wait for a model that is away is told to the candidate when it is longer; a replica takes over in less."""


@dataclass(frozen=True)
class Deps:
    """The service's collaborators."""

    library: Library
    store: EventStore
    model: ChatModel
    judging: Judging
    """The judge in use."""
    clock: Clock
    new_id: NewId
    count: Count
    """Exact tokens of a text in the persona model's tokenizer."""
    served: Mapping[str, str] = field(default_factory=dict)
    """Name under which each persona's adapter is served; a persona that is absent runs prompt-only on ``base``.

    Changes while the service runs when another version of an adapter is rolled in: look it up at each turn.
    """
    judges: Mapping[str, Judging] = field(default_factory=dict)
    """Judges by name that a replay can be read by instead, the one in use or its parts among them."""
    base: str = "base"
    limits: Limits = Limits()
    runner: CodeRunner | None = None
    """Runs the code of an answer where it can do no harm; ``None``: code is only read."""
    why_no_runner: str = "running code is switched off"
    """Told where code is only read."""
    recovered: Callable[[], Awaitable[bool]] = not_away
    """Waits for a model that is away; True when a request that failed is worth sending once more."""
    telemetry: Telemetry = field(default_factory=Unwatched)
