"""A loop on the page: one profile for five rounds, and the committee's memo with what each sentence rests on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from interviewer.client import Client
from tests.browser.steps import answer, conversation, wait_for_questions
from tests.site import Site

pytestmark = pytest.mark.browser

GOOD = "We held p99 latency at 800 ms at batch 8. The price was 15 percent of peak throughput."
THIN = "We made it fast, and everybody was happy with it in the end."
PROFILE = "Six years of ad serving in C++."


def hold(page: Page, site: Site, loop: str, number: int, said: str) -> str:
    """Hold a round of the loop with two answers, end it, and return its session."""
    page.goto(f"{site.url}/#/l/{loop}")
    page.locator("ol.rows > li").nth(number).get_by_role("link", name="Start").click()
    page.wait_for_url(re.compile(r"#/s/"))
    session = page.url.split("#/s/")[1]
    expect(conversation(page)).to_contain_text("?", timeout=30_000)
    for count in (2, 3):
        answer(page, said)
        wait_for_questions(page, site, session, count)
    page.locator("summary", has_text="Round").click()
    page.get_by_role("button", name="End the round").click()
    page.get_by_role("dialog").get_by_role("button").filter(has_text=re.compile("End", re.I)).first.click()
    expect(page.get_by_role("link", name=re.compile("report", re.I)).first).to_be_visible()
    return session


@pytest.fixture
def loop(page: Page, site: Site) -> str:
    page.goto(f"{site.url}/")
    page.locator("label.card", has_text="Whole loop").click()
    page.get_by_label("Background").fill(PROFILE)
    page.get_by_role("button", name="Start the loop").click()
    page.wait_for_url(re.compile(r"#/l/"))
    expect(page.locator("ol.rows > li")).to_have_count(5)
    expect(page.locator(".lead")).to_contain_text("Mid level. 0 of 5 rounds are over.")
    return page.url.split("#/l/")[1]


def test_all_rounds_have_the_profile_and_the_memo_names_what_is_open(page: Page, site: Site, loop: str) -> None:
    with Client(site.url) as client:
        for row in client.get(f"/v1/loops/{loop}")["sessions"]:
            assert PROFILE in client.text(f"/v1/sessions/{row['id']}/events").splitlines()[0]
    page.get_by_role("link", name="Committee memo").click()
    expect(page.get_by_role("heading", name="No decision yet")).to_be_visible()
    expect(page.locator("main")).to_contain_text("The behavioral round has not begun, so it has no vote and no packet.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_memo_shows_votes_quotes_and_sources(
    browser: Browser, page: Page, site: Site, loop: str, scheme: Any
) -> None:
    hold(page, site, loop, 0, GOOD)
    thin = hold(page, site, loop, 1, THIN)
    page.goto(f"{site.url}/#/l/{loop}/memo")
    main = page.locator("main")
    expect(main).to_contain_text("2 rounds have a vote")
    expect(main.get_by_role("heading", name="What would change the vote")).to_be_visible()
    expect(main.locator("q", has_text="We held p99 latency at 800 ms at batch 8.").first).to_be_visible()
    expect(main).to_contain_text("With 3 rounds not over, this can still end anywhere from")
    links = main.locator(".rests a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert f"#/s/{thin}/report" in links
    with Client(site.url) as client:
        said = client.get(f"/v1/loops/{loop}/memo")["decision"]
        for one in (*said["reasons"], *said["evidence"], *said["would_change"]):
            expect(main).to_contain_text(one["text"])
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    phone = context.new_page()
    for view in (f"l/{loop}", f"l/{loop}/memo"):
        phone.goto(f"{site.url}/#/{view}")
        expect(phone.locator("main h1")).to_be_visible()
        expect(phone.locator(".busy")).to_have_count(0)
        assert phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()
