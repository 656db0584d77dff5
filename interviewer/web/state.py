"""What the web layer is given: the service's parts in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from interviewer.core.assessment import Frozen
from interviewer.service.deps import Deps
from interviewer.service.importing import Imports
from interviewer.service.ports import StoreError
from interviewer.service.replay import Replays
from interviewer.service.scoring import Scoring
from interviewer.service.sessions import Sessions


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


@dataclass(frozen=True)
class Service:
    """All that routes and socket use."""

    deps: Deps
    sessions: Sessions
    scoring: Scoring
    imports: Imports
    replays: Replays
    backend: Backend
    hosts: tuple[str, ...] = ()

    async def checks(self) -> dict[str, Check]:
        """Return the state of everything that has to work."""
        try:
            await self.deps.store.ping()
            store = Check(ok=True, detail="ready")
        except StoreError as error:
            store = Check(ok=False, detail=str(error))
        return {**self.backend.checks(), "store": store}

    async def stop(self) -> None:
        """Stop all work in an order that loses nothing."""
        await self.imports.stop()
        await self.sessions.stop()
        await self.backend.stop()
        if self.deps.runner is not None:
            await self.deps.runner.close()
        await self.deps.store.close()


def assemble(deps: Deps, backend: Backend, hosts: tuple[str, ...] = ()) -> Service:
    """Build the service's parts around their collaborators."""
    sessions = Sessions(deps)
    return Service(
        deps=deps,
        sessions=sessions,
        scoring=Scoring(deps),
        imports=Imports(deps, sessions),
        replays=Replays(deps, sessions),
        backend=backend,
        hosts=hosts,
    )
