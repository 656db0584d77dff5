"""History grown up: charts with a table, suggestions, two attempts, export, and deletion of everything in two steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from interviewer.client import Client
from tests.site import Site

TEXT = "Interviewer: {q}\nCandidate: {a}\n"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path) as running:
        with Client(running.url) as client:
            asked = next(q for q in client.get("/v1/questions")["questions"] if q["id"] == "dd-paged-kv")["text"]
            for answer in ("It saves memory.", "We held p99 at 800 ms at batch 8."):
                body = {"rubric": "deep_dive", "content": TEXT.format(q=asked, a=answer)}
                taken = client.post("/v1/transcripts", body)["id"]
                while client.get(f"/v1/sessions/{taken}")["progress"]["assessed"] < 1:
                    pass
        yield running


@pytest.mark.parametrize("width", [360, 1280])
def test_charts_suggestions_and_comparison(page: Page, own: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{own.url}/#/history")
    expect(page.get_by_role("heading", name="Levels over time")).to_be_visible()
    expect(page.get_by_role("img").first).to_be_visible()
    page.get_by_text("The same as a table").click()
    expect(page.get_by_role("table", name="Levels over time")).to_contain_text("Practice")
    expect(page.get_by_text("comes back after").first).to_be_visible()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("table", name="Levels of both")).to_be_visible()
    expect(page.get_by_text("It saves memory.").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_everything_goes_only_after_two_yeses(page: Page, own: Site) -> None:
    page.goto(f"{own.url}/#/history")
    page.get_by_role("button", name="Delete everything").click()
    page.get_by_role("button", name="Continue to delete").click()
    page.get_by_role("button", name="Keep everything").click()
    with Client(own.url) as client:
        assert len(client.get("/v1/sessions")["sessions"]) == 2
        page.get_by_role("button", name="Delete everything").click()
        page.get_by_role("button", name="Continue to delete").click()
        page.get_by_role("button", name="Delete everything now").click()
        expect(page.get_by_text("Deleted: 2 sessions.")).to_be_visible()
        assert client.get("/v1/sessions")["sessions"] == []
    expect(page.get_by_text("No sessions yet.")).to_be_visible()
