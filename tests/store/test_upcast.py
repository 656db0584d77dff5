"""Events survive storage exactly, and old versions can be read."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from interviewer.adapters.store import SqlEventStore
from interviewer.adapters.store.upcast import Fields, dump, load
from interviewer.core import events as ev
from interviewer.service.ports import StoreError

from .samples import NOON, answer, later
from .strategies import FOLLOWING, STARTED, event_classes


@given(STARTED | FOLLOWING)
def test_every_event_round_trips(event: ev.Event) -> None:
    assert load(event.type, event.v, dump(event)) == event


@settings(max_examples=25, deadline=None)
@given(STARTED, st.lists(FOLLOWING, max_size=6), st.lists(FOLLOWING, max_size=6))
def test_logs_round_trip_through_a_database(first: ev.Event, rest: list[ev.Event], more: list[ev.Event]) -> None:
    async def run() -> None:
        store = SqlEventStore.open("sqlite://")
        try:
            await store.create("s1", NOON, [first, *rest], token_hash="h")
            await store.append("s1", later(1), more, expected_seq=1 + len(rest))
            assert [r.event for r in await store.load("s1")] == [first, *rest, *more]
        finally:
            await store.close()

    asyncio.run(run())


def test_the_samples_cover_every_event() -> None:
    seen: set[type[BaseModel]] = set()

    @settings(max_examples=300, database=None)
    @given(STARTED | FOLLOWING)
    def collect(event: ev.Event) -> None:
        seen.add(type(event))

    collect()
    assert seen == event_classes()


def test_what_would_not_come_back_is_not_written() -> None:
    probe = ev.ProbeChosen(turn=1, question_id="q", probe="p", reason="r", elapsed=float("inf"))
    with pytest.raises(StoreError, match="probe_chosen"):
        dump(probe)
    half = answer().model_copy(update={"text": "\ud800"})
    with pytest.raises(StoreError, match="answer_given"):
        dump(half)
    odd = answer().model_copy(update={"turn": "1"})
    with pytest.raises(StoreError, match="answer_given"):
        dump(odd)


def _from_zero(fields: Fields) -> Fields:
    return {"type": "reply", "v": 1, "turn": fields["turn"], "msg_id": "legacy", "words": fields["words"]}


def _from_reply(fields: Fields) -> Fields:
    return {"type": "answer_given", "v": 1, "turn": fields["turn"], "msg_id": "legacy", "text": fields["words"]}


def test_old_versions_are_lifted_step_by_step() -> None:
    old = json.dumps({"type": "reply", "v": 0, "turn": 3, "words": "hi"})
    steps = {("reply", 0): _from_zero, ("reply", 1): _from_reply}
    assert load("reply", 0, old, steps) == ev.AnswerGiven(turn=3, msg_id="legacy", text="hi")


@pytest.mark.parametrize(
    ("kind", "v", "payload"),
    [
        ("answer_given", 2, '{"type":"answer_given","v":2,"turn":1,"msg_id":"m","text":"t"}'),
        ("answer_withdrawn", 1, '{"type":"answer_withdrawn","v":1}'),
        ("answer_given", 1, '{"type":"answer_given","v":1,'),
        ("answer_given", 1, "{}"),
    ],
)
def test_what_no_version_knows_is_a_store_error(kind: str, v: int, payload: str) -> None:
    with pytest.raises(StoreError, match=f"{kind} event of version {v}"):
        load(kind, v, payload)


def test_a_broken_upcaster_does_not_hang() -> None:
    with pytest.raises(StoreError, match="does not change the version"):
        load("reply", 0, "{}", {("reply", 0): lambda _: {"type": "reply", "v": 0}})
    with pytest.raises(StoreError, match="reply event of version 0"):
        load("reply", 0, "{}", {("reply", 0): _from_zero})
