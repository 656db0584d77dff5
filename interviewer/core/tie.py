"""Ties a question to what was said by quoting a few of the candidate's own words, when the model's tie-in does not.

Invariant: what is returned is an exact piece of the answer, so a tie that code makes can never be invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from interviewer.core.guard import unfit
from interviewer.core.screen import addresses_reader
from interviewer.core.text import content_words
from interviewer.core.wording import concepts

SHORTEST, LONGEST = 4, 12
"""Words of a quote: fewer say nothing, more is a recital."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_BREAK = re.compile(
    r"\n+|[.!?](?=\s|$)|[,;:()\u2013\u2014](?=\s|$)|(?<=\s)--?(?=\s)|(?<=\s)(?:but|because|so|while)(?=\s)"
)
_OPENS = re.compile(
    r"(?i)\s*(?:(?:and|or|but|so|because|then|well|okay|also|which|that|as|if|when|i mean|you know)\b\s*)*"
)
_AWKWARD = re.compile('["\u201c\u201d`<>|{}#*_?]')


def phrase(said: str, toward: str, used: Sequence[str] = ()) -> str | None:
    """Return the piece of an answer that a question is best tied to; ``None`` when no piece is fit to be quoted.

    Args:
        said: The answer.
        toward: The question; a piece that shares words with it comes first, then one with a figure, then the fullest.
        used: Earlier questions of the session; what they quoted is not quoted again.
    """
    best: tuple[float, str] | None = None
    about = concepts(toward)
    for piece in _pieces(_FENCED.sub(lambda code: "\n" * len(code.group()), said)):
        meaning = content_words(piece)
        if not SHORTEST <= len(piece.split()) <= LONGEST or len(meaning) < 2:
            continue
        if _AWKWARD.search(piece) or unfit(piece) or addresses_reader(piece):
            continue
        if any(piece in earlier for earlier in used):
            continue
        worth = 2 * len(about & concepts(piece)) + any(c.isdigit() for c in piece) + len(meaning) / 6
        if best is None or worth > best[0]:
            best = (worth, piece)
    return best[1] if best else None


def tied(frames: Sequence[str], said: str, toward: str, used: Sequence[str]) -> str | None:
    """Return one of a persona's ``frames`` around a quote; ``None`` when nothing is fit to be quoted.

    Frames are taken in turn over a session, so that the same one does not come twice in a row.
    """
    found = phrase(said, toward, used)
    return frames[len(used) % len(frames)].replace("{quote}", found) if found and frames else None


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in [*_BREAK.finditer(text), None]:
        piece = text[start : match.start() if match else len(text)]
        opening = _OPENS.match(piece)
        yield piece[opening.end() if opening else 0 :].strip(" \t'.!")
        if match:
            start = match.end()
