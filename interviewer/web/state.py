"""What the web layer is given: the service's parts in one value."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Protocol

from fastapi import Depends, Request

from interviewer.core.assessment import Frozen
from interviewer.service.about import Engine, Measured
from interviewer.service.accounts import Accounts
from interviewer.service.deps import Deps
from interviewer.service.importing import Imports
from interviewer.service.keys import Audit
from interviewer.service.memory import Memory
from interviewer.service.ports import Stamp, StoreError
from interviewer.service.replay import Replays
from interviewer.service.restoring import Restores
from interviewer.service.scoring import Scoring
from interviewer.service.sessions import Sessions
from interviewer.web.drain import Drain

STORE_SECONDS = 5.0
"""Longest wait for the store when it is asked whether it works."""


class Check(Frozen):
    """One thing that has to work."""

    ok: bool
    detail: str


class AdapterVersion(Frozen):
    """One version of an adapter."""

    adapter: str
    version: str
    """Eight hexadecimal digits over its content."""
    shipped: bool
    active: bool
    """Whether new turns use it."""
    detail: str
    """What its canary said."""


class Backend(Protocol):
    """The model behind the service."""

    def checks(self) -> dict[str, Check]:
        """Return the state of the engine and of each adapter."""
        ...

    def versions(self) -> list[AdapterVersion]:
        """Return every version of every adapter; empty when somebody else serves them."""
        ...

    async def activate(self, adapter: str, digest: str) -> None:
        """Let new turns use another version of an adapter, without dropping a running one.

        Raises:
            Refused: unknown, the engine is not ready, or the version fails its canary.
        """
        ...

    async def rollback(self, adapter: str) -> None:
        """Let new turns use the version before.

        Raises:
            Refused: there is none, or as for :meth:`activate`.
        """
        ...

    async def start(self) -> None:
        """Begin to get ready; returns at once."""
        ...

    async def stop(self) -> None:
        """Stop what was started."""
        ...


async def _untold() -> Mapping[str, float]:
    return {}


def _unmeasured(_: Stamp) -> Measured | None:
    return None


@dataclass(frozen=True)
class Service:
    """All that routes and socket use."""

    deps: Deps
    sessions: Sessions
    scoring: Scoring
    imports: Imports
    replays: Replays
    memory: Memory
    restores: Restores
    backend: Backend
    hosts: tuple[str, ...] = ()
    drain: Drain = field(default_factory=Drain)
    accounts: Accounts | None = None
    """Who may use the service; ``None``: whoever reaches it, which is one person on this machine."""
    audit: Audit | None = None
    stored: bool = True
    """Whether sessions outlive the process."""
    keep_days: int | None = None
    """Days without anything new after which a session is deleted; ``None`` keeps it."""
    watch_seconds: float = 30.0
    """How often a socket looks whether its key still counts and its session goes on here."""
    metrics: Callable[[], bytes] = bytes
    """What the telemetry holds, in Prometheus' text format."""
    engine_load: Callable[[], Awaitable[Mapping[str, float]]] = _untold
    """Requests in the engine by state; empty when it does not tell."""
    engine: Engine = field(default_factory=Engine)
    """What is known about the engine."""
    measured: Callable[[Stamp], Measured | None] = _unmeasured
    """What was measured of the judge with that stamp."""

    async def checks(self) -> dict[str, Check]:
        """Return the state of everything that has to work."""
        try:
            async with asyncio.timeout(STORE_SECONDS):
                await self.deps.store.ping()
            store = Check(ok=True, detail="ready")
        except TimeoutError:
            store = Check(ok=False, detail=f"the database did not answer within {STORE_SECONDS:.0f} s")
        except StoreError as error:
            store = Check(ok=False, detail=str(error))
        found = {**self.backend.checks(), "store": store}
        if self.drain.began.is_set():
            found["service"] = Check(ok=False, detail="shutting down")
        return found

    async def stop(self) -> None:
        """Stop all work in an order that loses nothing."""
        await self.imports.stop()
        await self.sessions.stop()
        await self.backend.stop()
        if self.deps.runner is not None:
            await self.deps.runner.close()
        if self.accounts is not None:
            await self.accounts.close()
        await self.deps.store.close()


def assemble(
    deps: Deps,
    backend: Backend,
    hosts: tuple[str, ...] = (),
    *,
    accounts: Accounts | None = None,
    audit: Audit | None = None,
    stored: bool = True,
    keep_days: int | None = None,
    watch_seconds: float = 30.0,
    metrics: Callable[[], bytes] = bytes,
    engine_load: Callable[[], Awaitable[Mapping[str, float]]] = _untold,
    engine: Engine | None = None,
    measured: Callable[[Stamp], Measured | None] = _unmeasured,
) -> Service:
    """Build the service's parts around their collaborators."""
    sessions = Sessions(deps)
    imports, replays = Imports(deps, sessions), Replays(deps, sessions)
    return Service(
        deps=deps,
        sessions=sessions,
        scoring=Scoring(deps),
        imports=imports,
        replays=replays,
        memory=Memory(deps, sessions, imports, replays),
        restores=Restores(deps, sessions, replays),
        backend=backend,
        hosts=hosts,
        accounts=accounts,
        audit=audit,
        stored=stored,
        keep_days=keep_days,
        watch_seconds=watch_seconds,
        metrics=metrics,
        engine_load=engine_load,
        engine=engine or Engine(model=deps.base),
        measured=measured,
    )


def _of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Srv = Annotated[Service, Depends(_of)]
"""What a route asks for to be given the service."""
