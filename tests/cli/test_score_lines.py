"""Many answers from a file of JSON Lines: lazily read, written as they come, resumed where it stopped."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from interviewer.cli import app
from interviewer.client import Client
from interviewer.score_lines import MAX_LINE, LinesError, Tally, score_lines, settled_ids
from interviewer.testing import JUDGE_DOWN, ScriptedJudge
from tests.site import Site

GOOD = "We held p99 latency at 800 ms at batch 8. The price was 15 percent of peak throughput."
QUESTION = {"id": "dd-paged-kv"}
RUBRIC = """
criteria:
  calm:
    asks: Is the answer calm?
    levels: [It shouts., It is loud., It is even., It is calm.]
"""


def line(item_id: str, **fields: Any) -> dict[str, Any]:
    return {"id": item_id, "question": QUESTION, "answer": f"{GOOD} {item_id}", **fields}


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    text = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(one) for one in path.read_text(encoding="utf-8").splitlines()]


def run(site: Site, *arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["score", *arguments, "--url", site.url], input=stdin)
    return done.exit_code, done.stdout, " ".join(done.stderr.split())


def test_each_line_gets_a_line_with_its_result(site: Site, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.jsonl", line("a"), line("b", answer="We had a cache. It was nice."), line("c"))
    code, out, err = run(site, str(answers), "--chunk", "2")
    found = {one["id"]: one for one in map(json.loads, out.splitlines())}
    assert code == 0
    assert {name: one["line"] for name, one in found.items()} == {"a": 1, "b": 2, "c": 3}
    assert {name: one["result"]["scores"][0]["level"] for name, one in found.items()} == {"a": 3, "b": 1, "c": 3}
    versions = found["a"]["result"]["versions"]
    assert versions.keys() >= {"rubric", "model", "adapter", "calibration", "judge"}
    assert found["a"]["result"]["timing"]["total_ms"] >= 0
    assert "3 scored, 0 unscored, 0 failed, 0 skipped in" in err


def test_what_is_wrong_is_named_by_its_line_and_the_rest_is_scored(site: Site, tmp_path: Path) -> None:
    answers = write(
        tmp_path / "a.jsonl",
        line("a"),
        "{broken",
        "[1]",
        {"question": QUESTION, "answer": GOOD},
        line("long", answer="x" * 20_001),
        "",
        line("nowhere", question={"id": "no-such"}),
        line("a", answer="Another answer under the same id."),
        line("a"),
        line("z"),
    )
    out = tmp_path / "scored.jsonl"
    code, _, err = run(site, str(answers), "--out", str(out))
    lines = read(out)
    assert code == 1
    assert {one["id"] for one in lines if "result" in one} == {"a", "z"}
    failed = {one["line"]: one for one in lines if "error" in one}
    assert {number: one["error"]["code"] for number, one in failed.items()} == {
        2: "invalid_item",
        3: "invalid_item",
        4: "invalid_item",
        5: "invalid_item",
        7: "unknown_question",
        8: "conflicting_items",
    }
    assert failed[5]["id"] == "long" and "id" not in failed[2]
    for said in (
        "line 2: not JSON: Expecting",
        "line 4: id: Field required",
        "line 5: answer: String should have at most",
    ):
        assert said in err
    assert "line 8: line 1 has the id 'a' too, but differs" in err
    assert "2 scored, 0 unscored, 6 failed, 1 skipped" in err


def test_bytes_that_are_no_text_and_endless_lines_fail_alone(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = json.dumps(line("a")).encode()
    path.write_bytes(
        b"\xef\xbb\xbf" + good + b"\n\xff\xfe\n" + b"x" * (2 * MAX_LINE) + b"\n" + good.replace(b"a", b"a")
    )
    code, out, err = run(site, str(path))
    assert code == 1
    assert [one["id"] for one in map(json.loads, out.splitlines()) if "result" in one] == ["a"]
    assert "line 2: not UTF-8 text" in err and f"line 3: longer than {MAX_LINE} bytes" in err
    assert "1 skipped" in err, "the last line is the first once more"


def test_a_second_run_scores_what_is_missing_and_nothing_else(site: Site, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.jsonl", line("a"), line("b", question={"id": "no-such"}), line("c"))
    out = tmp_path / "scored.jsonl"
    assert run(site, str(answers), "--out", str(out))[0] == 1
    with out.open("a", encoding="utf-8") as file:
        file.write('{"line": 9, "id": "d", "result": {"scor')  # killed in the middle of a line
    before = len(site.judge.windows)
    write(answers, line("a"), line("b"), line("c"), line("d"))
    code, _, err = run(site, str(answers), "--out", str(out))
    assert code == 0
    assert "2 scored, 0 unscored, 0 failed, 2 skipped" in err
    assert len(site.judge.windows) == before + 2
    assert sorted(one["id"] for one in read(out) if "result" in one) == ["a", "b", "c", "d"]
    assert run(site, str(answers), "--out", str(out))[2].startswith("0 scored, 0 unscored, 0 failed, 4 skipped")


def test_another_file_is_not_written_to(site: Site, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.jsonl", line("a"))
    code, _, err = run(site, str(answers), "--out", str(answers))
    assert code == 2
    assert "a.jsonl:1 was not written by this command; name another --out" in err
    assert read(answers) == [line("a")]


def test_options_stand_for_what_lines_leave_out(site: Site, tmp_path: Path) -> None:
    rubric = tmp_path / "calm.yaml"
    rubric.write_text(RUBRIC, encoding="utf-8")
    reference = tmp_path / "full.txt"
    reference.write_text("Breathe.", encoding="utf-8")
    stdin = "".join(json.dumps(one) + "\n" for one in ({"id": "a", "answer": GOOD}, line("b", criteria=["calm"])))
    options = ("--question", "How do you stay calm?", "--rubric", str(rubric), "--reference", str(reference))
    code, out, _ = run(site, "-", "--jsonl", *options, stdin=stdin)
    assert code == 0
    for one in map(json.loads, out.splitlines()):
        (score,) = one["result"]["scores"]
        assert (score["criterion"], score["anchor"]) == ("calm", "It is calm.")
    code, out, _ = run(site, "-", *options, "--json", stdin=GOOD)
    assert (code, json.loads(out)["scores"][0]["criterion"]) == (0, "calm")


def test_a_rubric_file_that_is_wrong_is_named_with_its_line(site: Site, tmp_path: Path) -> None:
    rubric = tmp_path / "calm.yaml"
    rubric.write_text(RUBRIC.replace(", It is calm.", ""), encoding="utf-8")
    code, _, err = run(site, "-", "--question", "How?", "--rubric", str(rubric), stdin=GOOD)
    assert code == 2
    assert "calm.yaml:5: criteria.calm.levels:" in err and "give four anchors" in err


def test_a_question_is_asked_for(site: Site) -> None:
    code, _, err = run(site, "-", stdin=GOOD)
    assert code == 2 and "Give --id" in err


def test_a_judge_that_is_away_ends_the_run_and_the_next_one_goes_on(tmp_path: Path) -> None:
    answers = write(tmp_path / "a.jsonl", *(line(str(n)) for n in range(9)))
    out = tmp_path / "scored.jsonl"
    with Site(tmp_path, ScriptedJudge(JUDGE_DOWN)) as away:
        code, _, err = run(away, str(answers), "--out", str(out), "--chunk", "4")
    assert code == 2
    assert "The judge was away for a whole chunk" in err
    assert [one["error"]["code"] for one in read(out)] == ["judge_unavailable"] * 4
    with Site(tmp_path) as back:
        code, _, err = run(back, str(answers), "--out", str(out))
    assert code == 0 and "9 scored, 0 unscored, 0 failed, 0 skipped" in err
    assert settled_ids(out) == {str(n) for n in range(9)}


def test_no_service_keeps_what_is_there(tmp_path: Path) -> None:
    answers = write(tmp_path / "a.jsonl", line("a"))
    out = tmp_path / "scored.jsonl"
    done = CliRunner().invoke(app, ["score", str(answers), "--out", str(out), "--url", "http://127.0.0.1:9"])
    assert done.exit_code == 2
    assert "interviewer serve" in done.stderr and "run the same command again" in " ".join(done.stderr.split())
    assert read(out) == []


class Endless(io.RawIOBase):
    """As many lines as are asked for; knows how many that were."""

    given = 0

    def __init__(self, most: int) -> None:
        self.most = most

    def readline(self, size: int | None = -1, /) -> bytes:
        if self.given == self.most:
            return b""
        self.given += 1
        return json.dumps(line(f"n{self.given}")).encode() + b"\n"


def test_no_more_is_read_than_is_sent(site: Site) -> None:
    source, out = Endless(40), io.StringIO()
    read_at: list[int] = []

    def told(tally: Tally, problem: str | None) -> None:
        read_at.append(source.given - tally.scored)

    with Client(site.url) as client:
        tally = score_lines(client, source, out, settled=set(), defaults={}, chunk=8, told=told)  # type: ignore[arg-type]
    assert tally == Tally(scored=40)
    assert max(read_at) <= 8, "a chunk and the line after it, of which one is scored"
    assert len(out.getvalue().splitlines()) == 40


def test_a_file_that_is_not_there_is_named(site: Site, tmp_path: Path) -> None:
    code, _, err = run(site, str(tmp_path / "none.jsonl"))
    assert code == 2 and "none.jsonl: No such file" in err
    broken = tmp_path / "out.jsonl"
    broken.write_text('{"id": "a"}\n', encoding="utf-8")
    with pytest.raises(LinesError, match=r"out\.jsonl:1"):
        settled_ids(broken)
