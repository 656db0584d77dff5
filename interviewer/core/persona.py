"""Personas: who asks. A persona changes what is pursued and how it is said, never how an answer is judged."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from interviewer.core.rubric import Move, Slug, Strict, Text

Tie: TypeAlias = Annotated[str, Field(min_length=10, max_length=80, pattern=r"^[^?{}]*\{quote\}[^?{}]*$")]


class Phase(Strict):
    """A stretch of the round with its own purpose."""

    name: Slug
    until: Annotated[float, Field(gt=0, le=1)]
    """Share of the round's minutes at which the phase ends."""
    purpose: Text


class Adapter(Strict):
    """Where the persona's LoRA weights are, relative to its folder."""

    path: Annotated[str, Field(min_length=1, max_length=120)] = "adapter"
    name: Slug
    """Name under which the engine serves it, before the content hash is added."""


class Persona(Strict):
    """One interviewer."""

    version: Literal[1]
    id: Slug
    name: Annotated[str, Field(min_length=2, max_length=40)]
    title: Annotated[str, Field(min_length=2, max_length=80)]
    rubric: Slug
    """Round that this persona leads by default."""
    voice: Text
    """One to three sentences that describe how they speak; goes into the prompt."""
    openings: Annotated[tuple[Text, ...], Field(min_length=2)]
    """Greetings before the first question: who they are and how the round goes. No question in them; ``{minutes}`` is
    replaced by the session's minutes."""
    closings: Annotated[tuple[Text, ...], Field(min_length=2)]
    """Farewells: thanks and what happens next; no verdict."""
    leads: Annotated[tuple[Text, ...], Field(min_length=4)]
    """Short neutral phrases put before an authored probe when generation was not usable."""
    ties: Annotated[tuple[Tie, ...], Field(min_length=3)]
    """How they quote the candidate before a question; ``{quote}`` is replaced by a few exact words of the answer."""
    transitions: Annotated[tuple[Text, ...], Field(min_length=3)]
    """Short phrases that move on to the next main question."""
    moves: Annotated[dict[Move, Annotated[float, Field(ge=0, le=3)]], Field(min_length=7)]
    """Liking for each move; 1 is neutral, 0 never."""
    followups: Annotated[int, Field(ge=1, le=6)] = 3
    """Most follow-ups that this person spends on one question."""
    max_words: Annotated[int, Field(ge=12, le=80)] = 45
    """Longest turn they would speak."""
    phases: Annotated[tuple[Phase, ...], Field(min_length=2)]
    adapter: Adapter | None = None
    """``None`` means prompt-only."""
