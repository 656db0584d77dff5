"""Sessions as rows, for spreadsheets: one row per criterion, and one per turn.

Invariant: no cell can run as a formula. A text that a spreadsheet would take for one gets an apostrophe before it,
which is the only change to anybody's words; the other formats have them as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from interviewer.core.assessment import Unscored
from interviewer.core.debrief_rows import Debrief
from interviewer.core.session import SessionState

Cell: TypeAlias = str | int | float | None
SESSION = ("session", "started", "round", "persona", "seniority", "mode", "origin", "parent", "ended")
SCORES = (*SESSION, "verdict", "criterion", "level", "expected", "confidence", "must_ask", "asked", "hints", "quotes")
TURNS = (*SESSION, "turn", "question_id", "criterion", "move", "question", "answer", "again_of", "unscored")


def csv_lines(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield each row as CSV (RFC 4180, with its line end)."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow([safe(cell) for cell in row])
        yield line.getvalue()


def safe(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet runs: a text that begins like a formula gets an apostrophe."""
    if isinstance(cell, str) and cell.lstrip(" ")[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{cell}"
    return cell


def score_rows(state: SessionState, packet: Debrief) -> Iterator[Sequence[Cell]]:
    """Yield a row per criterion of the round; an empty level is "not assessed"."""
    step = packet.verdict.step
    for row in packet.criteria:
        quotes = " / ".join(q.text for q in row.quotes)
        yield (
            *_session(state),
            None if step is None else str(step),
            row.criterion,
            row.level,
            None if row.expected is None else round(row.expected, 3),
            None if row.confidence is None else round(row.confidence, 3),
            "yes" if row.must_ask else "no",
            row.probed,
            row.hints,
            quotes,
        )


def turn_rows(state: SessionState) -> Iterator[Sequence[Cell]]:
    """Yield a row per turn that was put; what was pursued stays empty while the session runs."""
    over = state.ended is not None or state.started.origin == "imported"
    for turn in state.turns:
        if turn.question is None:
            continue
        probe = turn.probe if over else None
        yield (
            *_session(state),
            turn.number,
            turn.question_id,
            probe.criterion if probe else None,
            str(probe.move) if probe and probe.move else None,
            turn.question.text,
            turn.answer.text if turn.answer else None,
            probe.again_of if probe else None,
            str(turn.result.reason) if over and isinstance(turn.result, Unscored) else None,
        )


def _session(state: SessionState) -> tuple[Cell, ...]:
    started = state.started
    return (
        state.id,
        state.started_at.isoformat(),
        started.rubric,
        state.persona,
        started.level,
        started.mode,
        started.origin,
        started.parent,
        "yes" if state.ended else "no",
    )
