"""Commands around the service: the model, training, benchmarks, evaluation, and the doctor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interviewer.cli import Json, Url, err, fail, out, show
from interviewer.client import DEFAULT_URL, ServiceError
from interviewer.settings import Settings

if TYPE_CHECKING:
    from serving.doctor import Check

model = typer.Typer(no_args_is_help=True, help="Base models.")
bench = typer.Typer(no_args_is_help=True, help="Benchmarks against a running service.")
evaluate = typer.Typer(no_args_is_help=True, help="Quality, measured.")


def _line(text: str) -> None:
    err.print(f"  {text}", markup=False)


@model.command()
def fetch(
    name: Annotated[
        str | None, typer.Option("--model", help="A name of the catalogue; the embedded one by default.")
    ] = None,
) -> None:
    """Fetch a base model, once; the embedded one is also converted."""
    from serving.catalogue import load_catalogue
    from serving.fetch import FetchError

    try:
        catalogue = load_catalogue()
        out.print(str(catalogue.get(name or catalogue.default).ensure(Settings().cache, _line)))
    except FetchError as error:
        fail(str(error))


@model.command("list")
def list_models(as_json: Json = False) -> None:
    """List the base models of the catalogue, whether they are here, and the adapters that there are for each."""
    from interviewer.bootstrap import ADAPTERS, adapters_folder
    from serving.catalogue import find_adapter, load_catalogue
    from serving.cpu import cpu_flags
    from serving.fetch import FetchError

    settings, flags = Settings(), cpu_flags()
    try:
        catalogue = load_catalogue()
    except FetchError as error:
        fail(str(error))
    found = {
        entry.name: [
            name for name in ADAPTERS if isinstance(find_adapter(adapters_folder(settings), name, entry), Path)
        ]
        for entry in catalogue.models
    }
    if as_json:
        more = [{"here": e.is_here(settings.cache), "adapters": found[e.name]} for e in catalogue.models]
        show([e.model_dump(mode="json") | extra for e, extra in zip(catalogue.models, more, strict=True)])
        return
    for entry in catalogue.models:
        here = "here" if entry.is_here(settings.cache) else f"not here: interviewer model fetch --model {entry.name}"
        default = " (default)" if entry.name == catalogue.default else ""
        memory = f"{entry.memory_bytes(flags) / 1e9:.1f} GB of memory on this CPU, or a GPU of {entry.gpu.card_gb} GB"
        lines = [
            f"{entry.name}{default}: {entry.base}, {entry.parameters / 1e9:.2f} billion parameters, {entry.licence}",
            f"     from the {entry.origin}; {here}",
            f"     needs {memory}",
            f"     adapters: {', '.join(found[entry.name]) or 'none, personas run with their prompts alone'}",
        ]
        out.print("\n".join(lines), markup=False, soft_wrap=True)


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
    client = make_client(engine_url or _engine_url(), os.environ.get("OPENAI_API_KEY", ""))
    for result in asyncio.run(check(client, list(folders), {})):
        out.print(f"{result.name}: {result.detail}", markup=False)
        if result.name in folders and result.ok:
            text = json.dumps({token: round(value, 4) for token, value in result.logprobs.items()}, indent=1)
            (folders[result.name].parent / "canary.json").write_text(f"{text}\n", encoding="utf-8")


def train(
    name: Annotated[str, typer.Argument(help="A persona id, or evaluator.")],
    base: Annotated[
        str | None, typer.Option(help="A name of the catalogue or a folder; the embedded by default.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Where to write; in personas/NAME by default.")] = None,
    fresh: Annotated[bool, typer.Option(help="Start over instead of resuming.")] = False,
    override: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over lora.yaml.")] = None,
) -> None:
    """Train one adapter from the project's own data; can be interrupted and resumed."""
    try:
        from serving.train import TrainError, check_name, run
    except ImportError as error:
        fail(f"training needs the extra packages ({error.name} is missing): pip install '.[engine,train]'")
    from serving.catalogue import adapter_folder, load_catalogue
    from serving.fetch import FetchError

    try:
        values = dict(pair.split("=", 1) for pair in override or [])
    except ValueError:
        fail("--set takes KEY=VALUE")
    try:
        check_name(name)
        catalogue = load_catalogue()
        chosen = catalogue.get(base or catalogue.default)
        target = output or adapter_folder(Path("personas"), name, chosen).parent
        folder = chosen.ensure(Settings().cache, _line)
        done = run(name, base=folder, out=target, resume=not fresh, progress=_line, overrides=values)
    except (FetchError, TrainError) as error:
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
    from websockets.exceptions import WebSocketException

    from eval.bench_turn import measure, to_markdown

    try:
        found = measure(url, sessions, turns, _line)
    except (ServiceError, OSError, WebSocketException) as error:
        fail(str(error))
    _publish(found, to_markdown(found), report, as_json)


