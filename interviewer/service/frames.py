"""What a live session tells whoever follows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from interviewer.core import events as ev

Stage: TypeAlias = Literal["reading", "choosing", "asking", "waiting", "ended"]


@dataclass(frozen=True)
class Committed:
    """An event was stored."""

    recorded: ev.Recorded


@dataclass(frozen=True)
class Delta:
    """A piece of the question that is being asked."""

    turn: int
    offset: int
    text: str


@dataclass(frozen=True)
class Progress:
    """What the session is doing now."""

    stage: Stage
    turn: int


@dataclass(frozen=True)
class Failed:
    """The session could not go on by itself; what was accepted is kept and the next command tries again."""

    code: str
    message: str


Frame: TypeAlias = Committed | Delta | Progress | Failed
Sink: TypeAlias = Callable[[Frame], None]
"""Takes frames; must not block."""
