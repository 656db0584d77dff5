"""Transcripts of others: stored whole before any of it is read, and reading goes on where it stopped."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, Unscored, UnscoredReason
from interviewer.core.intake import MAX_TRANSCRIPT
from interviewer.core.labelled import parse_text, to_text
from interviewer.core.session import Phase, SessionState, fold
from interviewer.core.transcript import of_session
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.importing import Imports, progress
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions
from interviewer.testing import JUDGE_DOWN, ScriptedJudge

from .kit import SECONDS, FlakyStore, deps, kinds, library, load

QUESTION = library().rubrics["deep_dive"].questions[1]
TEXT = f"""Interviewer: {QUESTION.text}
Candidate: Because blocks are small, little of the memory is lost, and the p99 held at 800 ms.
It also shares prefixes.

Interviewer: What is your favourite colour, and does it matter for your work at all?
Candidate: It does not matter; I would rather talk about the cache.
"""


def imports(given: Deps) -> Imports:
    return Imports(given, Sessions(given))


async def taken(given: Deps, content: str = TEXT, **fields: Any) -> tuple[SessionState, Imports]:
    made = imports(given)
    found = await made.take(content, **{"format": "text", "rubric": "deep_dive", **fields})
    async with asyncio.timeout(SECONDS):
        await made.settled(found.id)
    return fold(await given.store.load(found.id)), made


async def test_text_becomes_a_session_that_is_read(memory: SqlEventStore) -> None:
    state, _ = await taken(deps(memory, judge=ScriptedJudge(2)), level="senior")
    assert (state.started.origin, state.started.rubric, state.started.level) == ("imported", "deep_dive", "senior")
    assert state.started.persona == library().rubrics["deep_dive"].persona
    said = [t.answer.text for t in state.turns if t.answer]
    assert said == [
        "Because blocks are small, little of the memory is lost, and the p99 held at 800 ms.\nIt also shares prefixes.",
        "It does not matter; I would rather talk about the cache.",
    ]
    assert all(isinstance(t.result, Assessment) for t in state.turns)
    assert state.ended is not None and state.ended.reason == "imported"
    assert progress(state) == {"assessed": 2, "total": 2}


async def test_a_question_of_the_rubric_is_recognised_and_judged_by_its_targets(memory: SqlEventStore) -> None:
    state, _ = await taken(deps(memory))
    first, second = state.turns
    assert first.question_id == QUESTION.id
    assert second.question_id == "imported-2"
    assert isinstance(first.result, Assessment) and isinstance(second.result, Assessment)
    assert [c.criterion for c in first.result.criteria] == [t.criterion for t in QUESTION.targets]
    must_ask = library().rubrics["deep_dive"].must_ask
    assert [c.criterion for c in second.result.criteria] == list(must_ask)


async def test_json_messages_are_taken(memory: SqlEventStore) -> None:
    messages = [
        {"role": "system", "content": "You are an interviewer."},
        {"role": "assistant", "content": QUESTION.text},
        {"role": "user", "content": "It cuts fragmentation."},
    ]
    state, _ = await taken(deps(memory), json.dumps(messages), format="json")
    assert [line.text for line in of_session(state).lines] == [QUESTION.text, "It cuts fragmentation."]


async def test_an_export_can_be_imported_again(memory: SqlEventStore) -> None:
    state, _ = await taken(deps(memory))
    again = parse_text(to_text(of_session(state)))
    assert [line.text for line in again.lines] == [line.text for line in of_session(state).lines]


async def test_lines_without_a_speaker_are_returned(memory: SqlEventStore) -> None:
    made = imports(deps(memory))
    found = await made.take(f"Recorded on Monday\n{TEXT}", format="text", rubric="deep_dive")
    assert [(u.line, u.text) for u in found.unplaced] == [(1, "Recorded on Monday")]
    assert found.turns == 2
    await made.settled(found.id)


async def test_names_are_taken_when_the_candidate_is_named(memory: SqlEventStore) -> None:
    text = "Henrik: Why is paging good?\nAna: It cuts fragmentation.\n"
    state, _ = await taken(deps(memory), text, candidate="Ana")
    assert [t.answer.text for t in state.turns if t.answer] == ["It cuts fragmentation."]


@pytest.mark.parametrize(
    ("content", "fields", "code"),
    [
        ("just some words without labels", {}, "bad_transcript"),
        ("", {}, "bad_transcript"),
        ("Interviewer: Why?\n", {}, "speakers_unclear"),
        ("Interviewer: Why?\nCandidate: \n", {}, "bad_transcript"),
        ("Candidate: a\x00b", {}, "bad_transcript"),
        ("PK\x03\x04 and more", {"format": "auto"}, "bad_transcript"),
        ("{", {"format": "json"}, "bad_transcript"),
        ("[" * 100_000, {"format": "json"}, "bad_transcript"),
        ("[]", {"format": "json"}, "bad_transcript"),
        ("{}", {"format": "json"}, "bad_transcript"),
        ('[{"role": "user"}]', {"format": "json"}, "bad_transcript"),
        ('[{"role": 1, "content": 2}]', {"format": "json"}, "bad_transcript"),
        ("null", {"format": "json"}, "bad_transcript"),
        (TEXT, {"candidate": "Nobody"}, "speakers_unclear"),
        ("Bob: Why?\nAna: Because.", {}, "speakers_unclear"),
        (TEXT, {"rubric": "poker"}, "unknown_rubric"),
        (TEXT, {"persona": "pirate"}, "unknown_persona"),
        ("Candidate: " + "x" * MAX_TRANSCRIPT, {}, "transcript_too_large"),
        ("Candidate: " + "\u6211" * (MAX_TRANSCRIPT // 3), {}, "transcript_too_large"),
    ],
)
async def test_what_is_no_transcript_is_refused_and_nothing_is_stored(
    memory: SqlEventStore, content: str, fields: dict[str, Any], code: str
) -> None:
    made = imports(deps(memory))
    with pytest.raises(Refused) as refused:
        await made.take(content, **{"format": "text", "rubric": "deep_dive", **fields})
    assert refused.value.code == code
    assert refused.value.message
    assert await memory.rows() == []


async def test_everything_is_stored_before_anything_is_read(memory: SqlEventStore) -> None:
    made = imports(deps(memory))
    found = await made.take(TEXT, format="text", rubric="deep_dive")
    await made.stop()
    state = fold(await memory.load(found.id))
    assert [t.answer is not None for t in state.turns] == [True, True]
    assert progress(state)["total"] == 2


async def test_reading_goes_on_where_it_stopped(flaky: FlakyStore) -> None:
    flaky.fail_at = frozenset({2})
    judge = ScriptedJudge(1)
    state, _ = await taken(deps(flaky, judge=judge))
    assert progress(state) == {"assessed": 1, "total": 2}
    assert state.ended is None
    later = imports(deps(flaky, judge=judge))
    later.read(state.id)
    later.read(state.id)  # asked for twice, read once
    await later.settled(state.id)
    done = fold(await flaky.load(state.id))
    assert progress(done) == {"assessed": 2, "total": 2}
    log = kinds([r.event for r in await flaky.load(state.id)])
    assert log.count("answer_assessed") == 2 and log[-1] == "session_ended"


async def test_a_judge_that_is_down_leaves_the_answers_unscored(memory: SqlEventStore) -> None:
    state, _ = await taken(deps(memory, judge=ScriptedJudge(JUDGE_DOWN)))
    assert all(isinstance(t.result, Unscored) for t in state.turns)
    assert state.phase is Phase.ENDED


async def test_deleting_while_it_is_read_leaves_nothing(memory: SqlEventStore) -> None:
    given = deps(memory)
    sessions = Sessions(given)
    made = Imports(given, sessions)
    found = await made.take(TEXT, format="text", rubric="deep_dive")
    made.forget(found.id)
    await sessions.delete(found.id)
    await asyncio.sleep(0.02)
    assert await memory.rows() == []


async def test_nobody_can_answer_in_an_imported_session(memory: SqlEventStore) -> None:
    given = deps(memory)
    made = imports(given)
    found = await made.take(TEXT, format="text", rubric="deep_dive")
    await made.stop()
    desk = await load(given, found.id)
    before = desk.state.seq
    for command in (
        desk.interview.answer("m1", "me, too"),
        desk.interview.hint(),
        desk.interview.swap("recruiter"),
        desk.interview.end(),
    ):
        with pytest.raises(Refused) as refused:
            await command
        assert refused.value.code == "session_imported"
    assert desk.state.seq == before and not desk.interview.busy


async def test_an_import_can_be_replayed_and_gone_on_from(memory: SqlEventStore) -> None:
    given = deps(memory)
    state, _ = await taken(given)
    replays = Replays(given, Sessions(given))
    child, _, diff = await replays.replay(state.id, persona="hiring_manager")
    assert diff.persona == ("deep_dive", "hiring_manager")
    assert fold(await memory.load(child)).started.origin == "replay"
    live, _ = await replays.what_if(state.id, 1, {})
    desk = await load(given, live)
    assert desk.state.phase is Phase.AWAITING and len(desk.state.turns) == 2
    assert isinstance((await desk.log())[-1], ev.QuestionAsked)


async def test_the_same_content_with_the_same_parameters_is_the_same_session(memory: SqlEventStore) -> None:
    given = deps(memory)
    made = imports(given)
    first = await made.take(TEXT, rubric="deep_dive")
    await made.settled(first.id)
    seen = len(await memory.load(first.id))
    again = await imports(given).take("\ufeff" + TEXT, rubric="deep_dive", format="text", persona="deep_dive")
    assert (first.repeated, again.repeated, again.id, again.turns) == (False, True, first.id, 2)
    assert await Sessions(given).check_token(first.id, again.token)
    assert len(await memory.load(first.id)) == seen
    others = [
        await made.take(TEXT, rubric="deep_dive", level="senior"),
        await made.take(TEXT, rubric="deep_dive", candidate="candidate"),
        await made.take(TEXT, rubric="behavioral"),
        await made.take(TEXT + "More.", rubric="deep_dive"),
    ]
    assert len({first.id, *(other.id for other in others)}) == 5
    assert not any(other.repeated for other in others)
    await made.stop()
    await Sessions(given).delete(first.id)
    assert not (await imports(given).take(TEXT, rubric="deep_dive")).repeated


async def test_an_export_is_imported_with_the_same_words_turns_and_events(memory: SqlEventStore) -> None:
    text = f"Interviewer: Hello.\n{TEXT}\nInterviewer: Anything to ask?\nInterviewer: We will be in touch.\n"
    first, _ = await taken(deps(memory), text)
    export = of_session(first)
    second, _ = await taken(deps(memory), export.model_dump_json(), format="auto")
    assert of_session(second) == export
    assert second.id != first.id

    def words(state: SessionState) -> list[tuple[int, str, str]]:
        return [(t.number, t.question.text, t.answer.text if t.answer else "") for t in state.turns if t.question]

    assert words(second) == words(first)
    assert [t.probe for t in second.turns] == [t.probe for t in first.turns]


@pytest.mark.parametrize(
    ("end", "turns", "farewell"),
    [
        ("", 2, ""),
        ("Interviewer: We will be in touch.\n", 2, "We will be in touch."),
        ("Interviewer: Anything to ask?\n", 3, ""),
    ],
)
async def test_last_words_are_kept(memory: SqlEventStore, end: str, turns: int, farewell: str) -> None:
    state, _ = await taken(deps(memory), TEXT + end)
    assert len(state.turns) == turns
    assert state.ended is not None and state.ended.farewell == farewell
    assert progress(state) == {"assessed": 2, "total": 2}


async def test_a_live_session_comes_back_as_it_was_said(memory: SqlEventStore) -> None:
    lines = [
        {"speaker": "interviewer", "text": QUESTION.text, "turn": 1},
        {"speaker": "candidate", "text": "It cuts fragmentation. ", "turn": 1},
        {"speaker": "interviewer", "text": "Half a que", "turn": 2},
        {"speaker": "interviewer", "text": "Goodbye."},
    ]
    state, _ = await taken(deps(memory), json.dumps({"lines": lines}), format="auto")
    said = [line.model_dump(exclude_none=True) for line in of_session(state).lines]
    assert said == lines


async def test_times_of_captions_are_kept(memory: SqlEventStore) -> None:
    text = f"WEBVTT\n\n00:30.000 --> 00:40.000\n<v Ada>{QUESTION.text}\n\n"
    text += "00:45.500 --> 01:00.000\n<v Bo>It cuts fragmentation.\n\n02:00.000 --> 02:05.000\n<v Ada>Why?\n"
    state, _ = await taken(deps(memory), text, format="vtt", candidate="Bo")
    assert [(line.speaker, line.start) for line in of_session(state).lines] == [
        ("interviewer", 30.0),
        ("candidate", 45.5),
        ("interviewer", 120.0),
    ]
    assert [t.probe.elapsed for t in state.turns if t.probe] == [0.25, 1.0]


async def test_who_is_the_candidate_is_asked_with_the_names(memory: SqlEventStore) -> None:
    with pytest.raises(Refused) as refused:
        await imports(deps(memory)).take("Henrik: Why?\nAna: It cuts fragmentation.\n", rubric="deep_dive")
    assert refused.value.code == "speakers_unclear"
    assert "Henrik, Ana" in refused.value.message and "--candidate NAME" in refused.value.message
    assert refused.value.choices == ("Henrik", "Ana"), "to choose from"


async def test_one_giant_answer_is_taken(memory: SqlEventStore) -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nMe: " + "small blocks lose little memory. " * 3_000
    state, _ = await taken(deps(memory), text, format="auto")
    assert [t.answer.start for t in state.turns if t.answer] == [1.0]
    assert progress(state) == {"assessed": 1, "total": 1}


async def test_another_language_is_taken_and_the_judge_abstains(memory: SqlEventStore) -> None:
    text = "面试官：为什么分页有帮助？\n候选人：因为块很小，浪费的内存很少。\n"
    state, _ = await taken(deps(memory, english=str.isascii), text, format="auto")
    (turn,) = state.turns
    assert isinstance(turn.result, Unscored) and turn.result.reason is UnscoredReason.NOT_ENGLISH
    made = imports(deps(memory, english=str.isascii))
    told = await made.take(text, rubric="deep_dive", level="senior")
    assert [notice.split(".")[0] for notice in told.notices] == ["The answers do not seem to be in English"]
    await made.stop()


async def test_what_was_done_to_the_file_is_told(memory: SqlEventStore) -> None:
    made = imports(deps(memory))
    found = await made.take("00:05.0 --> 00:06.0\nMe: So.\n\n00:01.0 --> 00:02.0\nHost: Why?\n", rubric="deep_dive")
    assert found.notices == ("Cues out of order: 1; they were sorted by their start.",)
    await made.stop()


async def test_the_same_transcript_has_the_same_seed(memory: SqlEventStore) -> None:
    given = deps(memory)
    one, _ = await taken(given)
    two, _ = await taken(given)
    other, _ = await taken(given, TEXT + "\nThe end.")
    assert one.started.seed == two.started.seed != other.started.seed
