"""The model behind the service: the embedded engine that we supervise, or somebody else's endpoint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import httpx2
from openai import AsyncOpenAI, OpenAIError

from interviewer.adapters.openai_model import MALFORMED, describe
from interviewer.adapters.roster import Roster
from interviewer.service.errors import Refused
from interviewer.web.state import AdapterVersion, Check
from serving import canary, engine_adapters
from serving.adapter_check import AdapterError, check_adapter
from serving.engine import Engine, EngineError, EngineState, health
from serving.engine_config import EngineConfig
from serving.fetch import FetchError
from serving.versions import Version, VersionError, VersionStore

_log = logging.getLogger(__name__)

POLL_SECONDS = 15.0
RECOVERY_SECONDS = 120.0
"""Longest wait of a turn for an engine that is being started again; a restart takes some 50 s on two cores."""

ELSEWHERE = Refused("adapters_elsewhere", "The adapters are served by the endpoint in the settings; load them there.")


class EmbeddedBackend:
    """Prepares the base model, runs the engine as a child process, and serves only adapters that pass their canary."""

    def __init__(
        self,
        config: EngineConfig,
        client: AsyncOpenAI,
        prepare: Callable[[], object],
        store: VersionStore,
        active: Mapping[str, Version],
        roster: Roster,
        switch: Callable[[str, Version | None], None],
        progress: Callable[[str], None],
        refused: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the collaborators.

        Args:
            config: What to run; its port is chosen already, so that the address is known.
            client: Talks to the engine.
            prepare: Blocking; fetches and converts what is missing.
            store: The versions of adapters.
            active: Version in use by adapter id; what ``config`` loads.
            roster: Told which names may serve.
            switch: Makes new turns use a version, or none when an adapter failed its canary.
            progress: Told about each step, in words.
            refused: Why an adapter that is there cannot be served, by id.
        """
        self._left_ready = asyncio.Event()
        self._config = config
        self._engine = Engine(config, on_state=self._on_state)
        self._client = client
        self._prepare = prepare
        self._store = store
        self._active = dict(active)
        self._roster = roster
        self._switch = switch
        self._progress = progress
        self._state = Check(ok=False, detail="not started")
        self._adapters = {name: Check(ok=False, detail="waiting for the engine") for name in active}
        self._adapters |= {name: Check(ok=False, detail=reason) for name, reason in (refused or {}).items()}
        self._task: asyncio.Task[None] | None = None
        self._rolling = asyncio.Lock()
        self._leaving: set[asyncio.Task[None]] = set()
        roster.expect(*(version.name for version in active.values()))

    def checks(self) -> dict[str, Check]:
        """Return the state of the engine and of each adapter."""
        return {"engine": self._state, **{f"adapter:{name}": check for name, check in self._adapters.items()}}

    def versions(self) -> list[AdapterVersion]:
        """Return every version of every adapter that is there."""
        return [
            AdapterVersion(
                adapter=adapter,
                version=version.digest,
                shipped=version.shipped,
                active=version == self._active.get(adapter),
                detail=self._adapters[adapter].detail if version == self._active.get(adapter) else "not loaded",
            )
            for adapter in self._adapters
            for version in self._store.versions(adapter)
        ]

    async def start(self) -> None:
        """Begin in the background."""
        self._task = asyncio.create_task(self._run(), name="engine")

    async def stop(self) -> None:
        """Stop the engine and its supervision."""
        for task in (*self._leaving, *([self._task] if self._task else [])):
            task.cancel()
            await asyncio.wait([task])
        await self._engine.stop()

    async def recovered(self) -> bool:
        """Wait for the engine when it is away; True when a request that failed is worth sending again."""
        if await self._answers():
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(RECOVERY_SECONDS):
                while self._task is not None and not self._task.done():  # it ends when the engine is given up
                    if await self._answers():
                        return True
                    await asyncio.sleep(0.25)
        return False

    async def activate(self, adapter: str, digest: str) -> None:
        """Roll a version in: load it, ask its canary, let new turns use it; the old one leaves when it is idle.

        Raises:
            Refused: no such adapter or version, the engine is not ready or cannot load it, or the canary fails; what
                served before serves on.
        """
        async with self._rolling:
            found = self._store.find(adapter, digest)
            if adapter not in self._adapters or found is None:
                there = ", ".join(f"{v.adapter} {v.version}" for v in self.versions())
                raise Refused("unknown_version", f"There is no version {digest!r} of {adapter!r}; there are: {there}.")
            if found != self._active.get(adapter):
                await self._roll(found)
                self._recorded(lambda: self._store.activated(found))

    async def rollback(self, adapter: str) -> None:
        """Go back to the version that was in use before.

        Raises:
            Refused: there is none, or as for :meth:`activate`.
        """
        async with self._rolling:
            try:
                before = self._store.previous(adapter)
            except VersionError as error:
                raise Refused("unknown_version", str(error)) from error
            await self._roll(before)
            self._recorded(lambda: self._store.rolled_back(adapter))

    async def _answers(self) -> bool:
        with suppress(TimeoutError):
            return self._state.ok and await health(self._config.host, self._config.port, timeout=2.0) == 200
        return True  # slow is not gone

    async def _roll(self, version: Version) -> None:
        if not self._state.ok:
            raise Refused("engine_not_ready", f"The engine is not ready ({self._state.detail}); try again.", True)
        old = self._active.get(version.adapter)
        try:
            self._config.fits(version.name, version.folder)
            check_adapter(version.folder, None, self._config.max_lora_rank, self._config.model)
            await engine_adapters.load(self._client, version.name, version.folder)
        except (EngineError, AdapterError) as error:
            raise Refused("adapter_refused", str(error)) from error
        self._roster.expect(version.name)
        _, result = await canary.check(self._client, [version.name], _goldens([version]))
        if not result.ok:
            await engine_adapters.unload(self._client, version.name)
            raise Refused(
                "adapter_refused",
                f"{version.name} failed its canary: {result.detail} {old.name if old else 'The base'} serves on.",
            )
        if version.golden() is None:
            version.keep_golden(result.logprobs)
        self._roster.prove(version.name)
        self._active[version.adapter] = version
        self._adapters[version.adapter] = Check(ok=True, detail=result.detail)
        self._switch(version.adapter, version)
        self._engine.serve(self._paths())
        self._progress(f"{version.name} serves; {old.name if old else 'the base'} leaves when its last turn has ended.")
        if old is not None and old.name != version.name:
            leaving = asyncio.create_task(self._leave(old.name), name=f"leave-{old.name}")
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def _leave(self, name: str) -> None:
        """Unload an adapter that new turns no longer use, once the running ones have ended."""
        await self._roster.idle(name)
        async with self._rolling:  # it may be on its way back in
            if name not in {version.name for version in self._active.values()}:
                with suppress(EngineError):  # an engine that stopped meanwhile starts without it
                    await engine_adapters.unload(self._client, name)

    def _recorded(self, record: Callable[[], None]) -> None:
        try:
            record()
        except VersionError as error:
            raise Refused(
                "store_unavailable", f"The version serves now, but the next start will not know: {error}"
            ) from error

    def _paths(self) -> dict[str, Path]:
        return {version.name: version.folder for version in self._active.values()}

    async def _run(self) -> None:
        try:
            self._state = Check(ok=False, detail="preparing the base model")
            await asyncio.to_thread(self._prepare)
            self._state = Check(ok=False, detail="starting the engine")
            await self._engine.start(self._progress)
            while True:
                await self._engine.wait_ready()
                self._left_ready.clear()
                await self._check_adapters()
                self._state = Check(ok=True, detail="ready")
                self._progress("Ready: interviews can start.")
                await self._left_ready.wait()
                self._state = Check(ok=False, detail="the engine stopped and is being restarted")
        except (EngineError, FetchError) as error:
            _log.error("%s", error)
            self._state = Check(ok=False, detail=str(error))
        except Exception as error:
            # Whatever it is, the service stays up and says so: sessions can be read, answers are kept.
            _log.exception("the engine's supervision failed")
            self._state = Check(ok=False, detail=f"{type(error).__name__}: {error}")

    def _on_state(self, state: EngineState) -> None:
        if state is not EngineState.READY:
            self._roster.expect(*(version.name for version in self._active.values()))
            self._left_ready.set()

    async def _check_adapters(self) -> None:
        active = list(self._active.values())
        results = await canary.check(self._client, [version.name for version in active], _goldens(active))
        by_name = {result.name: result for result in results}
        for version in active:
            result = by_name[version.name]
            if result.ok:
                self._roster.prove(version.name)
                self._adapters[version.adapter] = Check(ok=True, detail=result.detail)
                self._switch(version.adapter, version)
                continue
            way = f"It does not serve; go back with: interviewer adapters rollback {version.adapter}"
            _log.error("%s failed its canary: %s", version.name, result.detail)
            self._adapters[version.adapter] = Check(ok=False, detail=f"{result.detail} {way}")
            self._switch(version.adapter, None)


