"""The page in a real browser in front of the real engine: one question, one answer, one report that quotes it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from interviewer.client import Client
from tests.browser.conftest import browser, page  # noqa: F401 - fixtures
from tests.browser.steps import answer, conversation, open_menu, start, wait_for_questions

from .conftest import Running
from .test_main_flows import GOOD

pytestmark = [pytest.mark.engine, pytest.mark.browser]


def shot(page: Page, name: str) -> None:  # noqa: F811
    """Keep a picture where ``INTERVIEWER_SCREENSHOTS`` says, for people to look at."""
    folder = os.environ.get("INTERVIEWER_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_start_answer_report_and_score(page: Page, running: Running, client: Client) -> None:  # noqa: F811
    page.goto(f"{running.url}/")
    expect(page.get_by_role("button", name="Start the round")).to_be_enabled(timeout=30_000)
    shot(page, "start")
    session = start(page, running)
    answer(page, GOOD)
    second = wait_for_questions(page, running, session, 2)[1]
    expect(conversation(page)).to_contain_text(second.split("?")[0][:40])
    shot(page, "interview")
    open_menu(page)
    page.get_by_role("button", name="End the round").click()
    page.get_by_role("dialog").get_by_role("button", name="End the round").click()
    page.goto(f"{running.url}/#/s/{session}/report")
    expect(page.get_by_role("heading", name="What was shown")).to_be_visible()
    shot(page, "report")
    report = client.get(f"/v1/sessions/{session}/report")
    quotes = [q["text"] for row in report["criteria"] for q in row["quotes"]]
    assert quotes
    assert all(quote in GOOD for quote in quotes)
    expect(page.locator("main")).to_contain_text(re.compile(re.escape(quotes[0][:60])))
