"""Scores a written answer on its own: stateless, version-stamped, one judge pass."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from interviewer.core.assessment import Assessment, CriterionAssessment, FlagReading, Frozen, Notice, Unscored
from interviewer.core.coaching import CoachingPlan, coach
from interviewer.core.facts import VERSION as FACTS
from interviewer.core.facts import Finding, check_answer
from interviewer.core.prompts import VERSION
from interviewer.core.reading import CriterionSpec, Said, specs
from interviewer.core.rubric import Question, SeniorityLevel, Slug, Text
from interviewer.core.text import Quote
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.interview import MAX_ANSWER

BATCH_LIMIT = 1000
CONCURRENT = 4
"""Answers of a batch that are with the judge at once."""


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class QuestionRef(_Request):
    """A question of a rubric by id, or any question by its text."""

    id: Annotated[str, Field(max_length=64)] | None = None
    text: Annotated[str, Field(min_length=3, max_length=4000)] | None = None

    @model_validator(mode="after")
    def _one(self) -> QuestionRef:
        if (self.id is None) == (self.text is None):
            raise ValueError('give either "id" or "text" of the question')
        return self


def _by_level(levels: object) -> object:
    """Take anchors in order, or by number as YAML gives them; JSON has only strings as keys."""
    if isinstance(levels, (list, tuple)):
        return {str(level): text for level, text in enumerate(levels)}
    if isinstance(levels, dict):
        return {str(level): text for level, text in levels.items()}
    return levels


class InlineCriterion(_Request):
    """A criterion of the caller's own."""

    asks: Text
    levels: Annotated[dict[Literal["0", "1", "2", "3"], Text], Field(min_length=4), BeforeValidator(_by_level)]
    """Anchor of each level, ``"0"`` to ``"3"``; a list of four is taken as well."""


class InlineRubric(_Request):
    """Criteria of the caller's own, each with four anchors."""

    criteria: Annotated[dict[Slug, InlineCriterion], Field(min_length=1, max_length=8)]


class ScoreRequest(_Request):
    """One answer to score."""

    question: QuestionRef
    answer: Annotated[str, Field(max_length=MAX_ANSWER)]
    criteria: Annotated[tuple[str, ...], Field(max_length=8)] | None = None
    """Criterion ids; those of the question when absent."""
    rubric: str | InlineRubric | None = None
    """A round whose must-ask criteria are used for a free question, or criteria of one's own."""
    level: SeniorityLevel = "mid"


class Score(Frozen):
    """One criterion with the words that explain its level."""

    criterion: str
    asks: str
    level: int
    expected: float
    confidence: float
    probabilities: tuple[float, float, float, float]
    anchor: str
    evidence: tuple[Quote, ...]


class Timing(Frozen):
    """Where the time went, in milliseconds."""

    total_ms: float
    judge_ms: float


class ScoreResult(Frozen):
    """Everything that was read from the answer; ``scores`` is empty when it could not be read."""

    scores: tuple[Score, ...]
    flags: tuple[FlagReading, ...]
    coaching: CoachingPlan | None
    facts: tuple[Finding, ...]
    """Claims that could be checked without a model, right and wrong ones; there also when nothing was scored."""
    notices: tuple[Notice, ...]
    unscored: Unscored | None
    versions: dict[str, str]
    timing: Timing


class BatchItem(ScoreRequest):
    """An answer of a batch; the same id with the same content is scored once."""

    id: Annotated[str, Field(min_length=1, max_length=64)]


class BatchOutcome(Frozen):
    """The result of one item, or why there is none."""

    id: str
    result: ScoreResult | None = None
    error: dict[str, str] | None = None