def _goldens(versions: Iterable[Version]) -> dict[str, canary.Logprobs]:
    return {version.name: golden for version in versions if (golden := version.golden()) is not None}


class ExternalBackend:
    """Watches an endpoint that others run."""

    def __init__(
        self, client: AsyncOpenAI, model: str, seen: Callable[[Sequence[str]], None] = lambda _names: None
    ) -> None:
        """Keep the collaborators.

        Args:
            client: Talks to the endpoint.
            model: Name of the model that has to be there.
            seen: Told the names that are served, each time they were asked for: adapters may come later than we.
        """
        self._client = client
        self._model = model
        self._seen = seen
        self._state = Check(ok=False, detail="not asked yet")
        self._task: asyncio.Task[None] | None = None

    def checks(self) -> dict[str, Check]:
        """Return whether the endpoint answers."""
        return {"engine": self._state}

    async def start(self) -> None:
        """Begin to ask in the background."""
        self._task = asyncio.create_task(self._watch(), name="endpoint")

    async def stop(self) -> None:
        """Stop asking."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def versions(self) -> list[AdapterVersion]:
        """Return nothing: whoever runs the endpoint knows its adapters."""
        return []

    async def activate(self, adapter: str, digest: str) -> None:
        """Refuse.

        Raises:
            Refused: always.
        """
        raise ELSEWHERE

    async def rollback(self, adapter: str) -> None:
        """Refuse.

        Raises:
            Refused: always.
        """
        raise ELSEWHERE

    async def recovered(self) -> bool:
        """Wait until the endpoint answers; True when a request that failed is worth sending again.

        One that answers at once counts: behind a router another replica takes over.
        """
        for pause in (0.2, 1.0, 3.0):
            await asyncio.sleep(pause)
            await self.ask()
            if self._state.ok:
                return True
        return False

    async def ask(self) -> None:
        """Ask which models are served."""
        try:
            names = [model.id async for model in self._client.models.list()]
        except (OpenAIError, httpx2.HTTPError, *MALFORMED) as error:
            self._state = Check(ok=False, detail=describe(error))
            return
        self._seen(names)
        if self._model in names:
            self._state = Check(ok=True, detail="ready")
        else:
            self._state = Check(ok=False, detail=f"{self._model!r} is not served there; there are: {', '.join(names)}")

    async def _watch(self) -> None:
        while True:
            await self.ask()
            await asyncio.sleep(POLL_SECONDS)
