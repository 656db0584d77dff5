"""The arithmetic of the gateway benchmark, and one small run of it."""

from __future__ import annotations

from eval.bench_gateway import Plan, measure, percentiles, to_markdown
from eval.gateway_parts import flat


def test_percentiles_are_nearest_ranks_in_milliseconds() -> None:
    values = [n / 1000 for n in range(1, 201)]  # 1 to 200 ms
    assert percentiles(values) == {"n": 200, "p50": 100.0, "p90": 180.0, "p99": 198.0, "max": 200.0}
    assert percentiles([0.004]) == {"n": 1, "p50": 4.0, "p90": 4.0, "p99": 4.0, "max": 4.0}
    assert percentiles([])["n"] == 0


def test_growth_compares_the_longest_session_with_the_shortest() -> None:
    rows = {"turn 3": 4.0, "turn 52": 9.0, "turn 201, the first after loading": 20.0, "turn 202": 6.0}
    assert flat({name: {"median": ms} for name, ms in rows.items()}) == 1.5


def test_a_small_run_measures_every_part() -> None:
    plan = Plan(sessions=(3,), seconds=3.0, token_ms=10.0, idle=5, stored=(50,), repeats=3)
    found = measure(plan, lambda _line: None, "interviewer bench gateway --sessions 3")
    (row,) = found["streams"]
    assert row["added_ms"]["n"] > 0 and row["first_word_ms"]["n"] > 0 and row["problems"] == []
    assert set(found["turns_ms"]) == {
        name for n in (1, 25, 50, 100, 200) for name in (f"turn {n + 1}, the first after loading", f"turn {n + 2}")
    }
    text = to_markdown(found)
    assert "| 3 |" in text and "50 sessions" in text and "commit" in text
