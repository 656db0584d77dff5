"""Who may do what, as pure rules: scopes of keys, ids in paths, a bucket of requests, the day of a quota."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Literal, TypeAlias, get_args

from interviewer.core.assessment import Frozen

Scope: TypeAlias = Literal["interview", "score", "metrics", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
DEFAULT_SCOPES: tuple[Scope, ...] = ("interview", "score")
MEANINGS: Mapping[Scope, str] = {
    "interview": "sessions, loops, imports and replays of one's own",
    "score": "scoring of written answers",
    "metrics": "Prometheus metrics",
    "admin": "rolling adapters in and back; no access to anybody's sessions",
}
PUBLIC = frozenset({"/", "/healthz", "/readyz", "/v1/auth"})
"""Paths that need no key: the page, health, and signing in."""
SPENDING = ("/v1/score", "/v1/sessions", "/v1/transcripts", "/v1/loops")
"""Starts of the paths whose POST has the engine work."""


class Bucket(Frozen):
    """Requests that may still be sent at once; it fills again at an even pace."""

    left: float
    at: float
    """Seconds on any clock that never goes back."""


def take(bucket: Bucket | None, now: float, per_minute: int, burst: int) -> tuple[Bucket, float]:
    """Take one request out of a bucket; ``None`` is a full one.

    Returns:
        The bucket afterwards, and 0.0, or the seconds after which the same request would pass.
    """
    rate = per_minute / 60
    left = float(burst) if bucket is None else min(float(burst), bucket.left + (now - bucket.at) * rate)
    if left < 1:
        return Bucket(left=left, at=now), (1 - left) / rate
    return Bucket(left=left - 1, at=now), 0.0


def seconds_to_midnight(now: datetime) -> int:
    """Return the whole seconds until the next day of UTC begins, rounded up."""
    now = now.astimezone(UTC)
    tomorrow = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    return ceil((tomorrow - now).total_seconds())


def needed_scope(method: str, path: str) -> Scope | None:
    """Return the scope that a request needs; ``None`` where any valid key will do.

    A path that nobody thought of needs ``admin``: a new route is closed until it is opened here.
    """
    parts = path.split("/")
    if path == "/metrics":
        return "metrics"
    if parts[1] != "v1" or len(parts) < 3:
        return None if path == "/openapi.json" else "admin"
    match parts[2]:
        case "score":
            return "score"
        case "questions" if parts[4:] == ["attempts"] and method in ("GET", "HEAD"):
            return "interview"
        case "sessions" | "loops" | "transcripts" | "profiles" | "progress" | "export" | "restores":
            return "interview"
        case "auth":
            return None
        case "about" if method in ("GET", "HEAD"):
            return None
        case "personas" | "rubrics" | "questions" | "scenarios" | "drills" | "adapters" if method in ("GET", "HEAD"):
            return None
        case _:
            return "admin"


def is_public(path: str) -> bool:
    """Return whether a path needs no key."""
    return path in PUBLIC or path.startswith("/static/")


def spends(method: str, path: str) -> bool:
    """Return whether a request has the engine work, and counts against the day's quota."""
    return method == "POST" and path.startswith(SPENDING) and not path.endswith("/token")


def named(path: str, kind: Literal["sessions", "loops"]) -> str | None:
    """Return the id of the session or loop that a path is about; ``None`` when it is about none.

    The path is the decoded one that the router matches too, so both see the same id.
    """
    parts = path.split("/")
    return parts[3] if len(parts) > 3 and parts[1:3] == ["v1", kind] and parts[3] else None
