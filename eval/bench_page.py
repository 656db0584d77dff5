"""How soon the page answers a key while a question streams, in a real browser beside a running service."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from typing import Any

from eval.agreement import answers
from eval.machine import describe, machine, summary, table
from interviewer.client import Client

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
EVERY = 0.06
"""Seconds between keys: a fast typist."""
WAIT = 120.0
"""Longest wait for a question, in seconds."""
_WATCH = """
() => {
  window.lags = [];
  let changed = -1e9;
  new MutationObserver(() => { changed = performance.now(); })
    .observe(document.querySelector(".log"), { childList: true, subtree: true, characterData: true });
  document.addEventListener("keydown", (event) => {
    const streaming = performance.now() - changed < 250;
    requestAnimationFrame(() => setTimeout(() => window.lags.push([streaming, performance.now() - event.timeStamp])));
  }, true);
}
"""
"""From the moment that the browser got a key to the one after the next frame was drawn."""


class NoBrowser(Exception):
    """There is nothing to measure in; the message says what to install."""


def measure(url: str, turns: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Hold one session on the page of ``url`` and type into the answer while each question comes.

    Raises:
        NoBrowser: no Chromium, or not the library that drives it.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NoBrowser("playwright is not installed; `python3 serving/install.py test` does that") from error
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise NoBrowser(f"no browser here: install one of {', '.join(BROWSERS)}")
    texts = [a["answer"] for a in answers() if 60 <= len(a["answer"].split()) <= 120][:turns]
    with sync_playwright() as driver, Client(url) as client:
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        version = chromium.version
        page = chromium.new_page()
        page.goto(url)
        page.locator("form.start button.primary").click()
        page.wait_for_url(re.compile("#/s/"))
        session = page.url.split("#/s/")[1]
        _asked(client, session, 1, lambda: time.sleep(EVERY))
        page.evaluate(_WATCH)
        box = page.locator("#answer")

        def press() -> None:
            time.sleep(EVERY)
            page.keyboard.press("a")

        for number, text in enumerate(texts, 2):
            box.fill(text)
            box.press("Control+Enter")
            _asked(client, session, number, press)
            progress(f"question {number} of {turns + 1}")
        lags: list[tuple[bool, float]] = page.evaluate("window.lags")
        chromium.close()
    streaming, idle = ([lag for on, lag in lags if on is wanted] for wanted in (True, False))
    rows = {"key to frame, while a question streams": streaming, "key to frame, while the answer is read": idle}
    return {
        "machine": machine(),
        "browser": f"Chromium {version}, headless",
        "command": f"interviewer bench page --turns {turns}",
        "milliseconds": {name: summary(values) for name, values in rows.items() if values},
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    return (
        f"# The page under a stream\n\n{describe(found['machine'])} {found['browser']}.\n\n"
        f"Command: `{found['command']}`, beside a running service and its engine.\n\n"
        f"{table(found['milliseconds'], 'ms')}\n\n"
        "From the moment that the browser got the key to the one after the next frame; a frame alone is up to 17 ms.\n"
    )


def _asked(client: Client, session: str, count: int, between: Callable[[], object]) -> None:
    """Do something until so many questions stand."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        for _ in range(5):
            between()
        lines = client.get(f"/v1/sessions/{session}/transcript")["lines"]
        if sum(line["speaker"] == "interviewer" for line in lines) >= count:
            return
    raise TimeoutError(f"question {count} did not come within {WAIT:.0f} s")
