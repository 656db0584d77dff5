"""The evaluation through the real socket, with a scripted model and a judge that knows the candidate."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from eval.candidates import Candidate, load_candidates
from eval.interviewer import measure, share, summarise, to_markdown
from interviewer.adapters.documents import load_library
from interviewer.client import ServiceError
from interviewer.core.prompts import Message
from interviewer.testing import ScriptedJudge, ScriptedModel
from tests.site import Site

LIBRARY = load_library()
(STRONG,) = load_candidates(LIBRARY, ["excellent-mid"])
(WEAK,) = load_candidates(LIBRARY, ["api-tourist"])


class Echo(ScriptedModel):
    """Picks up the candidate's first words and asks the probe as it is written."""

    async def stream(
        self, model: str, messages: Sequence[Message], *, max_tokens: int, temperature: float, seed: int
    ) -> AsyncGenerator[str, None]:
        lines = messages[-1]["content"].splitlines()
        said = next((line.partition(": ")[2] for line in lines if line.startswith("Candidate: ")), "")
        picked = " ".join(re.findall(r"[A-Za-z]+", said)[:6])
        self.requests.append((model, list(messages)))
        yield f"You said {picked}. {lines[-1].partition(': ')[2]}"


@pytest.fixture(params=["STRONG", "WEAK"])
def candidate(request: pytest.FixtureRequest) -> Candidate:
    return STRONG if request.param == "STRONG" else WEAK


@pytest.fixture
def site(tmp_path: Path, candidate: Candidate) -> Iterator[Site]:
    made = Site(tmp_path, ScriptedJudge(lambda criterion, text: candidate.levels[criterion], sure=0.9))
    made.model = Echo()
    with made:
        yield made


def test_a_candidate_is_interviewed_to_the_report_and_measured(
    site: Site, candidate: Candidate, tmp_path: Path
) -> None:
    told: list[str] = []
    kept = tmp_path / "out" / "run.partial.jsonl"
    found = measure(site.url, [candidate], LIBRARY, told.append, minutes=16, kept=kept)
    (row,) = found["rows"]
    assert row["candidate"] == candidate.id and row["expected"] == candidate.verdict
    assert row["off"] is not None and row["off"] <= 1
    assert all(true == read for true, read in row["levels"].values() if read is not None)
    assert found["verdict_within_one"] == 1.0 and found["level_error"] == 0.0

    follow_ups = [q for q in row["questions"] if q["criterion"]]
    assert found["follow_ups"] == len(follow_ups) >= 4
    assert len(row["follow_up_ms"]) == len(follow_ups)
    assert len(row["main_ms"]) == len(row["questions"]) - len(follow_ups) - 1  # the first came without an answer
    # authored probes are on their probe, and the guard has nothing against most of them
    assert found["rules"]["on the chosen probe"] == {"before": 1.0, "after": 1.0}
    assert found["nearest"] == 1.0
    assert found["rules"]["no repeat"]["after"] == 1.0
    # after "I do not know" the rubric's wording is asked on purpose
    assert {q["source"] for q in follow_ups} <= {"generated", "tied", "authored"}
    assert found["fallback"] == 0.0
    assert row["receipt"]["follow_ups"] == len(follow_ups)
    assert told == [
        f"{candidate.id}, {row['round']}: {row['verdict']} (expected {row['expected']}), "
        f"{len(row['questions'])} questions"
    ]

    again = measure(site.url, [candidate], LIBRARY, told.append, minutes=16, kept=kept)
    assert again["rows"][0]["session"] == row["session"], "what was held is not held again"
    other = measure(site.url, [candidate], LIBRARY, told.append, seed=2, minutes=16, kept=kept)
    assert other["rows"][0]["session"] != row["session"]
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 2

    text = to_markdown(json.loads(json.dumps(found)))
    assert f"| {candidate.id} | {row['round']} | {row['expected']} | {row['verdict']} |" in text
    assert "| exactly one question | " in text and "answer to first token of a follow-up" in text


def test_a_service_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(ServiceError, match="start it with: interviewer serve"):
        measure("http://127.0.0.1:9", [WEAK], LIBRARY, print)


def asked(source: str, before: list[str], after: list[str]) -> dict[str, Any]:
    return {"criterion": "x", "source": source, "before": before, "after": after, "nearest": not after}


def row(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "questions": [
            {"criterion": None, "source": "authored", "before": [], "after": ["repeat"], "nearest": True},
            asked("generated", [], []),
            asked("generated", [], ["leak"]),
            asked("mixed", ["stacked", "verdict"], []),
            asked("fallback", ["model_unavailable", "no_question"], ["not_tied"]),
        ],
        "off": 1,
        "flags_missing": [],
        "flags_wrong": [],
        "weakest_questions": [1, 4, None],
        "weakest_candidate": 2,
        "levels": {"x": [0, 1], "y": [3, 3], "z": [2, None]},
        "follow_up_ms": [100.0, 300.0],
        "main_ms": [],
    }
    return values | changes


def test_the_table_counts_each_thing_over_what_it_is_about() -> None:
    found = summarise([row(), row(off=2, flags_missing=["bluffing"]), row(off=None, weakest_candidate=None)])
    assert (found["sessions"], found["questions"], found["follow_ups"]) == (3, 15, 12)
    # before: three of four tried in each session, as one met no model; after: three worded by the model
    assert found["rules"]["exactly one question"] == {"before": 0.6667, "after": 1.0}
    assert found["rules"]["no leak"] == {"before": 1.0, "after": 0.6667}
    assert found["rules"]["refers to the answer"] == {"before": 1.0, "after": 1.0}
    assert found["all_rules"] == {"before": 0.6667, "after": 0.6667}
    assert found["nearest"] == 0.5
    assert (found["fallback"], found["model_away"]) == (0.5, 0.25)
    assert (found["verdict_within_one"], found["flags_right"]) == (0.3333, 0.6667)
    assert found["candidates_right"] == 0.3333
    assert found["weakest_within"] == 0.3333
    assert found["weakest_candidate_within"] == 0.6667
    assert found["level_error"] == 0.5
    assert found["milliseconds"]["answer to first token of a follow-up"]["n"] == 6
    assert "answer to first token of a main question" not in found["milliseconds"]


def test_nothing_to_count_is_no_share() -> None:
    assert share([]) is None
    assert summarise([])["fallback"] is None
