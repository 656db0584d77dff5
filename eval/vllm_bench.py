"""Drives vLLM's own load generator, ``vllm bench serve``, so that the metrics mean what others' mean.

How it is called is decided by what vLLM 0.32 does:

- The command ``vllm`` asks for a distribution of that name, which the CPU build is not ("No package metadata was found
  for vllm"); the module behind the command works with both builds. Importing it takes 10 to 20 s, so one process makes
  all runs of a measurement, one after the other.
- ``/v1/completions`` and not chat: the first chunk of a streamed chat carries the role and no token, and the tool
  counts it as one, which adds an inter-token latency of nearly zero to every request. The prompts are chats all the
  same, rendered with the model's own template.
- The dataset type ``custom`` reads with pandas, which the engine does not bring; ``sharegpt`` takes the same from plain
  JSON.
- No warm-up by the tool: it sends the first prompt, which the prefix cache would then answer. A run that is thrown away
  does it instead.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from serving.errors import FixableError

METRICS = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2el": "E2E"}
"""The tool's names of time to first token, time per output token after it, gap between two tokens, whole request."""
FIGURES = ("mean", "median", "p90", "p99")
_MARK = "@run"
_RUNNER = f"""
import argparse, json, sys
from vllm.benchmarks.serve import add_cli_args, main
for number, argv in enumerate(json.load(sys.stdin)):
    print("{_MARK}", number + 1, flush=True)
    parser = argparse.ArgumentParser()
    add_cli_args(parser)
    main(parser.parse_args(argv))
"""
COMMAND = (sys.executable, "-c", _RUNNER)
"""Takes a JSON list of argument lists on standard input and runs the tool with each."""


class BenchError(FixableError):
    """The benchmark cannot be run, or measured nothing."""


@dataclass(frozen=True)
class Target:
    """An engine that answers, and what it serves."""

    root: str
    """Address without ``/v1``."""
    base: str
    """Served name of the base model."""
    adapters: tuple[str, ...]
    """Served names of the adapters."""
    tokenizer: str
    """Folder or hub name that the base was loaded from; prompts are rendered and counted with it."""
    max_model_len: int | None
    """Longest prompt plus output, in tokens, when the engine says it."""
    version: str
    """Of the engine."""

    def models(self, wanted: Sequence[str] = ()) -> list[str]:
        """Return the served names of ``wanted``, or of the base and all adapters.

        ``base`` stands for the base whatever its name, and ``x`` for ``x@1a2b``.

        Raises:
            BenchError: one of them is not served.
        """
        served = [self.base, *self.adapters]
        found = []
        for name in wanted:
            match = next((model for model in served if name in (model, model.split("@")[0])), None)
            match = match or (self.base if name == "base" else None)
            if match is None:
                raise BenchError(f"The engine serves no {name!r}.", f"Choose among: {', '.join(served)}.")
            found.append(match)
        return found or served

    def check_lengths(self, tokens: int) -> None:
        """Raise :class:`BenchError` when ``tokens`` of prompt and output do not fit into the context."""
        if self.max_model_len is not None and tokens > self.max_model_len:
            raise BenchError(
                f"Requests of {tokens} tokens do not fit into the engine's context of {self.max_model_len}.",
                "Ask for fewer, or start the engine with a larger --max-model-len.",
            )