class Scoring:
    """Scores answers through the same judge as live sessions."""

    def __init__(self, deps: Deps) -> None:
        """Keep the collaborators."""
        self._deps = deps

    async def score(self, request: ScoreRequest) -> ScoreResult:
        """Score one answer.

        Raises:
            Refused: unknown question, criterion or rubric.
        """
        began = time.perf_counter()
        text, question, rubric_hash = self._question(request)
        criteria = self._criteria(request, question)
        judged = time.perf_counter()
        result = await self._deps.judging.assess(text, [Said(turn=0, text=request.answer)], criteria)
        judge_ms = (time.perf_counter() - judged) * 1000
        versions = {"rubric": rubric_hash, "prompt": VERSION, "judge": self._deps.judging.identity, "facts": FACTS}
        facts = check_answer(request.answer, question)
        timing = Timing(total_ms=round((time.perf_counter() - began) * 1000, 1), judge_ms=round(judge_ms, 1))
        if isinstance(result, Unscored):
            return ScoreResult(
                scores=(),
                flags=(),
                coaching=None,
                facts=facts,
                notices=result.notices,
                unscored=result,
                versions=versions,
                timing=timing,
            )
        return ScoreResult(
            scores=tuple(_score(c, spec) for c, spec in zip(result.criteria, criteria, strict=True)),
            flags=result.flags,
            coaching=self._coaching(result, question),
            facts=facts,
            notices=result.notices,
            unscored=None,
            versions=versions,
            timing=timing,
        )

    async def batch(self, items: Sequence[BatchItem]) -> list[BatchOutcome]:
        """Score many answers, in order; one bad item does not fail the others.

        Raises:
            Refused: more than :data:`BATCH_LIMIT` items, or one id with two contents.
        """
        if len(items) > BATCH_LIMIT:
            raise Refused("batch_too_large", f"{len(items)} items; send at most {BATCH_LIMIT} at once.")
        unique: dict[str, BatchItem] = {}
        for item in items:
            if unique.setdefault(item.id, item) != item:
                raise Refused("conflicting_items", f"Two different items have the id {item.id!r}.")
        gate = asyncio.Semaphore(CONCURRENT)

        async def one(item: BatchItem) -> BatchOutcome:
            async with gate:
                try:
                    return BatchOutcome(id=item.id, result=await self.score(item))
                except Refused as error:
                    return BatchOutcome(id=item.id, error={"code": error.code, "message": error.message})

        outcomes = await asyncio.gather(*(one(item) for item in unique.values()))
        by_id = {outcome.id: outcome for outcome in outcomes}
        return [by_id[item.id] for item in items]

    def _question(self, request: ScoreRequest) -> tuple[str, Question | None, str]:
        library = self._deps.library
        if request.question.text is not None:
            named = request.rubric if isinstance(request.rubric, str) else ""
            return request.question.text, None, library.hashes.get(f"rubric:{named}", "")
        found = library.find_question(request.question.id or "")
        if found is None:
            raise Refused("unknown_question", f"There is no question {request.question.id!r}; see GET /v1/questions.")
        rubric, question = found
        return question.wording(request.level), question, library.hashes.get(f"rubric:{rubric.id}", "")

    def _criteria(self, request: ScoreRequest, question: Question | None) -> tuple[CriterionSpec, ...]:
        library = self._deps.library
        own = request.rubric if isinstance(request.rubric, InlineRubric) else None
        rubric = library.rubrics.get(request.rubric) if isinstance(request.rubric, str) else None
        if isinstance(request.rubric, str) and rubric is None:
            known = ", ".join(library.rubrics)
            raise Refused("unknown_rubric", f"There is no rubric {request.rubric!r}; there are: {known}.")
        names: Sequence[str]
        if request.criteria:
            names = tuple(dict.fromkeys(request.criteria))
        elif own is not None:
            names = tuple(own.criteria)
        elif question is not None:
            names = [t.criterion for t in question.targets]
        elif rubric is not None:
            names = rubric.must_ask
        else:
            raise Refused("no_criteria", 'A free question needs "criteria" or "rubric" to say what it is judged on.')
        there = library.vocabulary.criteria if own is None else own.criteria
        unknown = [n for n in names if n not in there]
        if unknown:
            raise Refused("unknown_criterion", f"Unknown criteria {', '.join(unknown)}; there are: {', '.join(there)}.")
        if own is None:
            return specs(library.vocabulary, names)
        return tuple(
            CriterionSpec(
                name=n, asks=c.asks, anchors=(c.levels["0"], c.levels["1"], c.levels["2"], c.levels["3"]), own=True
            )
            for n, c in ((name, own.criteria[name]) for name in names)
        )

    def _coaching(self, result: Assessment, question: Question | None) -> CoachingPlan | None:
        known = self._deps.library.vocabulary
        if any(c.criterion not in known.criteria for c in result.criteria):
            return None
        return coach(result, known, question)


def _score(found: CriterionAssessment, spec: CriterionSpec) -> Score:
    return Score(
        criterion=found.criterion,
        asks=spec.asks,
        level=found.level,
        expected=round(found.expected, 3),
        confidence=round(found.confidence, 3),
        probabilities=found.probabilities,
        anchor=spec.anchors[found.level],
        evidence=found.evidence,
    )
