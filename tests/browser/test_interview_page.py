"""The page as a candidate uses it: by mouse, by keyboard, on a phone, over a lost connection."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from interviewer.client import Client
from tests.browser.steps import answer, asked, conversation, open_menu, start, wait_for_questions
from tests.site import Site

pytestmark = pytest.mark.browser

GOOD = "We held p99 latency at 800 ms at batch 8. The price was 15 percent of peak throughput."


def test_from_start_to_report_with_quotes(page: Page, site: Site) -> None:
    session = start(page, site)
    answer(page, GOOD)
    second = wait_for_questions(page, site, session, 2)[1]
    expect(conversation(page)).to_contain_text(second.split("?")[0][:60])
    open_menu(page)
    page.get_by_role("button", name="End the round").click()
    page.get_by_role("dialog").get_by_role("button").filter(has_text=re.compile("End", re.I)).first.click()
    page.get_by_role("link", name=re.compile("report", re.I)).first.click()
    expect(page.get_by_role("heading", name="What was shown")).to_be_visible()
    expect(page.locator("main")).to_contain_text("We held p99 latency at 800 ms at batch 8.")
    expect(page.locator("main")).to_contain_text("not assessed", ignore_case=True)
    expect(page.get_by_role("heading", name="Why each question was asked")).to_be_visible()


def test_a_reload_in_mid_question_and_a_draft_lose_nothing(page: Page, site: Site) -> None:
    site.model.delay = 0.2
    try:
        session = start(page, site)
        answer(page, GOOD)
        page.get_by_role("textbox", name="Your answer").fill("A draft that I have not sent")
        expect(page.locator(".streaming .words")).to_contain_text(re.compile(r"\w"))
        page.reload()
        assert len(asked(site, session)) == 1, "the second question is still on its way"
        expect(page.get_by_role("textbox", name="Your answer")).to_have_value("A draft that I have not sent")
        expect(conversation(page)).to_contain_text(GOOD)
        second = wait_for_questions(page, site, session, 2)[1]
        expect(conversation(page)).to_contain_text(second.strip())
        assert conversation(page).inner_text().count(GOOD) == 1
    finally:
        site.model.delay = 0.03


def test_another_persona_takes_over_and_history_stays(page: Page, site: Site) -> None:
    session = start(page, site)
    answer(page, GOOD)
    wait_for_questions(page, site, session, 2)
    open_menu(page)
    page.locator("#swap").select_option("recruiter")
    page.get_by_role("button", name="Hand over").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Tess")
    expect(conversation(page)).to_contain_text(GOOD)


def test_two_tabs_the_second_takes_over_and_the_first_is_told(page: Page, browser: Browser, site: Site) -> None:
    session = start(page, site)
    state = page.context.storage_state()
    other = browser.new_context(storage_state=state)
    second = other.new_page()
    second.goto(f"{site.url}/#/s/{session}")
    expect(conversation(second)).to_contain_text("?")
    box = page.get_by_role("textbox", name="Your answer")
    box.fill("A draft in the first tab")
    expect(page.get_by_role("button", name="Take it back here")).to_be_visible()
    answer(second, GOOD)
    wait_for_questions(second, site, session, 2)
    page.get_by_role("button", name="Take it back here").click()
    expect(conversation(page)).to_contain_text(GOOD)
    expect(box).to_have_value("A draft in the first tab")
    expect(second.get_by_role("button", name="Take it back here")).to_be_visible()
    other.close()


def test_offline_and_back(page: Page, site: Site) -> None:
    open_: list[WebSocketRoute] = []
    line = {"up": True}

    def through(route: WebSocketRoute) -> None:
        if line["up"]:
            route.connect_to_server()
            open_.append(route)
        else:
            route.close(code=1011)

    page.route_web_socket(re.compile("/ws$"), through)
    session = start(page, site)
    line["up"] = False
    open_[-1].close(code=1011)
    expect(page.get_by_text("offline, trying again")).to_be_visible()
    box = page.get_by_role("textbox", name="Your answer")
    box.fill(GOOD)
    box.press("Control+Enter")
    expect(conversation(page)).to_contain_text("Not sent yet; it goes out by itself")
    box.fill("What I write meanwhile")
    assert len(asked(site, session)) == 1, "nothing went out"
    line["up"] = True
    wait_for_questions(page, site, session, 2)
    expect(page.get_by_text("offline, trying again")).to_have_count(0)
    expect(box).to_have_value("What I write meanwhile")
    with Client(site.url) as client:
        said = [ln["text"] for ln in client.get(f"/v1/sessions/{session}/transcript")["lines"]]
    assert said.count(GOOD) == 1, "sent once"


def test_scoring_a_written_answer(page: Page, site: Site) -> None:
    with Client(site.url) as client:
        scored = client.post("/v1/score", {"question": {"id": "dd-paged-kv"}, "answer": GOOD})
    page.goto(f"{site.url}/#/score")
    page.get_by_label("Round", exact=True).select_option("deep_dive")
    page.locator("select option[value='dd-paged-kv']").wait_for(state="attached")
    page.locator("select", has=page.locator("option[value='dd-paged-kv']")).select_option("dd-paged-kv")
    page.locator("textarea").last.fill(GOOD)
    page.get_by_role("button", name=re.compile("score", re.I)).last.click()
    expect(page.locator("mark").first).to_contain_text(scored["scores"][0]["evidence"][0]["text"])


def test_replay_and_delete(page: Page, site: Site) -> None:
    session = start(page, site)
    answer(page, GOOD)
    wait_for_questions(page, site, session, 2)
    with Client(site.url) as client:
        page.goto(f"{site.url}/#/s/{session}/report")
        page.locator("#replay-persona").select_option("hiring_manager")
        page.get_by_role("button", name=re.compile("replay", re.I)).first.click()
        page.wait_for_url(re.compile("replay/"))
        expect(page.get_by_role("heading", name="Turn by turn")).to_be_visible()
        page.goto(f"{site.url}/#/s/{session}/report")
        page.get_by_role("button", name=re.compile("delete", re.I)).click()
        page.get_by_role("dialog").get_by_role("button", name=re.compile("delete", re.I)).click()
        page.wait_for_timeout(800)
        ids = [row["id"] for row in client.get("/v1/sessions")["sessions"]]
    assert session not in ids


def test_nothing_overflows_on_a_phone_and_the_keyboard_reaches_everything(browser: Browser, site: Site) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    start(page, site)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    page.keyboard.press("Tab")
    names = set()
    for _ in range(25):
        names.add(page.evaluate("document.activeElement.textContent.trim() || document.activeElement.ariaLabel || ''"))
        page.keyboard.press("Tab")
    assert any("Hint" in name for name in names)
    assert any("End the round" in name for name in names)
    context.close()


def test_words_of_a_candidate_never_become_markup(page: Page, site: Site) -> None:
    session = start(page, site)
    hostile = "<img src=x onerror=\"document.title='owned'\"> <script>document.title='owned'</script> p99"
    answer(page, hostile)
    wait_for_questions(page, site, session, 2)
    page.goto(f"{site.url}/#/s/{session}/report")
    expect(page.locator("main")).to_contain_text("onerror")
    assert page.title() != "owned"
    assert page.locator("main img").count() == 0
