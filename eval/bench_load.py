"""Open-loop load on an engine, shaped like interview turns, with goodput: requests that meet both latency limits.

Open loop: requests arrive at a given rate (a Poisson process) whether or not earlier ones are done, as candidates do; a
queue that grows shows. The same script measures the embedded engine on a processor and a server with a GPU.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

from eval.machine import describe, machine
from eval.vllm_bench import COMMAND, FIGURES, METRICS, Target, accelerators, arguments, brackets, figures, run
from interviewer.adapters.documents import load_library
from interviewer.core.library import Library
from interviewer.core.prompts import Message, TurnRequest, persona_messages
from interviewer.core.rubric import Question
from interviewer.core.text import clip_words

STRANGER = "deep_dive"
"""Whose prompts a model gets that is no persona: the base, the evaluator, adapters of other projects."""


@dataclass(frozen=True)
class Load:
    """What is sent."""

    rates: tuple[float, ...]
    """Requests per second; one row of the report each."""
    requests: int
    """Per run."""
    repeats: int = 3
    """Runs per rate."""
    output_tokens: int = 40
    random_tokens: int | None = None
    """Length of random prompts; ``None`` sends persona prompts."""
    ttft_ms: float = 500.0
    """Latest first token of a good request."""
    tpot_ms: float = 30.0
    """Most time per output token, after the first, of a good request."""


def chats(library: Library, models: Sequence[str], count: int, run_id: str) -> list[list[Message]]:
    """Return ``count`` persona prompts of about 500 tokens; number ``i`` is for model ``i`` modulo their number.

    Requests of one persona share its system prompt, as turns do, and nothing after it: ``run_id`` and the number stand
    at the head of what follows, so that no run is answered from the prefix cache of another.
    """
    people = [library.personas.get(model.split("@")[0]) or library.personas[STRANGER] for model in models]
    asked = {person.id: cycle(library.rubrics[person.rubric].questions) for person in people}
    made = []
    for number in range(count):
        person = people[number % len(people)]
        question, left = next(asked[person.id]), next(asked[person.id])
        probe = question.targets[0].probes[0]
        request = TurnRequest(
            level="senior",
            question=f"({run_id}-{number}) {question.wording('senior')}",
            said=" ".join([_spoken(question), _spoken(left)]),
            probe=probe.wording("senior"),
            move=probe.move,
            earlier=(
                f"their background: {clip_words(left.coaching.bad, 24)}",
                f"you asked: {clip_words(left.text, 24)} They said: {clip_words(_spoken(left), 30)}",
            ),
        )
        made.append(persona_messages(person, request))
    return made


def measure(
    target: Target,
    models: Sequence[str],
    load: Load,
    progress: Callable[[str], None],
    *,
    library: Library | None = None,
    command: Sequence[str] = COMMAND,
) -> dict[str, Any]:
    """Send the load to ``models`` in turn; see :func:`eval.vllm_bench.run` for what it raises.

    Args:
        target: The engine.
        models: Served names.
        load: What is sent.
        progress: Told about each run.
        library: Personas and rubrics of the prompts; the packaged ones by default.
        command: Replaces the load generator, for tests.
    """
    target.check_lengths((load.random_tokens or 0) + load.output_tokens)
    sends = [rate for rate in load.rates for _ in range(load.repeats)]
    with tempfile.TemporaryDirectory() as folder:
        writer = _Writer(target, models, load, Path(folder), library)
        runs = [writer.argv(len(models), None), *(writer.argv(load.requests, rate) for rate in sends)]
        results = run(runs, target, lambda line: progress(f"{line} of {len(runs)}"), command)[1:]
    rows = []
    for rate in load.rates:
        some = [_row(result) for sent, result in zip(sends, results, strict=True) if sent == rate]
        rows.append({"rate": rate, "runs": some})
    return {
        "machine": machine(),
        "accelerators": accelerators(),
        "engine": {"version": target.version, "models": list(models)},
        "command": f"interviewer bench load {writer.options()}",
        "load": {
            "requests": load.requests,
            "repeats": load.repeats,
            "prompts": "persona" if load.random_tokens is None else "random",
            "prompt_tokens": round(median(length for result in results for length in result["input_lens"])),
            "output_tokens": load.output_tokens,
            "goodput": {"ttft_ms": load.ttft_ms, "tpot_ms": load.tpot_ms},
        },
        "rates": rows,
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report: medians over the runs, least and most of the runs in brackets."""
    load, engine, good = found["load"], found["engine"], found["load"]["goodput"]
    cards = f"; {', '.join(found['accelerators'])}" if found["accelerators"] else ""
    lines = [
        f"# Load\n\n{describe(found['machine'])}{cards}; engine {engine['version']}\n\nCommand: `{found['command']}`\n",
        f"Open loop, Poisson arrivals; runs per rate: {load['repeats']}, of {load['requests']} requests; "
        f"{load['prompts']} prompts of {load['prompt_tokens']} tokens (median), {load['output_tokens']} tokens out, "
        f"in turn to {', '.join(engine['models'])}. Good: first token within {good['ttft_ms']:g} ms and "
        f"{good['tpot_ms']:g} ms per token after it. Of several runs, each value is the median, with the least "
        "and the most in brackets.\n",
        "| asked requests/s | done | failed | requests/s | good requests/s | output tokens/s | all tokens/s |",
        "|---|---|---|---|---|---|---|",
    ]
    names = ("completed", "failed", "requests_per_s", "good_per_s", "output_tokens_per_s", "total_tokens_per_s")
    lines += [
        f"| {row['rate']:g} | {' | '.join(brackets([r[name] for r in row['runs']]) for name in names)} |"
        for row in found["rates"]
    ]
    lines += ["", f"| asked requests/s | ms | {' | '.join(FIGURES)} |", "|---|---|---|---|---|---|"]
    for row in found["rates"]:
        for title in METRICS.values():
            values = (brackets([r["milliseconds"][title][figure] for r in row["runs"]]) for figure in FIGURES)
            lines.append(f"| {row['rate']:g} | {title} | {' | '.join(values)} |")
    if load["requests"] < 100:
        lines.append(f"\nThe p99 of {load['requests']} requests lies between the two slowest of them.")
    return "\n".join(lines) + "\n"


