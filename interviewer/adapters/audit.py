"""The audit log: one JSON line per request or socket of somebody; who, what, which session, outcome, time. No words."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import datetime
from pathlib import Path

_log = logging.getLogger(__name__)


class AuditLog:
    """Appends lines to a file that its owner alone can read, or to standard error for ``-``."""

    def __init__(self, path: Path) -> None:
        """Write to ``path``; its folder is made when the first line is written."""
        self._path = path

    def write(self, at: datetime, *, who: str, key: str, action: str, outcome: str, session: str = "") -> None:
        """Append one line; a failure is logged and does not stop the request.

        Args:
            at: When it was done.
            who: Name on the key; empty for nobody.
            key: Id of the key.
            action: Method and route, as in ``GET /v1/sessions/{session_id}``.
            outcome: Status, or the code with which a socket ended.
            session: Ids of the sessions it was about, separated by commas.
        """
        fields = {"at": at.isoformat(), "who": who, "key": key, "action": action, "session": session}
        line = json.dumps({**fields, "outcome": outcome}, ensure_ascii=True) + "\n"
        try:
            if str(self._path) == "-":
                sys.stderr.write(line)
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, line.encode())
            finally:
                os.close(handle)
        except OSError as error:
            _log.error("the audit log %s cannot be written: %s", self._path, error.strerror)
