"""JSON transcripts: this project's own, and messages of a chat as OpenAI's API has them."""

from __future__ import annotations

import json
import re
from typing import Any

from interviewer.core.speakers import Piece, roles, together
from interviewer.core.transcript import Transcript, TranscriptError, Unplaced

_NO_SPEECH = frozenset({"system", "developer", "tool", "function"})
_LONGEST = 1e6
"""Seconds."""
_BROKEN = re.compile("[\x00\ud800-\udfff]")


def parse_json(text: str, candidate: str | None = None) -> Transcript:
    """Read JSON: this project's transcript, ``{"messages": [...]}`` or a list of OpenAI chat messages.

    Lines of this project's transcript keep their turns, so that an export is read back as it was.

    Raises:
        SpeakersUnclear: it is unclear who the candidate is.
        TranscriptError: not JSON, or not one of those shapes; the message names the place.
    """
    try:
        data = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise TranscriptError(f"not valid JSON: {error}") from error
    own = isinstance(data, dict) and "lines" in data
    entries = data.get("lines" if own else "messages") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise TranscriptError('expected a list of messages, or an object with "lines" or "messages"')
    pieces: list[Piece] = []
    unplaced: list[Unplaced] = []
    for i, entry in enumerate(entries):
        who, words = _entry(i, entry)
        if who.lower() in _NO_SPEECH or not words.strip():
            unplaced.append(Unplaced(line=i + 1, text=f"{who}: {words or '(no words)'}"))
            continue
        words = words if own else words.strip()
        pieces.append(Piece(who, words, i + 1, _start(entry.get("start")), _turn(entry.get("turn"))))
    if not pieces:
        raise TranscriptError("the transcript holds no speech")
    parts, notices = roles(pieces, candidate)
    merged, _ = together(pieces, parts, captions=False)
    return Transcript(lines=merged, unplaced=tuple(unplaced), notices=notices)


def _entry(i: int, entry: Any) -> tuple[str, str]:
    who = (entry.get("speaker") or entry.get("role")) if isinstance(entry, dict) else None
    if not isinstance(who, str) or not who.strip():
        raise TranscriptError(f'entry {i}: expected "speaker" (or "role") and "text" (or "content") as strings')
    words = _words(entry.get("text", entry.get("content")), calls="tool_calls" in entry)
    if words is None:
        raise TranscriptError(f'entry {i}: expected "text" (or "content") as a string, or as parts with "text"')
    if _BROKEN.search(who) or _BROKEN.search(words):
        raise TranscriptError(f"entry {i}: holds a NUL or half of a character; write the file again as UTF-8")
    return who.strip(), words


def _words(content: Any, *, calls: bool) -> str | None:
    """Return the words of a content; pictures and calls of tools have none. ``None`` when it is no content."""
    if isinstance(content, str):
        return content
    if content is None and calls:
        return ""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part.get("text", "") for part in content]
        return "\n".join(texts) if all(isinstance(part, str) for part in texts) else None
    return None


def _start(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value < _LONGEST else None


def _turn(value: Any) -> int | None:
    return value if type(value) is int else None
