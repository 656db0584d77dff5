"""Whole turns: what is asked, in which order it is stored, and what the candidate sees of it."""

from __future__ import annotations

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.assessment import Assessment
from interviewer.core.facts import VERSION as FACTS
from interviewer.core.session import Phase
from interviewer.service.errors import Refused
from interviewer.service.frames import Committed, Delta, Progress
from interviewer.service.interview import MAX_ANSWER
from interviewer.testing import FakeClock, ScriptedJudge, ScriptedModel

from .kit import ANSWER, begin, deps, kinds, library

TURN = ["answer_given", "answer_assessed", "probe_chosen", "question_asked"]


async def test_the_opening_greets_with_the_minutes_and_asks_an_authored_question(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory), persona="recruiter", minutes=15, seed=0)
    asked = desk.question(1)
    probe = desk.state.turns[0].probe
    assert probe is not None and probe.criterion is None
    greeting = library().personas["recruiter"].openings
    assert asked.text.endswith(f" {probe.probe}")
    assert asked.text.removesuffix(f" {probe.probe}") in [text.replace("{minutes}", "15") for text in greeting]
    assert (asked.source, asked.problems, asked.interrupted) == ("authored", (), False)
    assert kinds(await desk.log()) == ["session_started", "probe_chosen", "question_asked"]
    assert desk.state.phase is Phase.AWAITING