class _Writer:
    """Writes each run's prompts and arguments."""

    def __init__(
        self, target: Target, models: Sequence[str], load: Load, folder: Path, library: Library | None
    ) -> None:
        self._target, self._models, self._load, self._folder = target, models, load, folder
        self._number = 0
        self._run = secrets.token_hex(3)
        self._render: Callable[[list[Message]], str] | None = None
        if load.random_tokens is None:
            self._library = library or load_library()
            self._render = _template(target.tokenizer)

    def argv(self, requests: int, rate: float | None) -> list[str]:
        load = self._load
        self._number += 1
        if self._render is None:
            extra = ["--dataset-name=random", f"--input-len={load.random_tokens}"]
        else:
            prompts = chats(self._library, self._models, requests, f"{self._run}-{self._number}")
            # The completion is only counted, and not even that when an output length is given.
            rows = [{"conversations": [{"value": self._render(chat)}, {"value": "-"}]} for chat in prompts]
            path = self._folder / f"{self._number}.json"
            path.write_text(json.dumps(rows), encoding="utf-8")
            extra = ["--dataset-name=sharegpt", f"--dataset-path={path}"]
        if rate is not None:
            extra.append(f"--request-rate={rate:g}")
        return arguments(
            self._target,
            self._models,
            requests=requests,
            output_tokens=load.output_tokens,
            seed=secrets.randbelow(2**31),
            extra=[*extra, "--goodput", f"ttft:{load.ttft_ms:g}", f"tpot:{load.tpot_ms:g}"],
        )

    def options(self) -> str:
        load = self._load
        said = [f"--rate {rate:g}" for rate in load.rates]
        said += [f"--requests {load.requests} --repeats {load.repeats} --output-tokens {load.output_tokens}"]
        said += [f"--random --input-tokens {load.random_tokens}"] if load.random_tokens is not None else []
        return " ".join([*said, f"--ttft-ms {load.ttft_ms:g} --tpot-ms {load.tpot_ms:g}"])


def _template(tokenizer: str) -> Callable[[list[Message]], str]:
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(tokenizer)
    return lambda chat: str(loaded.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))


def _spoken(question: Question) -> str:
    """Return something a candidate could say to ``question``, 60 words or more."""
    return " ".join([question.coaching.good, *(fact.claim for fact in question.facts)])


def _row(result: dict[str, Any]) -> dict[str, Any]:
    return {
        "completed": result["completed"],
        "failed": result["failed"],
        "seconds": round(result["duration"], 2),
        "requests_per_s": round(result["request_throughput"], 3),
        "good_per_s": round(result["request_goodput"], 3),
        "output_tokens_per_s": round(result["output_throughput"], 2),
        "total_tokens_per_s": round(result["total_token_throughput"], 2),
        "milliseconds": figures(result),
    }
