"""Closed loop: a batch of requests kept in the system, batch after batch, and what bends the curve.

The exercise that candidates are given: draw batch 1 to 16 against time to first token, inter-token latency and
throughput, and say why the line bends. Prompts are random, of one length and never seen before, so that neither the
prefix cache nor their mixture explains anything.
"""

from __future__ import annotations

import csv
import io
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from eval.bend import Point, Setting, Spread, explain
from eval.curves import Panel, Series, draw
from eval.machine import describe, machine
from eval.shape import BYTES, Shape, read_shape
from eval.vllm_bench import COMMAND, BenchError, Target, accelerators, arguments, brackets, run
from serving.cpu import best_dtype, cpu_flags, engine_on_cpu

COLUMNS = {
    "ttft_ms": "median_ttft_ms",
    "ttft_p99_ms": "p99_ttft_ms",
    "itl_ms": "median_itl_ms",
    "itl_p99_ms": "p99_itl_ms",
    "tpot_ms": "mean_tpot_ms",
    "e2e_ms": "mean_e2el_ms",
    "requests_per_s": "request_throughput",
    "output_tokens_per_s": "output_throughput",
}
"""Column of the CSV: the tool's name of it."""
SHOWN = ("ttft_ms", "itl_ms", "tpot_ms", "requests_per_s", "output_tokens_per_s")
"""Columns of the table."""


@dataclass(frozen=True)
class Sweep:
    """What is run."""

    batches: tuple[int, ...] = (1, 2, 4, 8, 16)
    repeats: int = 3
    waves: int = 3
    """Requests per run over the batch."""
    input_tokens: int = 500
    output_tokens: int = 40
    dtype: str | None = None
    """Of the engine; by default what the embedded engine takes on a processor, else what the model's files say."""
    memory_gbs: float | None = None
    """Memory rate for the explanation, from a data sheet; measured when the engine runs on this processor."""

    def check(self) -> None:
        """Raise :class:`BenchError` when the batches cannot be swept."""
        if len(self.batches) < 2 or self.batches[0] != 1 or list(self.batches) != sorted(set(self.batches)):
            raise BenchError("The batches have to rise from 1.", "For example --batch 1 --batch 2 --batch 4.")
        if self.output_tokens < 2:
            raise BenchError("An inter-token latency needs two output tokens.", "Raise --output-tokens.")
        if self.dtype is not None and self.dtype not in BYTES:
            raise BenchError(f"No size is known for {self.dtype!r}.", f"Use one of {', '.join(BYTES)}.")


def measure(
    target: Target,
    models: Sequence[str],
    sweep: Sweep,
    progress: Callable[[str], None],
    command: Sequence[str] = COMMAND,
) -> dict[str, Any]:
    """Hold each batch size ``repeats`` times; see :func:`eval.vllm_bench.run` for what it raises."""
    sweep.check()
    target.check_lengths(sweep.input_tokens + sweep.output_tokens)
    shape, dtype = _shape(target, sweep)
    # Before the load, while the engine is idle.
    memory = sweep.memory_gbs or (memory_rate() if _engine_is_this_processor(target) else None)
    seed = secrets.randbelow(2**30)
    # Repeats are apart in time, so that what else the machine does falls on all batches alike.
    order = [batch for _ in range(sweep.repeats) for batch in sweep.batches]
    runs = [
        arguments(
            target,
            models,
            requests=batch * sweep.waves,
            output_tokens=sweep.output_tokens,
            seed=seed + number,
            extra=["--dataset-name=random", f"--input-len={sweep.input_tokens}", f"--max-concurrency={batch}"],
        )
        for number, batch in enumerate([max(sweep.batches), *order])
    ]
    results = run(runs, target, lambda text: progress(f"{text} of {len(runs)}"), command)[1:]
    rows = [
        {"batch": batch, **{name: round(float(result[key]), 3) for name, key in COLUMNS.items()}}
        for batch, result in sorted(zip(order, results, strict=True), key=lambda pair: pair[0])
    ]
    failed = sum(result["failed"] for result in results)
    points = [_point(batch, [row for row in rows if row["batch"] == batch]) for batch in sweep.batches]
    return {
        "machine": machine(),
        "accelerators": accelerators(),
        "engine": {"version": target.version, "models": list(models), "dtype": dtype},
        "command": f"interviewer bench sweep {_options(sweep)}",
        "sweep": {**asdict(sweep), "memory_gbs": memory and round(memory, 1), "seed": seed},
        "shape": shape and asdict(shape),
        "failed": failed,
        "rows": rows,
        "points": [asdict(point) for point in points],
        "explanation": explain(points, Setting(sweep.input_tokens, sweep.output_tokens, shape, memory)),
    }


