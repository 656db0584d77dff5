"""What runs here, over HTTP: the judge with its measured accuracy, and nothing that is secret."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interviewer.adapters.about import load_measured
from interviewer.adapters.documents import packaged
from interviewer.service.about import CriterionAccuracy, Engine, Measured, public
from interviewer.service.ports import Stamp
from tests.service.kit import FlakyStore, deps

from .kit import running

MEASURED = Measured(
    answers=20,
    questions=4,
    kappa=0.75,
    kappa_95=(0.7, 0.8),
    exact=0.5,
    by_criterion={
        "measurement": CriterionAccuracy(n=40, kappa=0.7, exact=0.6, mean_signed_error=0.1),
        "role_fit": CriterionAccuracy(n=9, kappa=0.69, exact=0.4, mean_signed_error=-0.2),
    },
)


def result(**changes: Any) -> dict[str, Any]:
    row = {"n": 9, "kappa": 0.69, "exact": 0.4, "mean_signed_error": -0.2, "spearman": 0.7}
    test = {
        "answers": 20,
        "questions": 4,
        "evaluator": {"kappa": 0.75, "kappa_95": [0.7, 0.8], "exact": 0.5, "spearman": 0.8},
        "by_criterion": {"role_fit": row},
    }
    return {"calibration": {"version": "abc"}, "test": test, **changes}


def test_the_measurement_is_read_and_only_for_the_calibration_that_it_was_made_with(tmp_path: Path) -> None:
    assert load_measured(tmp_path, "abc") is None, "nothing lies there"
    (tmp_path / "result.json").write_text(json.dumps(result()), encoding="utf-8")
    found = load_measured(tmp_path, "abc")
    assert found is not None and found.kappa == 0.75
    assert found.by_criterion["role_fit"] == MEASURED.by_criterion["role_fit"]
    assert load_measured(tmp_path, "other") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps(result(test={"evaluator": None}))])
def test_a_result_that_cannot_be_read_is_no_measurement(tmp_path: Path, text: str) -> None:
    (tmp_path / "result.json").write_text(text, encoding="utf-8")
    assert load_measured(tmp_path, "abc") is None


def test_what_ships_was_measured_with_the_calibration_that_ships() -> None:
    folder = packaged("personas") / "evaluator"
    version = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))["version"]
    found = load_measured(folder, version)
    assert found is not None and len(found.by_criterion) == 16


def test_a_criterion_is_weak_below_seven_tenths() -> None:
    assert {name: row.weak for name, row in MEASURED.by_criterion.items()} == {"measurement": False, "role_fit": True}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("/srv/models/Qwen3-8B", "Qwen3-8B"),
        ("structured:/srv/models/judge", "structured:judge"),
        ("~/models/x", "x"),
        ("https://me:secret@host.example/v1/x", "x"),
        ("small:evaluator@0123abcd:calibration-ab-cd:facts-1", "small:evaluator@0123abcd:calibration-ab-cd:facts-1"),
    ],
)
def test_names_are_shown_without_folders_and_addresses(name: str, shown: str) -> None:
    assert public(name) == shown


@pytest.mark.asyncio
async def test_about_says_what_runs_and_nothing_secret(tmp_path: Path) -> None:
    path = tmp_path / "interviews.db"
    given = deps(FlakyStore.open(f"sqlite:///{path}"))
    given = replace(given, served={"deep_dive": "deep_dive@0123abcd"}, base="/srv/models/base")
    asked: list[Stamp] = []

    def measured(stamp: Stamp) -> Measured:
        asked.append(stamp)
        return MEASURED

    async with running(given, engine=Engine(model="/srv/models/base"), measured=measured, keep_days=30) as server:
        text = (await server.http.get("/v1/about")).text
        found = json.loads(text)
    assert found["engine"]["model"] == "base"
    assert {p["id"]: p["adapter"] for p in found["personas"]}["deep_dive"] == "deep_dive@0123abcd"
    assert {p["id"]: p["adapter"] for p in found["personas"]}["recruiter"] is None
    assert found["adapters"] == [{"adapter": "deep_dive", "version": "0123abcd", "shipped": True, "active": True}]
    assert found["judge"]["measured"]["by_criterion"]["role_fit"]["weak"] is True
    assert (found["judge"]["adapter"], found["judge"]["identity"]) == (None, "scripted:facts-1")
    assert asked == [Stamp(model="scripted")], "measured is asked for of the judge in use"
    assert found["kept"] == {"stored": True, "days": 30, "keys": False}
    assert found["turns"]["code"] == "read"
    assert "/srv" not in text and str(tmp_path) not in text and "://" not in text
