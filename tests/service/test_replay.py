"""Replays: a new session linked to its parent, which is never touched; and what changed, as data."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.assessment import Assessment
from interviewer.core.session import Phase, SessionState, fold
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.importing import Imports
from interviewer.service.judging import Judging
from interviewer.service.ports import UnknownSession
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions
from interviewer.testing import FakeClock, ScriptedJudge, sequential_ids, words_count

from .kit import ANSWER, Desk, any_language, begin, deps, kinds, library, load

OTHER = "The cache grows with every token of every user, so I cut the longest contexts first."


def world(store: SqlEventStore, judge: ScriptedJudge | None = None) -> Deps:
    judge = judge or ScriptedJudge(lambda _, text: 3 if "p50" in text else 2 if "p99" in text else 0)
    return deps(store, judge=judge, clock=FakeClock(step=0.0))


async def finished(given: Deps, answers: int = 3, **fields: Any) -> Desk:
    desk = await begin(given, **fields)
    for number in range(answers):
        await desk.answer(ANSWER if number % 2 == 0 else OTHER)
    await desk.interview.end()
    return desk


async def child(given: Deps, session_id: str) -> SessionState:
    return fold(await given.store.load(session_id))


def replays(given: Deps) -> Replays:
    return Replays(given, Sessions(given))


async def events(given: Deps, session_id: str) -> list[ev.Event]:
    return [r.event for r in await given.store.load(session_id)]


class _Named(ScriptedJudge):
    """Another judge."""

    identity = "scripted-2"


def answers(state: SessionState) -> list[str]:
    return [t.answer.text for t in state.turns if t.answer]


def choices(state: SessionState) -> list[str | None]:
    return [t.alternative.probe if t.alternative else None for t in state.turns]


async def test_another_persona_hears_the_same_answers_and_asks_otherwise(memory: SqlEventStore) -> None:
    given = world(memory)
    parent = await finished(given)
    before = await parent.log()
    session_id, token, diff = await replays(given).replay(parent.state.id, persona="hiring_manager")
    state = await child(given, session_id)
    assert await parent.log() == before, "the parent is not touched"
    assert (state.started.origin, state.started.parent) == ("replay", parent.state.id)
    assert (state.started.persona, state.started.rubric) == ("hiring_manager", "deep_dive")
    assert state.started.versions.persona == library().hashes["persona:hiring_manager"]
    assert answers(state) == answers(parent.state)
    assert [t.question for t in state.turns] == [t.question for t in parent.state.turns]
    assert state.ended is not None and state.ended.reason == "replayed"
    assert all(t.alternative is not None and t.alternative.counterfactual for t in state.turns)
    assert (diff.parent, diff.child) == (parent.state.id, session_id)
    assert diff.persona == ("deep_dive", "hiring_manager")
    assert diff.moved > 0
    for row, turn in zip(diff.probes, state.turns, strict=True):
        assert turn.question is not None and turn.probe is not None and turn.alternative is not None
        assert row.asked == turn.question.text
        assert row.same == (turn.alternative.probe == turn.probe.probe)
        assert row.instead == (None if row.same else turn.alternative.probe)
    assert await given.store.token_hash(session_id) != await given.store.token_hash(parent.state.id)
    assert token


async def test_the_readings_of_the_parent_are_kept_when_the_rubric_is_the_same(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(2)
    given = world(memory, judge)
    parent = await finished(given)
    read = len(judge.windows)
    session_id, _, diff = await replays(given).replay(parent.state.id, persona="recruiter")
    assert len(judge.windows) == read, "nothing is judged again"
    assert [t.result for t in (await child(given, session_id)).turns] == [t.result for t in parent.state.turns]
    assert all(level.before == level.after for level in diff.levels)
    assert diff.verdict[0] == diff.verdict[1]


async def test_the_same_persona_would_have_asked_the_same(memory: SqlEventStore) -> None:
    given = world(memory)
    parent = await finished(given, 6)
    session_id, _, diff = await replays(given).replay(parent.state.id)
    state = await child(given, session_id)
    assert choices(state) == [t.probe.probe for t in parent.state.turns if t.probe]
    assert diff.moved == 0


async def test_a_replay_is_repeatable(memory: SqlEventStore) -> None:
    given = world(memory)
    parent = await finished(given, 5)
    made = replays(given)
    for fields in ({"persona": "recruiter"}, {"rubric": "behavioral"}, {"judge": "again"}):
        first, _, one = await made.replay(parent.state.id, **fields)
        second, _, two = await made.replay(parent.state.id, **fields)
        assert first != second
        assert await events(given, first) == await events(given, second)
        assert one.model_copy(update={"child": ""}) == two.model_copy(update={"child": ""})
    branches = []
    for _ in range(2):
        session_id, _ = await made.what_if(parent.state.id, 2, {2: OTHER})
        desk = await load(given, session_id)
        await desk.answer()
        await desk.interview.end()
        branches.append(await events(given, session_id))
    assert branches[0] == branches[1], "what follows an edited answer is the same, too"


async def test_the_same_seed_and_answers_make_the_same_session(memory: SqlEventStore) -> None:
    given = world(memory)
    one, two = await finished(given, 6, seed=11), await finished(given, 6, seed=11)
    assert (await one.log())[1:] == (await two.log())[1:]
    openings = {(await begin(given, seed=seed)).question(1).text for seed in range(8)}
    assert len(openings) > 1, "another seed begins in another way"


async def test_another_rubric_reads_the_answers_again(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(1)
    given = world(memory, judge)
    parent = await finished(given)
    read = len(judge.windows)
    session_id, _, diff = await replays(given).replay(parent.state.id, rubric="behavioral")
    state = await child(given, session_id)
    assert len(judge.windows) > read
    assert diff.rubric == ("deep_dive", "behavioral")
    assert state.started.rubric == "behavioral"
    must_ask = list(library().rubrics["behavioral"].must_ask)
    for turn in state.turns:
        if turn.answer:
            assert isinstance(turn.result, Assessment)
            assert [c.criterion for c in turn.result.criteria] == must_ask


async def test_another_judge_reads_the_answers_again(memory: SqlEventStore) -> None:
    given = world(memory, ScriptedJudge(0))
    parent = await finished(given)
    later = deps(memory, judge=ScriptedJudge(3), clock=FakeClock(step=0.0), new_id=lambda: "judged-again")
    _, _, diff = await replays(later).replay(parent.state.id, judge="again")
    moved = [(d.before, d.after) for d in diff.levels if d.before is not None]
    assert moved and set(moved) == {(0, 3)}


async def test_hints_cost_the_same_in_a_replay(memory: SqlEventStore) -> None:
    given = world(memory, ScriptedJudge(3))
    desk = await begin(given)
    await desk.interview.hint()
    await desk.answer()
    await desk.interview.end()
    session_id, _, diff = await replays(given).replay(desk.state.id, persona="recruiter")
    assert (await child(given, session_id)).hints == desk.state.hints
    assert {d.after for d in diff.levels if d.after is not None} == {2}


async def test_a_replay_can_be_compared_later_and_replayed_itself(memory: SqlEventStore) -> None:
    given = world(memory)
    parent = await finished(given)
    session_id, _, diff = await replays(given).replay(parent.state.id, persona="recruiter")
    assert await replays(given).compare(session_id) == diff
    again, _, second = await replays(given).replay(session_id, persona="behavioral")
    assert second.parent == session_id
    assert answers(await child(given, again)) == answers(parent.state)


async def test_deleting_a_session_deletes_its_replays_and_stops_those_that_go_on(memory: SqlEventStore) -> None:
    given = world(memory)
    other = await finished(given)
    parent = await finished(given)
    sessions = Sessions(given)
    made = Replays(given, sessions)
    first, _, _ = await made.replay(parent.state.id)
    second, _, _ = await made.replay(first, persona="recruiter")
    going_on, _ = await made.what_if(first, 1, {1: OTHER})
    follower = (await sessions.open(going_on)).follow()
    assert await memory.replays(parent.state.id) == [first, *sorted([second, going_on])]
    await sessions.delete(parent.state.id)
    assert [row.id for row in await memory.rows()] == [other.state.id]
    assert sessions.loaded == 0
    assert follower.replaced


class Vanishing(SqlEventStore):
    """A store in which somebody deletes the parent just before its replay is stored."""

    async def create(
        self, session_id: str, at: datetime, events: Sequence[ev.Event], **fields: Any
    ) -> list[ev.Recorded]:
        started = events[0]
        assert isinstance(started, ev.SessionStarted)
        if started.parent:
            await self.delete(started.parent)
        return await super().create(session_id, at, events, **fields)


async def test_a_replay_of_what_is_deleted_meanwhile_does_not_stay() -> None:
    store = Vanishing.open("sqlite://")
    given = world(store)
    for name in ("replay", "what_if"):
        parent = await finished(given)
        with pytest.raises(UnknownSession):
            if name == "replay":
                await replays(given).replay(parent.state.id)
            else:
                await replays(given).what_if(parent.state.id, 1, {})
        assert await store.rows() == []
    await store.close()


async def test_who_asked_is_who_asks_again_swaps_included(memory: SqlEventStore) -> None:
    given = world(memory)
    desk = await begin(given)
    await desk.answer()
    await desk.interview.swap("recruiter")
    await desk.answer(OTHER)
    await desk.answer()
    await desk.interview.end()
    session_id, _, diff = await replays(given).replay(desk.state.id)
    state = await child(given, session_id)
    assert diff.moved == 0, [p for p in diff.probes if not p.same]
    assert (state.started.persona, state.persona) == ("deep_dive", "recruiter")


async def test_the_parents_stored_events_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'replays.db'}"
    store = SqlEventStore.open(url)
    given = world(store)
    parent = await finished(given, 4)

    def rows() -> list[tuple[Any, ...]]:
        with sqlite3.connect(tmp_path / "replays.db") as connection:
            found: list[tuple[Any, ...]] = connection.execute(
                "SELECT * FROM event WHERE session_id = ? ORDER BY seq", (parent.state.id,)
            ).fetchall()
            return found

    before = rows()
    made = replays(given)
    for fields in ({"persona": "recruiter"}, {"rubric": "behavioral"}, {"judge": "again"}):
        await made.replay(parent.state.id, **fields)
    session_id, _ = await made.what_if(parent.state.id, 2, {1: OTHER})
    desk = await load(given, session_id)
    await desk.answer()
    await desk.interview.end()
    assert len(before) > 10
    assert rows() == before
    await store.close()


async def test_kept_readings_are_stamped_with_the_judge_that_made_them(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(1)
    given = world(memory, judge)
    parent = await finished(given)
    later = replace(given, judging=Judging(_Named(2), words_count, any_language), new_id=sequential_ids("later"))
    kept, _, same = await replays(later).replay(parent.state.id, persona="recruiter")
    again, _, other = await replays(later).replay(parent.state.id, judge="again")
    first, second = [(await child(given, i)).started.versions.judge for i in (kept, again)]
    assert first == given.judging.identity == same.judge[0] == same.judge[1] == other.judge[0]
    assert second == later.judging.identity == other.judge[1] != first
    assert len(other.remarks) == 1 and first in other.remarks[0] and second in other.remarks[0]
    session_id, _ = await replays(later).what_if(parent.state.id, 3, {3: OTHER})
    read = [t.result for t in (await child(given, session_id)).turns[:2]]
    assert [r.judge for r in read if isinstance(r, Assessment)] == [second] * 2, "one session has one judge"


async def test_the_same_judge_that_finds_the_same_says_so(memory: SqlEventStore) -> None:
    given = world(memory)
    parent = await finished(given)
    _, _, diff = await replays(given).replay(parent.state.id, judge="again")
    name = diff.judge[0]
    assert diff.remarks == (f"Both have the readings of one judge ({name}). Levels, flags and verdict are the same.",)


async def test_a_parent_whose_documents_are_gone_is_refused_with_what_to_do(memory: SqlEventStore) -> None:
    given = world(memory)
    parent = await finished(given)
    log = [r.event for r in await memory.load(parent.state.id)]
    assert isinstance(log[0], ev.SessionStarted)
    for name, change in (("old-p", {"persona": "wizard"}), ("old-r", {"rubric": "poker"})):
        old = [log[0].model_copy(update=change), *log[1:]]
        await memory.create(name, parent.state.started_at, old, token_hash="h")
    made = replays(given)
    rows = len(await memory.rows())
    for call, code, says in (
        (made.replay("old-p"), "unknown_persona", "held with the persona 'wizard'"),
        (made.what_if("old-p", 1, {}), "unknown_persona", "held with the persona 'wizard'"),
        (made.replay("old-r"), "unknown_rubric", "held with the rubric 'poker'"),
        (made.replay("old-r", rubric="behavioral"), "unknown_rubric", "cannot be compared"),
        (made.what_if("old-r", 1, {}), "unknown_rubric", "held with the rubric 'poker'"),
    ):
        with pytest.raises(Refused) as refused:
            await call
        assert refused.value.code == code
        assert says in refused.value.message
    assert len(await memory.rows()) == rows, "nothing was stored"
    session_id, _, _ = await made.replay("old-p", persona="recruiter")
    assert (await child(given, session_id)).started.persona == "recruiter"


async def test_what_cannot_be_replayed_is_refused(memory: SqlEventStore) -> None:
    given = world(memory)
    fresh = await begin(given)
    made = replays(given)
    answered = await finished(given)
    cases: list[tuple[str, dict[str, Any], str]] = [
        (fresh.state.id, {}, "nothing_to_replay"),
        (answered.state.id, {"persona": "pirate"}, "unknown_persona"),
        (answered.state.id, {"rubric": "poker"}, "unknown_rubric"),
    ]
    for session_id, fields, code in cases:
        with pytest.raises(Refused) as refused:
            await made.replay(session_id, **fields)
        assert refused.value.code == code
    with pytest.raises(UnknownSession):
        await made.replay("nobody")
    with pytest.raises(Refused) as refused:
        await made.compare(answered.state.id)
    assert refused.value.code == "not_a_replay"
    assert len(await memory.rows()) == 2, "nothing was stored"


async def test_a_running_real_session_shows_no_levels_through_a_replay(memory: SqlEventStore) -> None:
    given = world(memory)
    desk = await begin(given, mode="real")
    await desk.answer()
    made = replays(given)
    for refused_call in (made.replay(desk.state.id), made.what_if(desk.state.id, 1, {})):
        with pytest.raises(Refused) as refused:
            await refused_call
        assert refused.value.code == "session_running"
    await desk.interview.end()
    session_id, _ = await made.what_if(desk.state.id, 1, {1: OTHER})
    with pytest.raises(Refused) as refused:
        await made.compare(session_id)
    assert refused.value.code == "session_running", "the what-if runs in real mode, too"


class TestWhatIf:
    """Going on live from an edited answer."""

    async def test_it_goes_on_from_the_edited_answer(self, memory: SqlEventStore) -> None:
        given = world(memory)
        parent = await finished(given, 4)
        before = await parent.log()
        session_id, _ = await replays(given).what_if(parent.state.id, 2, {2: "We watched p50 instead."})
        desk = await load(given, session_id)
        assert desk.state.phase is Phase.AWAITING
        assert len(desk.state.turns) == 3
        assert answers(desk.state) == [ANSWER, "We watched p50 instead."]
        assert desk.state.turns[0] == parent.state.turns[0].model_copy(
            update={"answer": ev.AnswerGiven(turn=1, msg_id="replay-1", text=ANSWER)}
        )
        second = desk.state.turns[1].result
        assert isinstance(second, Assessment) and {c.level for c in second.criteria} == {3}
        await desk.answer()
        await desk.interview.end()
        assert kinds(await desk.log())[-2:] == ["question_asked", "session_ended"]
        assert await parent.log() == before, "the parent is not touched"
        diff = await replays(given).compare(session_id)
        assert diff.parent == parent.state.id

    async def test_without_an_edit_it_asks_what_was_asked(self, memory: SqlEventStore) -> None:
        given = world(memory)
        parent = await finished(given, 4)
        session_id, _ = await replays(given).what_if(parent.state.id, 2, {})
        desk = await load(given, session_id)
        assert [t.probe for t in desk.state.turns] == [t.probe for t in parent.state.turns[:3]]
        with pytest.raises(Refused) as refused:
            await replays(given).compare(session_id)
        assert refused.value.code == "session_running", "there is no comparison while it goes on"
        await desk.interview.end()
        assert (await replays(given).compare(session_id)).moved == 0

    async def test_the_clock_goes_on_where_it_stood(self, memory: SqlEventStore) -> None:
        given = deps(memory, judge=ScriptedJudge(2), clock=(clock := FakeClock(step=0.0)))
        parent = await begin(given)
        for _ in range(2):
            clock.advance(240)
            await parent.answer()
        await parent.interview.end()
        clock.advance(86_400)
        session_id, _ = await replays(given).what_if(parent.state.id, 2, {2: OTHER})
        desk = await load(given, session_id)
        assert desk.state.active_seconds == 480
        assert desk.state.turns[2].probe is not None
        assert desk.state.turns[2].probe.elapsed == 0.4, "8 of 20 minutes"
        clock.advance(120)
        await desk.answer()
        again, _ = await replays(given).what_if(session_id, 3, {})
        assert (await child(given, again)).active_seconds == 600, "a what-if of a what-if goes on, too"
        early, _ = await replays(given).what_if(parent.state.id, 1, {})
        assert (await child(given, early)).active_seconds == 240

    async def test_who_took_over_before_still_asks_and_who_took_over_later_does_not(
        self, memory: SqlEventStore
    ) -> None:
        given = world(memory)
        parent = await begin(given)
        await parent.answer()
        await parent.interview.swap("recruiter")
        await parent.answer()
        await parent.interview.swap("behavioral")
        await parent.answer()
        await parent.interview.end()
        asked = []
        for turn in (1, 2, 3):
            session_id, _ = await replays(given).what_if(parent.state.id, turn, {turn: OTHER})
            desk = await load(given, session_id)
            asked.append((desk.state.started.persona, desk.question(turn + 1).persona))
        assert asked == [("deep_dive", "deep_dive"), ("deep_dive", "recruiter"), ("deep_dive", "behavioral")]

    async def test_hints_and_notices_before_are_kept(self, memory: SqlEventStore) -> None:
        given = world(memory)
        parent = await begin(given)
        await parent.interview.hint()
        await parent.answer()
        await parent.interview.hint()
        await parent.answer()
        await parent.interview.end()
        session_id, _ = await replays(given).what_if(parent.state.id, 1, {1: OTHER})
        assert (await child(given, session_id)).hints == parent.state.hints[:1]

    async def test_an_import_goes_on_live_from_the_place_of_its_recording(self, memory: SqlEventStore) -> None:
        given = world(memory)
        imports = Imports(given, Sessions(given))
        text = "".join(f"Interviewer: What about {n}?\nCandidate: {ANSWER}\n" for n in ("one", "two", "three", "four"))
        taken = await imports.take(text, rubric="deep_dive", candidate="Candidate")
        await imports.settled(taken.id)
        before = await events(given, taken.id)
        session_id, _ = await replays(given).what_if(taken.id, 3, {3: OTHER})
        state = await child(given, session_id)
        assert state.turns[2].probe is not None
        assert state.active_seconds == state.turns[2].probe.elapsed * state.started.minutes * 60 > 0
        desk = await load(given, session_id)
        assert desk.state.phase is Phase.AWAITING
        assert [bool(t.result) for t in desk.state.turns] == [True, True, True, False]
        assert await events(given, taken.id) == before

    async def test_an_earlier_edit_has_all_later_answers_read_again(self, memory: SqlEventStore) -> None:
        given = world(memory)
        parent = await finished(given, 3)
        session_id, _ = await replays(given).what_if(parent.state.id, 3, {1: OTHER})
        state = await child(given, session_id)
        assert state.phase is Phase.JUDGING, "the last answer is read live"
        first, second = state.turns[0].result, state.turns[1].result
        assert isinstance(first, Assessment) and isinstance(second, Assessment)
        assert {c.level for c in first.criteria} == {0}, "p99 is no longer said"
        assert {c.level for c in second.criteria} == {0}

    @pytest.mark.parametrize(
        ("turn", "edits", "code"),
        [
            (9, {}, "unknown_turn"),
            (4, {}, "unknown_turn"),
            (1, {2: "later"}, "bad_edit"),
            (2, {2: "  "}, "bad_edit"),
            (2, {7: "no such turn"}, "bad_edit"),
        ],
    )
    async def test_what_does_not_exist_cannot_be_edited(
        self, memory: SqlEventStore, turn: int, edits: dict[int, str], code: str
    ) -> None:
        given = world(memory)
        parent = await finished(given, 3)
        with pytest.raises(Refused) as refused:
            await replays(given).what_if(parent.state.id, turn, edits)
        assert refused.value.code == code
        assert len(await memory.rows()) == 1
