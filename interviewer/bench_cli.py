"""The benchmarks of the service itself, which start what they measure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from interviewer.cli import Json, err, fail
from interviewer.tools import _line, _publish


def gateway(
    sessions: Annotated[
        list[int] | None, typer.Option(min=1, help="At once; may be repeated; 50 100 200 400 800 by default.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Measured per number of sessions, after as many more.")] = 30.0,
    token_ms: Annotated[float, typer.Option(min=0, help="From token to token of the simulated engine.")] = 100.0,
    think: Annotated[float, typer.Option(min=0, help="Mean seconds before an answer.")] = 0.0,
    idle: Annotated[int, typer.Option(min=1, help="Idle sockets.")] = 2000,
    stored: Annotated[int, typer.Option(min=1, help="Sessions in the store, beside 1,000.")] = 100_000,
    repeats: Annotated[int, typer.Option(min=3, help="Runs of each small measurement.")] = 30,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Load a service of its own on a simulated engine: delay added to a frame, memory per socket, long sessions."""
    from eval.bench_gateway import Plan, measure, to_markdown

    counts = tuple(sessions or Plan.sessions)
    plan = Plan(counts, seconds, token_ms, think, idle, (1_000, stored), repeats)
    options = [f"--sessions {n}" for n in sessions or ()]
    default = Plan()
    for name, value, usual in (
        ("seconds", seconds, default.seconds),
        ("token-ms", token_ms, default.token_ms),
        ("think", think, default.think_seconds),
        ("idle", idle, default.idle),
        ("stored", stored, default.stored[1]),
        ("repeats", repeats, default.repeats),
    ):
        options += [f"--{name} {value:g}"] if value != usual else []
    found = _measured(lambda: measure(plan, _line, " ".join(["interviewer bench gateway", *options])))
    _publish(found, to_markdown(found), report, as_json)


def soak(
    minutes: Annotated[float, typer.Option(min=0.5, help="How long.")] = 30.0,
    candidates: Annotated[int, typer.Option(min=1, help="Interviews at once.")] = 40,
    think: Annotated[float, typer.Option(min=0, help="Mean seconds before an answer.")] = 2.0,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Let a service of its own live for a while on a simulated engine, and see whether its memory grows."""
    from eval.soak import Plan, measure, to_markdown

    plan = Plan(minutes, candidates, think)
    command = f"interviewer bench soak --minutes {minutes:g} --candidates {candidates} --think {think:g}"
    found = _measured(lambda: measure(plan, _line, command))
    _publish(found, to_markdown(found), report, as_json)


def workers(
    count: Annotated[
        list[int] | None, typer.Option("--workers", min=1, help="May be repeated, rising; 1 and 2 by default.")
    ] = None,
    sessions: Annotated[
        list[int] | None, typer.Option(min=1, help="At once; may be repeated; 50 100 200 400 800 by default.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Measured per number of sessions, after as many more.")] = 20.0,
    database: Annotated[
        str, typer.Option(help="sqlite, postgres (a server of its own), or the URL of an empty database.")
    ] = "postgres",
    report: Annotated[Path | None, typer.Option(help="Write .md, .json and .svg here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Load one, two and more workers on one database: throughput and delay against sessions, drawn."""
    from eval.bench_workers import Plan, chart, measure, to_markdown

    plan = Plan(tuple(count or Plan.workers), tuple(sessions or Plan.sessions), seconds, database=database)
    options = [f"--workers {n}" for n in count or ()] + [f"--sessions {n}" for n in sessions or ()]
    options += [f"--seconds {seconds:g}"] if seconds != Plan.seconds else []
    options += ["--database sqlite"] if database == "sqlite" else []
    found = _measured(lambda: measure(plan, _line, " ".join(["interviewer bench workers", *options])))
    picture = None
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        picture = report.with_suffix(".svg").name
        report.with_suffix(".svg").write_text(chart(found), encoding="utf-8")
    _publish(found, to_markdown(found, picture), report, as_json)


def _measured(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Measure, and leave with one clear message when that cannot be done."""
    from eval.faults_world import WorldError
    from eval.gateway_load import LoadError

    try:
        return measure()
    except (WorldError, LoadError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("stopped; nothing was left running")
        raise typer.Exit(130) from None
