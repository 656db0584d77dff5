"""What a candidate does on the page, in words that tests share."""

from __future__ import annotations

import re
from typing import Protocol

from playwright.sync_api import Locator, Page, expect

from interviewer.client import Client


class Served(Protocol):
    """Something that serves the page."""

    url: str


def conversation(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation")


def start(page: Page, site: Served, round_: str = "Technical deep dive") -> str:
    """Start a practice session and return its id, once the first question stands."""
    page.goto(f"{site.url}/")
    page.get_by_text(round_, exact=False).first.click()
    page.get_by_role("button", name="Start the round").click()
    page.wait_for_url(re.compile(r"#/s/"))
    expect(conversation(page)).to_contain_text("?", timeout=30_000)
    expect(page.get_by_role("textbox", name="Your answer")).to_be_enabled()
    return page.url.split("#/s/")[1]


def answer(page: Page, text: str) -> None:
    """Send an answer by keyboard and wait until the next question stands."""
    box = page.get_by_role("textbox", name="Your answer")
    box.fill(text)
    box.press("Control+Enter")
    expect(conversation(page)).to_contain_text(text, timeout=15_000)


def open_menu(page: Page) -> None:
    page.locator("summary", has_text="Round").click()


def asked(site: Served, session: str) -> list[str]:
    with Client(site.url) as client:
        lines = client.get(f"/v1/sessions/{session}/transcript")["lines"]
    return [line["text"] for line in lines if line["speaker"] == "interviewer"]


def wait_for_questions(page: Page, site: Served, session: str, count: int) -> list[str]:
    for _ in range(600):
        questions = asked(site, session)
        if len(questions) >= count:
            return questions
        page.wait_for_timeout(100)
    raise AssertionError(f"only {len(asked(site, session))} questions were asked")
