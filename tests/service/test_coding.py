"""Code in the coding round: looked at beside the judge, stored once, holding correctness down when it surely fails."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.assessment import Assessment
from interviewer.core.code import CRITERION, CodeCheck
from interviewer.core.debrief_rows import Debrief
from interviewer.core.render import report_markdown
from interviewer.core.rubric import CodeTask
from interviewer.core.session import Phase, fold
from interviewer.service.ports import NotRun
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions
from interviewer.testing import ScriptedJudge
from interviewer.web.view import visible

from .kit import ANSWER, Desk, begin, deps, kinds, load

CODE = "I would write this.\n```python\nfor step in range(9):\n    logits = model(ids)\n```\nIt recomputes the prompt."
BROKEN = "```python\nfor step in range(9)\n    logits = model(ids)\n```"
WRONG = CodeCheck(check="tokens", ok=False, says="The tokens are not the greedy ones.", how="ran", sure=True)
RIGHT = CodeCheck(check="tokens", ok=True, says="The tokens are the greedy ones.", how="ran")


class Runner:
    """Says of all code what it was told to say."""

    def __init__(self, *says: CodeCheck, fails: str = "") -> None:
        self.says = says
        self.fails = fails
        self.ran: list[tuple[CodeTask, str]] = []
        self.prepared = 0

    def prepare(self) -> None:
        self.prepared += 1

    async def run(self, task: CodeTask, code: str) -> Sequence[CodeCheck]:
        self.ran.append((task, code))
        if self.fails:
            raise NotRun(self.fails)
        return self.says

    async def close(self) -> None:
        return


async def decoder_asked(store: SqlEventStore, runner: Runner | None, **fields: str) -> Desk:
    """Begin coding rounds until one opens with the decoder, under a judge that gives level 3 to everything."""
    given = deps(store, judge=ScriptedJudge(3), runner=runner)
    for seed in range(200):
        desk = await begin(given, persona="coding_design", seed=seed, minutes=90, **fields)
        if desk.state.turns[0].question_id == "cd-greedy-decoder":
            return desk
    raise AssertionError("no seed opens with the decoder")


def correctness(desk: Desk) -> int:
    """The level of the last turn that was read."""
    read = [t.result for t in desk.state.turns if isinstance(t.result, Assessment)][-1]
    return next(c.level for c in read.criteria if c.criterion == CRITERION)


async def packet(desk: Desk) -> Debrief:
    return Replays(desk.deps, Sessions(desk.deps)).packet(desk.state)


async def test_code_is_run_stored_before_its_reading_and_shown_in_the_report(memory: SqlEventStore) -> None:
    runner = Runner(RIGHT)
    desk = await decoder_asked(memory, runner)
    before = runner.prepared
    assert before >= 1
    await desk.answer(CODE)
    assert runner.ran == [("greedy_decoder", "for step in range(9):\n    logits = model(ids)")]
    assert kinds(await desk.log())[3:6] == ["answer_given", "code_checked", "answer_assessed"]
    assert correctness(desk) == 3
    text = report_markdown(await packet(desk))
    assert "- Greedy decoder of turn 1, 2 lines, run on a tiny model:" in text
    assert "  - tokens (works, as ran): The tokens are the greedy ones." in text
    assert "  - end token (does not, as read): Nothing looks for an end token." in text


async def test_code_that_surely_fails_holds_correctness_at_one_and_the_reason_is_a_notice(
    memory: SqlEventStore,
) -> None:
    desk = await decoder_asked(memory, Runner(WRONG))
    await desk.answer(CODE)
    assert correctness(desk) == 1
    assert any("as the code fails: The tokens are not" in n.message for n in (await packet(desk)).notices)


async def test_a_later_try_on_the_same_question_is_the_one_that_counts(memory: SqlEventStore) -> None:
    runner = Runner(WRONG)
    desk = await decoder_asked(memory, runner)
    await desk.answer(CODE)
    await desk.answer(ANSWER)
    assert desk.state.turns[1].question_id == "cd-greedy-decoder" and correctness(desk) == 1
    runner.says = (RIGHT,)
    await desk.answer(CODE)
    assert desk.state.turns[2].question_id == "cd-greedy-decoder" and correctness(desk) == 3
    assert len(runner.ran) == 2


async def test_code_that_does_not_parse_is_never_run_and_holds_the_level(memory: SqlEventStore) -> None:
    runner = Runner(RIGHT)
    desk = await decoder_asked(memory, runner)
    await desk.answer(BROKEN)
    assert not runner.ran and correctness(desk) == 1


async def test_words_without_code_leave_no_event(memory: SqlEventStore) -> None:
    desk = await decoder_asked(memory, Runner(RIGHT))
    await desk.answer(ANSWER)
    assert desk.committed(ev.CodeChecked) == []


@pytest.mark.parametrize(
    ("runner", "why"), [(None, "running code is switched off"), (Runner(fails="no room"), "no room")]
)
async def test_where_code_is_not_run_it_is_read_and_the_report_says_why(
    memory: SqlEventStore, runner: Runner | None, why: str
) -> None:
    desk = await decoder_asked(memory, runner)
    await desk.answer(CODE)
    report = desk.committed(ev.CodeChecked)[0].report
    assert (report.ran, report.notice) == (False, f"The code was read, not run: {why}.")
    assert report.checks and correctness(desk) == 3
    assert report.notice in report_markdown(await packet(desk))


async def test_other_rounds_run_nothing(memory: SqlEventStore) -> None:
    runner = Runner(WRONG)
    desk = await begin(deps(memory, runner=runner))
    await desk.answer(CODE)
    assert not runner.ran and not runner.prepared


async def test_after_a_crash_between_the_check_and_the_reading_code_is_not_run_again(memory: SqlEventStore) -> None:
    runner = Runner(WRONG)
    desk = await decoder_asked(memory, runner)
    await desk.answer(CODE)
    log = (await memory.load(desk.state.id))[:5]
    assert log[-1].event.type == "code_checked"
    await memory.create("again", log[0].at, [r.event for r in log], token_hash="x")
    again = await load(desk.deps, "again")
    assert len(runner.ran) == 1 and correctness(again) == 1


async def test_a_replay_keeps_what_the_run_showed_and_an_edited_answer_does_not(memory: SqlEventStore) -> None:
    runner = Runner(WRONG)
    desk = await decoder_asked(memory, runner)
    await desk.answer(CODE)
    await desk.interview.end()
    replays = Replays(desk.deps, Sessions(desk.deps))
    child, _, _ = await replays.replay(desk.state.id, judge="again")
    state = fold(await memory.load(child))
    result = state.turns[0].result
    assert state.turns[0].code == desk.state.turns[0].code and isinstance(result, Assessment)
    assert next(c.level for c in result.criteria if c.criterion == CRITERION) == 1
    kept, _ = await replays.what_if(desk.state.id, 1, {})
    edited, _ = await replays.what_if(desk.state.id, 1, {1: ANSWER})
    assert fold(await memory.load(kept)).turns[0].code is not None
    assert fold(await memory.load(edited)).turns[0].code is None


async def test_in_real_mode_what_was_found_is_not_shown_before_the_end(memory: SqlEventStore) -> None:
    desk = await decoder_asked(memory, Runner(WRONG), mode="real")
    await desk.answer(CODE)
    event = desk.committed(ev.CodeChecked)[0]
    assert not visible(desk.state, event)
    await desk.interview.end()
    assert desk.state.phase is Phase.ENDED and visible(desk.state, event)
