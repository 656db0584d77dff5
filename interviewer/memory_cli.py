"""``interviewer progress|compare|export|restore|delete``: what is known over all sessions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from interviewer.cli import Json, Url, err, fail, out, show
from interviewer.client import DEFAULT_URL, Client, ServiceError

memory = typer.Typer(no_args_is_help=True)
FORMATS = ("json", "markdown", "csv")
STATES = {"new": "new", "persists": "persists", "gone": "went away"}


@memory.command()
def progress(url: Url = DEFAULT_URL, as_json: Json = False) -> None:
    """Show levels over time, flags, and what to practise next with the reason.

    A level is shown as expected level [low to high]; * is real mode, h a hint, r another try, - not assessed.
    """
    with Client(url) as client:
        found = _try(lambda: client.get("/v1/progress"))
    if as_json:
        show(found)
        return
    if not found["criteria"]:
        out.print("Nothing was assessed yet; hold a session first: interviewer chat")
        return
    table = Table("criterion", "sessions", "levels, oldest first")
    for line in found["criteria"]:
        held = sum(p["level"] is not None for p in line["points"])
        table.add_row(line["criterion"], str(held), "  ".join(_point(p) for p in line["points"][-6:]))
    out.print(table)
    flags = Table("flag", "kind", "state", "sessions")
    for flag in found["flags"]:
        kind = "strength" if flag["strength"] else "warning"
        flags.add_row(flag["flag"], kind, STATES[flag["state"]], str(len(flag["sessions"])))
    if found["flags"]:
        out.print(flags)
    table = Table("practise", "question", "drill", "why")
    for each in found["suggestions"]:
        table.add_row(each["criterion"], each["question"] or "-", each["drill"] or "-", each["reason"])
    out.print(table)


@memory.command()
def compare(
    question: Annotated[str, typer.Argument(help="Id of the question; see `interviewer questions`.")],
    first: Annotated[int | None, typer.Option(min=1, help="Number of the first attempt.")] = None,
    second: Annotated[int | None, typer.Option(min=1, help="Number of the second attempt.")] = None,
    url: Url = DEFAULT_URL,
    as_json: Json = False,
) -> None:
    """Show all attempts at a question, and two of them side by side: the last two by default."""
    asked = {"first": first, "second": second}
    with Client(url) as client:
        found = _try(lambda: client.get(f"/v1/questions/{question}/attempts", **asked))
    if as_json:
        show(found)
        return
    out.print(found["text"], markup=False)
    table = Table("attempt", "session", "when", "mode", "marks")
    for number, each in enumerate(found["attempts"], 1):
        marks = [f"{each['hints']} hint(s)"] if each["hints"] else []
        marks += ["another try"] if each["retry"] else []
        table.add_row(str(number), each["session_id"], each["at"][:16], each["mode"], ", ".join(marks))
    out.print(table)
    pair = found["comparison"]
    if pair is None:
        out.print("There are no two attempts to compare yet.")
        return
    table = Table("criterion", "before", "after", "change")
    for row in pair["levels"]:
        change = (
            "-" if row["change"] is None else f"{row['change']:+.2f}{'' if row['clear'] else ' (within the spread)'}"
        )
        table.add_row(row["criterion"], _level(row["before"]), _level(row["after"]), change)
    out.print(table)
    for name in ("before", "after"):
        for each in pair[name]["levels"]:
            for quote in each["quotes"]:
                out.print(f'{name}, {each["criterion"]}: "{quote["text"]}"', markup=False)
    for remark in pair["remarks"]:
        out.print(remark, markup=False)


@memory.command()
def export(
    into: Annotated[str, typer.Argument(help="File to write, or - for standard output.")] = "-",
    kind: Annotated[
        str, typer.Option("--format", help="json (JSON Lines of all), markdown (text), or csv (levels).")
    ] = "json",
    url: Url = DEFAULT_URL,
) -> None:
    """Write out everything: sessions with their events and reports."""
    if kind not in FORMATS:
        fail(f"--format is one of {', '.join(FORMATS)}, not {kind!r}")
    with Client(url) as client:
        try:
            pieces = client.pieces("/v1/export", format=kind)
            first = next(pieces, b"")  # a refusal comes before the file is touched
            if into == "-":
                for piece in (first, *pieces):
                    sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
                return
            with Path(into).open("wb") as file:
                file.write(first)
                for piece in pieces:
                    file.write(piece)
        except ServiceError as error:
            fail(str(error))
        except OSError as error:
            fail(f"cannot write {into}: {error.strerror}")


@memory.command()
def restore(
    export: Annotated[str, typer.Argument(help="File that `interviewer export` wrote as JSON Lines, or -.")],
    url: Url = DEFAULT_URL,
) -> None:
    """Take the sessions of an export back in, with their times and readings; what is there already stays."""
    try:
        lines = (sys.stdin.buffer.read() if export == "-" else Path(export).read_bytes()).splitlines()
    except OSError as error:
        fail(f"cannot read {export}: {error.strerror}")
    taken = repeated = refused = 0
    with Client(url) as client:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                made = client.post("/v1/restores", {"events": _events(line)})
            except (ServiceError, ValueError) as error:
                refused += 1
                err.print(f"line {number}: {error}", markup=False)
                continue
            taken, repeated = taken + (not made["repeated"]), repeated + made["repeated"]
    out.print(f"{taken} sessions taken, {repeated} were there, {refused} refused")
    if refused:
        raise typer.Exit(1)


def _events(line: bytes) -> list[Any]:
    found = json.loads(line)
    if not isinstance(found, dict) or not isinstance(found.get("events"), list):
        raise ValueError('not a session of an export: {"session": ..., "events": [...]}')
    return list(found["events"])


@memory.command()
def delete(
    session: Annotated[str | None, typer.Argument(help="Id of the session.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="All sessions and loops.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Delete a session with its replays, or everything, for good."""
    if (session is None) != everything:
        fail("give the id of a session (see `interviewer history`), or --everything")
    what = "everything: all sessions, replays and loops" if everything else f"session {session} and its replays"
    if not yes and not typer.confirm(f"Delete {what}, for good?"):
        out.print("Nothing was deleted.")
        return
    with Client(url) as client:
        if everything:
            gone = _try(lambda: client.delete("/v1/sessions", confirm="everything")).json()["sessions"]
            out.print(f"deleted {gone} session(s)")
        else:
            _try(lambda: client.delete(f"/v1/sessions/{session}"))
            out.print(f"deleted session {session}")


def _point(point: dict[str, Any]) -> str:
    if point["level"] is None:
        return "-"
    marks = (
        ("*" if point["mode"] == "real" else "") + ("h" if point["hints"] else "") + ("r" if point["retried"] else "")
    )
    return f"{point['expected']:.1f} \\[{point['low']:.1f} to {point['high']:.1f}]{marks}"


def _level(level: dict[str, Any] | None) -> str:
    return (
        "-"
        if level is None
        else f"{level['level']} ({level['expected']:.1f}, {level['low']:.1f} to {level['high']:.1f})"
    )


def _try(call: Any) -> Any:
    try:
        return call()
    except ServiceError as error:
        fail(str(error))
