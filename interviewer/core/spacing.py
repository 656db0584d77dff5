"""What to practise next, spaced over time, each with its reason.

The rule. A criterion comes back after an interval that starts at one day and doubles with each success in a row, up to
32 days; a session below level 2, or with a hint or another try, sets it back to one day. Criteria that are due come
first, the weakest of them first: by the expected level of the last session that assessed it. Of the questions that aim
at it, one never asked is taken before one asked longest ago; one asked within the last seven days is only taken when
nothing else fits, and the reason says so. The drill is the one that trains the criterion most and was not done within
the same seven days, where there is such a one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from interviewer.core.assessment import Frozen
from interviewer.core.drills import Drills
from interviewer.core.progress import CriterionLine, Point, Sitting, criterion_lines
from interviewer.core.rubric import Question, Rubric
from interviewer.core.text import label

FIRST = timedelta(days=1)
LONGEST = timedelta(days=32)
APART = timedelta(days=7)
"""Least time between two askings of one question, where another fits."""
SUCCESS = 2
"""Level from which a session without help counts as a success."""
MOST = 5


class Suggestion(Frozen):
    """One criterion to work on, with what to do."""

    criterion: str
    expected: float
    """Expected level in the last session that assessed it."""
    due_at: datetime
    """UTC."""
    due: bool
    question: str | None
    topic: str | None
    """What the question is about."""
    rubric: str | None
    """Round of the question."""
    drill: str | None
    reason: str


def pause(points: Sequence[Point]) -> timedelta:
    """Return how long a criterion rests after its last assessed point; points are oldest first."""
    run = 0
    for point in reversed([p for p in points if p.level is not None]):
        if (point.level or 0) < SUCCESS or point.hints or point.retried:
            break
        run += 1
    return min(LONGEST, FIRST * (1 << min(run, 10)))


def suggestions(
    sittings: Sequence[Sitting], rubrics: Mapping[str, Rubric], drills: Drills, now: datetime
) -> tuple[Suggestion, ...]:
    """Return what to do next, the most useful first; empty as long as nothing was assessed."""
    asked: dict[str, datetime] = {}
    done: dict[str, datetime] = {}
    for each in sorted(sittings, key=lambda s: s.at):
        asked |= dict.fromkeys(each.questions, each.at)
        done |= {each.drill: each.at} if each.drill else {}
    due: list[tuple[bool, float, datetime, CriterionLine, timedelta]] = []
    for line in criterion_lines(sittings):
        last = next(p for p in reversed(line.points) if p.level is not None)
        rest = pause(line.points)
        due.append((now < last.at + rest, last.expected or 0.0, last.at + rest, line, rest))
    due.sort(key=lambda row: (row[0], row[1], row[2], row[3].criterion))
    taken: set[str] = set()
    trained = {d for d, at in done.items() if now - at < APART}
    found = []
    for later, expected, at, line, rest in due[:MOST]:
        round_, question, recent = _question(line.criterion, rubrics, asked, taken, now)
        drill = drills.best_for(line.criterion, frozenset(trained))
        taken |= {question.id} if question else set()
        trained |= {drill.id} if drill else set()
        found.append(
            Suggestion(
                criterion=line.criterion,
                expected=expected,
                due_at=at,
                due=not later,
                question=question.id if question else None,
                topic=question.topic if question else None,
                rubric=round_,
                drill=drill.id if drill and drill.rubric in rubrics else None,
                reason=_reason(line.criterion, expected, rest, later, question, asked, recent),
            )
        )
    return tuple(found)


def _question(
    criterion: str, rubrics: Mapping[str, Rubric], asked: Mapping[str, datetime], taken: set[str], now: datetime
) -> tuple[str | None, Question | None, bool]:
    """Return a round and its question that aims at a criterion, and whether it was asked within the last days."""
    fitting = [
        (r.id, q)
        for r in rubrics.values()
        for q in r.questions
        if q.id not in taken and any(t.criterion == criterion for t in q.targets)
    ]
    if not fitting:
        return None, None, False
    round_, best = min(
        fitting, key=lambda pair: asked[pair[1].id].timestamp() if pair[1].id in asked else float("-inf")
    )
    return round_, best, best.id in asked and now - asked[best.id] < APART


def _reason(
    criterion: str,
    expected: float,
    rest: timedelta,
    later: bool,
    question: Question | None,
    asked: Mapping[str, datetime],
    recent: bool,
) -> str:
    when = "is not due yet" if later else "is due"
    parts = [
        f"{label(criterion)} stood at {expected:.1f} of 3 last time and {when}: it comes back after {rest.days} day(s)."
    ]
    if question is None:
        parts.append("No other question aims at it.")
    elif recent:
        parts.append("Every question that aims at it was asked within the last 7 days; this one is the longest ago.")
    elif question.id in asked:
        parts.append(f"The question was last asked on {asked[question.id]:%Y-%m-%d}.")
    else:
        parts.append("The question was never asked.")
    text = " ".join(parts)
    return text[0].upper() + text[1:]
