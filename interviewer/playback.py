"""A session again in the terminal, as it was said: from its log, with pauses that nobody has to sit through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeAlias

PAUSE = 6.0
"""Longest pause at normal speed, in seconds."""
PACE = 2.7
"""Words a second at which a log is played that was written in one moment."""
BREATH = 0.8
"""Pause, in seconds, before something that has no time of its own."""

Line: TypeAlias = dict[str, Any]
"""A recorded event as JSON."""


def play(log: Sequence[Line], first: int = 1) -> Iterator[tuple[float, str]]:
    """Yield what happened from turn ``first`` on, as ``(seconds to wait at normal speed, text)``, in order of turns."""
    if not log:
        return
    cued = any(line["event"].get("start") is not None for line in log)
    stored = _seconds(log[0], log[-1]) < 1.0
    before: Line | None = None
    for line in _by_turn(log, first):
        text = _text(line["event"])
        if text is None:
            continue
        start = line["event"].get("start")
        wait = 0.0
        if before is not None:
            wait = BREATH
            if cued and start is not None:
                wait = start - before["event"]["start"]
            elif not cued and not stored:
                wait = _seconds(before, line)
            elif not cued and "text" in before["event"]:
                wait = len(before["event"]["text"].split()) / PACE
        if not cued or start is not None:
            before = line
        yield min(PAUSE, max(0.0, wait)), text


def _by_turn(log: Sequence[Line], first: int) -> list[Line]:
    """Return the lines from a turn on, with what was read later, as in an import, behind the turn it is of.

    What names no turn, as a swap does, belongs to the one that was on.
    """
    keyed = []
    current = 0
    for line in log:
        turn = line["event"].get("turn", current)
        current = max(current, turn)
        keyed.append((turn, line["seq"], line))
    return [line for turn, _, line in sorted(keyed, key=lambda k: k[:2]) if turn >= first or first == 1]


def _seconds(before: Line, after: Line) -> float:
    return (datetime.fromisoformat(after["at"]) - datetime.fromisoformat(before["at"])).total_seconds()


def _text(event: Line) -> str | None:
    match event["type"]:
        case "persona_changed":
            return f"({event['persona']} takes over)"
        case "probe_chosen" if event["counterfactual"]:
            return f"(would have asked instead: {event['probe']} - {event['reason']})"
        case "probe_chosen":
            return f"\n{event['turn']}." + (f" ({event['reason']})" if event["reason"] else "")
        case "question_asked":
            stopped = ", stopped here" if event["interrupted"] else ""
            return f"{event['persona']} [{event['source']}{stopped}]: {event['text']}"
        case "answer_given":
            return f"candidate: {event['text']}"
        case "hint_given":
            return f"(hint {event['rung']}: {event['text']})"
        case "code_checked":
            return "".join(f"(code, {c['check']}: {c['says']})" for c in event["report"]["checks"])
        case "answer_assessed":
            levels = (f"{c['criterion']} {c['level']}" for c in event["assessment"]["criteria"])
            return f"(read: {', '.join(levels)})"
        case "answer_unscored":
            return f"(not assessed: {event['detail']})"
        case "notice":
            return f"(notice: {event['message']})"
        case "session_ended":
            return f"\n{event['farewell']}\n(ended: {event['reason']})".replace("\n\n", "\n")
        case _:
            return None
