"""Fairness: who asks must not change what an answer is worth."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.candidates import load_candidates
from interviewer.adapters.store import SqlEventStore
from interviewer.core.assessment import Assessment
from interviewer.core.reading import Window
from interviewer.testing import ScriptedJudge
from tests.service.kit import Desk, begin, deps, library

PERSONAS = ("recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral")
(CANDIDATE,) = load_candidates(library(), ["excellent-senior"])
ANSWER = CANDIDATE.bank("llm_serving_depth")[0].text


def by_words(criterion: str, text: str) -> int:
    """Levels that depend on everything the judge is given, so that any difference in it would show."""
    return (len(text) + len(criterion)) % 4


async def held(folder: Path, persona: str, round_: str) -> tuple[list[Window], list[Assessment]]:
    """Answer the first question of a round when ``persona`` asks."""
    judge = ScriptedJudge(by_words)
    store = SqlEventStore.open(f"sqlite:///{folder / persona}.db")
    desk: Desk = await begin(deps(store, judge=judge), persona=persona, rubric=round_, seed=5, minutes=60)
    await desk.answer(ANSWER)
    return judge.windows, [t.result for t in desk.state.turns if isinstance(t.result, Assessment)]


@pytest.mark.parametrize("round_", PERSONAS)
async def test_the_judge_reads_the_same_and_gives_the_same_under_every_persona(tmp_path: Path, round_: str) -> None:
    windows, levels = await held(tmp_path, PERSONAS[0], round_)
    assert windows and levels
    for persona in PERSONAS[1:]:
        assert await held(tmp_path, persona, round_) == (windows, levels)


async def test_nothing_about_the_persona_is_in_what_the_judge_reads(tmp_path: Path) -> None:
    windows, _ = await held(tmp_path, "recruiter", "deep_dive")
    persona = library().personas["recruiter"]
    for window in windows:
        given = " ".join([window.question, *(s.quote.text for s in window.segments)])
        assert all(word not in given for word in (persona.name, persona.title, persona.voice))
        assert not any(opening[:40] in given for opening in persona.openings)


async def test_a_swap_does_not_change_the_reading_of_what_was_said(tmp_path: Path) -> None:
    store = SqlEventStore.open(f"sqlite:///{tmp_path / 'swap'}.db")
    desk = await begin(deps(store, judge=ScriptedJudge(by_words)), persona="deep_dive", seed=5, minutes=60)
    await desk.answer(ANSWER)
    before = [t.result for t in desk.state.turns]
    await desk.interview.swap("recruiter")
    assert [t.result for t in desk.state.turns] == before