def to_markdown(found: dict[str, Any], picture: str | None = None) -> str:
    """Write the report; ``picture`` is the file name of the chart."""
    sweep, engine = found["sweep"], found["engine"]
    cards = f"; {', '.join(found['accelerators'])}" if found["accelerators"] else ""
    lines = [
        f"# Batch sweep\n\n{describe(found['machine'])}{cards}; engine {engine['version']}, {engine['dtype']}\n",
        f"Command: `{found['command']}`\n",
        f"Closed loop: the batch is kept in the system until {sweep['waves']} times as many requests are done; random "
        f"prompts of {sweep['input_tokens']} tokens, {sweep['output_tokens']} out, to {', '.join(engine['models'])}; "
        f"runs per batch: {sweep['repeats']}, of several the median, with the least and the most in brackets; "
        f"{found['failed']} requests failed.\n",
    ]
    if picture is not None:
        lines.append(f"![TTFT, ITL and throughput against the batch]({picture})\n")
    lines.append("| batch | TTFT ms (median) | ITL ms (median) | TPOT ms (mean) | requests/s | output tokens/s |")
    lines.append("|---|---|---|---|---|---|")
    for batch in sweep["batches"]:
        some = [row for row in found["rows"] if row["batch"] == batch]
        cells = (brackets([row[name] for row in some]) for name in SHOWN)
        lines.append(f"| {batch} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "## Why the line bends", "", "\n\n".join(found["explanation"]), ""])


def to_csv(found: dict[str, Any]) -> str:
    """Write one row per run."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ["batch", *COLUMNS], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found["rows"])
    return text.getvalue()


def to_svg(found: dict[str, Any]) -> str:
    """Draw the three curves."""

    def series(name: str, key: str) -> Series:
        return Series(name, [(p["batch"], p[key]["mid"], p[key]["low"], p[key]["high"]) for p in found["points"]])

    across = "batch (requests in the system)"
    return draw(
        "Batch sweep",
        [
            Panel("Time to first token", across, "median TTFT (ms)", [series("TTFT", "ttft")]),
            Panel("Between tokens", across, "latency (ms)", [series("ITL median", "itl"), series("TPOT mean", "tpot")]),
            Panel("Throughput", across, "output tokens per second", [series("tokens/s", "tokens")]),
        ],
    )


def write_files(found: dict[str, Any], report: Path) -> None:
    """Write ``report`` with the suffixes ``.csv`` and ``.svg``."""
    report.parent.mkdir(parents=True, exist_ok=True)
    report.with_suffix(".csv").write_text(to_csv(found), encoding="utf-8")
    report.with_suffix(".svg").write_text(to_svg(found), encoding="utf-8")


def memory_rate(megabytes: int = 512) -> float:
    """Return how fast this processor reads memory with all threads, in GB/s: best of five sums over one large array."""
    import torch

    array = torch.ones(megabytes << 18, dtype=torch.float32)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        array.sum()
        times.append(time.perf_counter() - began)
    return float(array.nbytes / min(times) / 1e9)


def _engine_is_this_processor(target: Target) -> bool:
    return engine_on_cpu() and urlsplit(target.root).hostname in {"127.0.0.1", "localhost", "::1"}


def _shape(target: Target, sweep: Sweep) -> tuple[Shape | None, str]:
    """Return the base's shape, if its configuration can be read and is of a known kind, and the element type."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(target.tokenizer).to_dict()
    except (OSError, ValueError):
        config = {}
    stored = str(config.get("dtype") or config.get("torch_dtype") or "bfloat16").removeprefix("torch.")
    dtype = sweep.dtype or (best_dtype(cpu_flags()) if engine_on_cpu() else stored)
    return (read_shape(config, BYTES[dtype]) if dtype in BYTES else None), dtype


def _point(batch: int, rows: Sequence[dict[str, float]]) -> Point:
    def spread(name: str) -> Spread:
        values = [row[name] for row in rows]
        return Spread(median(values), min(values), max(values))

    return Point(
        batch,
        ttft=spread("ttft_ms"),
        itl=spread("itl_ms"),
        tpot=spread("tpot_ms"),
        e2e=spread("e2e_ms"),
        rate=spread("requests_per_s"),
        tokens=spread("output_tokens_per_s"),
    )


def _options(sweep: Sweep) -> str:
    said = [f"--batch {batch}" for batch in sweep.batches]
    said += [f"--repeats {sweep.repeats} --waves {sweep.waves}"]
    said += [f"--input-tokens {sweep.input_tokens} --output-tokens {sweep.output_tokens}"]
    said += [f"--dtype {sweep.dtype}"] if sweep.dtype else []
    return " ".join([*said, *([f"--memory-gbs {sweep.memory_gbs:g}"] if sweep.memory_gbs else [])])
