"""The outside check on small sets of the same shape, with answers made up here and a judge whose levels are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.outside import measure, to_markdown
from eval.outside_sets import FLOORS, Answer, OutsideError, load, sample
from eval.scored import NothingScored
from interviewer import tools
from interviewer.core.reading import CriterionSpec, RawReading, Window
from interviewer.core.referenced import told
from interviewer.service.ports import JudgeTimeout
from interviewer.testing import JUDGE_DOWN, ScriptedJudge
from tests.site import Site

REFERENCE = "Paging cuts memory into blocks; fragmentation disappears."
SAF = [
    ("Nothing useful comes to my mind today.", 0.0, 0),
    ("Something about blocks perhaps, I forget the rest.", 0.25, 1),
    ("Paging cuts memory into blocks of one size.", 0.75, 2),
    ("Blocks of one size, so fragmentation disappears and memory is shared well.", 1.0, 3),
]
LEVELS = {text: level for text, _, level in SAF}


def saf(number: int, text: str, score: float, split: str = "unseen_questions") -> dict[str, Any]:
    question = f"What does paging do to memory, case {number % 2}?"
    return {
        "id": f"s{number}",
        "split": split,
        "question": question,
        "reference": REFERENCE,
        "answer": text,
        "score": score,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [saf(n, *SAF[n % 4][:2]) for n in range(8)]
    rows += [saf(8, "No submission.", 0.0), saf(9, SAF[0][0], 0.0, "training")]
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "saf_en.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    texts = [(text, score) for text, score in zip(LEVELS, (0, 1, 1, 2), strict=True)]
    exam = [{"id": f"d{n}", "question": "Explain paging!", "answer": t, "score": s} for n, (t, s) in enumerate(texts)]
    (folder / "digiklausur.jsonl").write_text("".join(json.dumps(row) + "\n" for row in exam), encoding="utf-8")
    return folder


class Knowing(ScriptedJudge):
    """Reads each made-up answer as it was scored, and keeps what it was told; fails on the answers it is told to."""

    def __init__(self) -> None:
        super().__init__(lambda _, text: LEVELS.get(text, 0), sure=1.0)
        self.told: list[str] = []
        self.fails: set[str] = set()

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        self.told += map(told, criteria)
        if window.segments[0].quote.text in self.fails:
            raise JudgeTimeout("slow")
        return await super().read(window, criteria)


def silent(_: str) -> None:
    """Take no notice of progress."""


def test_a_judge_that_reads_like_the_people_agrees_with_them(data: Path, tmp_path: Path) -> None:
    judge = Knowing()
    with Site(tmp_path, judge) as site:
        found = measure(data, site.url, silent)
    assert found["parts"].keys() == {"SAF, unseen questions", "SAF, training", "SAF, under 4 words", "DigiKlausur"}
    unseen = found["parts"]["SAF, unseen questions"]
    assert (unseen["n"], unseen["questions"], unseen["mean_given"], unseen["mean_read"]) == (8, 2, 1.5, 1.5)
    assert (unseen["judge"]["spearman"], unseen["judge"]["kappa"], unseen["judge"]["kappa_dealt"]) == (1, 1, 1)
    assert unseen["floors"]["log length"]["given"] == 0.23
    # 7, 8, 8 and 12 words for ranks 1 to 4: ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4 correlate at 4.5 / sqrt(4.5 * 5).
    assert unseen["floors"]["log length"]["spearman"] == pytest.approx(0.949, abs=1e-3)
    exam = found["parts"]["DigiKlausur"]
    assert exam["judge"]["kappa"] == 1, "both middle levels are the exam's 1"
    assert exam["floors"].keys() == {"log length"}
    assert found["parts"]["SAF, under 4 words"]["mean_read"] == 0
    assert "judge" not in found["parts"]["SAF, under 4 words"]
    text = to_markdown(found)
    assert "| **judge** | **1.0** (1.0 to 1.0) | | 1.0 | 1.0 |" in text and "All 14 answers were scored." in text
    assert "Paging" not in text and "Paging" not in json.dumps(found), "no words of the sets are in a report"
    assert any(REFERENCE in one for one in judge.told)


def test_without_references_the_judge_is_told_none(data: Path, tmp_path: Path) -> None:
    judge = Knowing()
    with Site(tmp_path, judge) as site:
        found = measure(data, site.url, silent, references=False)
    assert judge.told and not any(REFERENCE in one for one in judge.told)
    assert "--no-reference" in found["command"]


def test_a_run_goes_on_where_it_stopped(data: Path, tmp_path: Path) -> None:
    judge, partial = Knowing(), tmp_path / "outside.partial.jsonl"
    judge.fails = {SAF[3][0]}
    with Site(tmp_path, judge) as site:
        found = measure(data, site.url, silent, partial=partial)
        assert {kind: one["n"] for kind, one in found["failures"].items()} == {"judge_timeout": 3}
        assert (found["done"], found["answers"]) == (11, 14)
        assert SAF[1][0] not in partial.read_text(encoding="utf-8"), "ids and numbers, no words"
        with partial.open("a", encoding="utf-8") as file:
            file.write('{"settings": "cut o')
        judge.fails, before = set(), len(judge.told)
        found = measure(data, site.url, silent, partial=partial)
        assert len(judge.told) - before == 3
        assert (found["done"], found["failures"]) == (14, {})
        with pytest.raises(OutsideError, match="of other options"):
            measure(data, site.url, silent, references=False, partial=partial)
    other = Knowing()
    other.identity = "another"
    partial.write_text(partial.read_text(encoding="utf-8").split("\n", 1)[0] + "\n", encoding="utf-8")
    with Site(tmp_path, other) as site, pytest.raises(OutsideError, match=r"Two judges, another:.* and scripted:"):
        measure(data, site.url, silent, partial=partial)


def test_the_command_writes_a_report_and_clears_up(data: Path, tmp_path: Path) -> None:
    report = tmp_path / "reports" / "outside"
    with Site(tmp_path, Knowing()) as site:
        options = ["outside", "--data", str(data), "--url", site.url, "--limit", "6", "--report", str(report)]
        done = CliRunner().invoke(tools.evaluate, options)
    assert done.exit_code == 0, done.output
    found = json.loads(report.with_suffix(".json").read_text(encoding="utf-8"))
    assert (found["answers"], found["command"]) == (6, "interviewer eval outside --data data --limit 6 --seed 1")
    assert sorted(path.name for path in report.parent.iterdir()) == ["outside.json", "outside.md"]


def test_what_cannot_be_done_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="has none of saf_en"):
        load(tmp_path)
    exam = tmp_path / "exam"
    exam.mkdir()
    (data / "digiklausur.jsonl").rename(exam / "digiklausur.jsonl")
    with Site(tmp_path, ScriptedJudge(JUDGE_DOWN)) as site, pytest.raises(NothingScored, match="judge_unavailable 4"):
        measure(exam, site.url, silent)
    done = CliRunner().invoke(tools.evaluate, ["outside", "--data", str(data), "--url", "http://127.0.0.1:9"])
    assert done.exit_code == 2 and "interviewer serve" in done.stderr
    (data / "saf_en.jsonl").write_text('{"id": "s1"}\n', encoding="utf-8")
    with pytest.raises(OutsideError, match=r"saf_en\.jsonl:1 is not a line of that set"):
        load(data)


def answer(number: int, question: str) -> Answer:
    return Answer(str(number), "SAF, training", question, "text", None, 0.0, 0)


def test_a_sample_is_spread_over_the_questions_and_the_same_each_time() -> None:
    answers = [answer(n, "often" if n < 90 else f"rare {n % 2}") for n in range(100)]
    chosen = sample(answers, 9, seed=4)
    assert sorted(a.question for a in chosen) == ["often"] * 3 + ["rare 0"] * 3 + ["rare 1"] * 3
    assert chosen == sample(answers, 9, seed=4) != sample(answers, 9, seed=5)
    assert sample(answers, None, 1) == sample(answers, 100, 1) == answers
    assert sample(answers, 99, 1) != answers and len(set(sample(answers, 99, 1))) == 99


def test_recall_counts_words_of_the_reference_and_may_leave_out_the_question_s() -> None:
    one = Answer("a", "SAF", "What is paging?", "Paging makes blocks.", "Paging: memory in blocks.", 1.0, 3)
    assert FLOORS["recall of reference words"](one) == pytest.approx(2 / 3)
    assert FLOORS["recall without question words"](one) == pytest.approx(1 / 2)
