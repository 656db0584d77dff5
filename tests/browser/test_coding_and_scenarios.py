"""On the page: a situation is chosen and its facts are asked for; code is checked and shown in the report."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from interviewer.adapters.documents import load_library
from interviewer.client import Client
from interviewer.core import events as ev
from interviewer.core.probe import Ask, decide
from interviewer.core.session import fold

from . import steps
from .steps import Served

pytestmark = pytest.mark.browser

ANSWER = "I would read a few hundred tickets first and count the kinds before I choose anything."


def test_a_situation_is_chosen_asked_about_and_listed_in_the_report(page: Page, site: Served) -> None:
    page.goto(f"{site.url}/")
    page.get_by_text("Hiring manager", exact=False).first.click()
    page.get_by_label("Situation").select_option(label="The support assistant that is half built")
    page.get_by_role("button", name="Start the round").click()
    expect(steps.conversation(page)).to_contain_text("A team before you has left a prototype", timeout=30_000)
    expect(page.get_by_role("textbox", name="Your answer")).to_be_enabled()
    steps.answer(page, f"{ANSWER} What do the queries look like?")
    expect(steps.conversation(page)).to_contain_text("seven in ten are nine kinds of question", timeout=15_000)
    session = page.url.split("#/s/")[1]
    page.goto(f"{site.url}/#/s/{session}/report")
    expect(page.get_by_role("region", name="The situation")).to_contain_text("What you asked for: 1 of 8")


def test_rounds_without_situations_offer_none(page: Page, site: Served) -> None:
    page.goto(f"{site.url}/")
    page.get_by_text("Technical deep dive", exact=False).first.click()
    expect(page.get_by_label("Situation")).to_be_hidden()


def test_code_is_checked_under_the_answer_and_in_the_report(page: Page, site: Served) -> None:
    with Client(site.url) as client:
        opened = client.post("/v1/sessions", {"persona": "coding_design", "seed": _seed()})
    page.goto(f"{site.url}/#/s/{opened['id']}")
    expect(steps.conversation(page)).to_contain_text("greedy decoder", timeout=30_000)
    expect(page.get_by_role("textbox", name="Your answer")).to_be_enabled()
    page.get_by_role("textbox", name="Your answer").fill(
        "```python\nfor step in range(9):\n    logits = model(ids)\n```"
    )
    page.get_by_role("textbox", name="Your answer").press("Control+Enter")
    expect(steps.conversation(page)).to_contain_text("Greedy decoder, 2 lines: read, not run.", timeout=15_000)
    expect(steps.conversation(page)).to_contain_text("No cache is passed to the model.")
    page.goto(f"{site.url}/#/s/{opened['id']}/report")
    expect(page.get_by_role("region", name="Code")).to_contain_text("Nothing looks for an end token.")


def _seed() -> int:
    """The first seed with which the coding round opens with the decoder."""
    library = load_library()
    rubric, persona = library.rubrics["coding_design"], library.personas["coding_design"]
    versions = ev.Versions(rubric="", persona="", prompt="", model="", adapter=None, judge="")
    for seed in range(500):
        started = ev.SessionStarted(
            persona=persona.id, rubric=rubric.id, level="mid", mode="practice", minutes=90, seed=seed, versions=versions
        )
        at = datetime(2026, 1, 5, tzinfo=UTC)
        choice = decide(fold([ev.Recorded(session_id="s", seq=1, at=at, event=started)]), rubric, persona, 0.0)
        if isinstance(choice, Ask) and choice.question_id == "cd-greedy-decoder":
            return seed
    raise AssertionError("no seed opens with the decoder")