def find_target(engine_url: str, tokenizer: str | None = None) -> Target:
    """Ask an engine what it serves; ``OPENAI_API_KEY`` is sent when set.

    Raises:
        BenchError: nothing answers there, or not as an OpenAI-compatible engine, or its tokenizer is not here.
    """
    root = engine_url.rstrip("/").removesuffix("/v1")
    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    shape = "Give the address of an OpenAI-compatible engine, http://host:port/v1."
    try:
        answer = httpx2.get(f"{root}/v1/models", headers=headers, timeout=10.0)
        rows = answer.raise_for_status().json()["data"]
        base = next(row for row in rows if not row.get("parent"))
        name, loaded, longest = str(base["id"]), str(base.get("root") or base["id"]), base.get("max_model_len")
        adapters = tuple(str(row["id"]) for row in rows if row.get("parent"))
    except httpx2.HTTPStatusError as error:
        raise BenchError(f"{root}/v1/models answered {error.response.status_code}.", shape) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise BenchError(
            f"No engine answers at {root}.", "Start one with `interviewer serve`, or correct --engine-url."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise BenchError(f"{root}/v1/models does not list models.", shape) from error
    chosen = tokenizer or loaded
    if chosen.startswith("/") and not Path(chosen).is_dir():
        raise BenchError(f"The engine's model folder {chosen} is not on this machine.", "Name a copy with --tokenizer.")
    return Target(root, name, adapters, chosen, longest if isinstance(longest, int) else None, _version(root, headers))


def arguments(
    target: Target, models: Sequence[str], *, requests: int, output_tokens: int, seed: int, extra: Sequence[str]
) -> list[str]:
    """Return the tool's arguments for one run: request number ``i`` goes to model ``i`` modulo their number."""
    argv = ["--backend=openai", f"--base-url={target.root}", "--endpoint=/v1/completions", f"--model={target.base}"]
    argv += [f"--tokenizer={target.tokenizer}", f"--num-prompts={requests}", f"--output-len={output_tokens}"]
    argv += [f"--seed={seed}", "--temperature=0", "--ignore-eos", "--disable-tqdm", "--disable-shuffle"]
    # The template has written the first special token already.
    argv += ["--extra-body", json.dumps({"add_special_tokens": False})]
    argv += [f"--percentile-metrics={','.join(METRICS)}", "--metric-percentiles=90,99"]
    return [*argv, *extra, "--lora-assignment=round-robin", "--lora-modules", *models]


def run(
    runs: Sequence[Sequence[str]],
    target: Target,
    progress: Callable[[str], None],
    command: Sequence[str] = COMMAND,
) -> list[dict[str, Any]]:
    """Make every run in one process and return the tool's results, in order.

    Raises:
        BenchError: the tool is missing or failed, or no request of some run was completed.
    """
    if command is COMMAND and importlib.util.find_spec("vllm") is None:
        raise BenchError("vLLM is not installed here, and its load generator is used.", "Install the extra `engine`.")
    environment = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "PYTHONUNBUFFERED": "1", **os.environ}
    if Path(target.tokenizer).is_dir():
        environment.setdefault("HF_HUB_OFFLINE", "1")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.json" for number in range(len(runs))]
        saving = [
            ["--save-result", "--save-detailed", "--result-dir", folder, "--result-filename", f.name] for f in files
        ]
        _spawn(
            command,
            json.dumps([[*saved, *argv] for saved, argv in zip(saving, runs, strict=True)]),
            environment,
            progress,
        )
        results: list[dict[str, Any]] = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    for result in results:
        if not result["completed"]:
            why = next((str(error).strip() for error in result.get("errors", []) if error), "no reason given")
            raise BenchError(
                f"None of {len(result.get('errors', []))} requests was completed: {why.splitlines()[-1]}.",
                "Look into the engine's log.",
            )
    return results


def figures(result: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return mean, median, p90 and p99 of each of :data:`METRICS` of one run, in milliseconds."""
    return {
        title: {figure: round(float(result[f"{figure}_{metric}_ms"]), 2) for figure in FIGURES}
        for metric, title in METRICS.items()
    }


def brackets(values: Sequence[float]) -> str:
    """Return the median, and in brackets the least and the most when there are several."""
    shown = [
        f"{value:.0f}" if value >= 1000 else f"{value:.4g}" for value in (median(values), min(values), max(values))
    ]
    return shown[0] if len(values) == 1 else f"{shown[0]} ({shown[1]}-{shown[2]})"


def accelerators() -> list[str]:
    """Return name and memory of the NVIDIA cards here, as their driver tells; empty without any."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def _spawn(command: Sequence[str], stdin: str, environment: dict[str, str], progress: Callable[[str], None]) -> None:
    tail: deque[str] = deque(maxlen=40)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass  # It ended before it read; its output says why.
        for line in process.stdout:
            if line.startswith(_MARK):
                progress(f"run {line.removeprefix(_MARK).strip()}")
            elif line.strip():
                tail.append(line.strip())
        code = process.wait()
    if code:
        last = tail[-1] if tail else "it said nothing"
        raise BenchError(
            f"`vllm bench serve` ended with code {code}: {last}.",
            "If the engine is newer or older than vLLM 0.32, its tool may take other arguments.",
        )


def _version(root: str, headers: dict[str, str]) -> str:
    try:
        return str(httpx2.get(f"{root}/version", headers=headers, timeout=10.0).raise_for_status().json()["version"])
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return "unknown"
