"""The report on paper: everything that is folded on the page is open, and nothing that only a screen needs is there."""

from __future__ import annotations

import io

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from . import steps
from .steps import Served

pytestmark = pytest.mark.browser
SAID = "We used LoRA for it. With temperature 0 the model is deterministic, so one run is enough."


def test_a_printed_report_has_what_is_folded_and_no_controls(page: Page, site: Served) -> None:
    session = steps.start(page, site)
    steps.answer(page, SAID)
    steps.wait_for_questions(page, site, session, 2)
    page.goto(f"{site.url}/#/s/{session}/report")
    why = page.get_by_role("region", name="Why each question was asked")
    folded = why.get_by_text("What the next level asks for").first
    expect(why.get_by_role("group").filter(has_text="What would lift your answer 1")).to_have_count(1)
    expect(folded).to_be_attached()
    expect(folded).to_be_hidden()

    pages = PdfReader(io.BytesIO(page.pdf(format="A4"))).pages
    printed = " ".join(" ".join(sheet.extract_text() for sheet in pages).split())
    assert "What the next level asks for" in printed
    assert "With temperature 0 the model is deterministic" in printed
    assert "Why each question was asked" in printed
    for control in ("Print", "Download", "Skip to"):
        assert control not in printed, control
    expect(folded).to_be_hidden()  # the page is as it was before


def test_paper_is_white_in_the_dark(page: Page, site: Served) -> None:
    session = steps.start(page, site)
    steps.answer(page, SAID)
    steps.wait_for_questions(page, site, session, 2)
    page.goto(f"{site.url}/#/s/{session}/report")
    page.emulate_media(media="print", color_scheme="dark")
    paper, ink = page.evaluate(
        "(() => { const s = getComputedStyle(document.documentElement); return [s.backgroundColor, s.color]; })()"
    )
    assert (paper, ink) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
    expect(page.get_by_role("navigation").first).to_be_hidden()
