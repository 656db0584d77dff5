"""The engine as a supervised child process: started, watched, restarted with backoff, never left behind.

Invariant: at most one engine process group exists per :class:`Engine`, and none after :meth:`Engine.stop` or after this
process died, in whatever way (:mod:`serving._watch` sees to the latter).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from serving import _watch
from serving.engine_config import EngineConfig, EngineError, EngineFailed, free_port

__all__ = ["Engine", "EngineConfig", "EngineError", "EngineFailed", "EngineState"]

logger = logging.getLogger(__name__)

OUT_OF_MEMORY = ", the last time killed from outside, as the system does when memory runs out"

OnState = Callable[["EngineState"], None]
Progress = Callable[[str], None]


class EngineState(StrEnum):
    """What the engine is doing."""

    STARTING = "starting"
    """The process runs, the model loads."""
    READY = "ready"
    """It answers its health check."""
    RESTARTING = "restarting"
    """It died; waiting before the next start."""
    STOPPING = "stopping"
    """It was asked to end."""
    STOPPED = "stopped"
    """Nothing runs."""
    FAILED = "failed"
    """It died too often; nothing runs and nothing will be tried."""


class Engine:
    """One engine process and the task that keeps it alive.

    Args:
        config: what to start.
        on_state: called with each new state, in the event loop; must not block.
        max_quick_deaths: consecutive deaths that end the attempts. A death is quick when the engine was not ready yet,
            or for less than ``settled_seconds``.
        settled_seconds: ready time after which earlier deaths are forgiven.
        backoff_seconds: pause before the first restart; doubles each time, at most 30 s.
    """

    def __init__(
        self,
        config: EngineConfig,
        on_state: OnState | None = None,
        *,
        max_quick_deaths: int = 3,
        settled_seconds: float = 60.0,
        backoff_seconds: float = 1.0,
    ) -> None:
        self._config = config
        self._on_state = on_state
        self._max_quick_deaths = max_quick_deaths
        self._settled_seconds = settled_seconds
        self._backoff_seconds = backoff_seconds
        self._port = config.port
        self._state = EngineState.STOPPED
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._progress: Progress = lambda _line: None
        self._failure: EngineFailed | None = None
        self._exit_code: int | None = None
        self.restarts = 0
        """How often the engine was started again after it died."""

    @property
    def state(self) -> EngineState:
        """The present state."""
        return self._state

    @property
    def base_url(self) -> str:
        """Root of the OpenAI-compatible interface, the same over restarts; valid after :meth:`start`."""
        return f"http://{self._config.host}:{self._port}/v1"

    async def start(self, progress: Progress | None = None) -> None:
        """Start the engine and its supervision, without waiting for the model.

        Args:
            progress: is given a line of text per step of a start.

        Raises:
            EngineError: folder missing, port taken, log not writable, already started.
        """
        if self._task is not None and not self._task.done():
            raise EngineError("The engine runs already.", "Call stop() first.")
        self._config.check()
        self._port = self._config.port or free_port(self._config.host)
        self._progress = progress or self._progress
        self._failure = None
        self.restarts = 0
        try:
            self._config.log.parent.mkdir(parents=True, exist_ok=True)
            self._config.log.open("ab").close()
        except OSError as error:
            raise EngineError(f"Cannot write {self._config.log}: {error}.", "Choose another log file.") from error
        await self._set(EngineState.STARTING)
        self._task = asyncio.create_task(self._supervise(), name="engine-supervisor")

    def serve(self, adapters: Mapping[str, Path]) -> None:
        """Let the next start load these adapters, by served name; the running engine is loaded by its interface."""
        self._config = replace(self._config, adapters=dict(adapters))

    async def wait_ready(self) -> None:
        """Return when the engine answers.

        Raises:
            EngineFailed: it died too often; the message ends with the last lines of its log.
            EngineError: it was stopped, or never started.
        """
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._state in {EngineState.READY, EngineState.FAILED, EngineState.STOPPED}
            )
        if self._failure is not None:
            raise self._failure
        if self._state is EngineState.STOPPED:
            raise EngineError("The engine is not running.", "Call start() first.")

    async def stop(self) -> None:
        """End the engine and wait until its whole process group is gone; harmless when nothing runs."""
        if self._task is None:
            return
        if not self._task.done():
            await self._set(EngineState.STOPPING)
            self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._task = None
        await self._end_process()
        await self._set(EngineState.STOPPED)

    async def _supervise(self) -> None:
        quick_deaths = 0
        while True:
            ready_for = await self._run_once()
            quick_deaths = quick_deaths + 1 if ready_for < self._settled_seconds else 1
            if quick_deaths >= self._max_quick_deaths:
                tail = log_tail(self._config.log)
                killed = self._exit_code == 128 + signal.SIGKILL
                self._failure = EngineFailed(
                    f"The engine died {quick_deaths} times in a row{OUT_OF_MEMORY if killed else ''}.",
                    f"The end of its log, {self._config.log}:\n{tail}",
                )
                logger.error("engine failed: %s", self._failure)
                await self._set(EngineState.FAILED)
                return
            pause = min(30.0, self._backoff_seconds * 2 ** (quick_deaths - 1))
            logger.warning("engine died after %.0f s of service, next start in %.1f s", ready_for, pause)
            self._progress(f"The engine stopped; starting it again in {pause:.0f} s.")
            await self._set(EngineState.RESTARTING)
            await asyncio.sleep(pause)
            self.restarts += 1
            await self._set(EngineState.STARTING)

    async def _run_once(self) -> float:
        """Run one engine process until it is gone; return for how many seconds it was ready."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        with self._config.log.open("ab") as log:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                _watch.__file__,
                *self._config.argv(self._port),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._config.environment(),
                start_new_session=True,  # Ctrl-C in a terminal is for the service, which drains before it stops us
            )
        gone = asyncio.create_task(process.wait())
        try:
            ready = await self._wait_healthy(gone, began)
            if not ready:
                return 0.0
            self._progress(f"The engine is ready after {loop.time() - began:.0f} s.")
            since = loop.time()
            await self._set(EngineState.READY)
            await self._watch_health(gone)
            return loop.time() - since
        finally:
            self._exit_code = process.returncode
            gone.cancel()
            if self._state is not EngineState.STOPPING:
                await self._end_process()

    async def _wait_healthy(self, gone: asyncio.Task[int], began: float) -> bool:
        """Poll the health check; False when the process ended or took too long."""
        loop = asyncio.get_running_loop()
        told = began
        while not gone.done():
            with contextlib.suppress(TimeoutError):
                if await health(self._config.host, self._port, timeout=2.0) == 200:
                    return True
            if loop.time() - began > self._config.ready_seconds:
                logger.error("engine not ready after %.0f s", self._config.ready_seconds)
                return False
            if loop.time() - told >= 10:
                told = loop.time()
                self._progress(f"... the engine loads the model, {told - began:.0f} s")
            await asyncio.wait([gone], timeout=0.25)
        return False

    async def _watch_health(self, gone: asyncio.Task[int]) -> None:
        """Return when the process is gone or has refused its health check three times in a row.

        A slow answer is no refusal: a long prefill on few cores may delay it.
        """
        refused = 0
        while not gone.done() and refused < 3:
            await asyncio.wait([gone], timeout=5.0)
            try:
                status = await health(self._config.host, self._port, timeout=30.0)
            except TimeoutError:
                continue
            refused = 0 if status == 200 else refused + 1

    async def _end_process(self) -> None:
        """Close the watcher's pipe, which ends the engine's process group, and wait for it."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _watch.GRACE_SECONDS + 10)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _set(self, state: EngineState) -> None:
        if state is self._state:
            return
        self._state = state
        logger.info("engine %s", state)
        if self._on_state is not None:
            self._on_state(state)
        async with self._changed:
            self._changed.notify_all()


async def health(host: str, port: int, timeout: float) -> int | None:
    """Return the status code of ``GET /health``, or None when the connection is refused or broken.

    Raises:
        TimeoutError: no answer within ``timeout`` seconds.
    """
    async with asyncio.timeout(timeout):
        try:
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                words = (await reader.readline()).split()
                return int(words[1])
            finally:
                writer.close()
        except (OSError, IndexError, ValueError):
            return None


def log_tail(path: Path, lines: int = 15) -> str:
    """Return the last lines of a log, at most 8 kB; empty when it cannot be read."""
    try:
        with path.open("rb") as handle:
            handle.seek(max(0, path.stat().st_size - 8192))
            text = handle.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
