"""Scored answers per second, against asking the same model for a JSON verdict with reasons, in the same run."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from eval.agreement import answers
from eval.machine import describe, machine, summary, table
from interviewer.adapters.openai_model import make_client
from interviewer.client import Client

PARALLEL = 4
VERDICT_TOKENS = 160
"""A JSON verdict with one sentence of reason per criterion takes about this many tokens."""


def measure(url: str, engine_url: str, count: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Score ``count`` answers one by one, ``count`` others as a batch, and ask the base for JSON verdicts on these.

    Args:
        url: The service.
        engine_url: The engine behind it, for the comparison; ``OPENAI_API_KEY`` is sent when set.
        count: How many answers.
        progress: Told about each stage.
    """
    # Other answers for the batch than one by one, and questions that no earlier run asked: what the engine has read
    # before is in its prefix cache and would be timed as free.
    run = secrets.token_hex(3)
    chosen = answers()[: 2 * count]
    every = [
        {
            "id": a["id"],
            "question": {"text": f"({run}) {a['question']}"},
            "criteria": list(a["labels"]),
            "answer": a["answer"],
        }
        for a in chosen
    ]
    alone, items = every[:count], every[count:]
    single: list[float] = []
    with Client(url) as client:
        for item in alone:
            began = time.perf_counter()
            client.post("/v1/score", {k: v for k, v in item.items() if k != "id"})
            single.append((time.perf_counter() - began) * 1000)
        progress(f"single: {sum(single) / len(single):.0f} ms an answer")
        began = time.perf_counter()
        client.post("/v1/score/batch", {"items": items})
        batch = time.perf_counter() - began
        progress(f"batch: {count / batch:.2f} answers/s")
    verdict = asyncio.run(_verdicts(engine_url, items))
    progress(f"JSON verdicts: {count / verdict:.2f} answers/s")
    return {
        "machine": machine(),
        "command": f"interviewer bench score --answers {count}",
        "milliseconds": {"one answer, all criteria": summary(single)},
        "answers_per_second": {
            "one by one": round(1000 * count / sum(single), 3),
            "batch": round(count / batch, 3),
            f"JSON verdict with reasons, {PARALLEL} at once": round(count / verdict, 3),
        },
        "ratio_batch_to_json": round(verdict / batch, 1),
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    rates = "\n".join(f"| {name} | {value} |" for name, value in found["answers_per_second"].items())
    return (
        f"# Scoring throughput\n\n{describe(found['machine'])}\n\nCommand: `{found['command']}`\n\n"
        f"{table(found['milliseconds'], 'ms')}\n\n| way | answers per second |\n|---|---|\n{rates}\n\n"
        f"The batch is {found['ratio_batch_to_json']} times as fast as asking the same base model for JSON.\n"
    )


async def _verdicts(engine_url: str, items: list[dict[str, Any]]) -> float:
    client = make_client(engine_url, os.environ.get("OPENAI_API_KEY", ""), seconds=600.0)
    gate = asyncio.Semaphore(PARALLEL)

    async def one(item: dict[str, Any]) -> None:
        prompt = (
            f"Question: {item['question']['text']}\nAnswer: {item['answer']}\n"
            f"Grade each of {', '.join(item['criteria'])} from 0 to 3 as JSON with level and reason."
        )
        async with gate:
            await client.chat.completions.create(
                model="base",
                messages=[{"role": "user", "content": prompt}],
                max_tokens=VERDICT_TOKENS,
                temperature=0,
                extra_body={"ignore_eos": True},
            )

    began = time.perf_counter()
    await asyncio.gather(*(one(item) for item in items))
    return time.perf_counter() - began
