"""Commands that look at the service from its worst side: a simulated engine, kills, and strange frames."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interviewer.cli import Json, err, fail
from interviewer.tools import _line, _publish


def simulate_engine(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8700,
    first_ms: Annotated[float, typer.Option(min=0, help="From a request to its first token.")] = 200.0,
    token_ms: Annotated[float, typer.Option(min=0, help="From token to token.")] = 20.0,
    fail: Annotated[float, typer.Option(min=0, max=1, help="Share of requests answered 503.")] = 0.0,
    reset: Annotated[float, typer.Option(min=0, max=1, help="Share of streams cut in their middle.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Of these chances.")] = 0,
) -> None:
    """Serve scripted tokens with an engine's timing, to try the service without a model: `serve --engine-url ...`."""
    from serving.simulated import Timing, run

    err.print(f"simulated engine: interviewer serve --engine-url http://{host}:{port}/v1", markup=False)
    run(host, port, Timing(first_ms / 1000, token_ms / 1000, fail, reset, seed))


def faults(
    kills: Annotated[int, typer.Option(min=1, help="How often something is killed.")] = 200,
    seed: Annotated[int, typer.Option(help="Of victims, stages and delays.")] = 1,
    database: Annotated[
        list[str] | None, typer.Option(help="sqlite, postgres or a Postgres URL; may be repeated; both by default.")
    ] = None,
    engine: Annotated[str, typer.Option(help="simulated or real.")] = "simulated",
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Kill service, engine and database connections in every stage of a turn, and compare logs with clients."""
    from eval.faults import measure, to_markdown
    from eval.faults_world import WorldError

    if engine not in ("simulated", "real"):
        fail("--engine takes simulated or real")
    try:
        kinds = tuple(database or ("sqlite", "postgres"))
        found = measure(kinds, kills, seed, _line, real=engine == "real")
    except WorldError as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("stopped; nothing was left running")
        raise typer.Exit(130) from None
    _publish(found, to_markdown(found), report, as_json)
    if found["violations"]:
        raise typer.Exit(1)


def frames(
    count: Annotated[int, typer.Option("--frames", min=1, help="How many are sent.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the frames.")] = 1,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Send strange frames to the socket of a service that is started for it, on a simulated engine."""
    from eval.faults_world import WorldError
    from eval.frames import measure, to_markdown

    try:
        found = measure(count, seed, _line)
    except WorldError as error:
        fail(str(error))
    _publish(found, to_markdown(found), report, as_json)
    if found["violations"]:
        raise typer.Exit(1)
