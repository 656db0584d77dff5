"""Events to store, written by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from interviewer.core import events as ev

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
VERSIONS = ev.Versions(rubric="r1", persona="p1", prompt="t1", model="base", adapter="recruiter-ab12", judge="j1")
NASTY = (
    'quote " backslash \\ nul \x00 newline \n emoji \U0001f9d1\u200d\U0001f4bb rtl \u202e \u05d0 last \uffff '
    "percent %s :name {x} '; DROP TABLE event;--"
)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def started(**changes: Any) -> ev.SessionStarted:
    fields: dict[str, Any] = {
        "persona": "recruiter",
        "rubric": "phone_screen",
        "level": "senior",
        "mode": "practice",
        "minutes": 30,
        "seed": 7,
        "versions": VERSIONS,
    }
    return ev.SessionStarted(**(fields | changes))


def answer(turn: int = 1, text: str = "I cut the p99 from 900 to 300 ms.") -> ev.AnswerGiven:
    return ev.AnswerGiven(turn=turn, msg_id=f"m{turn}", text=text)
