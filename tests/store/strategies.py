"""Events to store, made by Hypothesis."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st
from pydantic import BaseModel

from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, CriterionAssessment, FlagReading, Notice, UnscoredReason, normalise
from interviewer.core.code import CodeCheck, CodeReport
from interviewer.core.rubric import CodeTask, Move
from interviewer.core.text import Quote

_ids = st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True)
_text = st.text(max_size=40)
_float = st.floats(allow_nan=False, allow_infinity=False)
_share = st.floats(0, 1)
_int = st.integers(-(2**63), 2**63 - 1)
_notices = st.lists(st.builds(Notice, code=_text, message=_text), max_size=2).map(tuple)
_quotes = st.lists(st.builds(Quote, start=_int, end=_int, text=_text, turn=_int), max_size=2).map(tuple)
_criteria = st.builds(
    CriterionAssessment,
    criterion=_text,
    probabilities=st.tuples(*[st.floats(0.01, 1)] * 4).map(normalise),
    level=st.integers(0, 3),
    confidence=_share,
    evidence=_quotes,
)
_assessments = st.builds(
    Assessment,
    criteria=st.lists(_criteria, max_size=3).map(tuple),
    flags=st.lists(st.builds(FlagReading, flag=_text, probability=_share, evidence=_quotes), max_size=2).map(tuple),
    notices=_notices,
    judge=_text,
)
_versions = st.builds(
    ev.Versions,
    rubric=_text,
    persona=_text,
    prompt=_text,
    model=_text,
    adapter=st.none() | _text,
    judge=_text,
)

STARTED: st.SearchStrategy[ev.Event] = st.builds(
    ev.SessionStarted,
    persona=_ids,
    rubric=_ids,
    level=st.sampled_from(["mid", "senior"]),
    mode=st.sampled_from(get_args(ev.Mode)),
    minutes=st.integers(5, 240),
    seed=_int,
    origin=st.sampled_from(get_args(ev.Origin)),
    parent=st.none() | _ids,
    background=_text,
    resume=_text,
    job=_text,
    versions=_versions,
)
FOLLOWING: st.SearchStrategy[ev.Event] = st.one_of(
    st.builds(ev.PersonaChanged, persona=_ids, adapter=st.none() | _text),
    st.builds(
        ev.ProbeChosen,
        turn=_int,
        question_id=_text,
        criterion=st.none() | _text,
        move=st.none() | st.sampled_from(Move),
        probe=_text,
        reason=_text,
        elapsed=_float,
        counterfactual=st.booleans(),
    ),
    st.builds(
        ev.QuestionAsked,
        turn=_int,
        text=_text,
        source=st.sampled_from(get_args(ev.QuestionSource)),
        persona=_text,
        interrupted=st.booleans(),
        problems=st.lists(_text, max_size=2).map(tuple),
    ),
    st.builds(ev.AnswerGiven, turn=_int, msg_id=_text, text=_text),
    st.builds(
        ev.CodeChecked,
        turn=_int,
        report=st.builds(
            CodeReport,
            task=st.sampled_from(get_args(CodeTask)),
            lines=_int,
            checks=st.lists(
                st.builds(
                    CodeCheck,
                    check=_text,
                    ok=st.none() | st.booleans(),
                    says=_text,
                    how=st.sampled_from(["read", "ran"]),
                    sure=st.booleans(),
                ),
                max_size=2,
            ).map(tuple),
            ran=st.booleans(),
            notice=_text,
        ),
    ),
    st.builds(ev.AnswerAssessed, turn=_int, assessment=_assessments),
    st.builds(ev.AnswerUnscored, turn=_int, reason=st.sampled_from(UnscoredReason), detail=_text, notices=_notices),
    st.builds(
        ev.RequestMade,
        turn=_int,
        msg_id=_text,
        kind=st.sampled_from(["repeat", "rephrase", "clarify", "think"]),
        text=_text,
        reply=_text,
    ),
    st.builds(ev.HintGiven, turn=_int, question_id=_text, rung=st.integers(1, 3), text=_text),
    st.builds(ev.SessionNotice, code=_text, message=_text),
    st.builds(ev.SessionEnded, reason=st.sampled_from(["candidate", "time", "complete"]), farewell=_text),
)


def event_classes() -> set[type[BaseModel]]:
    return set(get_args(get_args(ev.Event)[0]))
