"""The question bank, from it into the scoring box and into a session; and the settings with the judge's accuracy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from interviewer.adapters.documents import load_library
from interviewer.client import Client
from tests.site import Site

from . import steps

pytestmark = pytest.mark.browser
GOOD = "We held p99 latency at 800 ms at batch 8. The price was 15 percent of peak throughput."


def entry(page: Page, question: str) -> Locator:
    """Open one question of the bank."""
    found = page.locator(f"[data-question={question}]")
    found.locator("summary").click()
    expect(found.get_by_role("heading", name="Listens for")).to_be_visible()
    return found


def test_search_and_filters_leave_what_fits(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/questions")
    rows, count = page.locator(".bank > li"), page.get_by_role("status").filter(has_text="question")
    expect(rows).to_have_count(65)
    page.get_by_label("Round").select_option("behavioral")
    expect(rows).to_have_count(13)
    page.get_by_label("Round").select_option("")
    page.get_by_label("Criterion").select_option("llm_serving_depth")
    rounds = load_library().rubrics.values()
    serving = [q.id for r in rounds for q in r.questions if q.target("llm_serving_depth")]
    expect(rows).to_have_count(len(serving))
    page.get_by_label("Criterion").select_option("")
    page.get_by_label("Search").fill("dd-paged-kv")
    expect(rows).to_have_count(1)
    expect(count).to_have_text("1 question")
    page.get_by_label("Search").fill("no question says this")
    expect(count).to_have_text("0 questions")


def test_wordings_and_criteria_are_shown_and_what_spoils_only_on_request(page: Page, site: Site) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    _, question = load_library().find_question("dd-paged-kv") or pytest.fail("the question is gone")
    page.goto(f"{site.url}/#/questions")
    found = entry(page, question.id)
    expect(found).to_contain_text(question.text)
    if question.senior:
        expect(found).to_contain_text(question.senior)
    expect(found).to_contain_text(load_library().vocabulary.criteria[question.targets[0].criterion].asks)
    expect(found).not_to_contain_text(question.facts[0].claim)
    assert not [url for url in asked if "spoilers" in url], "nothing that spoils was even fetched"
    expect(found.get_by_text("This spoils the question.")).to_be_visible()
    found.get_by_role("button", name="Show hints, facts and follow-ups").click()
    for text in (question.hints[0], question.facts[0].claim, question.targets[0].probes[0].text):
        expect(found).to_contain_text(text)


def test_what_is_told_to_who_asks_is_shown_with_what_spoils(page: Page, site: Site) -> None:
    _, question = load_library().find_question("cd-kv-budget") or pytest.fail("the question is gone")
    page.goto(f"{site.url}/#/questions")
    found = entry(page, question.id)
    found.get_by_role("button", name="Show hints, facts and follow-ups").click()
    expect(found.get_by_role("heading", name="Told to who asks before answering")).to_be_visible()
    for given in question.givens:
        expect(found).to_contain_text(f"{given.about}: {given.says}")


def test_from_the_bank_to_the_scoring_box(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/questions")
    page.get_by_label("Level").select_option("senior")
    entry(page, "dd-temperature-zero").get_by_role("link", name="Answer this in writing").click()
    box = page.locator("select", has=page.locator("option[value='dd-temperature-zero']"))
    expect(box).to_have_value("dd-temperature-zero")
    expect(page.get_by_label("Round", exact=True)).to_have_value("deep_dive")
    expect(page.get_by_label("Level")).to_have_value("senior")
    with page.expect_request("**/v1/score") as sent:
        page.get_by_label("Answer", exact=True).fill(GOOD)
        page.get_by_role("button", name="Score").click()
    body = sent.value.post_data_json
    assert body is not None and body["question"] == {"id": "dd-temperature-zero"}
    expect(page.locator("mark").first).to_be_visible()


def test_from_the_bank_to_a_session_that_opens_with_it(page: Page, site: Site) -> None:
    _, question = load_library().find_question("hm-old-tickets") or pytest.fail("the question is gone")
    page.goto(f"{site.url}/#/questions")
    entry(page, question.id).get_by_role("link", name="Start an interview with this question").click()
    expect(page.get_by_text(f"It opens with: {question.topic}")).to_be_visible()
    expect(page.get_by_label("Situation")).to_be_hidden()
    page.get_by_role("button", name="Start the round").click()
    page.wait_for_url(re.compile(r"#/s/"))
    expect(steps.conversation(page)).to_contain_text(question.text, timeout=30_000)


def test_a_question_that_is_gone_is_told(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/start/dd-gone")
    expect(page.get_by_role("alert")).to_contain_text("There is no question with that id")


def test_a_suggestion_starts_with_its_question(page: Page, tmp_path: Path) -> None:
    with Site(tmp_path) as own, Client(own.url) as client:
        asked = client.get("/v1/questions/dd-paged-kv")["text"]
        content = f"Interviewer: {asked}\nCandidate: It saves memory.\n"
        taken = client.post("/v1/transcripts", {"rubric": "deep_dive", "content": content})["id"]
        page.goto(f"{own.url}/#/s/{taken}/report")
        expect(page.get_by_role("heading", name="What was shown")).to_be_visible(timeout=30_000)
        for _ in range(300):
            if client.get(f"/v1/sessions/{taken}")["progress"]["assessed"]:
                break
            page.wait_for_timeout(50)
        first = client.get("/v1/progress")["suggestions"][0]
        page.goto(f"{own.url}/#/history")
        row = page.locator("ol.next > li").first
        expect(row).to_contain_text(first["topic"])
        row.get_by_role("link", name="Start an interview with this question").click()
        expect(page.get_by_text(f"It opens with: {first['topic']}")).to_be_visible()
        page.get_by_role("button", name="Start the round").click()
        page.wait_for_url(re.compile(r"#/s/"))
        wanted = client.get(f"/v1/questions/{first['question']}")["text"]
        expect(steps.conversation(page)).to_contain_text(wanted, timeout=30_000)


def test_settings_show_the_judges_accuracy_and_where_it_is_weak(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/#/settings")
    table = page.get_by_role("table", name="Accuracy by criterion")
    expect(table.get_by_role("row", name=re.compile("Measurement"))).to_contain_text("0.83")
    expect(table.get_by_role("row", name=re.compile("Managing uncertainty"))).to_contain_text("0.67, weak")
    expect(page.locator(".notice", has_text="Weak, with kappa under 0.70")).to_contain_text(
        "Managing uncertainty (0.67)"
    )
    people = page.get_by_role("table", name="Interviewers")
    expect(people.get_by_role("row").filter(has_text="deep_dive@test")).to_contain_text("yes")
    expect(people.get_by_role("row").filter(has_text="no, prompt only")).to_have_count(4)
    expect(page.locator("main")).to_contain_text("scripted:facts-1")


@pytest.mark.parametrize("path", ["#/questions", "#/settings", "#/start/dd-paged-kv"])
def test_the_views_in_chinese(page: Page, site: Site, path: str) -> None:
    page.goto(f"{site.url}/{path}")
    page.select_option("#language", "zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("[\u4e00-\u9fff]"))
    expect(page.locator("main .busy")).to_have_count(0)
