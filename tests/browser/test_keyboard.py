"""From the start to the report without a mouse: every step is reached with Tab, and the focus is always seen."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import conversation
from tests.site import Site

FOCUSED = """() => {
  const at = document.activeElement;
  if (at === document.body) return ["", true];  // past the end, where the browser's own bar comes
  const name = at.getAttribute("aria-label") ?? (at.labels?.length ? at.labels[0].textContent : at.textContent);
  const shown = [at, at.closest("label")].filter(Boolean).map((each) => getComputedStyle(each));
  return [name.trim(), shown.some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none")];
}"""


def reach(page: Page, name: str, most: int = 60) -> None:
    """Press Tab until something of that name has the focus, which has to be seen on the way."""
    for _ in range(most):
        page.keyboard.press("Tab")
        found, seen = page.evaluate(FOCUSED)
        assert seen, f"the focus on {found!r} cannot be seen"
        if re.search(name, found):
            return
    raise AssertionError(f"{name!r} was not reached with {most} Tabs")


def test_an_interview_is_held_with_the_keyboard_alone(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/")
    expect(page.locator("form.start")).to_be_visible()
    reach(page, "^Skip")
    page.keyboard.press("Enter")
    reach(page, "Technical|recruiter|Recruiter|Hiring|loop")
    for _ in range(8):  # the rounds are one group: arrows choose
        if "deep dive" in page.evaluate("document.activeElement.labels?.[0]?.textContent ?? ''"):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    reach(page, "^Start the round")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("#/s/"))
    expect(conversation(page)).to_contain_text("?", timeout=30_000)
    reach(page, "^Your answer")
    page.keyboard.type("We held p99 latency at 800 ms at batch 8.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".reading").first).to_be_visible(timeout=30_000)
    reach(page, "^Round")
    page.keyboard.press("Enter")
    reach(page, "^End the round")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    reach(page, "^End")
    page.keyboard.press("Enter")
    reach(page, "[Rr]eport")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/report"))
    expect(page.locator("table.criteria")).to_be_visible()
