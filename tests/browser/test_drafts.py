"""What was written and not sent yet outlives a reload, and goes once it was used or its session is deleted."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.site import Site

from . import steps

pytestmark = pytest.mark.browser
TALK = "Interviewer: Why did the tail grow?\nCandidate: Since the batch was full, p99 rose to 4 s."


def test_an_answer_to_be_scored_is_kept_until_it_was(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/score")
    page.get_by_label("My own").check()
    page.get_by_label("Your question").fill("Why not a bigger batch?")
    page.get_by_label("Answer", exact=True).fill("The p99 decides.")
    page.reload()
    expect(page.get_by_label("Your question")).to_have_value("Why not a bigger batch?")
    expect(page.get_by_label("Answer", exact=True)).to_have_value("The p99 decides.")
    page.get_by_label("measurement").check()
    page.get_by_role("button", name="Score").click()
    expect(page.get_by_role("heading", name="What this answer shows")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Answer", exact=True)).to_have_value("")
    expect(page.get_by_label("From a round")).to_be_checked()


def test_what_was_written_about_oneself_is_kept_until_the_round_starts(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/")
    page.get_by_label("Background").fill("Four years of search.")
    page.get_by_text("Paste a resume or a job description").click()
    page.get_by_label("Resume", exact=True).fill("- Led the move of search to vectors, 40 ms at p99.")
    page.reload()
    expect(page.get_by_label("Background")).to_have_value("Four years of search.")
    expect(page.get_by_label("Resume", exact=True)).to_have_value("- Led the move of search to vectors, 40 ms at p99.")
    expect(page.locator("#found")).to_contain_text("40 ms at p99")  # looked at again
    steps.start(page, site)
    page.goto(f"{site.url}/")
    expect(page.get_by_label("Background")).to_have_value("")


def test_a_transcript_is_kept_until_it_was_imported(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/history")
    page.get_by_text("Paste or choose a file").click()
    page.get_by_role("textbox", name="Transcript").fill(TALK)
    page.reload()
    expect(page.get_by_role("textbox", name="Transcript")).to_have_value(TALK)  # its part of the page is open
    page.get_by_role("button", name="Import and judge").click()
    expect(page.get_by_text("1 question found.")).to_be_visible(timeout=20_000)
    page.reload()
    page.get_by_text("Paste or choose a file").click()
    expect(page.get_by_role("textbox", name="Transcript")).to_have_value("")


def test_an_edited_answer_is_kept_and_goes_with_its_session(page: Page, site: Site) -> None:
    session = steps.start(page, site)
    steps.answer(page, "We held p99 latency at 800 ms.")
    steps.wait_for_questions(page, site, session, 2)
    page.goto(f"{site.url}/#/s/{session}/play/1")
    page.get_by_text("What if you had answered otherwise?").click()
    page.get_by_label("Your answer in turn 1").fill("We held the mean.")
    page.reload()
    expect(page.get_by_label("Your answer in turn 1")).to_be_visible()  # it is open
    expect(page.get_by_label("Your answer in turn 1")).to_have_value("We held the mean.")
    kept = "Object.keys(localStorage).filter((key) => key.includes('edit:'))"
    assert page.evaluate(kept) == [f"interviewer:edit:{session}:1"]
    page.evaluate(f"import('/static/store.js').then((store) => store.forget('{session}'))")
    assert page.evaluate(kept) == []
