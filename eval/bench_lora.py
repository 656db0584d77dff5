"""What an adapter costs on CPU: no LoRA, the engine's stock operators and the plugin, side by side in one run.

Each measurement is made on all engines before the next one, in turning order, so that other work on the machine weighs
on all alike; ratios to the base are taken within a round. Prompts are token ids drawn anew, so that the prefix cache
never helps.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from openai import AsyncOpenAI, OpenAIError

from eval.lora_engines import SEQUENCES, Served, random_adapters, started
from eval.machine import describe, machine
from serving.engine import EngineError, log_tail

PREFILL_TARGET, DECODE_TARGET = 1.25, 1.3
"""Largest acceptable ratios to the base."""

MIXED = 12
"""Requests in the batches that mix adapters."""
SHORT = 8
"""Prompt tokens of a request whose decoding is timed."""
SLOW = 1024
"""Prefills from this length on are timed once only with the stock operators, which take minutes for them."""

WORDS = (
    "The capital of France is",
    "The candidate explained how the batch size changed the latency, and then",
    "Our service answered forty requests per second before we changed anything, so",
)
"""Prompts of the check for right answers."""


@dataclass(frozen=True)
class Way:
    """One column of the report."""

    name: str
    engine: str
    """Which of the running engines."""
    models: tuple[str, ...]
    """Adapters to ask, by served name; only the base when empty."""

    def rows(self, batch: int, adapters: int, bare: int = 0) -> list[str]:
        """Return the model of each request of a batch that uses ``adapters`` adapters, ``bare`` rows without any."""
        used = self.models[:adapters] or ("base",)
        return ["base"] * bare + [used[row % len(used)] for row in range(batch - bare)]


@dataclass(frozen=True)
class Case:
    """One row of the report."""

    name: str
    prefill: int
    """Prompt tokens to read, or 0 to time decoding."""
    batch: int = 1
    adapters: int = 1
    bare: int = 0


def cases(quick: bool) -> list[Case]:
    """Return what is measured, shortest first."""
    lengths, batches, mixes = [128, 512, 1024, 2048], [1, 4, 8, 16], [1, 3, 6]
    if quick:
        lengths, batches, mixes = [128], [1, 4], [3]
    found = [Case(f"prefill, {length} tokens", length) for length in lengths]
    found += [Case(f"decode, batch {batch}, one adapter", 0, batch) for batch in batches]
    found += [Case(f"decode, batch {MIXED}, {many} adapter(s) mixed", 0, MIXED, many) for many in mixes]
    half = MIXED // 2
    return [*found, Case(f"decode, batch {MIXED}, {half} rows of the base, 6 adapters", 0, MIXED, 6, half)]


def measure(
    model: Path, shipped: Mapping[str, Path], rounds: int, quick: bool, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Start the engines, measure, stop them.

    Args:
        model: folder of the base model.
        shipped: trained adapters by name; may be empty.
        rounds: how often everything is measured.
        quick: few cases and tokens, to see that it runs; the numbers mean little.
        progress: told about each step.

    Raises:
        EngineError: an engine cannot be started.
    """
    return asyncio.run(_measure(model, shipped, rounds, quick, progress))


