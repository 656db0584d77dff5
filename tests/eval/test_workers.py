"""Two workers on one database, measured for a moment, and how that is drawn."""

from __future__ import annotations

from eval.bench_workers import Plan, chart, measure, to_markdown


def test_two_workers_share_the_sessions_and_are_drawn_as_two_lines() -> None:
    plan = Plan(workers=(1, 2), sessions=(4,), seconds=2.0, token_ms=5.0, database="sqlite")
    found = measure(plan, lambda _: None, "interviewer bench workers")
    assert [(r["workers"], r["sessions"]) for r in found["rows"]] == [(1, 4), (2, 4)]
    assert all(r["turns_per_second"] > 0 and r["problems"] == [] for r in found["rows"])
    assert "![Throughput and delay](here.svg)" in to_markdown(found, "here.svg") and "![" not in to_markdown(found)
    svg = chart(found)
    assert svg.count("<polyline") == 4 and "2 workers" in svg


def test_a_report_holds_no_password() -> None:
    plan = Plan(workers=(1,), sessions=(), database="postgresql://me:secret@db/x")
    assert "secret" not in to_markdown(measure(plan, lambda _: None, "interviewer bench workers"))
