"""Run a command in a process group of its own and never let it outlive whoever started this.

``python _watch.py COMMAND ...`` with a pipe on standard input. The group is ended when

* the pipe closes: the owner is gone, however it died, or it asked for the end by closing the pipe;
* this process gets SIGTERM or SIGINT;
* the command itself exits: its helpers (the engine core is a process of its own) must not stay behind.

Exit code: that of the command, 128 + n when signal n ended it. Standard library only, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

GRACE_SECONDS = float(os.environ.get("INTERVIEWER_ENGINE_GRACE", "5"))
"""Seconds between SIGTERM and SIGKILL. The engine ignores SIGTERM while it starts, so there has to be a SIGKILL."""

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent ends, even by SIGKILL."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; return False when nothing is left in it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def main(command: list[str]) -> int:
    """Run ``command`` and return its exit code."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=die_with_parent)
    ending = threading.Event()

    def end(_number: int = 0, _frame: FrameType | None = None) -> None:
        ending.set()

    def watch_owner() -> None:
        while os.read(0, 4096):
            pass
        ending.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    threading.Thread(target=watch_owner, daemon=True).start()
    while child.poll() is None and not ending.wait(0.1):
        pass
    if child.poll() is None and _signal_group(child.pid, signal.SIGTERM):
        deadline = time.monotonic() + GRACE_SECONDS
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    _signal_group(child.pid, signal.SIGKILL)
    code = child.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
