"""Engine time by key: a model and a judge that note how long they worked, and for whom.

Who pays is a context variable, the only one: the engine is used in tasks that outlive the request that began them, and
a task keeps the context it was made in. Passing it by hand would put accounts into every step of an interview.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from contextvars import ContextVar

from interviewer.core.prompts import Message
from interviewer.core.reading import CriterionSpec, RawReading, Window
from interviewer.service.ports import ChatModel, Judge, Stamp

Charge = Callable[[str, float], None]
"""Takes a key's id and seconds."""
PAYER: ContextVar[str | None] = ContextVar("payer", default=None)
"""Id of the key for which the running task works."""


class MeteredModel:
    """A chat model whose time is charged; the time in which its reader does something else is not."""

    def __init__(self, model: ChatModel, charge: Charge) -> None:
        """Wrap ``model``."""
        self._model = model
        self._charge = charge

    async def stream(
        self, model: str, messages: Sequence[Message], *, max_tokens: int, temperature: float, seed: int
    ) -> AsyncGenerator[str, None]:
        """Yield what the model yields."""
        spent, began = 0.0, time.perf_counter()
        stream = self._model.stream(model, messages, max_tokens=max_tokens, temperature=temperature, seed=seed)
        waiting = True
        try:
            async with aclosing(stream):
                async for piece in stream:
                    spent += time.perf_counter() - began
                    waiting = False
                    yield piece
                    began, waiting = time.perf_counter(), True
        finally:
            _pay(self._charge, spent + (time.perf_counter() - began if waiting else 0.0))


class MeteredJudge:
    """A judge whose time is charged."""

    def __init__(self, judge: Judge, charge: Charge) -> None:
        """Wrap ``judge``."""
        self._judge = judge
        self._charge = charge

    @property
    def identity(self) -> str:
        """Identity of the judge inside."""
        return self._judge.identity

    @property
    def stamp(self) -> Stamp:
        """Stamp of the judge inside."""
        return self._judge.stamp

    @property
    def budget(self) -> int:
        """Budget of the judge inside."""
        return self._judge.budget

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        """Return what the judge inside reads."""
        began = time.perf_counter()
        try:
            return await self._judge.read(window, criteria)
        finally:
            _pay(self._charge, time.perf_counter() - began)


def _pay(charge: Charge, seconds: float) -> None:
    payer = PAYER.get()
    if payer is not None:
        charge(payer, seconds)