async def test_an_answer_is_read_before_the_next_question_is_chosen(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(1)
    desk = await begin(deps(memory, judge=judge))
    await desk.answer()
    log = await desk.log()
    assert kinds(log) == ["session_started", "probe_chosen", "question_asked", *TURN]
    given, read, chosen, asked = log[3:]
    assert isinstance(given, ev.AnswerGiven) and (given.turn, given.text) == (1, ANSWER)
    assert isinstance(read, ev.AnswerAssessed) and read.turn == 1
    assert isinstance(chosen, ev.ProbeChosen) and chosen.turn == 2
    assert isinstance(asked, ev.QuestionAsked) and asked.turn == 2
    question = library().rubrics["deep_dive"].question(chosen.question_id)
    assert question is not None
    assert [c.criterion for c in read.assessment.criteria] == [t.criterion for t in question.targets]
    assert {c.level for c in read.assessment.criteria} == {1}
    assert read.assessment.judge == f"scripted:facts-{FACTS}"
    assert judge.windows[0].question == question.text


async def test_frames_come_in_the_order_of_the_log(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.answer()
    seqs = [f.recorded.seq for f in desk.frames if isinstance(f, Committed)]
    assert seqs == [2, 3, 4, 5, 6, 7]
    assert desk.stages == ["asking", "waiting", "reading", "asking", "waiting"]
    first_delta = next(i for i, f in enumerate(desk.frames) if isinstance(f, Delta) and f.turn == 2)
    chosen = desk.frames.index(Progress("asking", 2))
    stored = next(i for i, f in enumerate(desk.frames) if isinstance(f, Committed) and f.recorded.seq == 7)
    assert chosen < first_delta < stored


async def test_a_follow_up_reads_everything_that_was_said_on_the_question(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(1)
    desk = await begin(deps(memory, judge=judge))
    await desk.answer("Batching raises throughput because weights are read once for all.")
    await desk.answer("The tail was 300 ms at p99 before we split prefill from decode.")
    read = [segment.quote for segment in judge.windows[-1].segments]
    assert [(q.turn, q.text) for q in read] == [
        (1, "Batching raises throughput because weights are read once for all."),
        (2, "The tail was 300 ms at p99 before we split prefill from decode."),
    ]


async def test_evidence_is_an_exact_quote_of_the_turn_it_names(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, judge=ScriptedJudge(2)))
    await desk.answer()
    result = desk.state.turns[0].result
    assert isinstance(result, Assessment)
    quotes = [q for c in result.criteria for q in c.evidence]
    assert quotes and all(ANSWER[q.start : q.end] == q.text and q.turn == 1 for q in quotes)


async def test_the_persona_adapter_speaks_and_the_base_for_those_without_one(memory: SqlEventStore) -> None:
    model = ScriptedModel()
    desk = await begin(deps(memory, model, served={"deep_dive": "deep_dive@1a2b"}))
    await desk.answer()
    assert model.requests[0][0] == "deep_dive@1a2b"
    other = await begin(deps(memory, model, new_id=lambda: "other"))
    await other.answer()
    assert model.requests[-1][0] == "base"


async def test_a_round_runs_to_its_end_and_says_goodbye_without_asking_more(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, judge=ScriptedJudge(3, sure=0.97)), minutes=5)
    while desk.state.phase is Phase.AWAITING:
        await desk.answer()
        assert len(desk.state.turns) < 60
    ended = desk.state.ended
    assert ended is not None and ended.reason in ("complete", "time")
    assert ended.farewell in library().personas["deep_dive"].closings
    assert desk.stages[-1] == "ended"
    asked = [t.probe.probe for t in desk.state.turns if t.probe]
    assert len(asked) == len(set(asked)), "nothing is asked twice"


async def test_the_round_ends_when_its_minutes_are_over(memory: SqlEventStore) -> None:
    clock = FakeClock()
    desk = await begin(deps(memory, clock=clock), minutes=5)
    clock.advance(301)
    await desk.answer()
    assert desk.state.ended is not None and desk.state.ended.reason == "time"
    assert desk.state.turns[0].result is not None, "the last answer is read all the same"


async def test_a_pause_is_not_counted_as_interview_time(memory: SqlEventStore) -> None:
    clock = FakeClock()
    desk = await begin(deps(memory, clock=clock), minutes=60)
    clock.advance(24 * 3600)
    await desk.answer()
    assert desk.state.ended is None
    assert desk.state.active_seconds < 700


async def test_the_same_message_is_applied_once(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.answer(msg_id="same")
    before = desk.state.seq
    await desk.interview.answer("same", "Something else entirely, sent again by mistake.")
    assert desk.state.seq == before
    given = [e for e in await desk.log() if isinstance(e, ev.AnswerGiven)]
    assert [(g.msg_id, g.text) for g in given] == [("same", ANSWER)]


async def test_the_same_message_changes_nothing_after_the_end(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.answer(msg_id="same")
    await desk.interview.end()
    await desk.interview.answer("same", ANSWER)
    assert kinds(await desk.log())[-1] == "session_ended"


@pytest.mark.parametrize(
    ("text", "code", "retryable"),
    [
        ("", "empty_answer", False),
        (" \n\t ", "empty_answer", False),
        ("x" * (MAX_ANSWER + 1), "answer_too_long", False),
    ],
)
async def test_an_answer_that_cannot_be_taken_is_refused_and_changes_nothing(
    memory: SqlEventStore, text: str, code: str, retryable: bool
) -> None:
    desk = await begin(deps(memory))
    with pytest.raises(Refused) as refused:
        await desk.interview.answer("m1", text)
    assert (refused.value.code, refused.value.retryable) == (code, retryable)
    assert desk.state.seq == 3
    await desk.answer(msg_id="m1")
    assert desk.state.turns[0].answer is not None


async def test_the_longest_answer_is_taken(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    text = ("We measured it again. " * 1000)[:MAX_ANSWER]
    await desk.answer(text)
    assert desk.state.turns[0].answer is not None and desk.state.turns[0].answer.text == text


async def test_an_answer_while_the_interviewer_has_the_word_is_refused_for_now(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, ScriptedModel(delay=0.2)))
    await desk.interview.answer("m1", ANSWER)
    with pytest.raises(Refused) as refused:
        await desk.interview.answer("m2", "And another thing.")
    assert (refused.value.code, refused.value.retryable) == ("turn_in_progress", True)
    await desk.interview.stop()
    assert "m2" not in desk.state.msg_ids


async def test_after_the_end_every_command_is_refused(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.interview.end()
    commands = (
        desk.interview.answer("m9", ANSWER),
        desk.interview.hint(),
        desk.interview.swap("recruiter"),
    )
    for command in commands:
        with pytest.raises(Refused) as refused:
            await command
        assert refused.value.code == "session_ended"
    await desk.interview.end()
    await desk.interview.interrupt()
    assert kinds(await desk.log()).count("session_ended") == 1
