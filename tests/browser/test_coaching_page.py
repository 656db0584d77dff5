"""The report's coaching on the page: one main thing at the top, the rest of each answer folded away."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from . import steps
from .steps import Served

pytestmark = pytest.mark.browser
FALSE = "With temperature 0 the model is deterministic"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_shows_one_main_thing_and_folds_the_coaching_of_each_answer(
    page: Page, site: Served, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 740})
    session = steps.start(page, site)
    steps.answer(page, f"We used LoRA for it. {FALSE}, so the evaluation needs one run.")
    steps.wait_for_questions(page, site, session, 2)
    page.goto(f"{site.url}/#/s/{session}/report")
    main = page.get_by_role("region", name="What to work on next").locator(".notice")
    expect(main).to_contain_text(f'The main thing: You said "{FALSE}')
    expect(main).to_contain_text("turn 1")
    why = page.get_by_role("region", name="Why each question was asked")
    folded = why.get_by_role("group").filter(has_text="What would lift your answer 1")
    expect(folded).to_have_count(1)
    expect(folded.get_by_text("What the next level asks for")).to_be_hidden()
    folded.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(folded.get_by_text("What the next level asks for")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off at 360 px"
