"""``interviewer score`` on a file of many answers: what it opens, and what it says while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from interviewer.adapters.documents import DocumentError, load
from interviewer.cli import err
from interviewer.client import Client, ServiceError
from interviewer.score_lines import LinesError, Tally, score_lines, settled_ids
from interviewer.service.score_request import InlineRubric

WIDTH = 78
"""What is printed over a line of progress covers it."""


def own_rubric(named: str) -> Any:
    """Return a rubric for a request: the name of a round as it is, or what is in a YAML or JSON file.

    Raises:
        LinesError: the file is not a rubric; the message says where and why.
    """
    if not named.endswith((".yaml", ".yml", ".json")):
        return named
    try:
        return load(Path(named), InlineRubric)[0].model_dump(mode="json")
    except DocumentError as error:
        raise LinesError(str(error)) from error


def coaching_lines(plan: Mapping[str, Any] | None) -> list[str]:
    """Write the coaching of one answer: the main thing first, then each criterion below level 3, then the contrast."""
    if plan is None:
        return []
    first = plan["first"]
    lines = [f"First: {first['line']}"] if first else []
    # The first correction is the main thing already.
    lines += [f'Not right: "{c["quote"]["text"]}". {c["right"]}' for c in plan["corrections"][1:]]
    for note in plan["notes"]:
        if note["missing"]:
            lines.append(f"{note['criterion']}, level {note['level'] + 1} asks for: {note['missing']}")
            for clause in note["clauses"]:
                if clause["shown"]:
                    lines.append(f'  seen: {clause["needs"]}: "{clause["shown"]["text"]}"')
                else:
                    lines.append(f"  not seen: {clause['needs']}. {clause['line']}")
    if plan["contrast"]:
        lines += [f"BAD: {plan['contrast']['bad']}", f"GOOD: {plan['contrast']['good']}"]
    return lines


def score_file(url: str, path: str, out: Path | None, defaults: Mapping[str, Any], chunk: int) -> Tally:
    """Score a file, or standard input, into another or standard output; progress goes to standard error.

    Raises:
        LinesError: a file cannot be used, or the judge or the service is away.
    """
    began = time.monotonic()
    shown = began

    def told(tally: Tally, problem: str | None) -> None:
        nonlocal shown
        now = time.monotonic()
        if problem:
            err.print(problem.ljust(WIDTH), markup=False, soft_wrap=True)
        if now - shown >= (1 if err.is_terminal else 30):
            shown = now
            rate = (tally.scored + tally.unscored) / (now - began)
            line = f"{tally}, {rate:.1f} answers/s"
            err.print(line.ljust(WIDTH), end="\r" if err.is_terminal else "\n", soft_wrap=True)

    with ExitStack() as stack:
        try:
            source = sys.stdin.buffer if path == "-" else stack.enter_context(Path(path).open("rb"))
            settled = settled_ids(out) if out else set()
            target = stack.enter_context(out.open("a", encoding="utf-8")) if out else sys.stdout
        except OSError as error:
            raise LinesError(f"cannot open {error.filename}: {error.strerror}") from error
        client = stack.enter_context(Client(url, seconds=300.0))
        try:
            tally = score_lines(client, source, target, settled=settled, defaults=defaults, chunk=chunk, told=told)
        except ServiceError as error:
            kept = " What is scored is kept; run the same command again to go on." if out else ""
            raise LinesError(f"{error}.{kept}") from error
    err.print(f"{tally} in {time.monotonic() - began:.0f} s".ljust(WIDTH), soft_wrap=True)
    return tally
