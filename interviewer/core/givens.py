"""What is told to who asks: the numbers and limits of a case, so that framing a problem can be earned.

Pure matching, no model. Only questions count, and what is told is authored. What nobody asks for stays unsaid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from interviewer.core.rubric import Given
from interviewer.core.text import sentences, words

MOST_AT_ONCE = 3
"""Facts that one turn gives at most; the others follow in the next one."""
MAX_WORDS = 90
"""A longer message is an answer, though it ask throughout."""
_ASKS = re.compile(
    r"(?i)^(?:\W*(?:and|so|then|first\w*|next|also|ok|okay|before \w+(?: \w+)?),?\s+)*"
    r"(?:i(?:'d| would| want| need|'d like| would like|'d want| would want|'d need| would need)?(?: first| also| then)?"
    r"(?: like| want| need)?(?: to)? (?:ask|know|hear|find out from you)|(?:can|could) you tell me|tell me|"
    r"my (?:first|next|second|other) question)\b"
)
"""Beginnings of a sentence that asks without a question mark."""
_TYPED = re.compile(
    r"(?i)^(?:\W*(?:and|so|also|ok|okay|then)\W+)*(?:what(?:'?s|(?: (?!i |we |you |they |it )\w+){0,2} "
    r"(?:is|are|do|does|did|can|was|will|kind of))|which|who|where|when|"
    r"how (?:many|much|long|often|big|large|fast|fresh)|is (?:there|it|this)|are (?:there|they)|do (?:we|you|they)|"
    r"does (?:it|the)|can (?:we|it|the)) [^.!:;]{3,70}$"
)
"""A short question as it is typed in a chat, where the mark is left out."""
_LEAD_IN = frozenset(
    "a about all alright an and answer answering any anything ask asking before begin but can check clarify "
    "clarifying clear couple fair few fine first for from get good got great have hello hey hi hm hmm i i'd i'll "
    "i've if in interesting it just know let let's like may me might more my need nice now of ok okay on one "
    "please question questions quick right short small so some something sorry start starting sure thank thanks that "
    "the then there thing things this three to two understand up want we we'll well will with would you".split()
)
"""Words of sentences that only lead to a question."""


def questions(text: str) -> tuple[str, ...]:
    """Return the sentences of an answer that ask, with a question mark or in so many words."""
    said = (span.of(text) for span in sentences(text))
    return tuple(s for s in said if _asks(s))


def only_asks(text: str) -> bool:
    """Return whether all of a message asks: clarifying questions before an answer, and no answer yet."""
    if len(text.split()) > MAX_WORDS:  # first, as nearly every answer ends here
        return False
    said = [span.of(text) for span in sentences(text)]
    return any(map(_asks, said)) and all(_asks(s) or _LEAD_IN.issuperset(words(s)) for s in said)


def earned(givens: Iterable[Given], text: str) -> tuple[Given, ...]:
    """Return what a message asks for, in the order in which it does."""
    found: dict[str, Given] = {}
    givens = tuple(givens)
    for sentence in questions(text):
        for given in givens:
            if any(_met(cue, sentence) for cue in given.asked_by):
                found.setdefault(given.id, given)
    return tuple(found.values())


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"') ").endswith("?") or bool(_ASKS.match(sentence) or _TYPED.match(sentence))


def _met(cue: str, sentence: str) -> bool:
    return all(_term(term).search(sentence) for term in cue.split())


@lru_cache(maxsize=4096)
def _term(term: str) -> re.Pattern[str]:
    ways = (re.escape(way).replace("_", r"\s+").replace(r"\*", r"\w*") for way in term.split("|"))
    return re.compile(rf"(?i)\b(?:{'|'.join(ways)})\b")
