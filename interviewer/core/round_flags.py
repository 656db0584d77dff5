"""The flags of a whole round: earned by what was said on one question, and not spoken against by the rest.

The weights of :mod:`interviewer.core.flags` were fitted on single answers. Over a round the best of sixty sentences
says more than the best of six, so the whole alone raises too much; it is asked only whether the flag still stands.
A strength also has to be reasoned: who says "I don't know that" and goes no further has admitted a limit, no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interviewer.core.assessment import Assessment, FlagReading, Probabilities
from interviewer.core.coverage import Coverage
from interviewer.core.flag_weights import WEIGHTS
from interviewer.core.flags import STRENGTHS, read_flags
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import Quote

STANDS = 0.4
"""Probability of a flag over the whole round below which one question does not raise it."""


def round_flags(state: SessionState, known: Coverage) -> tuple[FlagReading, ...]:
    """Read the flags of a round, most probable first, each with the sentence of the question that shows it best."""
    given = [t for t in state.turns if t.answer and t.number not in state.superseded]
    levels = {c.criterion: p for c in known.criteria if (p := c.probabilities) is not None}
    whole = {f.flag: f.probability for f in read_flags(levels, _said(given))}
    best: dict[str, FlagReading] = {}
    for question in dict.fromkeys(t.question_id for t in given):
        turns = [t for t in given if t.question_id == question]
        read = [t.result for t in turns if isinstance(t.result, Assessment)]
        if not read:
            continue
        last = read[-1]  # it was read over all that was said on the question
        evidence = {c.criterion: c.evidence for c in last.criteria}
        for flag in read_flags({c.criterion: c.probabilities for c in last.criteria}, _said(turns), evidence):
            if flag.flag not in best or flag.probability > best[flag.flag].probability:
                best[flag.flag] = flag
    standing = [f for f in best.values() if whole.get(f.flag, 0.0) >= STANDS and _borne_out(f.flag, levels)]
    return tuple(sorted(standing, key=lambda f: (-f.probability, f.flag)))


def _borne_out(flag: str, levels: Mapping[str, Probabilities]) -> bool:
    """Return whether a strength is more likely than not reasoned, level 2 or more, on one of its criteria."""
    return flag not in STRENGTHS or any(sum(levels[c][2:]) >= 0.5 for c in WEIGHTS[flag].levels if c in levels)


def _said(turns: Sequence[Turn]) -> list[Quote]:
    return [
        Quote(start=0, end=len(text), text=text, turn=turn.number)
        for turn in turns
        if turn.answer and (text := turn.answer.text)
    ]
