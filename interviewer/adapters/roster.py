"""Which adapters may serve now, and which are being used by a turn.

Invariant: a request under an adapter's name is sent only while that adapter's canary has passed on the running engine.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class NotProven(Exception):
    """The adapter has not passed its canary on the engine that runs now."""


class Roster:
    """Names under which the engine serves adapters."""

    def __init__(self) -> None:
        """Start with none that is known."""
        self._proven: dict[str, bool] = {}
        self._used: Counter[str] = Counter()
        self._freed = asyncio.Event()

    def expect(self, *names: str) -> None:
        """Let these adapters wait for their canary: whoever asks for them is refused until then."""
        self._proven |= dict.fromkeys(names, False)

    def prove(self, name: str) -> None:
        """Let an adapter serve."""
        self._proven[name] = True

    @contextmanager
    def use(self, name: str) -> Iterator[None]:
        """Hold an adapter while a request runs; a name that is not known (the base, another endpoint) is let through.

        Raises:
            NotProven: its canary has not passed.
        """
        if not self._proven.get(name, True):
            raise NotProven(f"{name} has not passed its canary")
        self._used[name] += 1
        try:
            yield
        finally:
            self._used[name] -= 1
            self._freed.set()

    async def idle(self, name: str) -> None:
        """Wait until no request uses ``name``."""
        while self._used[name]:
            self._freed.clear()
            await self._freed.wait()
