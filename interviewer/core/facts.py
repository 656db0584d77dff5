"""Claims of an answer that can be checked: sums of its own numbers, known mistakes, wrong claims of the question.

No model takes part. A check that is not sure says nothing: not on a sentence that supposes, quotes somebody, asks or is
taken back, and not on a number that could be something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import Field

from interviewer.core.assessment import CriterionAssessment, Frozen, Notice, cap
from interviewer.core.computed import Check, cache_of_sequence, cache_per_token, products, reading, weights
from interviewer.core.misconceptions import claims
from interviewer.core.numerals import NUMBER
from interviewer.core.rubric import Question
from interviewer.core.text import Quote, Span, label, quote, sentences, words
from interviewer.core.training_sums import adapter_size, effective_batch, intensity
from interviewer.core.wording import concepts


class FindingKind(StrEnum):
    """What a check of a claim came to."""

    CHECKED = "checked"
    """The numbers agree."""
    CONTRADICTED = "contradicted"
    """The numbers that the answer states give another result."""
    WRONG = "wrong"
    """A mistake that is known as one."""


class Finding(Frozen):
    """A claim of an answer that could be checked without a model."""

    kind: FindingKind
    criterion: str
    """Criterion that the claim belongs to."""
    check: str
    """Name of the check."""
    quote: Quote
    """The candidate's exact words."""
    claimed: str
    right: str
    """What is right, with the computation."""
    confidence: Annotated[float, Field(ge=0, le=1)]


CHECKS: tuple[Check, ...] = (
    weights,
    products,
    cache_per_token,
    cache_of_sequence,
    reading,
    effective_batch,
    adapter_size,
    intensity,
)
VERSION = "1"
"""Version of the checks, stamped on a score; a change of what they find is a new version."""
CAP = 1
"""Highest level of a criterion that rests on a wrong claim: from 2 on, the anchors ask for a right mechanism."""
SURE = 0.9
"""Confidence from which a wrong claim caps a level."""

_DISOWNED = re.compile(
    r"\b(?:people|some|they|many|everyone|colleagues?|vendors?|salesm[ae]n|blogs?|docs?|brochure) (?:\w+ )?(?:say|said|"
    r"think|thought|believe|believed|claim|claims|claimed|told|says)\b|\b(?:wrong\w*|myth|mistaken|misread|nonsense|supposed\w*|"
    r"used to|in theory|naive\w*|tempting|pretend\w*|isn't true|is false|is not true)\b|\bI (?:had )?(?:thought|"
    r"believed|assumed|was told|once)\b|\bno longer\b|\?\s*$",
    re.IGNORECASE,
)
"""Marks of a claim that the speaker does not make, or no longer."""
_SUPPOSED = re.compile(
    r"\b(?:if|suppose|would|could|imagine|say that|assum\w+|unless|until|not|never|instead of|rather than|but|however|"
    r"although|though|except|yet|hypothetical\w*)\b|n't\b",
    re.IGNORECASE,
)
"""Marks that make a contradiction in numbers doubtful."""
_TURNED = re.compile(r"\b(?:but|however|although|though|except|unless|yet)\b", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"(?:that(?:'s| is| was)|this is|which is)? ?(?:wrong|not true|false|no,|but |actually|wait|sorry)", re.I
)
_ANY_NUMBER = re.compile(NUMBER, re.IGNORECASE)
_COMMA = re.compile(r"[,;:] +|[.!?]$")
_NEGATION = frozenset("no not never nothing none cannot without nor neither hardly".split())


