"""Coaching for a scored answer: which clause of the next anchor cannot be seen, asked about the candidate's own words.

Nothing is generated and nothing is praised: every line is an anchor, an authored question, the candidate's own words,
a checked fact or the rubric's contrast. A clause that a check does not see is a question, never a claim.
"""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core.assessment import Assessment, CriterionAssessment, Frozen
from interviewer.core.clauses import shows
from interviewer.core.facts import Finding, FindingKind
from interviewer.core.reading import Said
from interviewer.core.rubric import Clause, Coaching, Question, Vocabulary, anchor
from interviewer.core.text import Quote, capital, content_words, quote, sentences

QUOTED = 160
"""Most characters of a quote in a coaching line; a longer sentence is cut at a word, and stays exact."""


class ClauseNote(Frozen):
    """One part of the next anchor."""

    needs: str
    shown: Quote | None
    """The sentence that shows it; ``None``: it could not be seen, which is not to say that it is missing."""
    builds_on: Quote | None = None
    """The candidate's words that the question is about; only for a clause that is not shown."""
    line: str | None = None
    """What to ask oneself; only for a clause that is not shown."""


class Correction(Frozen):
    """A wrong claim of the answer, with what is right."""

    criterion: str
    quote: Quote
    right: str


class CoachingNote(Frozen):
    """What stands between one criterion and its next level."""

    criterion: str
    level: int
    shown: str
    """Anchor of the level that was shown."""
    missing: str | None
    """Anchor of the next level; ``None`` at level 3."""
    builds_on: tuple[Quote, ...]
    """The candidate's own words to build on."""
    clauses: tuple[ClauseNote, ...] = ()
    """Parts of the next anchor, in its order; empty at level 3, or where the criterion has none."""


class MainThing(Frozen):
    """The one thing to work on first."""

    criterion: str
    line: str


class CoachingPlan(Frozen):
    """Coaching for one answer, the most useful criterion first."""

    first: MainThing | None = None
    """A wrong claim if there is one, else the first clause that cannot be seen."""
    corrections: tuple[Correction, ...] = ()
    notes: tuple[CoachingNote, ...]
    contrast: Coaching | None
    """How the answer usually goes wrong and how a good one moves; known for questions of a rubric."""


def coach(
    assessment: Assessment,
    vocabulary: Vocabulary,
    question: Question | None,
    answer: str,
    facts: Sequence[Finding] = (),
    turn: int = 0,
    earlier: Sequence[Said] = (),
) -> CoachingPlan:
    """Write the coaching for ``assessment``; criteria closest to their next level come first.

    Args:
        assessment: What the judge read.
        vocabulary: Criteria with their anchors and clauses.
        question: The question of a rubric, for its contrast.
        answer: The text that was read; a blank one is not coached, as there is nothing to build on.
        facts: Claims of ``answer`` and ``earlier`` that could be checked; those of ``turn`` are corrected.
        turn: Number of the turn, for the quotes.
        earlier: What was said on the same question before, and read with it; a clause that it shows is not asked for.
    """
    if not any(c.isalnum() for c in answer):
        return CoachingPlan(notes=(), contrast=None)
    wrong = tuple(f for f in facts if f.kind != FindingKind.CHECKED)
    here = [f for f in wrong if f.quote.turn == turn]
    corrections = tuple(Correction(criterion=f.criterion, quote=f.quote, right=f.right) for f in here)
    order = sorted(assessment.criteria, key=lambda c: (c.level == 3, -(c.expected - c.level), c.criterion))
    said = (Said(turn=turn, text=answer), *reversed(earlier))
    notes = tuple(_note(found, vocabulary, said, wrong) for found in order)
    return CoachingPlan(
        first=_first(corrections, notes),
        corrections=corrections,
        notes=notes,
        contrast=question.coaching if question else None,
    )


def _note(
    found: CriterionAssessment, vocabulary: Vocabulary, said: Sequence[Said], wrong: Sequence[Finding]
) -> CoachingNote:
    criterion = vocabulary.criteria[found.criterion]
    upper = next((clauses for level, clauses in criterion.clauses.items() if int(level) == found.level + 1), ())
    seen = [_seen(clause, said, wrong) for clause in upper]
    # What carries the level is asked about; where nothing does, what another clause was seen in.
    near = [q for q in found.evidence if any(_of(q, s) for s in said)] or [q for q in seen if q]
    return CoachingNote(
        criterion=found.criterion,
        level=found.level,
        shown=anchor(criterion, found.level),
        missing=None if found.level == 3 else anchor(criterion, found.level + 1),
        builds_on=found.evidence,
        clauses=tuple(_clause(clause, shown, near, said[0]) for clause, shown in zip(upper, seen, strict=True)),
    )


def _of(found: Quote, said: Said) -> bool:
    return found.turn == said.turn and said.text[found.start : found.end] == found.text


def _seen(clause: Clause, said: Sequence[Said], wrong: Sequence[Finding]) -> Quote | None:
    """Return the sentence that shows a clause, or ``None``; ``wrong`` are the claims that show nothing."""
    for one in said:
        span = shows(clause.check, one.text) if clause.check else None
        # A sentence with a wrong claim in it shows nothing, whatever its words are.
        false = [f.quote for f in wrong if f.quote.turn == one.turn]
        if span and not any(q.start < span.end and span.start < q.end for q in false):
            return quote(one.text, span, one.turn)
    return None


def _clause(clause: Clause, shown: Quote | None, near: Sequence[Quote], answer: Said) -> ClauseNote:
    if shown:
        return ClauseNote(needs=clause.needs, shown=shown)
    own = _material(clause, near, answer)
    line = f'You said "{own.text}": {clause.ask}' if own else capital(clause.ask)
    return ClauseNote(needs=clause.needs, shown=None, builds_on=own, line=line)


def _material(clause: Clause, near: Sequence[Quote], answer: Said) -> Quote | None:
    """Return the words that a clause is asked about: the best of ``near``, else a sentence that shares its words."""
    wanted = content_words(f"{clause.needs} {clause.ask}")
    said = near or [
        quote(answer.text, s, answer.turn) for s in sentences(answer.text) if wanted & content_words(s.of(answer.text))
    ]
    if not said:
        return None
    return _cut(max(said, key=lambda q: (len(wanted & content_words(q.text)), q.turn, -q.start)))


def _cut(found: Quote) -> Quote:
    if len(found.text) <= QUOTED:
        return found
    at = found.text.rfind(" ", 1, QUOTED)
    kept = found.text[: at if at > 0 else QUOTED]
    return Quote(start=found.start, end=found.start + len(kept), text=kept, turn=found.turn)


def _first(corrections: Sequence[Correction], notes: Sequence[CoachingNote]) -> MainThing | None:
    if corrections:
        first = corrections[0]
        return MainThing(criterion=first.criterion, line=f'You said "{first.quote.text}". {first.right}')
    lines = ((note.criterion, clause.line) for note in notes for clause in note.clauses)
    return next((MainThing(criterion=name, line=line) for name, line in lines if line), None)
