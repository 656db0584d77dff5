"""Leaving without losing anybody: not ready first, then no new turns, then the running ones, then the sockets.

A process that is told to stop still listens meanwhile, so that a load balancer sees that it is not ready and clients
hear when to come back: each a time of its own, so that they do not all come at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import socket
from typing import TYPE_CHECKING

import uvicorn

from interviewer.service.errors import Refused

if TYPE_CHECKING:
    from interviewer.web.state import Service

RETRY_MS = (500, 4000)
"""Between these a client is told to come back."""


class Drain:
    """Whether this process is leaving, and which sockets it still has."""

    def __init__(self) -> None:
        """Stay."""
        self.began = asyncio.Event()
        self._sockets = 0

    def refuse(self) -> None:
        """Take nothing new while leaving.

        Raises:
            Refused: the process is leaving; the same request succeeds at the next one.
        """
        if self.began.is_set():
            raise Refused("shutting_down", "The service is restarting; send this again in a moment.", True)

    def retry_after_ms(self) -> int:
        """Return when one client should come back, another time for each."""
        return random.randint(*RETRY_MS)

    @property
    def sockets(self) -> int:
        """How many sockets are open."""
        return self._sockets

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Count one socket."""
        self._sockets += 1
        try:
            yield
        finally:
            self._sockets -= 1


class DrainingServer(uvicorn.Server):
    """A server that drains when it is told to stop; a second Ctrl-C cuts that short."""

    def __init__(self, config: uvicorn.Config, grace: float) -> None:
        """Keep the grace, in seconds, that running turns get; ``config.app`` is made by ``create_app``."""
        super().__init__(config)
        self._grace = grace
        self._application = config.app

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Let running turns end while the process still listens, then stop."""
        service: Service | None = getattr(getattr(self._application, "state", None), "service", None)
        if service is not None:
            service.drain.began.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._grace):
                    # Looked at from time to time: a signal handler sets `force_exit`, and turns end anywhere.
                    while not self.force_exit and (service.sessions.busy or service.drain.sockets):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
        await super().shutdown(sockets)
