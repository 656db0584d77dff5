"""On the page: requests in place of an answer, another attempt at a stated price, and a drill alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from . import steps
from .steps import Served

pytestmark = pytest.mark.browser


def test_a_request_is_told_and_the_draft_stays(page: Page, site: Served) -> None:
    session = steps.start(page, site)
    box = page.get_by_role("textbox", name="Your answer")
    box.fill("The draft that I am writing")
    page.get_by_role("button", name="A minute to think").click()
    expect(steps.conversation(page)).to_contain_text("thinking costs nothing", timeout=15_000)
    expect(box).to_have_value("The draft that I am writing")
    page.get_by_role("button", name="Repeat the question").click()
    expect(steps.conversation(page)).to_contain_text("Please repeat the question.", timeout=15_000)
    assert len(steps.asked(site, session)) == 1, "the question stands"


def test_an_answer_is_given_again_at_the_price_that_was_told(page: Page, site: Served) -> None:
    session = steps.start(page, site)
    expect(page.get_by_role("button", name="Answer the last one again")).to_be_hidden()
    steps.answer(page, "We held p99 latency at 800 ms at batch 8, because the tail decides.")
    steps.wait_for_questions(page, site, session, 2)
    page.get_by_role("button", name="Answer the last one again").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("at most level 2")
    dialog.get_by_role("button", name="Answer it again").click()
    expect(steps.conversation(page)).to_contain_text("Take that one once more.", timeout=15_000)
    steps.answer(page, "We held p99 latency at 800 ms, and the median rose for it by a fifth.")
    steps.wait_for_questions(page, site, session, 4)
    expect(steps.conversation(page)).to_contain_text("Back to what I was about to ask.", timeout=15_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_drill_is_chosen_with_its_length_and_rules(page: Page, site: Served, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{site.url}/")
    page.get_by_label("Drill", exact=True).select_option("customer-crisis")
    expect(page.get_by_label("Minutes")).to_have_value("30")
    expect(page.get_by_text("3 things happen while the clock runs")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off at 360 px"
    page.get_by_role("button", name="Start the drill").click()
    expect(steps.conversation(page)).to_contain_text("Thirty minutes on the clock", timeout=30_000)
    expect(page.get_by_role("textbox", name="Your answer")).to_be_enabled()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    session = page.url.split("#/s/")[1]
    page.goto(f"{site.url}/#/s/{session}/report")
    expect(page.get_by_role("heading", name="The drill: Customer crisis, thirty minutes on the clock")).to_be_visible()
