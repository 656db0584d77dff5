"""The documents over HTTP: who asks, what each round asks and listens for, and what can be practised alone."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from interviewer.core.rubric import Question, Rubric
from interviewer.service.errors import Refused
from interviewer.web import library_models as m
from interviewer.web.state import Srv

router = APIRouter()


@router.get("/personas")
async def personas(service: Srv) -> m.PersonaList:
    """List the interviewers."""
    served = service.deps.served
    return m.PersonaList(
        personas=tuple(
            m.PersonaView(
                id=p.id, name=p.name, title=p.title, rubric=p.rubric, voice=p.voice, prompt_only=p.id not in served
            )
            for p in service.deps.library.personas.values()
        )
    )


@router.get("/rubrics")
async def rubrics(service: Srv) -> m.RubricList:
    """List the rounds."""
    library = service.deps.library
    return m.RubricList(
        rubrics=tuple(
            m.RubricView(
                id=r.id,
                title=r.title,
                persona=r.persona,
                minutes=r.minutes,
                decides=r.decides,
                listens_for=r.listens_for,
                danger_signs=r.danger_signs,
                criteria=tuple(r.weights),
                must_ask=r.must_ask,
                questions=len(r.questions),
            )
            for r in library.rubrics.values()
        ),
        criteria={name: c.asks for name, c in library.vocabulary.criteria.items()},
        flags=library.vocabulary.flags,
    )


@router.get("/questions")
async def questions(service: Srv, rubric: Annotated[str | None, Query(max_length=64)] = None) -> m.QuestionList:
    """List the questions of one round or of all."""
    library = service.deps.library
    if rubric is not None and rubric not in library.rubrics:
        raise Refused("unknown_rubric", f"There is no rubric {rubric!r}; there are: {', '.join(library.rubrics)}.")
    return m.QuestionList(
        questions=tuple(_view(r, q) for r in library.rubrics.values() if rubric in (None, r.id) for q in r.questions)
    )


@router.get("/questions/{question_id}")
async def question(question_id: str, service: Srv, spoilers: bool = False) -> m.QuestionDetail:
    """Return one question; with ``spoilers=true`` also all that is known about it, which gives the answer away."""
    library = service.deps.library
    found = library.find_question(question_id)
    if found is None:
        raise Refused("unknown_question", "There is no question with that id; GET /v1/questions lists them.")
    rubric, asked = found
    criteria = library.vocabulary.criteria
    return m.QuestionDetail(
        **_view(rubric, asked).model_dump(),
        listens_for={t.criterion: criteria[t.criterion].asks for t in asked.targets},
        spoilers=_spoilers(asked) if spoilers else None,
    )


@router.get("/drills")
async def drills(service: Srv) -> m.DrillList:
    """List the exercises that can be started alone, as ``drill`` of a new session."""
    library = service.deps.library
    return m.DrillList(
        drills=tuple(
            m.DrillView(
                id=d.id,
                title=d.title,
                how=d.how,
                rubric=d.rubric,
                persona=library.rubrics[d.rubric].persona,
                minutes=d.minutes,
                trains=d.trains,
                questions=len(d.questions),
                words=d.words,
                events=len(d.events),
            )
            for d in library.drills.drills
            if d.rubric in library.rubrics
        )
    )


@router.get("/scenarios")
async def scenarios(service: Srv, rubric: Annotated[str | None, Query(max_length=64)] = None) -> m.ScenarioList:
    """List the situations that one round, or any, can open with."""
    return m.ScenarioList(
        scenarios=tuple(
            m.ScenarioView(
                id=s.id, title=s.title, rubric=s.rubric, question=s.question, brief=s.brief, facts=len(s.facts)
            )
            for s in service.deps.library.scenarios.values()
            if rubric in (None, s.rubric)
        )
    )


def _view(rubric: Rubric, question: Question) -> m.QuestionView:
    return m.QuestionView(
        id=question.id,
        rubric=rubric.id,
        topic=question.topic,
        text=question.text,
        senior=question.senior,
        criteria=tuple(t.criterion for t in question.targets),
    )


def _spoilers(question: Question) -> m.Spoilers:
    return m.Spoilers(
        hints=question.hints,
        facts=tuple(f.claim for f in question.facts),
        probes={
            t.criterion: tuple(m.ProbeView(move=p.move, text=p.text, senior=p.senior) for p in t.probes)
            for t in question.targets
        },
        givens=tuple(m.GivenView(about=g.about, says=g.says) for g in question.givens),
    )
