"""The context window: prompts of long sessions fit, and what is older survives as a summary of the rubric state."""

from __future__ import annotations

from pathlib import Path

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.adapters.tokens import TokenCounter, load_encoding, rough_count
from interviewer.core.probe import Ask, decide
from interviewer.core.prompts import Count, count_messages
from interviewer.core.session import Phase
from interviewer.service.deps import Limits
from interviewer.testing import ScriptedJudge, ScriptedModel
from serving.fetch import base_folder, default_cache

from .kit import Desk, begin, deps, library

LONG = " ".join(
    f"In step {i} the p99 latency of batch {i * 7} moved because prefill waited for decode." for i in range(9)
)


def exact() -> Count:
    """Return the embedded model's own counter when it is there, else the cautious estimate."""
    tokenizer: Path = base_folder(default_cache()) / "tokenizer.json"
    return TokenCounter(load_encoding(tokenizer)) if tokenizer.is_file() else rough_count


async def long_session(store: SqlEventStore, model: ScriptedModel, limits: Limits, count: Count, turns: int) -> Desk:
    desk = await begin(deps(store, model, ScriptedJudge(1), limits=limits, count=count), minutes=240)
    while desk.state.phase is Phase.AWAITING and len(desk.state.turns) < turns:
        await desk.answer(f"{LONG} This was answer {len(desk.state.turns)}.")
    return desk


@pytest.mark.parametrize("budget", [640, 400])
async def test_every_prompt_of_thirty_turns_fits_the_window(memory: SqlEventStore, budget: int) -> None:
    count = exact()
    model = ScriptedModel()
    desk = await long_session(memory, model, Limits(prompt_tokens=budget), count, 30)
    assert len(desk.state.turns) == 30
    sizes = [count_messages(messages, count) for _, messages in model.requests]
    assert len(sizes) > 15
    assert max(sizes) <= budget
    assert max(sizes) > budget * 0.5, "the window is used"


async def test_older_turns_appear_as_a_summary_that_names_what_is_open(memory: SqlEventStore) -> None:
    model = ScriptedModel()
    desk = await long_session(memory, model, Limits(prompt_tokens=4000), exact(), 12)
    last = model.requests[-1][1][-1]["content"]
    topics = [
        question.topic
        for question in library().rubrics["deep_dive"].questions
        if any(t.question_id == question.id for t in desk.state.turns[:-4])
    ]
    summary = next(line for line in last.splitlines() if line.startswith("Earlier: covered "))
    assert all(topic in summary for topic in topics)
    assert "still open: " in summary
    assert last.count("you asked:") == 2, "only the latest turns are quoted"
    assert "level" not in summary and "score" not in summary, "it never says how the candidate does"
    assert "[...]" in last, "a long answer keeps its head and its tail"


async def test_the_question_and_the_probe_survive_the_tightest_window(memory: SqlEventStore) -> None:
    model = ScriptedModel()
    desk = await long_session(memory, model, Limits(prompt_tokens=1), exact(), 4)
    for _, messages in model.requests:
        lines = messages[-1]["content"].splitlines()
        assert lines[0].startswith("Topic: ")
        assert lines[-1].startswith("Ask next (")
        assert not any(line.startswith("Earlier: ") for line in lines)
    probes = {t.probe.probe for t in desk.state.turns if t.probe and t.probe.criterion}
    assert all(any(m[-1]["content"].endswith(p) for _, m in model.requests) for p in probes)


async def test_the_same_log_makes_the_same_decision(memory: SqlEventStore) -> None:
    desk = await long_session(memory, ScriptedModel(), Limits(), exact(), 8)
    rubric, persona = library().rubrics["deep_dive"], library().personas["deep_dive"]
    state = desk.state.model_copy(update={"phase": Phase.CHOOSING})
    decisions = {decide(state, rubric, persona, 0.3).model_dump_json() for _ in range(5)}
    assert len(decisions) == 1
    assert isinstance(decide(state, rubric, persona, 0.3), Ask)
