"""A service that restarts under an open page: the page hears of it, comes back by itself, and nothing typed is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.site import Site

from .steps import answer, start, wait_for_questions

pytestmark = pytest.mark.browser
GOOD = "We held p99 at 800 ms at batch 8, and I measured it for a week."


def test_the_page_comes_back_after_a_restart(page: Page, tmp_path: Path) -> None:
    heard: list[dict[str, Any]] = []
    hellos: list[dict[str, Any]] = []

    def follow(opened: WebSocket) -> None:
        opened.on("framereceived", lambda text: heard.append(json.loads(text)))
        opened.on("framesent", lambda text: hellos.append(json.loads(text)))

    page.on("websocket", follow)
    with Site(tmp_path) as first:
        session = start(page, first)
        page.get_by_role("textbox", name="Your answer").fill(GOOD)
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value(GOOD)
    with Site(tmp_path, port=first.port) as again:
        answer(page, GOOD)
        wait_for_questions(page, again, session, 2)
    assert [m for m in heard if m["type"] == "going_away"], "told before the connection closed"
    assert [m["last_seq"] for m in hellos if m["type"] == "hello"][-1] >= 2, "it asked only for what it had missed"
