"""A transcript comes in through the page: from a file, by keyboard; an unclear candidate is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from interviewer.client import Client
from tests.site import Site

CAPTIONS = """WEBVTT

00:00:01.000 --> 00:00:06.000
<v Ana Ruiz>How does the paged KV cache work, and which waste is left?</v>

00:00:07.000 --> 00:00:14.000
<v Bo Lind>Blocks of sixteen tokens; we held p99 at 800 ms at batch 8.</v>
"""


@pytest.fixture
def own(tmp_path: Path, page: Page) -> Iterator[Site]:
    with Site(tmp_path) as running:
        page.goto(f"{running.url}/#/history")
        page.get_by_text("Paste or choose a file").click()
        page.get_by_label("Round", exact=True).select_option("deep_dive")
        yield running


def file(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": data}


def sessions(site: Site) -> list[dict[str, object]]:
    with Client(site.url) as client:
        found: list[dict[str, object]] = client.get("/v1/sessions")["sessions"]
    return found


def test_a_file_is_read_and_the_candidate_is_asked_for(page: Page, own: Site) -> None:
    page.get_by_label("File").set_input_files(file("call.vtt", CAPTIONS.encode("utf-16")))
    expect(page.get_by_role("textbox", name="Transcript")).to_have_value(re.compile("Bo Lind"))
    page.get_by_role("button", name="Import and judge").press("Enter")
    group = page.get_by_role("group", name="Who is the candidate?")
    expect(group).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("It is not clear who the candidate is")
    assert sessions(own) == []
    group.get_by_role("button", name="Bo Lind").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Judged. The report is ready.")).to_be_visible(timeout=20_000)
    expect(group).to_have_count(0)
    (made,) = sessions(own)
    with Client(own.url) as client:
        lines = client.get(f"/v1/sessions/{made['id']}/transcript")["lines"]
    assert [line["speaker"] for line in lines] == ["interviewer", "candidate"]
    page.get_by_role("button", name="Import and judge").press("Enter")
    expect(page.get_by_text("This transcript was imported before")).to_be_visible()
    assert len(sessions(own)) == 1


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("answers.zip", b"PK\x03\x04\xff\xfe\x00\xd8" * 20, "not UTF-8 text"),
        ("long.txt", b"A: " + b"x" * 2_200_000, "larger than 2 MB"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_in_words(
    page: Page, own: Site, name: str, data: bytes, says: str
) -> None:
    page.get_by_label("File").set_input_files(file(name, data))
    expect(page.get_by_role("alert")).to_contain_text(says)
    expect(page.get_by_role("textbox", name="Transcript")).to_have_value("")
    assert sessions(own) == []


def test_nothing_in_a_transcript_runs_in_the_page(page: Page, own: Site) -> None:
    hostile = (
        "Interviewer: <img src=x onerror=document.title='owned'> why?\n"
        "Candidate: <script>document.title='owned'</script>"
    )
    page.get_by_label("File").set_input_files(file("call.txt", hostile.encode()))
    page.get_by_role("button", name="Import and judge").click()
    expect(page.get_by_text("Judged. The report is ready.")).to_be_visible(timeout=20_000)
    page.get_by_role("link", name="Report", exact=True).first.click()
    expect(page.get_by_text("<script>").first).to_be_visible()
    assert page.title() != "owned"


def test_an_export_comes_back_through_the_page(page: Page, own: Site) -> None:
    with Client(own.url) as client:
        body = {"rubric": "deep_dive", "content": "Interviewer: Why?\nCandidate: We held p99 at 800 ms at batch 8."}
        taken = client.post("/v1/transcripts", body)["id"]
        while client.get(f"/v1/sessions/{taken}")["progress"]["assessed"] < 1:
            pass
        export = client.text("/v1/export", format="json")
        client.delete(f"/v1/sessions/{taken}")
    damaged = export.replace("We held p99", "Honestly, we held p99", 1).replace(taken, "another-one")
    page.get_by_label("File").set_input_files(file("interviews.jsonl", (export + damaged).encode()))
    expect(page.get_by_text("2 sessions of an export.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Transcript")).to_have_value("")
    page.get_by_role("button", name="Import and judge").click()
    expect(page.get_by_text("Taken back: 1 of 2. There already: 0. Refused: 1.")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("another-one: ")).to_be_visible()
    assert [row["id"] for row in sessions(own)] == [taken]
