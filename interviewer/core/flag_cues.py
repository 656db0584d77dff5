"""Cues of the committee's flags: what the words of one sentence give away. Each cue is a strength from 0 to 1.

A cue alone raises nothing: :mod:`interviewer.core.flags` weighs cues together with what the criteria were read at, by
weights that were fitted on labelled answers. Cues are about wording and structure, never about length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from interviewer.core.flag_words import WORDS

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = r"(?:january|february|march|april|june|july|august|september|october|november|december)"
_ITEM = re.compile(
    r"\b(?:[A-Z][\w.]*[A-Z0-9][\w.+-]*|[a-z]+[A-Z]\w*|[A-Z][a-z]{2,}[\w.-]*)"  # vLLM, INT8, Qdrant
    r"|(?i:\b(?:quanti[sz]\w+|prun\w+|distill\w+|speculative|batching|cach\w+|prefix|adapters?|fine-?tun\w+|retriev\w+|"
    r"re-?rank\w*|guardrails?|embed\w*|chunk\w*|canary|shadow|shard\w*|fusion|offload\w*|attention|prefill|decod\w+|"
    r"bootstrap|judge|trac(?:es|ing)|dashboards?|registry|feature flags?|rollback|instances?|drift|gateways?|router\w*|"
    r"routing|agents?|queue\w*|priorit\w+|buckets?|partition\w*|cascades?|delimiters|filter\w*|teaming|prompt\w*|"
    r"compression|parallelism|paging|preemption|vectors?|hybrid|fallbacks?|merging|alignment|orchestrat\w*|index\w*|"
    r"parser|generation|ingest\w*|connector|observability|evaluation|monitoring|governance|store|engine|layer|broker)\b)"
)
_NOT_ITEM = re.compile(
    rf"[=(){{}}\[\]]|\d ?(?:%|per ?cent|ms|euros?|dollars|GB|gigabytes?|seconds?|minutes?|hours?|k\b)|"
    rf"\b(?:I|we|you|it|he|she|they|who|which|that|because|if|when)\b|\b(?:{_DAY}|{_MONTH})\b",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[,;:]|\b(?:and|or|plus|then|also|behind|on top|with)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"^.*\b(?:there(?:'s| is| are|'re)|(?:you|we|I)(?:'ve| have)?(?: got)?|"
    r"use|used|take|put|with|like|say|of|be|then)\b",
    re.IGNORECASE,
)


def listed(sentence: str) -> float:
    """Return how much of a list of named things a sentence is: 0 below three in a row, 1 from six."""
    longest = run = 0
    for part in _COMMA.split(sentence):
        item = _LEAD.sub("", part).strip() or part.strip()
        size = len(item.split())
        if not size:
            continue
        if size <= 5 and _ITEM.search(item) and not _NOT_ITEM.search(item):
            run += 1
            longest = max(longest, run)
        elif size > 2 or _NOT_ITEM.search(item):
            run = 0
    return min(1.0, max(0, longest - 2) / 4)


def _matches(lines: str) -> Callable[[str], float]:
    alternatives = "|".join(line[4:] for line in lines.splitlines() if line.strip()).replace("|...", "")
    pattern = re.compile(alternatives, re.IGNORECASE)

    def strength(sentence: str) -> float:
        return 1 - 0.5 ** len({m.group().lower() for m in pattern.finditer(sentence)})

    return strength


CUES: Mapping[str, Callable[[str], float]] = {
    "listed": listed,
    **{name: _matches(lines) for name, lines in WORDS.items()},
}
"""Strength of each cue in one sentence, 0 to 1: half for one distinct match, three quarters for two, and so on."""
