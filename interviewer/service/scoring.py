"""Scores written answers on their own: stateless, version-stamped, one judge pass each, nothing kept."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncGenerator, Iterable, Sequence

from interviewer.core.assessment import Assessment, CriterionAssessment, FlagReading, Frozen, Notice, Unscored
from interviewer.core.coaching import CoachingPlan, coach
from interviewer.core.facts import VERSION as FACTS
from interviewer.core.facts import Finding, check_answer
from interviewer.core.prompts import VERSION
from interviewer.core.reading import CriterionSpec, Said, specs
from interviewer.core.referenced import Referenced
from interviewer.core.rubric import Question
from interviewer.core.text import Quote
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.score_request import BadItem, BatchItem, InlineRubric, ScoreRequest, content_hash

BATCH_LIMIT = 1000
CONCURRENT = 4
"""Answers of a batch that are with the judge at once."""
_log = logging.getLogger(__name__)


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
    """Of all that shaped the result: rubric, criteria (their wording and the reference), prompt, facts, and the judge,
    whole and by its parts: model, adapter, calibration."""
    timing: Timing


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
            Refused: unknown question, criterion or rubric; or an own criterion with a name of the vocabulary.
        """
        began = time.perf_counter()
        text, question, rubric = self._question(request)
        criteria = self._criteria(request, question)
        judging = self._deps.judging
        versions = {
            "rubric": rubric,
            "criteria": content_hash([c.model_dump() for c in criteria]),
            "prompt": VERSION,
            "facts": FACTS,
            "judge": judging.identity,
            **judging.stamp.model_dump(),
        }
        judged = time.perf_counter()
        result = await judging.assess(text, [Said(turn=0, text=request.answer)], criteria)
        judge_ms = (time.perf_counter() - judged) * 1000
        read = result if isinstance(result, Assessment) else None
        facts = check_answer(request.answer, question)
        own = isinstance(request.rubric, InlineRubric)
        library = self._deps.library
        return ScoreResult(
            scores=tuple(_score(c, spec) for c, spec in zip(read.criteria, criteria, strict=True)) if read else (),
            flags=read.flags if read else (),
            coaching=coach(read, library.vocabulary, question, request.answer, facts) if read and not own else None,
            facts=facts,
            notices=result.notices,
            unscored=result if isinstance(result, Unscored) else None,
            versions=versions,
            timing=Timing(total_ms=round((time.perf_counter() - began) * 1000, 1), judge_ms=round(judge_ms, 1)),
        )

    async def batch(self, items: Sequence[BatchItem | BadItem]) -> list[BatchOutcome]:
        """Score many answers, in order; one bad item does not fail the others.

        Raises:
            Refused: more than :data:`BATCH_LIMIT` items, or one id with two contents.
        """
        by_id = {outcome.id: outcome async for outcome in self.each(unique(items))}
        return [by_id[item.id] for item in items]

    async def each(self, items: Iterable[BatchItem | BadItem]) -> AsyncGenerator[BatchOutcome]:
        """Yield outcomes as they are there; who reads slowly slows the judge down, and no outcome is kept here.

        Closing the generator stops the judge.
        """
        waiting = iter(items)
        running: set[asyncio.Task[BatchOutcome]] = set()
        try:
            while True:
                while len(running) < CONCURRENT and (item := next(waiting, None)) is not None:
                    running.add(asyncio.create_task(self._outcome(item)))
                if not running:
                    return
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _outcome(self, item: BatchItem | BadItem) -> BatchOutcome:
        if isinstance(item, BadItem):
            return _failed(item, "invalid_item", item.problem)
        try:
            return BatchOutcome(id=item.id, result=await self.score(item))
        except Refused as error:
            return _failed(item, error.code, error.message)
        except Exception as error:
            # Without the message: it may quote the answer.
            _log.error("scoring: %s\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
            return _failed(item, "internal_error", "Something is wrong with the service; the other items are scored.")

    def _question(self, request: ScoreRequest) -> tuple[str, Question | None, str]:
        """Return the words of the question, the question itself when it is known, and the version of the rubric."""
        library, rubric = self._deps.library, request.rubric
        version = rubric.version if isinstance(rubric, InlineRubric) else library.hashes.get(f"rubric:{rubric}", "none")
        if request.question.text is not None:
            return request.question.text, None, version
        found = library.find_question(request.question.id or "")
        if found is None:
            raise Refused("unknown_question", f"There is no question {request.question.id!r}; see GET /v1/questions.")
        round_, question = found
        if not isinstance(rubric, InlineRubric):
            version = library.hashes.get(f"rubric:{round_.id}", "none")
        return question.wording(request.level), question, version

    def _criteria(self, request: ScoreRequest, question: Question | None) -> tuple[CriterionSpec, ...]:
        library = self._deps.library
        vocabulary = library.vocabulary
        own = request.rubric if isinstance(request.rubric, InlineRubric) else None
        if own is not None and (taken := [n for n in own.criteria if n in vocabulary.criteria]):
            raise Refused(
                "bad_rubric",
                f"The service has criteria of its own called {', '.join(taken)}, on which its judge was trained; give "
                'yours another name, or leave "rubric" out and name them in "criteria" to be judged on ours.',
            )
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
        there = vocabulary.criteria if own is None else own.criteria
        unknown = [n for n in names if n not in there]
        if unknown:
            raise Refused("unknown_criterion", f"Unknown criteria {', '.join(unknown)}; there are: {', '.join(there)}.")
        if own is None:
            found = specs(vocabulary, names)
        else:
            mine = [(name, own.criteria[name]) for name in names]
            found = tuple(CriterionSpec(name=n, asks=c.asks, anchors=c.anchors, own=True) for n, c in mine)
        if request.reference is None:
            return found
        return tuple(Referenced(**spec.model_dump(), reference=request.reference) for spec in found)


def unique(items: Sequence[BatchItem | BadItem]) -> list[BatchItem | BadItem]:
    """Return each item once, in order.

    Raises:
        Refused: more than :data:`BATCH_LIMIT` items, or one id with two contents.
    """
    if len(items) > BATCH_LIMIT:
        raise Refused("batch_too_large", f"{len(items)} items; send at most {BATCH_LIMIT} at once.")
    found: dict[str, BatchItem | BadItem] = {}
    for item in items:
        if found.setdefault(item.id, item) != item:
            raise Refused("conflicting_items", f"Two different items have the id {item.id!r}.")
    return list(found.values())


def _failed(item: BatchItem | BadItem, code: str, message: str) -> BatchOutcome:
    return BatchOutcome(id=item.id, error={"code": code, "message": message})


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
