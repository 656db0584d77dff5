"""The clock and the ids of the real world."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


class SystemClock:
    """Wall clock, UTC."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)


def new_id() -> str:
    """Return 16 unguessable URL-safe characters."""
    return secrets.token_urlsafe(12)
