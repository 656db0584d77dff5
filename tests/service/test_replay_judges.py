"""A session read again by a judge of one's choice: levels, flags and verdict side by side, the original untouched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core.session import fold
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.judging import Judging
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions
from interviewer.testing import FakeClock, ScriptedJudge, words_count

from .kit import any_language, begin, deps


class Strict(ScriptedJudge):
    """Another judge."""

    identity = "strict-1"


def house(store: SqlEventStore) -> Deps:
    given = deps(store, judge=ScriptedJudge(3), clock=FakeClock(step=0.0))
    return replace(given, judges={"strict": Judging(Strict(1), words_count, any_language)})


async def test_a_named_judge_reads_the_answers_again(memory: SqlEventStore) -> None:
    given = house(memory)
    desk = await begin(given)
    await desk.answer()
    await desk.interview.end()
    before = await given.store.load(desk.state.id)
    made = Replays(given, Sessions(given))
    child, _, diff = await made.replay(desk.state.id, judge="strict")
    state = fold(await given.store.load(child))
    assert state.started.versions.judge.startswith("strict-1:facts-")
    assert diff.judge == (given.judging.identity, given.judges["strict"].identity)
    assert {(level.before, level.after) for level in diff.levels if level.before is not None} == {(3, 1)}
    assert await given.store.load(desk.state.id) == before, "the original"
    again, _, other = await made.replay(desk.state.id, judge="strict")
    assert [r.event for r in await given.store.load(again)] == [r.event for r in await given.store.load(child)]
    assert (other.levels, other.flags, other.verdict) == (diff.levels, diff.flags, diff.verdict)
    _, _, kept = await made.replay(child, persona="recruiter")
    assert kept.judge == (state.started.versions.judge,) * 2, "readings that are kept stay that judge's"


async def test_a_judge_that_is_not_there_is_refused_with_those_that_are(memory: SqlEventStore) -> None:
    given = house(memory)
    desk = await begin(given)
    await desk.answer()
    with pytest.raises(Refused) as refused:
        await Replays(given, Sessions(given)).replay(desk.state.id, judge="lenient")
    assert refused.value.code == "unknown_judge" and refused.value.choices == ("again", "strict")
    assert len(await given.store.rows()) == 1, "nothing was stored"