def check_answer(text: str, question: Question | None = None, turn: int = 0) -> tuple[Finding, ...]:
    """Return what can be checked in an answer, in the order of the text; at most one finding of a kind per place.

    Args:
        text: The answer.
        question: Question of a rubric, for its own wrong claims.
        turn: Number of the turn, for the quotes.
    """
    found: list[Finding] = []
    spans = sentences(text)
    for i, span in enumerate(spans):
        sentence = span.of(text)
        before = spans[i - 1].of(text) if i else ""
        after = spans[i + 1].of(text) if i + 1 < len(spans) else ""
        if _DISOWNED.search(sentence) or _TAKEN_BACK.match(after.lower()):
            continue
        for hit in (*_sums(sentence, before), *_mistakes(sentence), *_listed(sentence, question)):
            exact = quote(text, Span(span.start + hit.span.start, span.start + hit.span.end), turn)
            if not any(f.quote.start < exact.end and exact.start < f.quote.end for f in found):
                found.append(
                    Finding(
                        kind=hit.kind,
                        criterion=hit.criterion,
                        check=hit.check,
                        quote=exact,
                        claimed=hit.claimed or exact.text,
                        right=hit.right,
                        confidence=hit.confidence,
                    )
                )
    return tuple(found)


class _Hit(NamedTuple):
    kind: FindingKind
    criterion: str
    check: str
    span: Span
    """In the sentence."""
    claimed: str
    """Empty: the quote itself."""
    right: str
    confidence: float


def _sums(sentence: str, before: str) -> Iterator[_Hit]:
    if not _ANY_NUMBER.search(sentence):
        return
    for check in CHECKS:
        for c in check(sentence, before):
            doubtful = _SUPPOSED.search(sentence[: c.span.end]) or _TURNED.search(sentence[c.span.end :])
            if c.agrees or not doubtful:
                kind = FindingKind.CHECKED if c.agrees else FindingKind.CONTRADICTED
                yield _Hit(kind, c.criterion, c.check, c.span, c.claimed, c.right, 0.95)


def _mistakes(sentence: str) -> Iterator[_Hit]:
    for mistake, start, end in claims(sentence):
        if not _TURNED.search(sentence[end:]):
            span = _clause(sentence, start, end)
            yield _Hit(FindingKind.WRONG, mistake.criterion, mistake.id, span, "", mistake.right, 0.9)


def _clause(sentence: str, start: int, end: int) -> Span:
    """Widen a range to the commas around it, so that the quote reads as a statement."""
    before = [m.end() for m in _COMMA.finditer(sentence, 0, start)]
    after = _COMMA.search(sentence, end)
    return Span(before[-1] if before else 0, after.start() if after else len(sentence))


def _listed(sentence: str, question: Question | None) -> Iterator[_Hit]:
    """Match the question's wrong claims: most of a claim's own terms, in a sentence not much longer."""
    if question is None or _TURNED.search(sentence):
        return
    said = concepts(sentence)
    for known in question.wrong_claims:
        wanted = concepts(known.claim)
        same = _negations(sentence) == _negations(known.claim)
        if len(wanted) >= 4 and len(said & wanted) >= 0.8 * len(wanted) and len(said) <= 1.6 * len(wanted) and same:
            span = Span(0, len(sentence))
            criterion = question.targets[0].criterion
            yield _Hit(FindingKind.WRONG, criterion, "listed", span, known.claim, known.correction, 0.8)


def _negations(text: str) -> int:
    return sum(w in _NEGATION or w.endswith("n't") for w in words(text))


def capped(found: CriterionAssessment, facts: Iterable[Finding]) -> tuple[CriterionAssessment, Notice | None]:
    """Lower a criterion to level 1 when a wrong claim that belongs to it is sure, with the reason; else leave it."""
    wrong = [f for f in facts if f.kind != FindingKind.CHECKED and f.criterion == found.criterion]
    sure = next((f for f in wrong if f.confidence >= SURE), None)
    if sure is None or found.level <= CAP:
        return found, None
    lowered = cap(found.probabilities, CAP)
    held = f"{label(found.criterion)} is held at level {CAP}"
    reason = Notice(code="wrong_claim", message=f'{held}, as one claim is wrong: "{sure.quote.text}". {sure.right}')
    update = {"probabilities": lowered, "level": CAP, "confidence": min(1.0, lowered[CAP])}
    return found.model_copy(update=update), reason
