"""Levels over time, flags that stay or go, what comes next, and two attempts side by side; all values by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core import events as ev
from interviewer.core.assessment import normalise
from interviewer.core.progress import (
    Mark,
    Point,
    Sitting,
    attempts,
    compare,
    counts,
    criterion_lines,
    flag_lines,
    in_order,
    interval,
)
from interviewer.core.spacing import pause, suggestions

from .builders import HONEST, IMPACT, MEASURE, START, TRADE, Log, assessed, drills, question, rubric, target

DAY = timedelta(days=1)
ROUNDS = {
    "deep_dive": rubric(
        question("cache"), question("batch"), question("rank", *(target(c, "rank") for c in (HONEST, MEASURE, IMPACT)))
    )
}


def mark(criterion: str = TRADE, level: int | None = 1, **changes: Any) -> Mark:
    number = None if level is None else float(level)
    values = {"criterion": criterion, "level": level, "expected": number, "low": number, "high": number}
    return Mark(**({**values, "hints": 0, "retried": False} | changes))


def sat(name: str, days: float, *marks: Mark, flags: tuple[str, ...] = (), **changes: Any) -> Sitting:
    values: dict[str, Any] = {
        "session_id": name,
        "at": START + days * DAY,
        "rubric": "deep_dive",
        "mode": "practice",
        "origin": "live",
        "drill": None,
        "marks": marks or (mark(),),
        "flags": flags,
        "questions": (),
    }
    return Sitting(**(values | changes))


def points(*marks: Mark) -> tuple[Point, ...]:
    return criterion_lines([sat(f"s{n}", n, m) for n, m in enumerate(marks)])[0].points


def test_an_interval_is_one_standard_deviation_wide_and_stays_on_the_scale() -> None:
    assert interval((0.0, 0.5, 0.5, 0.0)) == (1.5, 1.0, 2.0)
    assert interval((0.5, 0.0, 0.0, 0.5)) == (1.5, 0.0, 3.0)
    assert interval((0.0, 0.0, 0.5, 0.5)) == (2.5, 2.0, 3.0)
    assert interval((0.75, 0.25, 0.0, 0.0)) == (0.25, 0.0, 0.683), "0.25 + sqrt(0.25 - 0.0625)"


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any))
def test_the_expected_level_lies_in_its_interval(weights: list[int]) -> None:
    mean, low, high = interval(normalise(tuple(float(w) for w in weights)))
    assert 0 <= low <= mean <= high <= 3


def test_what_was_not_assessed_is_a_gap_and_a_round_without_the_criterion_is_not() -> None:
    lines = criterion_lines(
        [
            sat("third", 2, mark(level=2), mode="real"),
            sat("first", 0, mark(level=1), mark(HONEST, None)),
            sat("second", 1, mark(level=None), mark(MEASURE, 3, hints=1, retried=True)),
        ]
    )
    assert [(line.criterion, [(p.session_id, p.level) for p in line.points]) for line in lines] == [
        (TRADE, [("first", 1), ("second", None), ("third", 2)]),
        (MEASURE, [("second", 3)]),
    ]
    assert (lines[0].points[2].mode, lines[1].points[0].hints, lines[1].points[0].retried) == ("real", 1, True)


def test_a_flag_is_new_or_stays_or_is_gone() -> None:
    lines = flag_lines(
        [
            sat("a", 0, flags=("bluffing", "keyword_dropping", "decision_chain")),
            sat("b", 1, flags=("keyword_dropping",)),
            sat("c", 2, flags=("keyword_dropping", "honest_about_limits")),
            sat("d", 3, flags=("we_only",), rubric="behavioral"),
        ]
    )
    assert {line.flag: (line.state, line.strength) for line in lines} == {
        "bluffing": ("gone", False),
        "keyword_dropping": ("persists", False),
        "decision_chain": ("gone", True),
        "honest_about_limits": ("new", True),
        "we_only": ("new", False),
    }


def test_another_round_or_one_that_was_not_read_takes_no_flag_away() -> None:
    once = sat("a", 0, flags=("bluffing",))
    assert [f.state for f in flag_lines([once, sat("b", 1, rubric="behavioral")])] == ["new"]
    assert [f.state for f in flag_lines([once, sat("b", 1, mark(level=None), questions=("cache",))])] == ["new"]


@pytest.mark.parametrize(
    ("levels", "days"),
    [((1,), 1), ((2,), 2), ((1, 2, 3), 4), ((3, 1), 1), ((2, None, 2), 4), ((3,) * 5, 32), ((3,) * 12, 32)],
)
def test_the_pause_doubles_with_each_success_in_a_row(levels: tuple[int | None, ...], days: int) -> None:
    assert pause(points(*[mark(level=level) for level in levels])) == timedelta(days=days)


def test_a_success_with_help_does_not_lengthen_the_pause() -> None:
    assert pause(points(mark(level=3), mark(level=3, hints=1))) == DAY
    assert pause(points(mark(level=3), mark(level=3, retried=True))) == DAY


def test_the_weakest_that_is_due_comes_first() -> None:
    held = [sat("a", 0, mark(MEASURE, 2), mark(TRADE, 1), mark(HONEST, 0))]
    found = suggestions(held, ROUNDS, drills(), START + 1.5 * DAY)
    assert [(s.criterion, s.due) for s in found] == [(HONEST, True), (TRADE, True), (MEASURE, False)]
    assert found[2].due_at == START + 2 * DAY
    assert "is not due yet" in found[2].reason and "after 2 d" in found[2].reason
    assert all(s.drill is None for s in found), "their round is not there"


@pytest.mark.parametrize(
    ("cache", "batch", "expected", "says"),
    [
        (None, None, "cache", "never asked"),
        (1, None, "batch", "never asked"),
        (20, 3, "cache", "last asked on 2026-01-05"),
        (3, 20, "batch", "last asked on 2026-01-05"),
        (2, 6.9, "batch", "within the last 7 days"),
        (7, 2, "cache", "last asked on"),
    ],
)
def test_a_question_rests_for_seven_days_unless_nothing_else_fits(
    cache: float | None, batch: float | None, expected: str, says: str
) -> None:
    """Ages in days, seen from twenty days after the start."""
    held = [sat("weak", 0)]
    held += [
        sat(name, 20 - age, questions=(name,)) for name, age in (("cache", cache), ("batch", batch)) if age is not None
    ]
    [found] = suggestions(held, ROUNDS, drills(), START + 20 * DAY)
    assert found.question == expected
    assert says in found.reason


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["cache", "batch"])), max_size=12))
def test_a_question_of_the_last_week_is_suggested_only_when_all_are(asked: list[tuple[int, str]]) -> None:
    now = START + 40 * DAY
    held = [sat("weak", 0), *[sat(f"s{n}", day, questions=(q,)) for n, (day, q) in enumerate(asked)]]
    [found] = suggestions(held, ROUNDS, drills(), now)
    last = {q: max((day for day, name in asked if name == q), default=-100) for q in ("cache", "batch")}
    recent = {q for q, day in last.items() if 40 - day < 7}
    assert found.question not in recent or recent == {"cache", "batch"}
    assert ("within the last 7 days" in found.reason) == (recent == {"cache", "batch"})


def test_no_question_is_suggested_twice_and_nothing_at_all_before_the_first_level() -> None:
    both = {"deep_dive": rubric(question("cache"))}
    found = suggestions([sat("a", 0, mark(TRADE), mark(MEASURE))], both, drills(), START + 2 * DAY)
    assert [s.question for s in found] == ["cache", None]
    assert "No other question aims at it." in found[1].reason
    assert suggestions([sat("a", 0, mark(level=None))], both, drills(), START) == ()


def test_a_session_in_which_nothing_was_asked_is_not_in_the_memory() -> None:
    assert in_order([sat("a", 0, mark(level=None))]) == []


@pytest.mark.parametrize(
    ("started", "over", "counted"),
    [
        ({}, False, True),
        ({"mode": "real"}, False, False),
        ({"mode": "real"}, True, True),
        ({"origin": "replay", "parent": "p"}, True, False),
        ({"parent": "p"}, True, False),
    ],
)
def test_replays_and_running_real_sessions_do_not_count(started: dict[str, Any], over: bool, counted: bool) -> None:
    log = Log(**started)
    if over:
        log.add(ev.SessionEnded(reason="candidate"))
    assert counts(log.state) is counted


def test_two_attempts_are_compared_with_hints_taken_off() -> None:
    low = (0.5, 0.5, 0.0, 0.0)
    first = Log().choose("cache").ask("Why?").answer("a").read(assessed(tradeoff_reasoning=low, measurement=2)).state
    log = Log(mode="practice").choose("cache").ask("Why?")
    log.add(ev.HintGiven(turn=1, question_id="cache", rung=1, text="Look."))
    second = log.answer("b").read(assessed(**{TRADE: 3, HONEST: 1})).state
    later = second.model_copy(update={"started_at": START + DAY})
    old, new = attempts([later, first], "cache")
    assert (old.answers, new.answers, new.hints) == (("a",), ("b",), 1)
    found = compare(old, new)
    rows = {r.criterion: (r.change, r.clear, r.after.level if r.after else None) for r in found.levels}
    assert rows == {TRADE: (1.5, True, 2), MEASURE: (None, False, None), HONEST: (None, False, 1)}, "3 is capped to 2"
    assert found.remarks == ("The second had 1 hint(s): its levels can prove less.",)
    assert attempts([first], "batch") == ()


def test_another_try_in_one_session_is_an_attempt_of_its_own() -> None:
    log = Log().choose("cache").ask("Why?").answer("a").read(assessed(**{TRADE: 1}))
    log.choose("batch").ask("And?")
    log.choose("cache", again_of=1).ask("Why?").answer("b").read(assessed(**{TRADE: 3}))
    one, two = attempts([log.state], "cache")
    assert [(a.retry, a.levels[0].level) for a in (one, two)] == [(False, 1), (True, 2)]
    assert compare(one, two).levels[0].clear
