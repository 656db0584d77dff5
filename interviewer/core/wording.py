"""Whether two wordings are about the same thing, for text that was reworded on purpose.

A persona puts a probe into its own words, so the same word can rarely be asked for. Inflections are cut, and everyday
words that people swap for each other count as one. It tells a reworded probe from another one better than chance and
worse than a reader; ``tests/core/test_guard_material.py`` holds the rates.
"""

from __future__ import annotations

from interviewer.core.text import content_words

_SWAPPED = """
number figure count sum share percentile rate amount hundred much many far
price cost money budget bill invoice dear cheap expensive refund pay
decision decide choice choose chose chosen pick option
guess hunch believe assume assumption doubt suspect trust
test check verify prove tried refute measure
fail failure failing crash break broke broken drop fall outage
bad wrong false mistake incorrect rubbish
part piece bit
change touch alter move shift
give lose loss lost shrink sacrifice
say said tell told reply answer explain describe
habit lesson reflex routine practice
manager boss
keep kept hold held carry leave
customer client passenger user person people somebody
memory capacity room space
traffic load volume demand
paper writing written
better best smart smarter well right quick
show see saw seen shown notice catch look
work job task workload
ability skill
alone yourself nobody
open reopen
annoy nerve bother
slow wait latency delay
fast quick speed
same identical equal
surprise expect unexpected predict
team colleague others
learn lesson find found discover
risk danger harm hurt
""".strip().splitlines()

_ENDINGS = ("ings", "ing", "edly", "ed", "ies", "es", "er", "ly", "s", "e")


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


_CONCEPT = {_stem(word): line.split()[0] for line in reversed(_SWAPPED) for word in line.split()}


def concepts(text: str) -> set[str]:
    """Return what ``text`` is about: stems of its content words, swapped words as one."""
    return {_CONCEPT.get(stem, stem) for stem in map(_stem, content_words(text))}


def shared(a: str, b: str) -> float:
    """Return how much of the smaller text's concepts the other shares, in [0, 1]."""
    left, right = concepts(a), concepts(b)
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0
