"""The benchmark of the service itself, which starts what it measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    from eval.faults_world import WorldError
    from eval.gateway_load import LoadError

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
    try:
        found = measure(plan, _line, " ".join(["interviewer bench gateway", *options]))
    except (WorldError, LoadError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("stopped; nothing was left running")
        raise typer.Exit(130) from None
    _publish(found, to_markdown(found), report, as_json)


def soak(
    minutes: Annotated[float, typer.Option(min=0.5, help="How long.")] = 30.0,
    candidates: Annotated[int, typer.Option(min=1, help="Interviews at once.")] = 40,
    think: Annotated[float, typer.Option(min=0, help="Mean seconds before an answer.")] = 2.0,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Let a service of its own live for a while on a simulated engine, and see whether its memory grows."""
    from eval.faults_world import WorldError
    from eval.gateway_load import LoadError
    from eval.soak import Plan, measure, to_markdown

    plan = Plan(minutes, candidates, think)
    command = f"interviewer bench soak --minutes {minutes:g} --candidates {candidates} --think {think:g}"
    try:
        found = measure(plan, _line, command)
    except (WorldError, LoadError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("stopped; nothing was left running")
        raise typer.Exit(130) from None
    _publish(found, to_markdown(found), report, as_json)
