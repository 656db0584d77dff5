"""The arithmetic of the soak, and half a minute of it."""

from __future__ import annotations

import pytest

from eval.soak import Plan, Sample, measure, thirds, to_markdown


def sample(number: int, memory: float) -> Sample:
    return Sample(minute=number / 6, memory_mb=memory, files=30 + number, threads=9, loaded=4, stored=number)


def test_thirds_are_medians_and_the_middle_takes_what_is_left() -> None:
    found = thirds([sample(n, memory) for n, memory in enumerate([100, 150, 160, 170, 171, 190, 172, 171])])
    assert [third["memory_mb"] for third in found] == [125.0, 170.5, 171.5]
    assert [third["files"] for third in found] == [30.5, 33.5, 36.5]
    with pytest.raises(ValueError, match="three"):
        thirds([sample(0, 100.0), sample(1, 100.0)])


def test_a_short_soak_does_everything_that_people_do() -> None:
    found = measure(Plan(minutes=0.4, candidates=4, think_seconds=0.0, token_ms=5.0), lambda _: None, "soak")
    assert {"answer", "interview", "report", "delete", "import", "replay", "diff", "score", "read"} <= set(
        found["done"]
    )
    assert found["done"]["connection cut"] >= 1
    assert len(found["samples"]) == 3
    assert "Nothing was refused" in to_markdown(found)
