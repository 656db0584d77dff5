"""The model behind the service: the embedded engine that we supervise, or somebody else's endpoint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress

import httpx2
from openai import AsyncOpenAI, OpenAIError

from interviewer.adapters.openai_model import MALFORMED, describe
from interviewer.web.state import Check
from serving import canary
from serving.engine import Engine, EngineError, EngineState
from serving.engine_config import EngineConfig
from serving.fetch import FetchError

_log = logging.getLogger(__name__)

POLL_SECONDS = 15.0


class EmbeddedBackend:
    """Prepares the base model, runs the engine as a child process, and serves only adapters that pass their canary."""

    def __init__(
        self,
        config: EngineConfig,
        client: AsyncOpenAI,
        prepare: Callable[[], object],
        served: Mapping[str, str],
        goldens: Mapping[str, canary.Logprobs],
        progress: Callable[[str], None],
    ) -> None:
        """Keep the collaborators.

        Args:
            config: What to run; its port is chosen already, so that the address is known.
            client: Talks to the engine.
            prepare: Blocking; fetches and converts what is missing.
            served: Served name by adapter id.
            goldens: Stored first-token log probabilities, by served name.
            progress: Told about each step, in words.
        """
        self._left_ready = asyncio.Event()
        self._engine = Engine(config, on_state=self._on_state)
        self._client = client
        self._prepare = prepare
        self._served = served
        self._goldens = goldens
        self._progress = progress
        self._state = Check(ok=False, detail="not started")
        self._adapters = {name: Check(ok=False, detail="waiting for the engine") for name in served}
        self._task: asyncio.Task[None] | None = None

    def checks(self) -> dict[str, Check]:
        """Return the state of the engine and of each adapter."""
        return {"engine": self._state, **{f"adapter:{name}": check for name, check in self._adapters.items()}}

    async def start(self) -> None:
        """Begin in the background."""
        self._task = asyncio.create_task(self._run(), name="engine")

    async def stop(self) -> None:
        """Stop the engine and its supervision."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._engine.stop()

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
            self._left_ready.set()

    async def _check_adapters(self) -> None:
        results = await canary.check(self._client, list(self._served.values()), self._goldens)
        by_name = {result.name: result for result in results}
        for adapter, name in self._served.items():
            result = by_name[name]
            self._adapters[adapter] = Check(ok=result.ok, detail=result.detail)


class ExternalBackend:
    """Watches an endpoint that others run."""

    def __init__(self, client: AsyncOpenAI, model: str) -> None:
        """Keep the client and the name of the model that has to be there."""
        self._client = client
        self._model = model
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

    async def ask(self) -> None:
        """Ask which models are served."""
        try:
            names = [model.id async for model in self._client.models.list()]
        except (OpenAIError, httpx2.HTTPError, *MALFORMED) as error:
            self._state = Check(ok=False, detail=describe(error))
            return
        if self._model in names:
            self._state = Check(ok=True, detail="ready")
        else:
            self._state = Check(ok=False, detail=f"{self._model!r} is not served there; there are: {', '.join(names)}")

    async def _watch(self) -> None:
        while True:
            await self.ask()
            await asyncio.sleep(POLL_SECONDS)
