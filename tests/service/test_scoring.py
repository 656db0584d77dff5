"""Scoring one answer: stateless, by question or text or rubric of one's own, one or many at once."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from interviewer.adapters.store import SqlEventStore
from interviewer.core import facts
from interviewer.core.assessment import UnscoredReason
from interviewer.core.prompts import VERSION
from interviewer.core.reading import CriterionSpec, RawReading, Window
from interviewer.core.referenced import told
from interviewer.core.rubric import anchor
from interviewer.service.errors import Refused
from interviewer.service.ports import Judge
from interviewer.service.score_request import BatchItem, ScoreRequest
from interviewer.service.scoring import BATCH_LIMIT, CONCURRENT, Scoring
from interviewer.testing import JUDGE_DOWN, ScriptedJudge
from interviewer.web.models import Batch

from .kit import ANSWER, deps, eventually, library

QUESTION = library().rubrics["deep_dive"].questions[1]
OWN = {
    "criteria": {
        "calm": {
            "asks": "Is the answer calm?",
            "levels": {"0": "It shouts.", "1": "It is loud.", "2": "It is even.", "3": "It is calm."},
        }
    }
}


def scoring(store: SqlEventStore, judge: Judge | None = None) -> Scoring:
    return Scoring(deps(store, judge=judge or ScriptedJudge(2)))


def request(**fields: Any) -> ScoreRequest:
    """Parse a request as it comes over HTTP: JSON read into Python values."""
    return ScoreRequest.model_validate({"question": {"id": QUESTION.id}, "answer": ANSWER, **fields})


async def test_a_question_is_scored_on_its_own_targets(memory: SqlEventStore) -> None:
    result = await scoring(memory).score(request())
    assert [s.criterion for s in result.scores] == [t.criterion for t in QUESTION.targets]
    for score in result.scores:
        criterion = library().vocabulary.criteria[score.criterion]
        assert (score.level, score.asks, score.anchor) == (2, criterion.asks, anchor(criterion, 2))
        assert score.expected == pytest.approx(sum(n * p for n, p in enumerate(score.probabilities)), abs=1e-3)
        assert all(ANSWER[q.start : q.end] == q.text for q in score.evidence) and score.evidence
    assert result.unscored is None
    assert result.coaching is not None and result.coaching.contrast == QUESTION.coaching
    assert {n.criterion for n in result.coaching.notes} == {s.criterion for s in result.scores}
    assert result.versions == {
        "rubric": library().hashes["rubric:deep_dive"],
        "criteria": result.versions["criteria"],
        "prompt": VERSION,
        "facts": facts.VERSION,
        "judge": f"scripted:facts-{facts.VERSION}",
        "model": "scripted",
        "adapter": "none",
        "calibration": "none",
    }
    assert 0 <= result.timing.judge_ms <= result.timing.total_ms + 0.1


async def test_nothing_is_stored(memory: SqlEventStore) -> None:
    await scoring(memory).score(request())
    assert await memory.rows() == []


async def test_the_senior_wording_is_what_a_senior_is_judged_on(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(1)
    question = next(q for q in library().rubrics["deep_dive"].questions if q.senior)
    for level in ("mid", "senior"):
        await scoring(memory, judge).score(request(question={"id": question.id}, level=level))
    assert [w.question for w in judge.windows] == [question.text, question.senior]


@pytest.mark.parametrize(
    ("fields", "criteria"),
    [
        ({"criteria": ["measurement"]}, ["measurement"]),
        ({"criteria": ["measurement", "measurement"]}, ["measurement"]),
        ({"rubric": "behavioral"}, list(library().rubrics["behavioral"].must_ask)),
        ({"rubric": "behavioral", "criteria": ["measurement"]}, ["measurement"]),
        ({"rubric": OWN}, ["calm"]),
    ],
)
async def test_a_free_question_is_scored_on_what_is_asked_for(
    memory: SqlEventStore, fields: dict[str, Any], criteria: list[str]
) -> None:
    result = await scoring(memory).score(request(question={"text": "How do you stay calm?"}, **fields))
    assert [s.criterion for s in result.scores] == criteria


async def test_a_rubric_of_ones_own_brings_its_own_words(memory: SqlEventStore) -> None:
    result = await scoring(memory).score(request(question={"text": "How do you stay calm?"}, rubric=OWN))
    (score,) = result.scores
    assert (score.asks, score.anchor) == ("Is the answer calm?", "It is even.")
    assert result.coaching is None, "there is nothing of ours to coach with"


async def test_versions_change_with_what_shaped_the_score_and_with_nothing_else(memory: SqlEventStore) -> None:
    louder = {"criteria": {"calm": {**OWN["criteria"]["calm"], "asks": "Is the answer loud?"}}}
    free: dict[str, Any] = {"question": {"text": "How do you stay calm?"}}
    asked = [
        {**free, "rubric": OWN},
        {**free, "rubric": OWN, "answer": "Another answer, which changes no version."},
        {**free, "rubric": louder},
        {**free, "rubric": OWN, "reference": "I breathe."},
        {**free, "rubric": "behavioral"},
        {**free, "criteria": ["measurement"]},
    ]
    own, same, other, referenced, round_, named = [
        (await scoring(memory).score(request(**fields))).versions for fields in asked
    ]
    assert own == same
    assert other["rubric"] != own["rubric"] and other["criteria"] != own["criteria"]
    assert referenced["rubric"] == own["rubric"] and referenced["criteria"] != own["criteria"]
    assert (round_["rubric"], named["rubric"]) == (library().hashes["rubric:behavioral"], "none")


async def test_a_reference_is_read_against_and_may_be_said(memory: SqlEventStore) -> None:
    said = "Paging cuts the cache into fixed blocks, so hardly any of its memory stays unused."
    judge = Asking(2)
    result = await scoring(memory, judge).score(request(rubric=OWN, answer=said, reference=said))
    assert result.notices == (), "what agrees with the reference is right, not copied"
    assert [s.level for s in result.scores] == [2]
    assert [told(c) for c in judge.asked] == [f"Is the answer calm? A full answer says: {said}"]


class Asking(ScriptedJudge):
    """Keeps the criteria that it was asked for."""

    asked: tuple[CriterionSpec, ...] = ()

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        self.asked = tuple(criteria)
        return await super().read(window, criteria)


async def test_a_criterion_of_ones_own_cannot_take_a_name_of_ours(memory: SqlEventStore) -> None:
    mine = {"criteria": {"measurement": OWN["criteria"]["calm"]}}
    with pytest.raises(Refused) as refused:
        await scoring(memory).score(request(rubric=mine))
    assert refused.value.code == "bad_rubric"
    assert "measurement" in refused.value.message and "another name" in refused.value.message


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"question": {"id": "no-such"}}, "unknown_question"),
        ({"question": {"text": "A question of mine?"}}, "no_criteria"),
        ({"criteria": ["beauty"]}, "unknown_criterion"),
        ({"question": {"text": "A question of mine?"}, "rubric": "poker"}, "unknown_rubric"),
        ({"rubric": "poker"}, "unknown_rubric"),
        ({"rubric": "poker", "criteria": ["measurement"]}, "unknown_rubric"),
        ({"rubric": OWN, "criteria": ["beauty"]}, "unknown_criterion"),
    ],
)
async def test_what_is_unknown_is_refused(memory: SqlEventStore, fields: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refused:
        await scoring(memory).score(request(**fields))
    assert refused.value.code == code


@pytest.mark.parametrize(
    "fields",
    [
        {"question": {}},
        {"question": {"id": "a", "text": "Both of them?"}},
        {"question": {"id": "a", "more": 1}},
        {"answer": "x" * 20_001},
        {"level": "staff"},
        {"extra": 1},
        {"rubric": {"criteria": {}}},
        {"rubric": {"criteria": {"calm": {"asks": "Is it?", "levels": {"0": "abc", "1": "abc", "2": "abc"}}}}},
        {"rubric": {"criteria": {"No Slug": OWN["criteria"]["calm"]}}},
        {"criteria": ["a"] * 9},
        {"reference": "x" * 2401},
    ],
)
def test_what_has_not_the_right_shape_is_not_a_request(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        request(**fields)


@pytest.mark.parametrize(
    ("change", "at", "message"),
    [
        ({"levels": ["abc", "abd", "abe"]}, "levels", "give four anchors, for the levels 0 to 3 in order; there are 3"),
        ({"levels": {"0": "abc", "1": "abd", "2": "abe", "4": "abf"}}, "levels", "an anchor for each of the levels"),
        ({"levels": ["None.", "Some.", " some. ", "All."]}, "", "levels 1 and 2 have the same anchor"),
        ({"levels": ["None.", "Some.", "   ", "All of it."]}, "levels.2", "at least 3 characters"),
        ({"asks": "     "}, "asks", "at least 3 characters"),
        ({"weight": 2}, "weight", "Extra inputs are not permitted"),
    ],
)
def test_what_is_wrong_with_a_rubric_of_ones_own_is_said_with_its_place(
    change: dict[str, Any], at: str, message: str
) -> None:
    rubric = {"criteria": {"calm": {**OWN["criteria"]["calm"], **change}}}
    with pytest.raises(ValidationError) as wrong:
        request(rubric=rubric)
    (error,) = wrong.value.errors()
    assert ".".join(map(str, error["loc"])) == f"rubric.own.criteria.calm.{at}".rstrip(".")
    assert message in error["msg"]


async def test_an_empty_answer_shows_nothing_and_needs_no_judge(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(3)
    for answer in ("", "   ", "Yes."):
        result = await scoring(memory, judge).score(request(answer=answer))
        assert {s.level for s in result.scores} == {0}
        assert [n.code for n in result.notices] == ["too_short"]
    assert judge.windows == []


async def test_a_judge_that_is_down_gives_no_numbers(memory: SqlEventStore) -> None:
    result = await scoring(memory, ScriptedJudge(JUDGE_DOWN)).score(request())
    assert result.scores == () and result.flags == () and result.coaching is None
    assert result.unscored is not None and result.unscored.reason is UnscoredReason.JUDGE_UNAVAILABLE


class Forgetful(ScriptedJudge):
    """Does not keep what it read."""

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        readings = await super().read(window, criteria)
        self.windows.clear()
        return readings


class Stuck(ScriptedJudge):
    """Reads one window and hangs on all others."""

    reading = 0

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        if window.segments[-1].quote.text == "0":
            return await super().read(window, criteria)
        self.reading += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.reading -= 1
        return []


def short(number: int) -> BatchItem:
    answer = f"We held p99 latency at {number} ms at batch 8."
    free = {"question": {"text": "What did you cut?"}, "criteria": ["measurement"]}
    return BatchItem.model_validate({"id": f"i{number}", "answer": answer, **free})


def item(number: int, **fields: Any) -> BatchItem:
    base = {"id": f"i{number}", "question": {"id": QUESTION.id}, "answer": f"{ANSWER} {number}"}
    return BatchItem.model_validate({**base, **fields})


class TestBatch:
    """Many answers at once."""

    async def test_outcomes_come_in_the_order_of_the_items(self, memory: SqlEventStore) -> None:
        outcomes = await scoring(memory).batch([item(n) for n in (3, 1, 2)])
        assert [o.id for o in outcomes] == ["i3", "i1", "i2"]
        assert all(o.result and o.result.scores and o.error is None for o in outcomes)

    async def test_the_same_item_twice_is_scored_once(self, memory: SqlEventStore) -> None:
        judge = ScriptedJudge(1)
        outcomes = await scoring(memory, judge).batch([item(1), item(2), item(1)])
        assert [o.id for o in outcomes] == ["i1", "i2", "i1"]
        assert outcomes[0] == outcomes[2]
        assert len(judge.windows) == 2

    async def test_one_id_with_two_contents_is_a_conflict(self, memory: SqlEventStore) -> None:
        judge = ScriptedJudge(1)
        with pytest.raises(Refused) as refused:
            await scoring(memory, judge).batch([item(1), item(1, answer="something else")])
        assert refused.value.code == "conflicting_items" and "'i1'" in refused.value.message
        assert judge.windows == []

    async def test_an_item_that_fails_does_not_fail_the_others(self, memory: SqlEventStore) -> None:
        bad = item(2, question={"id": "no-such"})
        good, failed, last = await scoring(memory).batch([item(1), bad, item(3)])
        assert good.result is not None and last.result is not None
        assert failed.result is None and failed.error is not None
        assert failed.error["code"] == "unknown_question"

    async def test_an_item_of_the_wrong_shape_fails_alone_if_it_says_who_it_is(self, memory: SqlEventStore) -> None:
        items = Batch.model_validate(
            {
                "items": [
                    item(1).model_dump(),
                    {"id": "i2", "answer": "x" * 20_001},
                    {**item(3).model_dump(), "rubric": {"criteria": {"calm": {"asks": "Is it calm?"}}}},
                ]
            }
        ).items
        good, long, rubric = await scoring(memory).batch(items)
        assert good.result is not None
        assert long.error is not None and long.error["code"] == "invalid_item"
        assert "question: Field required" in long.error["message"] and "answer: " in long.error["message"]
        assert "xxx" not in long.error["message"]
        assert rubric.error is not None
        assert rubric.error["message"] == "rubric.own.criteria.calm.levels: Field required"
        for nobody in ({"answer": "no id"}, {"id": 7}, "text", None):
            with pytest.raises(ValidationError):
                Batch.model_validate({"items": [nobody]})

    async def test_a_defect_of_the_judge_is_an_error_of_its_item(
        self, memory: SqlEventStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        def level(_: str, text: str) -> int:
            return 1 // ("2" not in text.split())

        one, two, three = await scoring(memory, ScriptedJudge(level)).batch([item(n) for n in (1, 2, 3)])
        assert one.result is not None and three.result is not None
        assert two.error is not None and two.error["code"] == "internal_error"
        assert "ZeroDivisionError" in caplog.text and ANSWER not in caplog.text

    async def test_outcomes_are_there_before_the_batch_is_through(self, memory: SqlEventStore) -> None:
        judge = ScriptedJudge(1)
        outcomes = scoring(memory, judge).each([item(n) for n in range(50)])
        first = await anext(outcomes)
        assert first.result is not None
        assert len(judge.windows) <= CONCURRENT, "who does not read on lets the judge rest"
        await outcomes.aclose()
        assert len(judge.windows) <= CONCURRENT

    async def test_closing_ends_what_the_judge_is_reading(self, memory: SqlEventStore) -> None:
        judge = Stuck()
        outcomes = scoring(memory, judge).each([item(n) for n in range(50)])
        assert (await anext(outcomes)).id == "i0"
        await eventually(lambda: judge.reading == CONCURRENT - 1)
        await outcomes.aclose()
        assert judge.reading == 0

    async def test_memory_is_flat_over_ten_thousand_answers(self, memory: SqlEventStore) -> None:
        made = scoring(memory, Forgetful(2))
        held: dict[int, int] = {}
        scored = 0
        tracemalloc.start()
        try:
            async for outcome in made.each(short(n) for n in range(10_000)):
                assert outcome.result is not None
                scored += 1
                if scored in (2_000, 10_000):
                    gc.collect()
                    held[scored] = tracemalloc.get_traced_memory()[0]
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert held[10_000] - held[2_000] < 8 * 8_000, "not so much as a pointer is kept of an answer"
        assert most < BATCH_LIMIT * len(outcome.model_dump_json()), "nor is one batch of results ever there at once"

    async def test_too_many_items_are_refused(self, memory: SqlEventStore) -> None:
        with pytest.raises(Refused) as refused:
            await scoring(memory).batch([item(n) for n in range(BATCH_LIMIT + 1)])
        assert refused.value.code == "batch_too_large"

    async def test_a_result_is_the_same_alone_and_in_a_batch(self, memory: SqlEventStore) -> None:
        made = scoring(memory, ScriptedJudge(lambda c, t: (len(c) + len(t)) % 4))
        alone = await made.score(request(answer=f"{ANSWER} 7"))
        together = await made.batch([item(n) for n in range(9)])
        result = together[7].result
        assert result is not None
        assert result.scores == alone.scores and result.flags == alone.flags and result.versions == alone.versions
