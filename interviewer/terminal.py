"""An interview in the terminal: the question streams, an empty line sends the answer, slash commands do the rest."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from rich.console import Console
from websockets.exceptions import ConnectionClosed

from interviewer.client import Client, ServiceError, Socket, api_key, open_socket
from interviewer.core import events as ev
from interviewer.core.render import LEVEL_WORDS, code_lines
from interviewer.core.session import PAUSE_CAP
from interviewer.core.text import label
from interviewer.web import wire

ESCAPE = "\x1b"
"""What the Esc key puts on the line."""
HELP = (
    "An empty line sends your answer; Enter or Esc Enter while the question comes interrupts it, as /stop does. /time, "
    "/hint, /retry, /persona NAME, /end, /help; Ctrl-C leaves (resumable). You can also ask to repeat or rephrase the "
    "question, or for a minute to think; that costs nothing. Before you answer you may ask about the case."
)


HEARTBEAT = 20.0
"""Seconds between pings; the service takes one as the wish to go on with a turn that its store had stopped."""
_WARNINGS = {300: "Five minutes left.", 60: "One minute left.", 0: "Time is up: finish your answer and send it."}


async def hold(url: str, session_id: str, token: str, console: Console) -> None:
    """Hold a session until it ends; reconnects when the connection is lost."""
    console.print(HELP, style="dim")
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    # A daemon: a thread that waits for a key that nobody presses must not keep the command from ending.
    threading.Thread(target=_read_lines, args=(loop, lines), name="stdin", daemon=True).start()
    timer = Timer()
    ticking = asyncio.create_task(_tick(timer, console))
    try:
        await _held(url, session_id, token, console, lines, timer)
    finally:
        ticking.cancel()
        console.set_window_title("")
    console.print(f"Report: interviewer report {session_id}")


async def _held(
    url: str, session_id: str, token: str, console: Console, lines: asyncio.Queue[str | None], timer: Timer
) -> None:
    seq = 0
    ended = False
    while not ended:
        with suppress(ConnectionClosed, OSError):
            async with open_socket(url, session_id, token, seq) as socket:
                turn = asyncio.Event()
                screen = _Screen(console, turn, timer, sys.stdin.isatty())
                tasks = [asyncio.create_task(_type(socket, lines, screen, turn)), asyncio.create_task(_beat(socket))]
                try:
                    ended = await _follow(socket, screen)
                finally:
                    seq = max(seq, socket.seq)
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
        if not ended:
            console.print("connection lost, trying again", style="dim")
            await asyncio.sleep(1.0)
            if api_key():  # the token was a ticket, which opens once
                with suppress(ServiceError):
                    token = await asyncio.to_thread(_ticket, url, session_id)


def _ticket(url: str, session_id: str) -> str:
    with Client(url) as client:
        return str(client.post(f"/v1/sessions/{session_id}/token", {})["token"])


class Timer:
    """The time of the round, from the stored events and the clock here; a pause counts as in the service."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Take a clock."""
        self._now = now
        self._active = 0.0
        self._last: datetime | None = None
        self._total = 0
        self._over = False

    def at(self, recorded: ev.Recorded) -> None:
        """Take a stored event."""
        event = recorded.event
        if isinstance(event, ev.SessionStarted):
            self._active, self._total, self._over = event.spent_seconds, 60 * event.minutes, False
        elif self._last is not None:
            self._active += self._gap(recorded.at)
        self._last = recorded.at
        self._over = self._over or isinstance(event, ev.SessionEnded)

    def left(self) -> float | None:
        """Return the seconds that are left, below 0 past the end; ``None`` before the start and when all is over."""
        return None if self._last is None or self._over else self._total - self.gone()

    def gone(self) -> float:
        """Return the seconds that have passed."""
        return self._active + (0.0 if self._over else self._gap(self._now()))

    def told(self) -> str:
        """Return both in words."""
        left = self.left()
        if left is None:
            return f"{_clock(self.gone())} in all"
        return f"{_clock(self.gone())} gone, {_clock(left)} left" if left > 0 else f"time is up (+{_clock(-left)})"

    def _gap(self, until: datetime) -> float:
        return 0.0 if self._last is None else min(PAUSE_CAP, max(0.0, (until - self._last).total_seconds()))


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


async def _tick(timer: Timer, console: Console) -> None:
    """Show the time in the window's title, where it disturbs no typing, and say when little is left."""
    before = timer.left()
    while True:
        await asyncio.sleep(1.0)
        left = timer.left()
        if left is not None:
            console.set_window_title(timer.told())
            for mark, words in _WARNINGS.items():
                if before is not None and left <= mark < before:
                    console.print(f"\n({words})", style="dim")
        before = left


async def _beat(socket: Socket) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT)
        await socket.send(wire.Ping())


async def _follow(socket: Socket, screen: _Screen) -> bool:
    """Show messages until the report is ready; returns whether the session ended."""
    while True:
        message = await socket.receive()
        screen.show(message)
        if isinstance(message, wire.ReportReady):
            return True


