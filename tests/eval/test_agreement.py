from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.agreement import DATA, agreement, answers, flag_agreement, read_jsonl


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def test_flags_are_compared_as_they_were_before_settling(tmp_path: Path) -> None:
    write(
        tmp_path / "answers" / "set_a.jsonl", [{"id": "1", "flags": ["bluffing"]}, {"id": "2", "flags": ["bluffing"]}]
    )
    write(tmp_path / "blind" / "flags.jsonl", [{"id": "1", "flags": ["bluffing"]}, {"id": "2", "flags": ["bluffing"]}])
    settled = {"id": "2", "first": ["api_tourist"], "second": ["bluffing"], "settled": ["bluffing"], "note": ""}
    write(tmp_path / "blind" / "flags_settled.jsonl", [settled])
    assert flag_agreement(tmp_path) == {
        "api_tourist": {"both": 0, "only_first": 1, "only_second": 0, "f1": 0.0},
        "bluffing": {"both": 1, "only_first": 0, "only_second": 1, "f1": 0.67},
    }


def test_what_was_settled_is_what_the_answers_say() -> None:
    rows = {row["id"]: row for row in answers()}
    for row in read_jsonl(DATA / "blind" / "settled.jsonl"):
        assert rows[row["id"]]["labels"][row["criterion"]] == row["settled"], row
    for row in read_jsonl(DATA / "blind" / "flags_settled.jsonl"):
        assert sorted(rows[row["id"]]["flags"]) == row["settled"], row


def test_where_both_readers_noted_the_same_flags_nothing_was_changed() -> None:
    rows = {row["id"]: row for row in answers()}
    second = {row["id"]: row["flags"] for row in read_jsonl(DATA / "blind" / "flags.jsonl")}
    open_ = {row["id"] for row in read_jsonl(DATA / "blind" / "flags_settled.jsonl")}
    assert set(second) == set(rows)
    assert all(sorted(rows[i]["flags"]) == sorted(flags) for i, flags in second.items() if i not in open_)


def test_the_published_agreement() -> None:
    found = agreement()
    assert (found["answers"], found["kappa"]) == (798, 0.955)
    assert found["flags"]["blames_others"] == {"both": 68, "only_first": 1, "only_second": 7, "f1": 0.94}
