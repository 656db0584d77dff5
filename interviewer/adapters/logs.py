"""What the process logs, as text or JSON: time, level, logger, message, and the session and turn that it is about.

Invariant: of an exception only its type and where it happened are written; its message may quote a candidate.
"""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal, TypeAlias

from interviewer.service import affinity

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

EXTRAS = ("session", "turn", "persona", "source", "seconds")
"""Fields that a record may carry; no others are written, so that none can be by mistake."""


class JsonFormatter(logging.Formatter):
    """Writes one record as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (session := affinity.bound()) is not None:
            line["session"] = session
        line |= {name: getattr(record, name) for name in EXTRAS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["where"] = "".join(traceback.format_tb(record.exc_info[2]))
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """Writes one record as a line for people, and where an exception happened below it."""

    def __init__(self) -> None:
        """Take the one layout."""
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatException(self, ei: ExcInfo) -> str:
        """Return the places and the type of an exception and of those that it came from, without their messages."""
        error, parts = ei[1], []
        while error is not None:
            parts.append("".join(traceback.format_tb(error.__traceback__)) + type(error).__name__)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\ncaused by\n".join(parts)


def use_logs(form: Literal["text", "json"], level: str) -> None:
    """Let everything that this process logs be such lines, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
