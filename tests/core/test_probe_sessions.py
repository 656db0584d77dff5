"""The policy over whole sessions with the documents that ship: rules that hold whatever the candidate shows."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interviewer.core.assessment import Assessment, Probabilities
from interviewer.core.coverage import coverage
from interviewer.core.library import Library
from interviewer.core.persona import Persona
from interviewer.core.probe import PROBES_PER_CRITERION, Ask, Close, decide
from interviewer.core.rubric import Rubric, SeniorityLevel
from interviewer.core.session import SessionState
from tests.core.builders import Log, assessed, unscored

ROUNDS = ("behavioral", "coding_design", "deep_dive", "hiring_manager", "recruiter")
MOST_TURNS = 90


def play(
    rubric: Rubric, persona: Persona, level: SeniorityLevel, minutes: int, seed: int, shown: list[int | None]
) -> tuple[list[Ask], Close, SessionState]:
    """Interview a candidate who shows ``shown`` turn by turn; ``None`` is an answer that could not be read."""
    log = Log(rubric=rubric.id, persona=persona.id, level=level, minutes=minutes, seed=seed)
    asked: list[Ask] = []
    while len(asked) < MOST_TURNS:
        state = log.state
        elapsed = round(len(asked) * 2.5 / minutes, 4)
        decision = decide(state, rubric, persona, elapsed)
        assert decision == decide(state.model_copy(deep=True), rubric, persona, elapsed)
        if isinstance(decision, Close):
            return asked, decision, state
        question = rubric.question(decision.question_id)
        assert question is not None
        level_now = shown[len(asked) % len(shown)]
        names = [t.criterion for t in question.targets]
        result = unscored() if level_now is None else assessed(**dict.fromkeys(names, level_now))
        log.turn_on(
            decision.question_id,
            result,
            criterion=decision.criterion,
            move=decision.move,
            probe=decision.probe,
            reason=decision.reason,
            elapsed=elapsed,
        )
        asked.append(decision)
    raise AssertionError("the session does not end")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(ROUNDS),
    st.sampled_from(ROUNDS),
    st.sampled_from(["mid", "senior"]),
    st.integers(10, 120),
    st.integers(0, 2**31),
    st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=6),
)
def test_a_session_keeps_every_rule(
    library: Library,
    round_id: str,
    persona_id: str,
    level: SeniorityLevel,
    minutes: int,
    seed: int,
    shown: list[int | None],
) -> None:
    rubric, persona = library.rubrics[round_id], library.personas[persona_id]
    asked, end, state = play(rubric, persona, level, minutes, seed, shown)

    assert len({a.probe for a in asked}) == len(asked), "a probe was repeated"
    on_question = Counter(a.question_id for a in asked)
    on_criterion = Counter((a.question_id, a.criterion) for a in asked if a.criterion)
    assert max(on_question.values()) <= 1 + persona.followups
    assert max(on_criterion.values(), default=0) <= PROBES_PER_CRITERION
    mains = [a.question_id for a in asked if a.criterion is None]
    assert len(set(mains)) == len(mains)
    for before, after in itertools.pairwise(asked):
        assert after.criterion is None or after.question_id == before.question_id, "a left question was reopened"
    for one in asked:
        question = rubric.question(one.question_id)
        assert question is not None and one.reason
        if one.criterion is None:
            assert one.probe == question.wording(level)
        else:
            target = question.target(one.criterion)
            assert target is not None
            assert (one.move, one.probe) in {(p.move, p.wording(level)) for p in target.probes}
            assert one.move is not None and persona.moves.get(one.move, 1.0) > 0
    assert end.reason
    assert state.turns


@pytest.mark.parametrize(("sure", "others", "share"), [(1.0, 3, 0.95), (0.8, 2, 0.9)])
def test_the_weakest_target_of_a_question_is_reached_within_three_turns(
    library: Library, sure: float, others: int, share: float
) -> None:
    reached = []
    for rubric in library.rubrics.values():
        for question in rubric.questions:
            for weakest in question.targets:
                shown = {t.criterion: reading(0 if t is weakest else others, sure) for t in question.targets}
                log = Log(rubric=rubric.id).turn_on(question.id, assessed(**shown), probe=question.text)
                pursued = pursue(log, rubric, library.personas[rubric.persona], assessed(**shown))
                reached.append(weakest.criterion in pursued)
    assert sum(reached) / len(reached) >= share


def reading(level: int, sure: float) -> Probabilities:
    """A judge that is right with probability ``sure``."""
    a, b, c, d = (sure if n == level else (1 - sure) / 3 for n in range(4))
    return (a, b, c, d)


def pursue(log: Log, rubric: Rubric, persona: Persona, result: Assessment) -> list[str]:
    """Return the criteria that up to three follow-ups aim at."""
    pursued: list[str] = []
    for _ in range(3):
        chosen = decide(log.state, rubric, persona, 0.0)
        if isinstance(chosen, Close) or chosen.criterion is None:
            break
        pursued.append(chosen.criterion)
        log.turn_on(chosen.question_id, result, criterion=chosen.criterion, move=chosen.move, probe=chosen.probe)
    return pursued


@pytest.mark.parametrize("round_id", ROUNDS)
def test_a_round_brings_out_all_that_it_must(library: Library, round_id: str) -> None:
    rubric = library.rubrics[round_id]
    asked, _, state = play(rubric, library.personas[rubric.persona], "mid", rubric.minutes, 11, [2])
    assert coverage(state, rubric).open_must_ask == ()
    assert sum(a.criterion is None for a in asked) >= 2
