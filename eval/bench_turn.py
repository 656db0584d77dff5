"""How long a candidate waits, through the real socket of a running service: first token, judge, whole question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from eval.agreement import answers
from eval.machine import describe, machine, memory, summary, table
from interviewer.client import Client, Socket, open_socket
from interviewer.web import wire

WORDS = (110, 165)
"""Length of the answers that are sent, in words; about 150 as in the target."""
PERSONAS = ("deep_dive", "hiring_manager", "coding_design", "behavioral", "recruiter")


@dataclass
class _Times:
    """Milliseconds."""

    first: list[float] = field(default_factory=list)
    judge: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    pause: list[float] = field(default_factory=list)
    main_first: list[float] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    def rows(self) -> dict[str, list[float]]:
        """Return the values by what they are; those that never came about are empty."""
        return {
            "answer to first token of a follow-up": self.first,
            "answer to first token of a main question": self.main_first,
            "judge, all criteria": self.judge,
            "answer to whole question": self.done,
            "longest pause within a follow-up": self.pause,
            "per word of a follow-up, after its first": self.gap,
        }


def measure(url: str, sessions: int, turns: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Hold ``sessions`` practice sessions of ``turns`` answers each, one after the other.

    Follow-ups and main questions (authored) are kept apart, because only the first need the persona model. A follow-up
    that begins with a quote is worded by the model behind it: that wait is the longest pause within.
    """
    texts = [a["answer"] for a in answers() if WORDS[0] <= len(a["answer"].split()) <= WORDS[1]]
    times = _Times()
    for number in range(sessions):
        persona = PERSONAS[number % len(PERSONAS)]
        said = [texts[(number * turns + i) % len(texts)] for i in range(turns)]
        asyncio.run(_session(url, persona, said, number, times))
        progress(f"session {number + 1} of {sessions}: first token after {times.first[-1]:.0f} ms (last follow-up)")
    return {
        "machine": machine(),
        "command": f"interviewer bench turn --sessions {sessions} --turns {turns}",
        "milliseconds": {name: summary(values) for name, values in times.rows().items() if values},
        "sources": {source: times.sources.count(source) for source in sorted(set(times.sources))},
        "memory": memory(urlsplit(url).port or 80),
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    mem = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found["memory"].items()) or "not measured"
    return (
        f"# Turn latency\n\n{describe(found['machine'])}\n\nCommand: `{found['command']}`\n\n"
        f"{table(found['milliseconds'], 'ms')}\n\nQuestions by source: {found['sources']}.\nMemory: {mem}.\n"
    )


async def _session(url: str, persona: str, said: Sequence[str], seed: int, times: _Times) -> None:
    with Client(url) as client:
        opened = client.post("/v1/sessions", {"persona": persona, "minutes": 120, "seed": seed})
    async with open_socket(url, opened["id"], opened["token"]) as socket:
        await _until_waiting(socket)
        for text in said:
            if not await _turn(socket, text, times):
                return
        await socket.send(wire.End())


async def _until_waiting(socket: Socket) -> None:
    while True:
        message = await socket.receive()
        if isinstance(message, wire.Status) and message.stage == "waiting":
            return


async def _turn(socket: Socket, text: str, times: _Times) -> bool:
    began = time.perf_counter()
    first = judged = None
    words: list[float] = []
    await socket.answer(text)
    while True:
        message = await socket.receive()
        now = (time.perf_counter() - began) * 1000
        match message:
            case wire.AssessmentMessage():
                judged = now
            case wire.QuestionDelta():
                first = first or now
                words.append(now)
            case wire.QuestionDone():
                times.done.append(now)
                times.sources.append(message.source)
                (times.main_first if message.source == "authored" else times.first).append(first or now)
                if message.source != "authored" and len(words) > 1:
                    times.gap.append((words[-1] - words[0]) / (len(words) - 1))
                    times.pause.append(max(b - a for a, b in pairwise(words)))
                if judged is not None:
                    times.judge.append(judged)
            case wire.Status(stage="waiting"):
                return True
            case wire.Status(stage="ended"):
                return False
            case _:
                continue
