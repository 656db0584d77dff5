"""``progress``, ``compare``, ``export`` and ``delete`` against a running service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interviewer.client import Client
from interviewer.memory_cli import memory
from tests.site import Site

TEXT = "Interviewer: How did you serve it?\nCandidate: We held p99 at 800 ms at batch 8.\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path) as running:
        yield running


def run(site: Site, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(memory, [*arguments, "--url", site.url], input=stdin, env={"COLUMNS": "200"})
    return result.exit_code, result.output


def imported(site: Site, text: str = TEXT) -> str:
    with Client(site.url) as client:
        taken = str(client.post("/v1/transcripts", {"rubric": "deep_dive", "content": text})["id"])
        while client.get(f"/v1/sessions/{taken}")["progress"]["assessed"] < 1:
            pass
    return taken


def test_progress_says_levels_and_what_is_next(site: Site) -> None:
    assert "Nothing was assessed yet" in run(site, "progress")[1]
    imported(site)
    code, said = run(site, "progress")
    assert code == 0
    assert " to 3.0]" in said, said
    assert "comes back after" in " ".join(said.split())
    assert json.loads(run(site, "progress", "--json")[1])["sessions"] == 1


def test_compare_without_attempts_and_with_a_wrong_id(site: Site) -> None:
    assert "no two attempts" in run(site, "compare", "dd-paged-kv")[1]
    code, said = run(site, "compare", "nope")
    assert (code, "no such question" in said) == (2, True)


def test_export_writes_a_file(site: Site, tmp_path: Path) -> None:
    taken = imported(site)
    for kind, inside in (("json", taken), ("csv", "criterion"), ("markdown", "We held p99")):
        into = tmp_path / f"all.{kind}"
        assert run(site, "export", str(into), "--format", kind) == (0, "")
        assert inside in into.read_text(encoding="utf-8")
    assert run(site, "export", "--format", "xml")[0] == 2
    assert run(site, "export", str(tmp_path / "no" / "where"))[0] == 2
    assert taken in run(site, "export")[1]


def test_delete_asks_first(site: Site) -> None:
    one, two = imported(site), imported(site, TEXT.replace("800", "900"))
    assert run(site, "delete")[0] == 2
    assert run(site, "delete", one, "--everything")[0] == 2
    assert "Nothing was deleted" in run(site, "delete", one, stdin="n\n")[1]
    assert run(site, "delete", one, stdin="y\n")[0] == 0
    assert "deleted 1 session(s)" in run(site, "delete", "--everything", "--yes")[1]
    code, said = run(site, "delete", two, "--yes")
    assert (code, "no session" in said) == (2, True)


def test_an_export_comes_back_and_what_is_damaged_is_named(site: Site, tmp_path: Path) -> None:
    taken = imported(site)
    path = tmp_path / "all.jsonl"
    assert run(site, "export", str(path))[0] == 0
    whole = path.read_bytes()
    assert run(site, "delete", taken, "--yes")[0] == 0
    assert run(site, "restore", str(path)) == (0, "1 sessions taken, 0 were there, 0 refused\n")
    path.write_bytes(whole + b'\n{"no": "session"}\nnot JSON\n')
    code, said = run(site, "restore", str(path))
    assert code == 1 and "0 sessions taken, 1 were there, 2 refused" in said
    assert "line 3: not a session of an export" in said and "line 4: " in said
    assert run(site, "export")[1].encode() == whole
    assert run(site, "restore", str(tmp_path / "nothing"))[0] != 0
