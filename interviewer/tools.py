"""Commands around the service: the model, training, benchmarks, evaluation, and the doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interviewer.cli import Json, Url, err, fail, out, show
from interviewer.client import DEFAULT_URL
from interviewer.settings import Settings

model = typer.Typer(no_args_is_help=True, help="The embedded base model.")
bench = typer.Typer(no_args_is_help=True, help="Benchmarks against a running service.")
evaluate = typer.Typer(no_args_is_help=True, help="Quality, measured.")


def _line(text: str) -> None:
    err.print(f"  {text}", markup=False)


@model.command()
def fetch() -> None:
    """Fetch and convert the embedded base model, once."""
    from serving.fetch import FetchError, ensure_base

    try:
        out.print(str(ensure_base(Settings().cache, _line)))
    except FetchError as error:
        fail(str(error))


@model.command()
def canaries(
    engine_url: Annotated[str | None, typer.Option(help="A running engine; found by default.")] = None,
) -> None:
    """Store each adapter's canary beside it, from a running engine; do this after training, in a checkout."""
    import asyncio
    import json

    from interviewer.adapters.openai_model import make_client
    from interviewer.bootstrap import find_adapters
    from serving.canary import adapter_name, check

    folders = {adapter_name(name, path): path for name, path in find_adapters(Settings()).items()}
    client = make_client(engine_url or _engine_url(), "none")
    for result in asyncio.run(check(client, list(folders), {})):
        out.print(f"{result.name}: {result.detail}", markup=False)
        if result.name in folders and result.ok:
            text = json.dumps({token: round(value, 4) for token, value in result.logprobs.items()}, indent=1)
            (folders[result.name].parent / "canary.json").write_text(f"{text}\n", encoding="utf-8")


def train(
    name: Annotated[str, typer.Argument(help="A persona id, or evaluator.")],
    base: Annotated[Path | None, typer.Option(help="Folder of the base model; the embedded one by default.")] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Where to write; personas/NAME by default.")] = None,
    fresh: Annotated[bool, typer.Option(help="Start over instead of resuming.")] = False,
    override: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over lora.yaml.")] = None,
) -> None:
    """Train one adapter from the project's own data; can be interrupted and resumed."""
    try:
        from serving.train import TrainError, run
    except ImportError as error:
        fail(f"training needs the extra packages ({error.name} is missing): pip install '.[engine,train]'")
    from serving.fetch import ensure_base

    try:
        values = dict(pair.split("=", 1) for pair in override or [])
    except ValueError:
        fail("--set takes KEY=VALUE")
    try:
        folder = base or ensure_base(Settings().cache, _line)
        target = output or Path("personas") / name
        done = run(name, base=folder, out=target, resume=not fresh, progress=_line, overrides=values)
    except TrainError as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    out.print(str(done))


@bench.command()
def turn(
    url: Url = DEFAULT_URL,
    sessions: Annotated[int, typer.Option(help="Sessions to hold, one after the other.")] = 3,
    turns: Annotated[int, typer.Option(help="Turns per session.")] = 8,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Measure answer to first token, judge time and inter-token latency through the real socket."""
    from eval.bench_turn import measure, to_markdown

    found = measure(url, sessions, turns, _line)
    _publish(found, to_markdown(found), report, as_json)


@bench.command("score")
def bench_score(
    url: Url = DEFAULT_URL,
    answers: Annotated[int, typer.Option(help="Answers to score.")] = 24,
    engine_url: Annotated[str | None, typer.Option(help="The engine behind the service; found by default.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Measure answers per second against asking the same model for a JSON verdict with reasons."""
    from eval.bench_score import measure, to_markdown

    address = engine_url or _engine_url()
    found = measure(url, address, answers, _line)
    _publish(found, to_markdown(found), report, as_json)


@evaluate.command()
def judge(
    url: Url = DEFAULT_URL,
    split: Annotated[str, typer.Option(help="test, calibration or train.")] = "test",
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Compare the running judge's levels with the labelled answers of questions it never saw."""
    from eval.judge import measure, to_markdown

    try:
        found = measure(url, split, _line)
    except (ValueError, OSError) as error:
        fail(f"{error}; the labelled answers are in a checkout, not in an installed package")
    _publish(found, to_markdown(found), report, as_json)


def _engine_url() -> str:
    """Return where the embedded engine of this machine listens, as the running service wrote it down."""
    path = Settings().data_dir / "engine.url"
    if not path.is_file():
        fail("no embedded engine is running here; name one with --engine-url http://host:port/v1")
    return path.read_text(encoding="utf-8").strip()


def doctor(as_json: Json = False) -> None:
    """Say what is missing and how to get it."""
    from interviewer.bootstrap import find_adapters
    from serving.doctor import checks

    settings = Settings()
    found = checks(settings.cache, find_adapters(settings), settings.host, settings.port)
    if as_json:
        show([check.__dict__ for check in found])
    else:
        for check in found:
            out.print(f"{'ok  ' if check.ok else 'MISS'} {check.name}: {check.detail}", markup=False)
            if not check.ok:
                out.print(f"     -> {check.fix}", markup=False)
    if not all(check.ok for check in found):
        raise typer.Exit(1)


def _publish(found: dict[str, object], markdown: str, report: Path | None, as_json: bool) -> None:
    import json

    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        report.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        report.with_suffix(".md").write_text(markdown, encoding="utf-8")
        err.print(f"written: {report.with_suffix('.md')}")
    if as_json:
        show(found)
    else:
        typer.echo(markdown)
