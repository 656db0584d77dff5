"""The way in for other people's transcripts: bytes to text, text to a format, a format to a transcript.

Invariant: whatever comes, the answer is a transcript or a :class:`TranscriptError` that says what to change.
"""

from __future__ import annotations

import codecs
import re
from itertools import islice
from typing import Literal, TypeAlias

from interviewer.core.chat import parse_json
from interviewer.core.cues import TIMING, parse_captions
from interviewer.core.labelled import parse_text
from interviewer.core.lines import numbered
from interviewer.core.transcript import Transcript, TranscriptError

Format: TypeAlias = Literal["text", "json", "captions"]
"""captions: WebVTT or SRT; text: speaker labels, Markdown, or the exports of Otter and Meet."""
FORMATS: dict[str, Format] = {
    "text": "text",
    "markdown": "text",
    "json": "json",
    "vtt": "captions",
    "srt": "captions",
}
"""What a file may be called, and how it is read."""
MAX_ANSWERS = 2_000
"""Most answers of one transcript: a day of interviews."""
MAX_SPOKEN = 500_000
"""Most characters that the candidate may say in one transcript: eleven hours at 150 words a minute."""
MAX_TRANSCRIPT = 2 * 1024 * 1024
"""Bytes of one transcript as UTF-8: four hours of talk are about a tenth of it."""
_OTHER = (
    (b"PK\x03\x04", "a zip archive (.docx and .xlsx are zip archives, too)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"%PDF-", "a PDF"),
    (b"\xd0\xcf\x11\xe0", "an old Word document"),
    (b"{\\rtf", "a rich-text document"),
)
"""First bytes of files that are no plain text; the rest is told by its zero bytes."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: it begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOK = 40
"""Lines in which the first cue has to begin."""
_JSON = re.compile(r'\{|\[\s*[{\["\]]')
_BROKEN = re.compile("[\x00\ud800-\udfff]")


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, or UTF-16 and UTF-32 with a byte order mark.

    Raises:
        TranscriptError: empty, no text, or in another encoding.
    """
    if not data.strip():
        raise TranscriptError("the file is empty")
    _refuse_other(data[:8])
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if encoding is None and b"\x00" in data:
        raise TranscriptError("this looks like a binary file; send text (UTF-16 needs its byte order mark)")
    try:
        return data.decode(encoding or "utf-8").lstrip("\ufeff")
    except UnicodeDecodeError as error:
        raise TranscriptError(
            f"byte {error.start} is not {(encoding or 'utf-8').upper()}: the file has another encoding; "
            "convert it first, for example: iconv -f latin1 -t utf-8"
        ) from error


def _refuse_other(head: bytes) -> None:
    for start, kind in _OTHER:
        if head.startswith(start):
            raise TranscriptError(f"this is {kind}; save the transcript as text, WebVTT, SRT or JSON and send that")


def detect(text: str) -> Format:
    """Return what a text looks like: WebVTT or SRT by its first cue, JSON by its bracket, else labelled text."""
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith("WEBVTT"):
        return "captions"
    if _JSON.match(text):
        return "json"
    spoken = (line for _, line in numbered(text) if line.strip())
    return "captions" if any(TIMING.match(line) for line in islice(spoken, _LOOK)) else "text"


def read(text: str, format_: str = "auto", candidate: str | None = None) -> Transcript:
    """Read a transcript.

    Args:
        text: The file's text; a byte order mark, CRLF and CR are accepted.
        format_: One of :data:`FORMATS`, or ``auto``.
        candidate: The candidate's name, when the labels do not say who it is.

    Raises:
        SpeakersUnclear: it is unclear who the candidate is; the error lists the names.
        TranscriptError: it cannot be read; the message says what to change.
    """
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise TranscriptError("the transcript is empty")
    _refuse_other(text[:8].encode(errors="replace"))
    if _BROKEN.search(text):
        raise TranscriptError("this looks like a binary file; send text")
    how = detect(text) if format_ == "auto" else FORMATS[format_]
    found = {"text": parse_text, "json": parse_json, "captions": parse_captions}[how](text, candidate)
    broken = text.count("\ufffd")
    if broken:
        note = f"Characters that could not be decoded when the file was read: {broken}; it may not have been UTF-8."
        found = found.model_copy(update={"notices": (*found.notices, note)})
    return found
