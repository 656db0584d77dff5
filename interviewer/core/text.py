"""Text as evidence: sentences with offsets, and quotes that are exact by construction.

Invariant: a :class:`Quote` is only made from a text and two offsets in it, so ``text[start:end] == quote.text``
always holds for the text that it was made from. No model ever writes a quote.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?(?:[A-Z0-9`]|[a-z]{1,2}[A-Z]))|\n+")
"""A sentence starts with a capital, a digit, code, or a name like vLLM and eBPF."""
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|vs|etc|approx|resp|Dr|Mr|Ms|No|Fig)\.|\b[A-Z]\.)$")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+./'-]*")


class Span(NamedTuple):
    """Half-open character range in a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the characters of ``text`` in this range."""
        return text[self.start : self.end]


class Quote(BaseModel):
    """An exact piece of somebody's words, with its offsets in characters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: int
    end: int
    text: str
    turn: int = 0
    """Number of the turn whose answer is quoted; 0 for an answer that is scored on its own."""


def quote(text: str, span: Span, turn: int = 0) -> Quote:
    """Cut a quote out of ``text``, the answer of ``turn``.

    Raises:
        ValueError: the span is empty or outside the text.
    """
    if not 0 <= span.start < span.end <= len(text):
        raise ValueError(f"span {span.start}:{span.end} is not inside a text of {len(text)} characters")
    return Quote(start=span.start, end=span.end, text=span.of(text), turn=turn)


def sentences(text: str) -> list[Span]:
    """Split ``text`` into sentences, in order; newlines end a sentence, common abbreviations do not.

    Spans carry no surrounding white space, never overlap, and together hold every non-space character.
    """
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if "\n" not in match.group() and _ABBREVIATION.search(text[start : match.start()]):
            continue
        spans.append(_trim(text, start, match.end()))
        start = match.end()
    spans.append(_trim(text, start, len(text)))
    return [span for span in spans if span.end > span.start]


def _trim(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


def plain(text: str) -> str:
    """Return ``text`` with typographic apostrophes as typed ones, which patterns are written in; offsets stay."""
    return text.replace("\u2019", "'")


def words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case; numbers and identifiers count as words."""
    return [w.lower().rstrip(".'/-") for w in _WORD.findall(text)]


_STOP = frozenset(
    """a about after all also am an and any are as at be because been before being both but by can could did do does
    doing for from further had has have having he her here him his how i if in into is it its just let me more most my
    no nor not of off on once only or other our out over own same she should so some such than that the their them then
    there these they this those through to too under until up us very was we were what when where which while who whom
    why will with would you your yours""".split()
)


def content_words(text: str) -> set[str]:
    """Return the words of ``text`` that carry meaning: no function words, a crude plural strip."""
    kept = (w for w in words(text) if w not in _STOP)
    return {w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w for w in kept}


def function_word_share(text: str) -> float:
    """Return the share of ``text``'s words that are function words; near 0 for a list of keywords."""
    all_words = words(text)
    return sum(w.split("'")[0] in _STOP for w in all_words) / len(all_words) if all_words else 0.0


def overlap(a: str, b: str) -> float:
    """Return how much of the smaller text's content words the other shares, in [0, 1]."""
    left, right = content_words(a), content_words(b)
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0


def clip_words(text: str, limit: int) -> str:
    """Keep the first and the last words of ``text`` when it is longer than ``limit`` words."""
    parts = text.split()
    if len(parts) <= limit:
        return " ".join(parts)
    head = limit // 3
    return " ".join([*parts[:head], "[...]", *parts[-(limit - head) :]])


def label(identifier: str) -> str:
    """Return an id as people read it: ``llm_serving_depth`` is "LLM serving depth"."""
    return " ".join("LLM" if word == "llm" else word for word in identifier.split("_"))


def capital(text: str) -> str:
    """Return ``text`` with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]
