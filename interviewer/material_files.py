"""Resumes and job descriptions from files, for the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path

from interviewer.adapters.pdf import MAX_TEXT, PdfError, pdf_text


class MaterialError(ValueError):
    """A file cannot be used; the message names it and says what to do."""


def read_material(path: Path) -> str:
    """Return the text of a text file or of a PDF's text layer.

    Raises:
        MaterialError: it cannot be read, is no text, is empty, or is too long.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MaterialError(f"{path} cannot be read: {error.strerror}") from error
    if data.startswith(b"%PDF-"):
        try:
            return asyncio.run(pdf_text(data))
        except PdfError as error:
            raise MaterialError(f"{path}: {error}") from error
    try:
        text = data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise MaterialError(f"{path} is neither UTF-8 text nor a PDF; save it as one of them") from error
    if not text:
        raise MaterialError(f"{path} is empty")
    if len(text) > MAX_TEXT:
        raise MaterialError(f"{path} has {len(text)} characters; at most {MAX_TEXT} are taken, keep what matters")
    return text
