"""The text layer of a PDF, read in a process of its own with bounded time and memory: the file is a stranger's.

Nothing is recognised in images: a scan has no text and is refused with what to do about it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from interviewer.core.resume import MAX_RESUME

MAX_BYTES = 3_000_000
"""Bytes of a file."""
MAX_PAGES = 20
MAX_TEXT = MAX_RESUME
"""Characters that a resume or a job description may have."""
_MAX_REPORT = 1_000_000
_START = "import sys; sys.path.append(sys.argv[1]); from interviewer.adapters.pdf_child import main; main()"
_ROOT = str(Path(__file__).resolve().parents[2])

Problem = Literal["pdf_too_large", "pdf_too_long", "pdf_encrypted", "pdf_no_text", "pdf_unreadable", "pdf_too_hard"]
_SAYS: dict[Problem, str] = {
    "pdf_too_large": f"The file is larger than {MAX_BYTES // 1_000_000} MB; export it without pictures, or paste the "
    "text.",
    "pdf_too_long": f"The file has more than {MAX_PAGES} pages or {MAX_TEXT} characters; keep the pages that matter, "
    "or paste the text.",
    "pdf_encrypted": "The file is protected by a password; save a copy without one, or paste the text.",
    "pdf_no_text": "The file has no text layer, as a scan has none; export it from the program it was written in, or "
    "paste the text.",
    "pdf_unreadable": "This is not a PDF that can be read; export it again, or paste the text.",
    "pdf_too_hard": "The file takes too much time or memory to read; print it to a new PDF, or paste the text.",
}


class PdfError(ValueError):
    """The text of a PDF cannot be had; the message says what to do."""

    def __init__(self, code: Problem) -> None:
        """Keep the code, for machines."""
        super().__init__(_SAYS[code])
        self.code = code


class _Report(BaseModel):
    text: str = ""
    problem: Problem | None = Field(default=None)


async def pdf_text(data: bytes, *, seconds: float = 15.0) -> str:
    """Return the text layer of a PDF, lines as they stand, pages parted by an empty line.

    Args:
        data: The file.
        seconds: Longest time for reading it, by the clock; memory is bounded apart.

    Raises:
        PdfError: too large or too long, protected, without text, broken, or too hard to read.
    """
    if len(data) > MAX_BYTES:
        raise PdfError("pdf_too_large")
    if b"%PDF-" not in data[:1024]:
        raise PdfError("pdf_unreadable")
    report = _read(await _child(data, seconds))
    if report.problem is not None:
        raise PdfError(report.problem)
    text = report.text.strip()
    if len(text.split()) < 3:
        raise PdfError("pdf_no_text")
    if len(text) > MAX_TEXT:
        raise PdfError("pdf_too_long")
    return text


async def _child(data: bytes, seconds: float) -> bytes:
    """Let a process read ``data``; empty when it came to nothing in its time."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-B", "-c", _START, _ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={}, cwd="/", start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(seconds):
            out, _ = await child.communicate(data)
    except TimeoutError:
        return b""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
    return out


def _read(sent: bytes) -> _Report:
    if not sent or len(sent) > _MAX_REPORT:
        return _Report(problem="pdf_too_hard")
    try:
        return _Report.model_validate(json.loads(sent))
    except (ValueError, ValidationError):
        return _Report(problem="pdf_too_hard")
