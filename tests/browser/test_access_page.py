"""Every view against the rules of axe-core: both languages, light and dark, phone and desk."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from interviewer.client import Client
from tests.site import Site

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
LOOKS = [("en", "light", 360), ("en", "dark", 1280), ("zh-CN", "dark", 360), ("zh-CN", "light", 1280)]


@pytest.fixture(params=LOOKS, ids=lambda look: "-".join(map(str, look)))
def looked(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    language, scheme, width = request.param
    context = browser.new_context(locale=language, color_scheme=scheme, viewport={"width": width, "height": 780})
    yield context.new_page()
    context.close()


def check(page: Page, view: str) -> None:
    """Fail with what axe-core found wrong, and when the view is wider than the window."""
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(view, rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than the window"


def test_the_question_bank_breaks_no_rule_with_everything_open(looked: Page, site: Site) -> None:
    looked.goto(f"{site.url}/#/questions")
    expect(looked.locator(".bank > li").first).to_be_visible()
    check(looked, "questions")
    looked.locator(".bank summary").first.click()
    looked.locator(".bank .notice button").click()
    expect(looked.locator(".bank .notice ol")).to_be_visible()
    check(looked, "questions, one open and spoilt")


def test_no_view_breaks_a_rule(looked: Page, site: Site) -> None:
    page = looked
    page.goto(f"{site.url}/")
    expect(page.locator("form.start")).to_be_visible()
    check(page, "start")

    page.get_by_text("Technical deep dive").first.click()
    page.locator("form.start button.primary").click()
    page.wait_for_url(re.compile("#/s/"))
    session = page.url.split("#/s/")[1]
    expect(page.locator(".log")).to_contain_text("?", timeout=30_000)
    page.locator("#answer").fill("Int8, because the budget is halved: p95 falls from 900 ms to 500 ms at a loss of 2%.")
    page.locator("#answer").press("Control+Enter")
    expect(page.locator(".reading").first).to_be_visible(timeout=30_000)
    check(page, "interview")

    page.locator(".more > summary").click()
    check(page, "interview, menu open")
    page.locator(".panel .danger").click()
    check(page, "interview, before it ends")
    page.locator("dialog .danger").click()
    page.locator(".after a.primary").click()
    expect(page.locator("table.criteria")).to_be_visible(timeout=30_000)
    check(page, "report")

    for path, shown in (
        (f"#/s/{session}/play", ".player"),
        ("#/score", ".asked"),
        ("#/start/dd-paged-kv", ".start"),
        ("#/history", ".rows"),
        ("#/settings", "table"),
        ("#/nowhere", "h1"),
    ):
        page.goto(f"{site.url}/{path}")
        expect(page.locator(shown).first).to_be_visible()
        check(page, path)


def held(site: Site) -> tuple[str, str, str]:
    """Return an imported session that was read, its replay, and an empty loop."""
    with Client(site.url) as client:
        content = "Interviewer: How did you serve it?\nCandidate: We held p99 latency at 800 ms at batch 8."
        session = client.post("/v1/transcripts", {"rubric": "deep_dive", "content": content})["id"]
        while client.get(f"/v1/sessions/{session}")["progress"]["assessed"] < 1:
            pass
        replay = client.post(f"/v1/sessions/{session}/replays", {"persona": "recruiter"})["id"]
        return session, replay, str(client.post("/v1/loops", {})["id"])


def test_no_view_of_what_comes_after_breaks_a_rule(looked: Page, site: Site) -> None:
    page = looked
    session, replay, loop = held(site)
    for path, shown in (
        (f"#/s/{session}/replay/{replay}", "table.diff"),
        (f"#/l/{loop}", "ol.rows"),
        (f"#/l/{loop}/memo", "h2"),
    ):
        page.goto(f"{site.url}/{path}")
        expect(page.locator(shown).first).to_be_visible()
        check(page, path)

    page.goto(f"{site.url}/#/s/{session}/play/1")
    page.locator(".player button").last.click()
    summary = page.locator("details.no-print > summary").first
    expect(summary).to_be_visible(timeout=15_000)
    summary.click()
    check(page, "what if")

    page.goto(f"{site.url}/#/history")
    page.locator("#import ~ details > summary").click()
    page.locator("#import ~ details textarea").fill("Bo: Why?\nAna: Because.")
    page.locator("#import ~ details button[type=submit]").click()
    expect(page.locator("#import ~ details fieldset")).to_be_visible()
    check(page, "import, candidate asked for")
