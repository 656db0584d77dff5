"""Leaving an interview in a real terminal, where nothing ends the input: Ctrl-C, and a round that is over."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.site import Site

SECONDS = 30
"""Longest wait for the command to end; it hangs when a thread still waits for a key."""


@contextmanager
def chatting(site: Site, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start ``interviewer chat`` on a terminal of its own; gives the process and the end that types."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "interviewer", "chat", *arguments, "--url", site.url],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Whatever started the tests may ignore it, as a shell does for what it runs in the background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.kill()
            process.communicate()
    finally:
        os.close(ours)


def until(process: subprocess.Popen[str], text: str) -> None:
    """Read the output up to a line with ``text``."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"the output ended without {text!r}")


def test_ctrl_c_leaves_at_once_and_says_how_to_go_on(site: Site) -> None:
    with chatting(site, "--persona", "deep_dive") as (process, _keys):
        until(process, "Interviewer:")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=SECONDS)
    assert "go on with: interviewer chat --resume" in " ".join(said.split())
    assert "Traceback" not in said and "Fatal" not in said


def test_a_round_that_is_over_ends_the_command_without_another_key(site: Site) -> None:
    with chatting(site, "--persona", "deep_dive") as (process, keys):
        until(process, "Interviewer:")
        os.write(keys, b"/end\n")
        said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0 and "Report: interviewer report" in said
    assert "Fatal" not in said
