"""Doubles that ship with the project: for tests of logic, and for trying the service without a model."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime, timedelta

from interviewer.core.assessment import normalise
from interviewer.core.prompts import Message
from interviewer.core.reading import CriterionSpec, RawReading, Window
from interviewer.service.errors import Refused
from interviewer.service.ports import JudgeError, ModelError, Stamp
from interviewer.web.state import AdapterVersion, Check


class FakeClock:
    """A clock that moves only when told, or by ``step`` seconds at each look."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC), step: float = 1.0) -> None:
        """Start at ``start``."""
        self.time = start
        self.step = timedelta(seconds=step)

    def now(self) -> datetime:
        """Return the time and move on by the step."""
        self.time += self.step
        return self.time

    def advance(self, seconds: float) -> None:
        """Move on."""
        self.time += timedelta(seconds=seconds)


def sequential_ids(prefix: str = "session") -> Callable[[], str]:
    """Return an id maker: ``session-1``, ``session-2``, ..."""
    numbers = itertools.count(1)
    return lambda: f"{prefix}-{next(numbers)}"


class ScriptedModel:
    """A chat model that says what it is told, token by token; an exception in the script is raised in its place."""

    def __init__(self, *turns: str | Exception, delay: float = 0.0) -> None:
        """Say ``turns`` in order, then start again; wait ``delay`` seconds before each token."""
        self._turns = turns or (
            "You mentioned latency. Which percentile of latency did you hold, and under which load?",
        )
        self._next = 0
        self.delay = delay
        self.requests: list[tuple[str, list[Message]]] = []
        """Served name and messages of every call."""
        self.cancelled = 0
        """How many generations were stopped before their end."""

    async def stream(
        self, model: str, messages: Sequence[Message], *, max_tokens: int, temperature: float, seed: int
    ) -> AsyncGenerator[str, None]:
        """Yield the next scripted turn in words."""
        self.requests.append((model, list(messages)))
        turn = self._turns[self._next % len(self._turns)]
        self._next += 1
        if isinstance(turn, Exception):
            raise turn
        finished = False
        try:
            for word in turn.split(" "):
                await asyncio.sleep(self.delay)
                yield f"{word} "
            finished = True
        finally:
            self.cancelled += not finished


class ScriptedJudge:
    """A judge whose levels are given by a function of criterion and text; points at the first sentence."""

    identity = "scripted"
    stamp = Stamp(model="scripted")
    budget = 900

    def __init__(self, level: Callable[[str, str], int] | int | Exception = 1, *, sure: float = 0.8) -> None:
        """Give ``level`` with probability ``sure``; an exception is raised instead."""
        self._level = level
        self._sure = sure
        self.windows: list[Window] = []

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        """Return the scripted readings."""
        self.windows.append(window)
        if isinstance(self._level, Exception):
            raise self._level
        text = " ".join(segment.quote.text for segment in window.segments)
        readings = []
        for spec in criteria:
            level = self._level if isinstance(self._level, int) else self._level(spec.name, text)
            rest = (1 - self._sure) / 3
            p = normalise(tuple(self._sure if n == level else rest for n in range(4)))
            readings.append(RawReading(probabilities=p, level=level, segment=0 if window.segments else None))
        return readings


class StillBackend:
    """A backend that is ready, or not, as told."""

    def __init__(self, ready: bool = True) -> None:
        """Be ``ready``."""
        self.ready = ready

    def checks(self) -> dict[str, Check]:
        """Return one check."""
        return {"engine": Check(ok=self.ready, detail="scripted")}

    def versions(self) -> list[AdapterVersion]:
        """Return one."""
        return [AdapterVersion(adapter="deep_dive", version="0123abcd", shipped=True, active=True, detail="scripted")]

    async def activate(self, adapter: str, digest: str) -> None:
        """Refuse: there is only one.

        Raises:
            Refused: always.
        """
        raise Refused("unknown_version", f"There is no version {digest!r} of {adapter!r}.")

    async def rollback(self, adapter: str) -> None:
        """Refuse: there is only one.

        Raises:
            Refused: always.
        """
        raise Refused("unknown_version", f"There is no earlier version of {adapter} to go back to.")

    async def start(self) -> None:
        """Do nothing."""

    async def stop(self) -> None:
        """Do nothing."""


MODEL_DOWN = ModelError("the model endpoint cannot be reached")
JUDGE_DOWN = JudgeError("the model endpoint cannot be reached")


def words_count(text: str) -> int:
    """Count words, where a test needs a tokenizer and not an exact one."""
    return len(text.split())