@bench.command("page")
def bench_page(
    url: Url = DEFAULT_URL,
    turns: Annotated[int, typer.Option(min=1, help="Questions during which is typed.")] = 6,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Measure in a real browser how soon the page answers a key while a question streams."""
    from eval.bench_page import NoBrowser, measure, to_markdown

    try:
        found = measure(url, turns, _line)
    except (NoBrowser, ServiceError, TimeoutError) as error:
        fail(str(error))
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
    from openai import OpenAIError

    from eval.bench_score import measure, to_markdown

    address = engine_url or _engine_url()
    try:
        found = measure(url, address, answers, _line)
    except (ServiceError, OpenAIError) as error:
        fail(str(error))
    _publish(found, to_markdown(found), report, as_json)


EngineUrl = Annotated[str | None, typer.Option(help="The engine, http://host:port/v1; the service's by default.")]
Tokenizer = Annotated[str | None, typer.Option(help="Folder of the base model's tokenizer; the engine's by default.")]
Models = Annotated[list[str] | None, typer.Option("--adapter", help="A served name, or base; may be repeated.")]


@bench.command("load")
def bench_load(
    engine_url: EngineUrl = None,
    rate: Annotated[list[float] | None, typer.Option(min=0.001, help="Requests per second; may be repeated.")] = None,
    requests: Annotated[int, typer.Option(min=1, help="Requests per run.")] = 50,
    repeats: Annotated[int, typer.Option(min=1, help="Runs per rate.")] = 3,
    adapter: Models = None,
    random: Annotated[bool, typer.Option("--random", help="Random prompts instead of the personas'.")] = False,
    input_tokens: Annotated[int, typer.Option(min=1, help="Length of random prompts.")] = 500,
    output_tokens: Annotated[int, typer.Option(min=1, help="Length of every output.")] = 40,
    ttft_ms: Annotated[float, typer.Option(help="Latest first token that counts as good.")] = 500.0,
    tpot_ms: Annotated[float, typer.Option(help="Most time per further token that counts as good.")] = 30.0,
    tokenizer: Tokenizer = None,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Measure latency, throughput and goodput at given rates of arrival, on all adapters and the base by default."""
    from eval.bench_load import Load, measure, to_markdown
    from eval.vllm_bench import BenchError, find_target

    length = input_tokens if random else None
    load = Load(tuple(rate or [0.25]), requests, repeats, output_tokens, length, ttft_ms, tpot_ms)
    try:
        target = find_target(engine_url or _engine_url(), tokenizer)
        found = measure(target, target.models(adapter or ()), load, _line)
    except BenchError as error:
        fail(str(error))
    _publish(found, to_markdown(found), report, as_json)


@bench.command("lora")
def bench_lora(
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is measured.")] = 3,
    quick: Annotated[bool, typer.Option("--quick", help="Few cases, to see that it runs.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Measure what adapters cost on CPU: no LoRA, the stock operators and the plugin; starts its own engines."""
    from eval.bench_lora import measure, to_markdown
    from interviewer.bootstrap import find_adapters
    from serving.cpu import engine_on_cpu
    from serving.engine import EngineError
    from serving.fetch import FetchError, ensure_base

    if not engine_on_cpu():
        fail("this compares operators for CPU, and the CPU build of the engine is not installed: `interviewer doctor`")
    settings = Settings()
    try:
        found = measure(ensure_base(settings.cache, _line), find_adapters(settings), rounds, quick, _line)
    except (FetchError, EngineError) as error:
        fail(str(error))
    _publish(found, to_markdown(found), report, as_json)


@bench.command("sweep")
def bench_sweep(
    engine_url: EngineUrl = None,
    batch: Annotated[list[int] | None, typer.Option(min=1, help="Rising from 1; 1 2 4 8 16 by default.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs per batch.")] = 3,
    waves: Annotated[int, typer.Option(min=1, help="Requests per run, in batches.")] = 3,
    adapter: Models = None,
    input_tokens: Annotated[int, typer.Option(min=1, help="Length of the random prompts.")] = 500,
    output_tokens: Annotated[int, typer.Option(min=2, help="Length of every output.")] = 40,
    dtype: Annotated[str | None, typer.Option(help="The engine's element type, if it was set by hand.")] = None,
    memory_gbs: Annotated[float | None, typer.Option(help="Memory rate in GB/s; measured for an engine here.")] = None,
    tokenizer: Tokenizer = None,
    report: Annotated[Path | None, typer.Option(help="Write .md, .json, .csv and .svg here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Draw batch against first token, inter-token latency and throughput, and say in words why the line bends."""
    from eval.bench_sweep import Sweep, measure, to_markdown, write_files
    from eval.vllm_bench import BenchError, find_target

    batches = tuple(batch or Sweep.batches)
    sweep = Sweep(batches, repeats, waves, input_tokens, output_tokens, dtype, memory_gbs)
    try:
        target = find_target(engine_url or _engine_url(), tokenizer)
        found = measure(target, target.models(adapter or [target.base]), sweep, _line)
    except BenchError as error:
        fail(str(error))
    if report is not None:
        write_files(found, report)
    picture = report.with_suffix(".svg").name if report is not None else None
    _publish(found, to_markdown(found, picture), report, as_json)


@evaluate.command()
def judge(
    url: Url = DEFAULT_URL,
    split: Annotated[str, typer.Option(help="test, calibration or train.")] = "test",
    fingerprint: Annotated[
        Path | None, typer.Option(help="Levels before a restart: written when absent, else compared with.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Compare the running judge's levels with the labelled answers of questions it never saw."""
    from eval.judge import measure, to_markdown
    from eval.scored import NothingScored

    try:
        found = measure(url, split, _line, fingerprint=fingerprint)
    except (ServiceError, NothingScored) as error:
        fail(str(error))
    except (ValueError, OSError) as error:
        fail(f"{error}; the labelled answers are in a checkout, not in an installed package")
    _publish(found, to_markdown(found), report, as_json)


@evaluate.command()
def outside(
    data: Annotated[Path, typer.Option(help="Folder with saf_en.jsonl and digiklausur.jsonl.")],
    url: Url = DEFAULT_URL,
    limit: Annotated[int | None, typer.Option(min=1, help="Score only so many, spread over the questions.")] = None,
    seed: Annotated[int, typer.Option(help="Of that choice.")] = 1,
    reference: Annotated[bool, typer.Option(help="Give the judge the reference answer where there is one.")] = True,
    report: Annotated[Path | None, typer.Option(help="Write here (without suffix); makes the run resumable.")] = None,
    as_json: Json = False,
) -> None:
    """Compare the running judge with people's scores of public answers, beside length and word overlap.

    What is scored is kept in REPORT.partial.jsonl until all is; the same command goes on from there.
    """
    from eval.outside import measure, to_markdown
    from eval.outside_sets import OutsideError
    from eval.scored import NothingScored

    partial = report.with_suffix(".partial.jsonl") if report else None
    if partial:
        partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        found = measure(data, url, _line, limit=limit, seed=seed, references=reference, partial=partial)
    except (OutsideError, NothingScored, ServiceError) as error:
        fail(str(error))
    _publish(found, to_markdown(found), report, as_json)
    if partial and found["done"] == found["answers"]:
        partial.unlink(missing_ok=True)


@evaluate.command()
def interviewer(
    url: Url = DEFAULT_URL,
    candidates: Annotated[str, typer.Option(help="Ids of simulated candidates, comma-separated; all by default.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of every session.")] = 1,
    minutes: Annotated[int, typer.Option(min=10, max=120, help="Of every session; decides how much is asked.")] = 24,
    fresh: Annotated[bool, typer.Option(help="Start over instead of resuming.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write here (without suffix); makes the run resumable.")] = None,
    as_json: Json = False,
) -> None:
    """Let simulated candidates be interviewed through the real socket and check every question and verdict.

    Sessions are kept in REPORT.partial.jsonl until all are held; the same command goes on from there.
    """
    from eval.candidates import load_candidates
    from eval.interviewer import measure, to_markdown
    from interviewer.adapters.documents import DocumentError, load_library

    kept = report.with_suffix(".partial.jsonl") if report is not None else None
    if fresh and kept is not None:
        kept.unlink(missing_ok=True)
    try:
        library = load_library()
        chosen = load_candidates(library, [name for name in candidates.split(",") if name])
        found = measure(url, chosen, library, _line, seed=seed, minutes=minutes, kept=kept)
    except (DocumentError, ServiceError) as error:
        fail(str(error))
    _publish(found, to_markdown(found), report, as_json)
    if kept is not None:
        kept.unlink(missing_ok=True)


@evaluate.command()
def policy(
    seeds: Annotated[int, typer.Option(min=1, help="Sessions per candidate and policy.")] = 20,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Compare the probe policy with a fixed list and with chance on the simulated candidates; needs no engine."""
    from eval.candidates import load_candidates
    from eval.policy import measure, to_markdown
    from interviewer.adapters.documents import DocumentError, load_library

    try:
        library = load_library()
        found = measure(load_candidates(library), library, seeds)
    except (DocumentError, OSError, ValueError) as error:
        fail(f"{error}; this needs a checkout, not an installed package")
    _publish(found, to_markdown(found), report, as_json)


@evaluate.command("personas")
def eval_personas(
    runs: Annotated[
        list[Path] | None, typer.Option(help="JSON of `eval interviewer` reports, whose questions are told apart too.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write Markdown and JSON here (without suffix).")] = None,
    as_json: Json = False,
) -> None:
    """Tell the personas apart blind by their words, and compare the moves that they make; needs no engine."""
    from eval.candidates import load_candidates
    from eval.personas import measure, read_runs, to_markdown
    from interviewer.adapters.documents import DocumentError, load_library

    try:
        library = load_library()
        held = [row for path in runs or () for row in read_runs(path)]
        found = measure(load_candidates(library), library, held)
    except (DocumentError, OSError, ValueError) as error:
        fail(f"{error}; this needs a checkout, not an installed package")
    _publish(found, to_markdown(found), report, as_json)


def _engine_url() -> str:
    """Return where the embedded engine of this machine listens, as the running service wrote it down.

    Its key becomes ``OPENAI_API_KEY``, for this process and the tools that it starts.
    """
    path = Settings().data_dir / "engine.url"
    if not path.is_file():
        fail("no embedded engine is running here; name one with --engine-url http://host:port/v1")
    os.environ["OPENAI_API_KEY"] = path.with_suffix(".key").read_text(encoding="utf-8").strip()
    return path.read_text(encoding="utf-8").strip()


def doctor(as_json: Json = False) -> None:
    """Say what is missing and how to get it."""
    from interviewer.bootstrap import find_adapters
    from serving.doctor import checks

    settings = Settings()
    found = [*checks(settings.cache, find_adapters(settings), settings.host, settings.port), _sandbox(settings)]
    if as_json:
        show([check.__dict__ for check in found])
    else:
        for check in found:
            out.print(f"{'ok  ' if check.ok else 'MISS'} {check.name}: {check.detail}", markup=False)
            if not check.ok:
                out.print(f"     -> {check.fix}", markup=False)
    if not all(check.ok for check in found):
        raise typer.Exit(1)


def _sandbox(settings: Settings) -> Check:
    """Say whether the code of answers is run, and where it is not, why."""
    from interviewer.adapters.sandbox import unavailable
    from serving.doctor import Check

    if not settings.run_code:
        return Check("code sandbox", True, "switched off: code in answers is only read", needed=False)
    reason = unavailable()
    fix = "Code in answers is only read; INTERVIEWER_RUN_CODE=false says that this is meant." if reason else ""
    return Check("code sandbox", not reason, reason or "can be made: code in answers is run in it", fix, needed=False)


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
