"""The player, the what-if and the comparison on the page, with sessions that were made over the API."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from interviewer.client import Client
from tests.browser.steps import answer, start, wait_for_questions
from tests.site import Site

pytestmark = pytest.mark.browser

GOOD = "We held p99 latency at 800 ms at batch 8. The price was 15 percent of peak throughput."
THIN = "We made it fast, and everybody was happy with it in the end."
CAPTIONS = """WEBVTT

00:00:05.000 --> 00:00:09.000
Interviewer: How would you serve a model to a thousand users at once?

00:01:10.000 --> 00:01:20.000
Candidate: I would batch requests and watch p99 latency, because the tail decides.

00:03:20.000 --> 00:03:24.000
Interviewer: And what would you give up for that?

00:03:30.000 --> 00:03:40.000
Candidate: Some throughput, about ten percent of the peak.
"""


def imported(site: Site, content: str = CAPTIONS) -> str:
    with Client(site.url) as client:
        taken = client.post(
            "/v1/transcripts", {"content": content, "rubric": "deep_dive", "candidate": "Candidate", "format": "auto"}
        )
    session: str = taken["id"]
    return session


def read(page: Page, site: Site, session: str) -> None:
    """Wait until an import was read."""
    with Client(site.url) as client:
        for _ in range(300):
            if client.get(f"/v1/sessions/{session}")["ended"]:
                return
            page.wait_for_timeout(50)
    raise AssertionError("the import was not read")


def live(page: Page, site: Site) -> str:
    """Hold a session of two answers, which is still open."""
    session = start(page, site)
    answer(page, GOOD)
    wait_for_questions(page, site, session, 2)
    answer(page, THIN)
    wait_for_questions(page, site, session, 3)
    return session


def stage(page: Page) -> Any:
    return page.get_by_role("log", name="What was said and read in this turn")


def test_a_session_is_played_with_reasons_sources_and_levels_and_keeps_its_place(page: Page, site: Site) -> None:
    session = live(page, site)
    page.locator("summary", has_text="Round").click()
    page.get_by_role("button", name="End the round").click()
    page.get_by_role("dialog").get_by_role("button").filter(has_text=re.compile("End", re.I)).first.click()
    expect(page.get_by_role("link", name=re.compile("report", re.I)).first).to_be_visible()
    page.goto(f"{site.url}/#/s/{session}/play")
    expect(page.get_by_role("heading", level=1)).to_have_text("Played back: Technical deep dive")
    expect(stage(page)).to_contain_text(re.compile(r"Why this question: \w+"))
    expect(stage(page)).to_contain_text("the rubric's own wording")
    expect(stage(page)).to_contain_text(GOOD)
    expect(stage(page)).to_contain_text("What was read:")
    slider = page.get_by_role("slider", name="Turn")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"Turn 1 of 3"))
    page.locator("main").press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"Turn 2 of 3"))
    expect(stage(page)).to_contain_text(THIN)
    expect(stage(page)).not_to_contain_text(GOOD)
    assert page.url.endswith(f"#/s/{session}/play/2")
    page.reload()
    expect(stage(page)).to_contain_text(THIN)
    page.locator("main").press("Home")
    expect(stage(page)).to_contain_text(GOOD)
    page.get_by_role("button", name="Forward").click()
    expect(stage(page)).to_contain_text(THIN)
    slider.press("ArrowRight")
    assert page.url.endswith("/play/3")


def test_playing_shows_one_thing_after_the_other_and_can_be_paused(page: Page, site: Site) -> None:
    page.clock.install()
    session = imported(site)
    page.goto(f"{site.url}/#/s/{session}/play")
    read_turns = page.get_by_role("slider", name="Turn")
    expect(read_turns).to_have_attribute("aria-valuetext", "Turn 1 of 2, at 0:05")
    page.get_by_label("Speed").select_option("0.5")
    page.get_by_role("button", name="Forward").click()
    expect(read_turns).to_have_attribute("aria-valuetext", "Turn 2 of 2, at 3:20")
    page.get_by_role("button", name="Play").click()  # the last turn stands whole: from the start
    expect(read_turns).to_have_attribute("aria-valuetext", "Turn 1 of 2, at 0:05")
    page.clock.run_for(2_000)
    expect(stage(page)).to_contain_text("How would you serve a model")
    expect(stage(page)).not_to_contain_text("I would batch")
    page.clock.run_for(9_900)
    expect(stage(page)).not_to_contain_text("I would batch")
    page.clock.run_for(2_000)  # 65 s between question and answer are cut to 6 s, at half speed 12 s
    expect(stage(page)).to_contain_text("I would batch")
    page.locator("main").press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.clock.run_for(120_000)
    expect(read_turns).to_have_attribute("aria-valuetext", "Turn 1 of 2, at 0:05")
    page.get_by_label("Speed").select_option("instant")
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(4_000)
    expect(stage(page)).to_contain_text("Some throughput")
    page.clock.run_for(4_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_long_session_stays_quick(page: Page, site: Site) -> None:
    lines = "\n".join(
        f"Interviewer: What about case {n}, and why would you do that?\nCandidate: For case {n} p99 decides."
        for n in range(1, 501)
    )
    session = imported(site, lines)
    page.goto(f"{site.url}/#/s/{session}/play/250")
    expect(stage(page)).to_contain_text("case 250")
    page.locator("main").press("End")
    expect(stage(page)).to_contain_text("case 500")
    assert page.locator("main *").count() < 400, "one turn is on the page, not five hundred"


def test_what_if_goes_on_live_from_an_edited_answer_and_is_compared_once_it_ended(page: Page, site: Site) -> None:
    session = live(page, site)
    page.goto(f"{site.url}/#/s/{session}/play/2")
    page.get_by_text("What if you had answered otherwise?").click()
    page.get_by_label("Your answer in turn 2").fill(GOOD)
    page.get_by_role("button", name="Go on live from here").click()
    page.wait_for_url(re.compile(rf"#/s/(?!{session})[\w-]+$"))
    child = page.url.split("#/s/")[1]
    wait_for_questions(page, site, child, 3)
    expect(page.get_by_role("textbox", name="Your answer")).to_be_enabled()
    page.goto(f"{site.url}/#/s/{session}/replay/{child}")
    expect(page.locator("main")).to_contain_text("still goes on")
    page.get_by_role("link", name="Go on with it").click()
    page.locator("summary", has_text="Round").click()
    page.get_by_role("button", name="End the round").click()
    page.get_by_role("dialog").get_by_role("button").filter(has_text=re.compile("End", re.I)).first.click()
    expect(page.get_by_role("link", name=re.compile("report", re.I)).first).to_be_visible()
    page.goto(f"{site.url}/#/s/{session}/replay/{child}")
    expect(page.locator("main")).to_contain_text("The answer is another one.")
    expect(page.get_by_role("heading", name="Flags")).to_be_visible()


def test_another_round_is_compared_with_its_judges_and_deleted_with_the_original(page: Page, site: Site) -> None:
    session = live(page, site)
    page.goto(f"{site.url}/#/s/{session}/report")
    page.get_by_label("Interviewer", exact=True).select_option("")
    page.get_by_label("Judge", exact=True).select_option("again")
    page.get_by_role("button", name="Replay", exact=True).click()
    page.wait_for_url(re.compile("replay/"))
    expect(page.locator("main")).to_contain_text("Both have the readings of one judge")
    expect(page.locator("main")).to_contain_text("Levels, flags and verdict are the same.")
    child = page.url.split("/replay/")[1]
    page.goto(f"{site.url}/#/history")
    page.locator(f"li[data-id='{session}']").get_by_role("button", name=re.compile("Delete")).click()
    expect(page.get_by_role("dialog")).to_contain_text("So is its replay")
    page.get_by_role("button", name="Delete 2 sessions").click()
    expect(page.locator(f"li[data-id='{session}']")).to_have_count(0)
    expect(page.locator(f"li[data-id='{child}']")).to_have_count(0)
    page.goto(f"{site.url}/#/s/{child}/play")
    expect(page.locator("main")).to_contain_text("There is no such session")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_player_and_the_comparison_fit_a_phone(browser: Browser, page: Page, site: Site, scheme: Any) -> None:
    session = live(page, site)
    with Client(site.url) as client:
        child = client.post(f"/v1/sessions/{session}/replays", {"persona": "hiring_manager"})["id"]
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme, reduced_motion="reduce")
    phone = context.new_page()
    for view, name in ((f"{session}/play/2", "Player"), (f"{child}/play/2", "Player")):
        phone.goto(f"{site.url}/#/s/{view}")
        expect(phone.get_by_role("group", name=name)).to_be_visible()
        assert phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    expect(stage(phone)).to_contain_text("Would have asked instead:")
    phone.goto(f"{site.url}/#/s/{session}/replay/{child}")
    expect(phone.get_by_role("heading", name="Turn by turn")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()
