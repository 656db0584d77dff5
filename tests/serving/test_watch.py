from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from serving import _watch

FAMILY = """
import os, signal, subprocess, sys, time
if "deaf" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(f"{os.getpid()} {helper.pid}")
if "leave" in sys.argv: sys.exit(7)
time.sleep(600)
"""
"""A command with a helper process, as the engine is one: its own id and the helper's are written to a file."""

OWNER = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-I", *sys.argv[1:]], stdin=subprocess.PIPE)
time.sleep(600)
"""
"""A process that owns a watcher and can be killed."""


def until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def alive(pid: int) -> bool:
    try:
        # A zombie is gone; whoever adopted it may be slow to collect it.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def family(path: Path) -> list[int]:
    assert until(lambda: path.exists() and len(path.read_text(encoding="utf-8").split()) == 2)
    return [int(pid) for pid in path.read_text(encoding="utf-8").split()]


def command(path: Path, *how: str) -> list[str]:
    return [_watch.__file__, sys.executable, "-c", FAMILY, str(path), *how]


@pytest.mark.parametrize("how", ["calm", "deaf"])
def test_killing_the_owner_ends_the_whole_group(how: str, tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, *command(tmp_path / "pids", how)])
    members = family(tmp_path / "pids")
    assert all(alive(pid) for pid in members)

    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()

    assert until(lambda: not any(alive(pid) for pid in members)), "processes were left behind"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ending_the_watcher_ends_the_command(number: signal.Signals, tmp_path: Path) -> None:
    watcher = subprocess.Popen([sys.executable, "-I", *command(tmp_path / "pids")], stdin=subprocess.PIPE)
    members = family(tmp_path / "pids")
    try:
        watcher.send_signal(number)
        watcher.wait(20)
        # After SIGKILL only the command is certain to go: the system ends it with its parent. The helper of a real
        # engine watches its own parent.
        gone = members if number is signal.SIGTERM else members[:1]
        assert until(lambda: not any(alive(pid) for pid in gone))
    finally:
        if alive(members[1]):
            os.kill(members[1], signal.SIGKILL)
        assert watcher.stdin is not None
        watcher.stdin.close()


def test_a_command_that_exits_takes_its_helpers_along_and_gives_its_code(tmp_path: Path) -> None:
    watcher = subprocess.Popen([sys.executable, "-I", *command(tmp_path / "pids", "leave")], stdin=subprocess.PIPE)
    assert watcher.wait(20) == 7
    members = family(tmp_path / "pids")
    assert until(lambda: not any(alive(pid) for pid in members))
    assert watcher.stdin is not None
    watcher.stdin.close()
