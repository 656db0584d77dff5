"""The process that reads one PDF: its limits are set before a byte of the file is looked at."""

from __future__ import annotations

import json
import resource
import sys

MEMORY = 512 * 1024 * 1024
"""Bytes of address space."""
CPU_SECONDS = 10
MAX_PAGES = 20
_MOST = 200_000
"""Characters that are sent back; more is over every limit of the reader."""


def main() -> None:
    """Read a PDF from standard input and write ``{"text"}`` or ``{"problem"}``."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    data = sys.stdin.buffer.read()
    try:
        report = extract(data)
    except (MemoryError, RecursionError):
        report = {"problem": "pdf_too_hard"}
    except Exception:  # whatever a broken file makes the parser do, it is a broken file
        report = {"problem": "pdf_unreadable"}
    sys.stdout.write(json.dumps(report))


def extract(data: bytes) -> dict[str, str]:
    """Return the text of a PDF, or what is wrong with it."""
    from io import BytesIO

    from pypdf import PdfReader

    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted:
        return {"problem": "pdf_encrypted"}
    if len(reader.pages) > MAX_PAGES:
        return {"problem": "pdf_too_long"}
    pages: list[str] = []
    for page in reader.pages:
        pages.append(page.extract_text().replace("\x00", ""))
        if sum(map(len, pages)) > _MOST:
            return {"problem": "pdf_too_long"}
    # A lone surrogate, as some fonts decode to, cannot be sent on.
    return {"text": "\n\n".join(pages).encode("utf-8", "ignore").decode("utf-8")}