async def _measure(
    model: Path, shipped: Mapping[str, Path], rounds: int, quick: bool, progress: Callable[[str], None]
) -> dict[str, Any]:
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        full = random_adapters(model, Path(scratch), 6)
        async with started(model, full, shipped, Path(scratch), progress) as engines:
            ways = [
                Way("base", "base", ()),
                Way("stock", "stock", tuple(full)),
                Way("plugin", "plugin", tuple(full)),
            ]
            if shipped:
                ways.append(Way("plugin (shipped)", "plugin", tuple(shipped)))
            for way in ways:
                for name in way.models or ("base",):  # first use of an adapter loads and packs it
                    await ask(engines[way.engine].client, name, fresh(SHORT), 2)
            progress("every adapter answered once")
            values = await _rounds(engines, ways, cases(quick), rounds, 6 if quick else 16, progress)
            prompts = WORDS[:1] if quick else WORDS
            progress("asking the base while adapters decode")
            right = {name: await same_answers(engines, name, tuple(full), prompts) for name in ("stock", "plugin")}
            settings = engines["plugin"].config
            return {
                "machine": machine(),
                "command": f"interviewer bench lora --rounds {rounds}{' --quick' if quick else ''}",
                "dtype": settings.chosen_dtype(),
                "threads": settings.environment()["OMP_NUM_THREADS"],
                "waiting": settings.environment().get("OMP_WAIT_POLICY", "default"),
                "shipped": list(shipped),
                "load_average": {"before": round(before, 2), "after": round(os.getloadavg()[0], 2)},
                "milliseconds": values,
                "ratio": ratios(values),
                "right": right,
            }


async def _rounds(
    engines: Mapping[str, Served],
    ways: Sequence[Way],
    todo: Sequence[Case],
    rounds: int,
    tokens: int,
    progress: Callable[[str], None],
) -> dict[str, dict[str, list[float | None]]]:
    """Return milliseconds per case and way, one value per round; None where it was left out."""
    values: dict[str, dict[str, list[float | None]]] = {c.name: {w.name: [] for w in ways} for c in todo}
    for turn in range(rounds):
        for case in todo:
            order = [*ways[turn % len(ways) :], *ways[: turn % len(ways)]]
            for way in order:
                skip = way.name == "stock" and case.prefill >= SLOW and turn > 0
                try:
                    found = None if skip else await _once(engines[way.engine].client, way, case, tokens)
                except OpenAIError as error:
                    log = log_tail(engines[way.engine].config.log)
                    raise EngineError(
                        f"The engine {way.engine!r} failed at {case.name}: {error}.", f"The end of its log:\n{log}"
                    ) from error
                values[case.name][way.name].append(found)
            line = ", ".join(f"{w.name} {values[case.name][w.name][-1] or 0:.0f}" for w in ways)
            progress(f"round {turn + 1} of {rounds}: {case.name}: {line} ms")
    return values


async def _once(client: AsyncOpenAI, way: Way, case: Case, tokens: int) -> float:
    if case.prefill:
        began = time.perf_counter()
        await ask(client, way.rows(1, 1)[0], fresh(case.prefill), 1)
        return (time.perf_counter() - began) * 1000
    rows = way.rows(case.batch, case.adapters, case.bare)
    return per_token(await asyncio.gather(*(ask(client, name, fresh(SHORT), tokens) for name in rows)))


def per_token(times: Sequence[Sequence[float]]) -> float:
    """Return milliseconds per token and request while all requests of a batch decode together.

    Args:
        times: per request, when each of its tokens came, in seconds.

    Raises:
        ValueError: there was no moment at which all of them decoded.
    """
    begin, end = max(row[0] for row in times), min(row[-1] for row in times)
    spans = []
    for row in times:
        inside = [moment for moment in row if begin <= moment <= end]
        if len(inside) > 1:
            spans.append((inside[-1] - inside[0]) / (len(inside) - 1))
    if not spans:
        raise ValueError("the requests of a batch did not run together")
    return median(spans) * 1000


