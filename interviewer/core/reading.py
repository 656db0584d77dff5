"""What a judge is given to read, and how its answer becomes an assessment. The judge itself is a port.

A reading covers everything the candidate said on one question. Sentences are labelled; the judge points at labels and
this module cuts the quotes, so a quote is exact by construction.
"""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core.assessment import (
    Assessment,
    CriterionAssessment,
    Frozen,
    Notice,
    Probabilities,
    expected_level,
    normalise,
)
from interviewer.core.facts import Finding, capped, check_answer
from interviewer.core.flags import read_flags
from interviewer.core.prompts import LABELS, Count, judge_prefix
from interviewer.core.rubric import Vocabulary
from interviewer.core.screen import Screened, screen
from interviewer.core.text import Quote, Span, quote


class Said(Frozen):
    """What the candidate said in one turn."""

    turn: int
    text: str


MOST_CHARS = 100_000
"""Characters that one pass looks at: five of the longest answers of a live session; an imported one may be longer."""


def recent(said: Sequence[Said], most: int = MOST_CHARS) -> tuple[Said, ...]:
    """Return the latest of what was said, at most ``most`` characters of it; only the last answer is ever cut."""
    kept: list[Said] = []
    left = most
    for one in reversed(said):
        if kept and len(one.text) > left:
            break
        kept.append(one if len(one.text) <= left else one.model_copy(update={"text": one.text[:left]}))
        left -= len(kept[-1].text)
    return tuple(reversed(kept))


class CriterionSpec(Frozen):
    """A criterion as the judge sees it; custom criteria of a request take the same shape."""

    name: str
    asks: str
    anchors: tuple[str, str, str, str]
    own: bool = False
    """Whether it comes with the request, so that a judge cannot have been trained on it."""


class Segment(Frozen):
    """A stretch of the candidate's words that the judge can point at."""

    quote: Quote


class Window(Frozen):
    """As much of an answer as the judge reads at once."""

    question: str
    segments: tuple[Segment, ...]


class RawReading(Frozen):
    """What a judge returns for one criterion of one window."""

    probabilities: Probabilities
    level: int
    segment: int | None
    """Index of the segment that carries the level; ``None`` when nothing does."""


class Prepared(Frozen):
    """An answer made ready for the judge."""

    windows: tuple[Window, ...]
    notices: tuple[Notice, ...]


def specs(vocabulary: Vocabulary, names: Sequence[str]) -> tuple[CriterionSpec, ...]:
    """Return the named criteria of the vocabulary.

    Raises:
        KeyError: a name is not in the vocabulary.
    """
    found = [(name, vocabulary.criteria[name]) for name in names]
    return tuple(
        CriterionSpec(name=n, asks=c.asks, anchors=(c.levels[0], c.levels[1], c.levels[2], c.levels[3]))
        for n, c in found
    )


def prepare(
    question: str, said: Sequence[Said], criteria: Sequence[CriterionSpec], budget: int, count: Count, most: int = 4
) -> Prepared:
    """Screen an answer, label its sentences and cut it into windows of at most ``budget`` tokens.

    At most ``most`` windows are read; a longer answer keeps its first ones and says so in a notice.
    """
    rubric_texts = [text for c in criteria for text in (c.asks, *c.anchors)]
    quotes: list[Quote] = []
    notices: dict[str, Notice] = {}
    for one in said:
        screened: Screened = screen(one.text, question, rubric_texts)
        notices.update({n.code: n for n in screened.notices})
        quotes += [
            piece
            for start, end in screened.spans
            for piece in _pieces(one.text, Span(start, end), one.turn, budget // 2, count)
        ]
    if quotes:
        notices.pop("too_short", None)
    windows = _windows(question, quotes, budget, count)
    if len(windows) > most:
        notices["too_long"] = Notice(
            code="too_long",
            message=f"Only the first {most} parts of {len(windows)} of this very long answer were read.",
        )
    return Prepared(windows=tuple(windows[:most]), notices=tuple(notices.values()))


def _pieces(text: str, span: Span, turn: int, budget: int, count: Count) -> list[Quote]:
    """Cut a sentence that is too long for the judge at white space."""
    whole = quote(text, span, turn)
    if count(whole.text) <= budget:
        return [whole]
    middle = (span.start + span.end) // 2
    cut = text.find(" ", middle, span.end)
    cut = cut if cut > 0 else middle
    left, right = Span(span.start, cut), Span(cut, span.end)
    return [q for part in (left, right) if part.of(text).strip() for q in _pieces(text, part, turn, budget, count)]


def _windows(question: str, quotes: Sequence[Quote], budget: int, count: Count) -> list[Window]:
    windows: list[Window] = []
    current: list[Quote] = []
    for one in quotes:
        rendered = judge_prefix(question, [q.text for q in (*current, one)][: len(LABELS)])
        if current and (len(current) == len(LABELS) or count(rendered) > budget):
            windows.append(_window(question, current))
            current = []
        current.append(one)
    if current:
        windows.append(_window(question, current))
    return windows


def _window(question: str, quotes: Sequence[Quote]) -> Window:
    return Window(question=question, segments=tuple(Segment(quote=q) for q in quotes))


NOTHING: Probabilities = (1.0, 0.0, 0.0, 0.0)


def assemble(
    criteria: Sequence[CriterionSpec],
    prepared: Prepared,
    readings: Sequence[Sequence[RawReading]],
    said: Sequence[Said],
    judge: str,
) -> Assessment:
    """Combine what the judge read into one assessment; a claim that is surely wrong holds its criterion down.

    Args:
        criteria: In the order in which they were read.
        prepared: The windows that were read, in order.
        readings: For each window, one reading per criterion; empty when nothing was left to read, which is level 0.
        said: The candidate's own words, as they were prepared, for the flags and the claims that can be checked.
        judge: Identity of the judge.
    """
    facts: list[Finding] = [f for s in said for f in check_answer(s.text, turn=s.turn)]
    held = [capped(_criterion(spec, i, prepared, readings), facts) for i, spec in enumerate(criteria)]
    found = tuple(criterion for criterion, _ in held)
    reasons = tuple(notice for _, notice in held if notice)
    flags = read_flags(
        {c.criterion: c.probabilities for c in found},
        [Quote(start=0, end=len(s.text), text=s.text, turn=s.turn) for s in said],
        {c.criterion: c.evidence for c in found},
    )
    return Assessment(criteria=found, flags=flags, notices=(*prepared.notices, *reasons), judge=judge)


def _criterion(
    spec: CriterionSpec, i: int, prepared: Prepared, readings: Sequence[Sequence[RawReading]]
) -> CriterionAssessment:
    if not readings:
        return CriterionAssessment(criterion=spec.name, probabilities=NOTHING, level=0, confidence=1.0)
    at = max(range(len(readings)), key=lambda w: (expected_level(readings[w][i].probabilities), -w))
    raw = readings[at][i]
    p = normalise(raw.probabilities)
    evidence: tuple[Quote, ...] = ()
    if raw.level > 0 and raw.segment is not None:
        evidence = (prepared.windows[at].segments[raw.segment].quote,)
    return CriterionAssessment(
        criterion=spec.name, probabilities=p, level=raw.level, confidence=min(1.0, p[raw.level]), evidence=evidence
    )
