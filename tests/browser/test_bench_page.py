"""The benchmark of the page runs on the real page and reports what it typed."""

from __future__ import annotations

from eval.bench_page import measure, to_markdown
from tests.site import Site


def test_a_small_run_reports_both_kinds_of_wait(site: Site) -> None:
    told: list[str] = []
    found = measure(site.url, 2, told.append)
    assert told == ["question 2 of 3", "question 3 of 3"]
    rows = found["milliseconds"]
    assert sum(row["n"] for row in rows.values()) >= 10, "keys were pressed all the time"
    assert all(0 < row["median"] < 10_000 for row in rows.values())
    assert found["browser"] in to_markdown(found) and "bench page --turns 2" in to_markdown(found)
