"""On the page: a resume is read from a PDF, what was found stands there in its own words, and is asked about."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.adapters.pdfs import pdf

from . import steps
from .steps import Served

pytestmark = pytest.mark.browser


def test_a_resume_is_read_shown_and_asked_about(page: Page, site: Served) -> None:
    page.goto(f"{site.url}/")
    page.get_by_text("Technical deep dive", exact=False).first.click()
    page.get_by_text("Paste a resume or a job description").click()
    file = {"name": "me.pdf", "mimeType": "application/pdf", "buffer": pdf(["Cut p99 latency of the bidder by half"])}
    page.get_by_label("Resume as a PDF").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_label("Resume", exact=True)).to_have_value(
        "Cut p99 latency of the bidder by half", timeout=30_000
    )
    found = page.locator("#found")
    expect(found).to_contain_text("In your exact words")
    expect(found.locator("q").first).to_have_text("Cut p99 latency of the bidder by half")
    page.get_by_label("Job description", exact=True).fill("You own inference with vLLM.")
    expect(found).to_contain_text("Asked about more, for the job")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Start the round").click()
    page.wait_for_url(re.compile(r"#/s/"))
    expect(steps.conversation(page)).to_contain_text(
        'Your resume says: "Cut p99 latency of the bidder by half".', timeout=30_000
    )
    expect(page.get_by_role("textbox", name="Your answer")).to_be_enabled()  # until then the report lists no question
    session = page.url.split("#/s/")[1]
    page.goto(f"{site.url}/#/s/{session}/report")
    expect(page.get_by_role("region", name="For this job")).to_contain_text("inference")
    expect(page.get_by_role("region", name="Why each question was asked")).to_contain_text("Your resume, characters 0")


def test_a_file_without_text_says_what_to_do(page: Page, site: Served) -> None:
    page.goto(f"{site.url}/")
    page.get_by_text("Paste a resume or a job description").click()
    file = {"name": "scan.pdf", "mimeType": "application/pdf", "buffer": pdf([])}
    page.get_by_label("Resume as a PDF").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("The file has no text layer")).to_be_visible(timeout=30_000)