def ratios(values: Mapping[str, Mapping[str, Sequence[float | None]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Return per case and way the ratio to the base of the same round: median, least and most."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for case, ways in values.items():
        found[case] = {}
        for way, row in ways.items():
            pairs = [a / b for a, b in zip(row, ways["base"], strict=True) if a and b]
            if way != "base" and pairs:
                summary = {"median": median(pairs), "min": min(pairs), "max": max(pairs)}
                found[case][way] = {name: round(value, 2) for name, value in summary.items()}
    return found


def fresh(tokens: int) -> list[int]:
    """Return a prompt that was never seen: random ids of ordinary tokens."""
    return [1000 + secrets.randbelow(40_000) for _ in range(tokens)]


async def ask(client: AsyncOpenAI, model: str, prompt: list[int], tokens: int) -> list[float]:
    """Return when each of ``tokens`` generated tokens came, in seconds of the performance counter."""
    stream = await client.completions.create(
        model=model,
        prompt=prompt,
        max_tokens=tokens,
        temperature=0,
        stream=True,
        extra_body={"ignore_eos": True, "return_token_ids": True},
    )
    times: list[float] = []
    async for chunk in stream:
        # One chunk may carry several tokens when the reader was late; without text it may still carry one.
        for choice in chunk.choices:
            times += [time.perf_counter()] * len((choice.model_extra or {}).get("token_ids") or ())
    return times


async def same_answers(
    engines: Mapping[str, Served], name: str, adapters: Sequence[str], prompts: Sequence[str]
) -> dict[str, int]:
    """Ask the base while all adapters decode, and count the answers that are the ones it gives without any."""
    client, same = engines[name].client, 0
    for words in prompts:
        wanted = await _text(engines["base"].client, words)
        decoding = [asyncio.create_task(ask(client, adapter, fresh(SHORT), 24)) for adapter in adapters]
        found = await _text(client, words)
        same += found == wanted
        await asyncio.gather(*decoding)
    return {"asked": len(prompts), "same": same}


async def _text(client: AsyncOpenAI, prompt: str) -> str:
    answer = await client.completions.create(
        model="base", prompt=prompt, max_tokens=12, temperature=0, extra_body={"ignore_eos": True}
    )
    return answer.choices[0].text


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    values, ratio = found["milliseconds"], found["ratio"]
    ways = list(next(iter(values.values())))
    lines = [f"| ms, median (min to max) | {' | '.join(ways)} |", "|---" * (len(ways) + 1) + "|"]
    lines += [f"| {case} | {' | '.join(_cell(row[way]) for way in ways)} |" for case, row in values.items()]
    lines += ["", f"| ratio to the base | {' | '.join(ways[1:])} |", "|---" * len(ways) + "|"]
    for case, row in ratio.items():
        cells = (f"{r['median']:.2f} ({r['min']:.2f} to {r['max']:.2f})" for r in (row[way] for way in ways[1:]))
        lines.append(f"| {case} | {' | '.join(cells)} |")
    load = found["load_average"]
    right = "; ".join(f"{name} {r['same']} of {r['asked']}" for name, r in found["right"].items())
    return (
        f"# LoRA on CPU\n\n{describe(found['machine'])}; {found['dtype']}, {found['threads']} threads, "
        f"OpenMP wait policy {found['waiting']}; "
        f"load average {load['before']} before, {load['after']} after\n\nCommand: `{found['command']}`\n\n"
        f"Six random adapters of rank 16 on all projections of all layers (stock, plugin); shipped: "
        f"{', '.join(found['shipped']) or 'none'}. At most {SEQUENCES} sequences; as many slots as adapters. "
        f"Prefill is a request for one token; decode is per token and request.\n\n"
        + "\n".join(lines)
        + f"\n\nThe base's own answer while six adapters decode: {right}.\n\n{_verdict(ratio)}\n"
    )


def _cell(values: Sequence[float | None]) -> str:
    there = [value for value in values if value is not None]
    return f"{median(there):.0f} ({min(there):.0f} to {max(there):.0f}), n={len(there)}"


def _verdict(ratio: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    missed = [
        f"{way}: {case} {row['median']:.2f}"
        for case, by_way in ratio.items()
        for way, row in by_way.items()
        if way != "stock" and row["median"] > (PREFILL_TARGET if case.startswith("prefill") else DECODE_TARGET)
    ]
    targets = f"prefill within {PREFILL_TARGET} times the base, decode within {DECODE_TARGET}"
    return f"Targets ({targets}): {'missed by ' + '; '.join(missed) if missed else 'met in every row'}."
