"""Log lines as JSON objects, one each: time, level, logger, message, and the session and turn they are about.

Invariant: of an exception only its type and where it happened are written; its message may quote a candidate.
"""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime

from interviewer.service import affinity

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


def use_json(level: str) -> None:
    """Let everything that this process logs be such lines, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