async def _type(socket: Socket, lines: asyncio.Queue[str | None], screen: _Screen, turn: asyncio.Event) -> None:
    """Send what is typed; an answer, and the end of the input, wait until the candidate has the word (``turn``)."""
    draft: list[str] = []
    while True:
        line = await lines.get()
        if line is None:
            await turn.wait()
        if line is None or line.strip() == "/end":
            await socket.send(wire.End())
            return
        command, _, rest = line.strip().partition(" ")
        if command in ("/stop", ESCAPE) or (not (command or draft) and screen.streaming and screen.by_hand):
            await socket.send(wire.Interrupt())
        elif command in ("/hint", "/retry"):
            if screen.agreed(command):
                await socket.send(wire.Hint() if command == "/hint" else wire.Retry())
        elif command == "/persona":
            await socket.send(wire.SwapPersona(persona=rest.strip() or "?"))
        elif command == "/time":
            screen.say(screen.timer.told())
        elif command == "/help":
            screen.say(HELP)
        elif line.strip():
            draft.append(line)
        elif draft:
            await turn.wait()
            turn.clear()
            await socket.answer("\n".join(draft))
            draft = []


def _read_lines(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str | None]) -> None:
    """Feed standard input to the loop; ``None`` is its end. Runs on a thread of its own, until the loop is closed.

    Read below ``sys.stdin``, whose lock would be held by a waiting thread when the interpreter ends.
    """
    keys = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    with suppress(RuntimeError):  # the loop is closed: nobody listens any more
        for line in keys:
            said = line.decode(sys.stdin.encoding or "utf-8", "replace").rstrip("\r\n")
            loop.call_soon_threadsafe(lines.put_nowait, said)
        for last in ("", None):
            loop.call_soon_threadsafe(lines.put_nowait, last)


class _Screen:
    """Turns messages into lines."""

    def __init__(self, console: Console, turn: asyncio.Event, timer: Timer, by_hand: bool) -> None:
        self._console = console
        self._turn = turn
        self.timer = timer
        self.by_hand = by_hand
        """Whether somebody types; in a file an empty line too many is no wish to interrupt."""
        self.streaming = False
        """Whether a question is coming."""
        self._prices: wire.Prices | None = None
        self._told = ""
        """Command whose price was told last; the same once more takes it."""

    def say(self, text: str) -> None:
        """Print a line about the tool itself."""
        self._console.print(text, style="dim", markup=False)

    def agreed(self, command: str) -> bool:
        """Tell what a hint or another attempt costs; True when that was just told, or there is nothing to be had."""
        if self._told == command or self._prices is None:
            self._told = ""
            return True
        cap, last = self._prices.hint_cap, f"Type {command} again to take it."
        if command == "/retry":
            cap = self._prices.retry_cap
            last = f"The new answer to turn {self._prices.retry_turn} counts, not the earlier one. {last}"
        if cap is None:
            return True
        self._told = command
        self.say(f"The price: your answers to that question can then show at most level {cap}. {last}")
        return False

    def show(self, message: wire.ServerMessage) -> None:
        """Print one message."""
        if isinstance(message, (wire.EventMessage, wire.AssessmentMessage)):
            self.timer.at(message.recorded)
        match message:
            case wire.Welcome(partial=partial) if partial:
                self._write(partial)
            case wire.QuestionDelta():
                self._write(message.text)
            case wire.QuestionDone():
                if not self.streaming:
                    self._write(message.text)
                left = self.timer.left()
                shown = f" ({self.timer.told()})" if left is not None else ""
                shown = f"{' [interrupted]' if message.interrupted else ''}{shown}"
                self._console.print(shown, style="dim", markup=False)
                self.streaming = False
                self._turn.set()
            case wire.Prices():
                self._prices, self._told = message, ""
            case wire.AssessmentMessage():
                self._assessment(message.recorded.event)
            case wire.EventMessage():
                self._event(message.recorded.event)
            case wire.Status(stage="reading"):
                self._console.print("(reading your answer)", style="dim")
            case wire.ErrorMessage():
                self._console.print(f"! {message.message}", style="bold", markup=False)
            case _:
                return

    def _write(self, text: str) -> None:
        if not self.streaming:
            self._console.print("\nInterviewer: ", style="bold", end="")
        self.streaming = True
        self._console.print(text, end="", markup=False, soft_wrap=True)

    def _assessment(self, event: ev.Event) -> None:
        if isinstance(event, ev.AnswerUnscored):
            self._console.print(f"  not scored: {event.detail}", style="dim", markup=False)
        if isinstance(event, ev.AnswerAssessed):
            for found in event.assessment.criteria:
                quote = f' - "{found.evidence[0].text}"' if found.evidence else ""
                line = f"  {label(found.criterion)}: {found.level} {LEVEL_WORDS[found.level]}{quote}"
                self._console.print(line, style="dim", markup=False)

    def _event(self, event: ev.Event) -> None:
        match event:
            case ev.AnswerGiven():
                self._turn.clear()
                self._prices = None
            case ev.CodeChecked():
                self._console.print("\n".join(code_lines(event.report, event.turn)), style="dim", markup=False)
            case ev.HintGiven():
                self._console.print(f"Hint {event.rung} of 3: {event.text}", markup=False)
            case ev.RequestMade():
                self._console.print(f"Interviewer: {event.reply}", markup=False)
                self._turn.set()
            case ev.PersonaChanged():
                self._console.print(f"-- {event.persona} goes on --")
            case ev.SessionNotice():
                self._console.print(f"! {event.message}", markup=False)
            case ev.SessionEnded():
                self._console.print(f"\n{event.farewell}\n-- the session has ended ({event.reason}) --", markup=False)
            case _:
                return
