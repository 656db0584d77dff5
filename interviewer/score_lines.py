"""Answers from JSON Lines to JSON Lines: read as they are needed, sent in chunks, written as they are scored.

A line of the output is ``{"line", "id", "result"}`` or ``{"line", "id", "error": {"code", "message"}}``. Who stops in
the middle runs the same command again: an id with a result is not scored twice, one that failed is tried once more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from pydantic import ValidationError

from interviewer.client import Client
from interviewer.service.score_request import BatchItem, content_hash, problems

MAX_LINE = 2**20
"""Bytes of a line; the longest request that the service takes is well below."""
CHUNK = 32
CHUNK_BYTES = 3 * 2**20
"""A chunk stays under what the service takes as one body."""
PASSING = ("judge_unavailable", "judge_timeout")
"""Why an answer was not scored this time: an error of its line, as the same answer may be scored the next time."""


class LinesError(Exception):
    """The run cannot go on; the message says what to do."""


@dataclass
class Tally:
    """What became of the lines so far."""

    scored: int = 0
    unscored: int = 0
    """The judge abstained or gave nothing usable; the result says why."""
    failed: int = 0
    skipped: int = 0
    """Had a result already, or came twice."""

    def __str__(self) -> str:
        """Say it in words."""
        return f"{self.scored} scored, {self.unscored} unscored, {self.failed} failed, {self.skipped} skipped"


def score_lines(
    client: Client,
    source: BinaryIO,
    out: TextIO,
    *,
    settled: set[str],
    defaults: Mapping[str, Any],
    chunk: int = CHUNK,
    told: Callable[[Tally, str | None], None],
) -> Tally:
    """Score each line of ``source`` and write a line for it; neither is ever held as a whole.

    Args:
        client: Of the service.
        source: JSON Lines, UTF-8: items as ``POST /v1/score/batch`` takes them.
        out: Gets the outcomes in the order in which they are ready.
        settled: Ids that need no scoring.
        defaults: Fields of a request that a line may leave out.
        chunk: Most answers that are sent at once.
        told: Called after each outcome, with what is wrong with a line when something is.

    Raises:
        ServiceError: the service refused or went away; what is written stays good.
        LinesError: the judge is away.
    """
    work = _Work(out, Tally(), told)
    waiting: dict[str, tuple[int, dict[str, Any]]] = {}
    size = 0
    for number, item in work.items(source, settled, defaults):
        body = item.model_dump(mode="json", exclude_unset=True)
        length = len(json.dumps(body, ensure_ascii=False).encode())
        if waiting and (len(waiting) >= chunk or size + length > CHUNK_BYTES):
            work.send(client, waiting)
            waiting, size = {}, 0
        waiting[item.id] = (number, body)
        size += length
    if waiting:
        work.send(client, waiting)
    return work.tally


@dataclass
class _Work:
    out: TextIO
    tally: Tally
    told: Callable[[Tally, str | None], None]

    def items(
        self, source: BinaryIO, settled: set[str], defaults: Mapping[str, Any]
    ) -> Iterator[tuple[int, BatchItem]]:
        """Yield what has to be scored with its line number; writes what is wrong with other lines."""
        seen: dict[str, tuple[str, int]] = {}
        for number, raw in _lines(source):
            if raw is not None and not raw.strip():
                continue
            try:
                item = _parse(raw, defaults)
            except _BadLine as bad:
                self.fail(number, bad.item_id, "invalid_item", str(bad))
                continue
            content = content_hash(item.model_dump(mode="json"))
            first, line = seen.setdefault(item.id, (content, number))
            if first != content:
                self.fail(number, item.id, "conflicting_items", f"line {line} has the id {item.id!r} too, but differs")
            elif line != number or item.id in settled:
                self.tally.skipped += 1
                self.told(self.tally, None)
            else:
                yield number, item

    def send(self, client: Client, waiting: Mapping[str, tuple[int, dict[str, Any]]]) -> None:
        """Score a chunk."""
        body = {"items": [item for _, item in waiting.values()]}
        away = 0
        for outcome in client.lines("/v1/score/batch", body, format="jsonl"):
            number, result = waiting[outcome["id"]][0], outcome["result"]
            unscored = result["unscored"] if result else None
            if result is None:
                self.fail(number, outcome["id"], **outcome["error"])
            elif unscored and unscored["reason"] in PASSING:
                self.fail(number, outcome["id"], unscored["reason"], unscored["detail"])
                away += unscored["reason"] == "judge_unavailable"
            else:
                self.tally.scored += unscored is None
                self.tally.unscored += unscored is not None
                self.write({"line": number, "id": outcome["id"], "result": result})
                self.told(self.tally, None)
        if away == len(waiting):
            raise LinesError(
                "The judge was away for a whole chunk; look at /readyz of the service, and run this again."
            )

    def fail(self, number: int, item_id: str | None, code: str, message: str) -> None:
        """Write what is wrong with a line."""
        self.tally.failed += 1
        named = {} if item_id is None else {"id": item_id}
        self.write({"line": number, **named, "error": {"code": code, "message": message}})
        self.told(self.tally, f"line {number}: {message}")

    def write(self, outcome: Mapping[str, Any]) -> None:
        """Write one line, at once: whoever stops us finds it there."""
        self.out.write(json.dumps(outcome, ensure_ascii=False) + "\n")
        self.out.flush()


class _BadLine(Exception):
    def __init__(self, message: str, item_id: str | None = None) -> None:
        super().__init__(message)
        self.item_id = item_id


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield lines with their numbers from 1; ``None`` for one that is longer than is taken."""
    number = 0
    while raw := source.readline(MAX_LINE + 1):
        number += 1
        if len(raw) <= MAX_LINE:
            yield number, raw
            continue
        while raw and not raw.endswith(b"\n"):
            raw = source.readline(MAX_LINE)
        yield number, None


def _parse(raw: bytes | None, defaults: Mapping[str, Any]) -> BatchItem:
    if raw is None:
        raise _BadLine(f"longer than {MAX_LINE} bytes")
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _BadLine("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise _BadLine(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError) as error:
        raise _BadLine(f"not JSON that can be read: {error}") from None
    if not isinstance(data, dict):
        raise _BadLine('not an object; a line is {"id": ..., "question": {"id": ...}, "answer": ...}')
    try:
        return BatchItem.model_validate({**defaults, **data})
    except ValidationError as error:
        name = data.get("id")
        raise _BadLine(problems(error), name if isinstance(name, str) else None) from None


def settled_ids(path: Path) -> set[str]:
    """Return the ids that have a result in an output; a line that was cut off by a crash is removed.

    Raises:
        LinesError: the file is something else.
    """
    found: set[str] = set()
    if not path.exists():
        return found
    with path.open("r+b") as file:
        end = 0
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                file.truncate(end)
                break
            end += len(raw)
            try:
                line = json.loads(raw)
                if line.keys() >= {"id", "result"}:
                    found.add(line["id"])
                elif "error" not in line:
                    raise KeyError("result")
            except (ValueError, KeyError, TypeError, AttributeError):
                raise LinesError(f"{path}:{number} was not written by this command; name another --out") from None
    return found
