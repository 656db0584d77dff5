"""The time of a round as the terminal shows it, and the key that interrupts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from interviewer.core import events as ev
from interviewer.terminal import Timer, _Screen, _type
from interviewer.web import wire
from tests.store.samples import NOON, answer, started


def recorded(seq: int, seconds: float, event: ev.Event) -> ev.Recorded:
    return ev.Recorded(session_id="s", seq=seq, at=NOON + timedelta(seconds=seconds), event=event)


def test_the_time_is_that_of_the_service_and_a_long_pause_costs_ten_minutes() -> None:
    now = NOON

    def advance(seconds: float) -> None:
        nonlocal now
        now += timedelta(seconds=seconds)

    timer = Timer(lambda: now)
    assert timer.left() is None
    timer.at(recorded(1, 0, started(minutes=45)))
    advance(90)
    assert timer.told() == "1:30 gone, 43:30 left"
    timer.at(recorded(2, 120, answer()))
    advance(60)
    assert timer.told() == "2:30 gone, 42:30 left"
    advance(86_400)
    assert timer.told() == "12:00 gone, 33:00 left", "resumed tomorrow"
    timer.at(recorded(3, 86_550, ev.SessionNotice(code="model_restarting", message="A moment.")))
    advance(600)
    timer.at(recorded(4, 86_550 + 600, ev.SessionNotice(code="model_restarting", message="A moment.")))
    assert timer.gone() == 22 * 60
    for more in range(3):
        advance(600)
        timer.at(recorded(5 + more, 86_550 + 600 * (more + 2), answer()))
    assert timer.told() == "time is up (+7:00)"
    timer.at(recorded(9, 86_550 + 2400, ev.SessionEnded(reason="time", farewell="Thank you.")))
    advance(600)
    assert timer.left() is None and timer.told() == "52:00 in all"


class Wire:
    """A socket that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send(self, message: wire.ClientMessage) -> None:
        self.sent.append(message.type)

    async def answer(self, text: str) -> None:
        self.sent.append(text)


async def typed(keys: Sequence[str], *, streaming: bool, by_hand: bool = True) -> list[str]:
    """Return what is sent when these lines are typed."""
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    turn, socket = asyncio.Event(), Wire()
    screen = _Screen(Console(file=StringIO()), turn, Timer(), by_hand)
    if streaming:
        screen.show(wire.QuestionDelta(turn=1, offset=0, text="Which"))
    else:
        turn.set()
    for key in keys:
        lines.put_nowait(key)
    typing = asyncio.create_task(_type(socket, lines, screen, turn))  # type: ignore[arg-type]
    for _ in range(10):
        await asyncio.sleep(0)
    typing.cancel()
    await asyncio.gather(typing, return_exceptions=True)
    return socket.sent


@pytest.mark.parametrize("key", ["", "\x1b", "/stop"])
async def test_a_key_interrupts_the_question_that_comes(key: str) -> None:
    assert await typed([key], streaming=True) == ["interrupt"]


async def test_an_empty_line_interrupts_nothing_else() -> None:
    assert await typed(["", ""], streaming=False) == []
    assert await typed(["", ""], streaming=True, by_hand=False) == [], "a file has empty lines"
    assert await typed(["p99 at batch 8", ""], streaming=False) == ["p99 at batch 8"]
    assert await typed(["/time"], streaming=False) == []
