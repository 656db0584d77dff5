"""A resume or a job description as passages: bullets and sentences, put together again where a line was wrapped.

Invariant: a passage is a half-open range of the text that was given; nothing is rewritten.
"""

from __future__ import annotations

import re

from interviewer.core.screen import addresses_reader
from interviewer.core.text import Span, sentences

_LINE = re.compile(r"[^\n]+")
_BULLET = re.compile(r"\s*(?:[-*•●▪–—·‣◦]+|\d{1,2}[.)])\s+")
_ENDED = re.compile(r"[.!?:;]\s*$")
_OPEN = re.compile(r"(?i)\b(?:to|from|of|with|and|or|by|in|on|at|for|the|an?|than|using|via|over)$|,$")
"""A line that cannot end here goes on in the next one."""
_COLUMNS = re.compile(r"\t+|\s{4,}")
"""Runs of white space inside a line: columns of a table or of a page."""


def passages(text: str) -> list[Span]:
    """Return the passages of ``text`` in order, without bullets and surrounding white space; they never overlap."""
    return [inner for block in _blocks(text) for inner in _sentences(text, block)]


def told(text: str) -> tuple[list[Span], int]:
    """Return the passages that tell something, and how many talk to whoever reads the text, as an injection does."""
    found = passages(text)
    kept = [span for span in found if not addresses_reader(span.of(text))]
    return kept, len(found) - len(kept)


def readable(text: str) -> str:
    """Return ``text`` with single spaces and without the passages that talk to its reader."""
    return " ".join(" ".join(span.of(text).split()) for span in told(text)[0])


def _blocks(text: str) -> list[Span]:
    blocks: list[Span] = []
    open_ = False
    for line in _LINE.finditer(text):
        bullet = _BULLET.match(line.group())
        first = line.start() + (bullet.end() if bullet else 0)
        cells = _cells(text, first, line.end())
        if not cells:
            open_ = False
            continue
        adjacent = bool(blocks) and text[blocks[-1].end : line.start()].count("\n") == 1
        goes_on = text[cells[0].start].islower() or bool(blocks and _OPEN.search(blocks[-1].of(text)))
        wrapped = open_ and adjacent and not bullet and len(cells) == 1 and goes_on
        if wrapped:
            blocks[-1] = Span(blocks[-1].start, cells[0].end)
        else:
            blocks += cells
        open_ = len(cells) == 1 and not _ENDED.search(cells[-1].of(text))
    return blocks


def _cells(text: str, start: int, end: int) -> list[Span]:
    found, at = [], start
    for gap in [*_COLUMNS.finditer(text, start, end), None]:
        stop = gap.start() if gap else end
        piece = text[at:stop]
        if piece.strip():
            found.append(Span(at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip())))
        at = gap.end() if gap else end
    return found


def _sentences(text: str, block: Span) -> list[Span]:
    # A wrapped line is one sentence: newlines are read as spaces, which keeps every offset.
    flat = block.of(text).replace("\n", " ").replace("\r", " ")
    return [Span(block.start + s.start, block.start + s.end) for s in sentences(flat)]
