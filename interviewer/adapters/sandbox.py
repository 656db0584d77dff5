"""Runs a candidate's code in a process of its own that can do nothing but compute, and reads back what it came to.

The process gets no environment, an empty folder, no file to open, no network and no way to start or signal anything
(see ``sandboxed/lockdown.py``); it is killed with its group when its time is over. Its report is data from a stranger:
bounded, checked for shape, and able to lower a level only. Code can forge it and gains no more than not being held
down.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from interviewer.adapters.sandboxed.lockdown import CPU_SECONDS, why_not
from interviewer.core.code import CodeCheck
from interviewer.core.rubric import CodeTask
from interviewer.service.ports import NotRun

MAX_REPORT = 65536
"""Bytes that are read from the process; one that sends more has its report refused."""
_START = "import sys; sys.path.append(sys.argv[1]); from interviewer.adapters.sandboxed.child import main; main()"
_ROOT = str(Path(__file__).resolve().parents[2])
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_NO_END = "It does not end: it used up its processor time on a tiny model."
_log = logging.getLogger(__name__)


class _Sent(BaseModel):
    check: str = Field(max_length=40)
    ok: bool | None
    says: str = Field(max_length=600)
    sure: bool


_REPORT = TypeAdapter(list[_Sent])


def unavailable() -> str:
    """Return why code cannot be run on this machine; empty when it can, as far as can be told without doing it."""
    if reason := why_not():
        return reason
    return "" if find_spec("torch") else "torch is not installed"


class Sandbox:
    """Runs one piece of code at a time; one process may wait, ready, for the next."""

    def __init__(self, *, seconds: float = 15.0, start_seconds: float = 60.0) -> None:
        """Start nothing yet.

        Args:
            seconds: Longest time for the code, by the clock; its processor time is bounded apart.
            start_seconds: Longest time until a process is ready; it imports torch first.
        """
        self._seconds = seconds
        self._start_seconds = start_seconds
        self._spare: asyncio.Task[_Process] | None = None
        self._turn = asyncio.Lock()

    def prepare(self) -> None:
        """Let a process get ready while the candidate thinks; does nothing when one is."""
        if self._spare is None:
            self._spare = asyncio.create_task(_Process.start(self._start_seconds), name="sandbox")
            self._spare.add_done_callback(_seen)

    async def run(self, task: CodeTask, code: str) -> Sequence[CodeCheck]:
        """Run code and return what was seen.

        Raises:
            NotRun: the sandbox cannot be made here, or gave no report.
        """
        async with self._turn:
            process = await self._take()
            if process.gone:  # it waited longer than it may live
                await process.end()
                process = await self._take()
            try:
                return await process.ask(task, code, self._seconds)
            finally:
                await process.end()

    async def _take(self) -> _Process:
        self.prepare()
        spare, self._spare = self._spare, None
        assert spare is not None
        try:
            return await spare
        except asyncio.CancelledError:
            spare.cancel()
            raise

    async def close(self) -> None:
        """End the process that waits."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.cancel()
            with contextlib.suppress(asyncio.CancelledError, NotRun):
                await (await spare).end()


def _seen(task: asyncio.Task[_Process]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.warning("the sandbox did not start: %s", error)


class _Process:
    """One child with its folder."""

    def __init__(self, child: asyncio.subprocess.Process, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._child = child
        self._folder = folder

    @classmethod
    async def start(cls, seconds: float) -> _Process:
        """Start a child and wait until it is locked down.

        Raises:
            NotRun: it did not get that far.
        """
        folder = tempfile.TemporaryDirectory(prefix="interviewer-code-", ignore_cleanup_errors=True)
        try:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-B", "-c", _START, _ROOT,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
                env=_ENVIRONMENT, cwd=folder.name, start_new_session=True, limit=MAX_REPORT,
            )  # fmt: skip
        except OSError as error:
            folder.cleanup()
            raise NotRun(f"no process could be started: {error}") from error
        made = cls(child, folder)
        try:
            async with asyncio.timeout(seconds):
                line = await made._out.readline()
        except (TimeoutError, ValueError):
            line = b"not ready in time"
        except asyncio.CancelledError:
            await made.end()
            raise
        if line != b"ready\n":
            await made.end()
            raise NotRun(f"the sandbox could not be made: {line[:200].decode(errors='replace').strip() or 'it ended'}")
        return made

    @property
    def gone(self) -> bool:
        """Whether the child has ended while it waited."""
        return self._child.returncode is not None

    @property
    def _out(self) -> asyncio.StreamReader:
        assert self._child.stdout is not None
        return self._child.stdout

    async def ask(self, task: CodeTask, code: str, seconds: float) -> Sequence[CodeCheck]:
        """Hand the code over and read the report.

        Raises:
            NotRun: there is none.
        """
        assert self._child.stdin is not None
        begun = monotonic()
        try:
            async with asyncio.timeout(seconds):
                self._child.stdin.write(json.dumps({"task": task, "code": code}).encode())
                self._child.stdin.write_eof()
                sent = await self._read()
                status = await self._child.wait() if len(sent) <= MAX_REPORT else 0
        except TimeoutError:
            return [_told("runs", None, f"It had not ended after {seconds:.0f} seconds and was stopped.")]
        except OSError as error:
            raise NotRun(f"the sandbox went away: {error}") from error
        if status in (-signal.SIGXCPU, -signal.SIGKILL) and not sent:
            # Code that ignores the first is killed a second later; killed before, it was the machine's doing.
            if status == -signal.SIGXCPU or monotonic() - begun > CPU_SECONDS:
                return [_told("runs", False, _NO_END, sure=True)]
            return [
                _told("runs", None, "It was killed by the machine, perhaps for its memory; nothing is known of it.")
            ]
        try:
            found = _REPORT.validate_json(sent[:MAX_REPORT])
        except ValidationError:
            return [_told("runs", None, "It ended its process, or spoiled its report; nothing is known of it.")]
        if not found:
            return [_told("runs", None, "It ran and left no report.")]
        return [CodeCheck(**check.model_dump(), how="ran") for check in found[:20]]

    async def _read(self) -> bytes:
        found = b""
        while len(found) <= MAX_REPORT and (piece := await self._out.read(65536)):
            found += piece
        return found

    async def end(self) -> None:
        """Kill the child with its group and remove its folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        await self._child.wait()
        self._folder.cleanup()


def _told(check: str, ok: bool | None, says: str, *, sure: bool = False) -> CodeCheck:
    return CodeCheck(check=check, ok=ok, says=says, how="ran", sure=sure)
