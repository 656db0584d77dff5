"""Numbers that can be computed from what the candidate's own text states: memory, cache, batch, adapter, bandwidth.

Each check reads one sentence, with the one before it where a sum is often split, and stays silent unless every factor
is stated. A claim agrees within 12 per cent, which covers rounding and GB against GiB, and contradicts only well
outside that; what lies between is nobody's mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod
from typing import NamedTuple

from interviewer.core.numerals import (
    NUMBER,
    SIZE,
    SPEED,
    TIME,
    bytes_of,
    close,
    number,
    plain,
    readable,
    size_bytes,
)
from interviewer.core.text import Span

SERVING, CODE = "llm_serving_depth", "implementation_correctness"

Check = Callable[[str, str], Iterator["Computed"]]
"""Takes a sentence and the one before it."""


class Computed(NamedTuple):
    """What a check found in a sentence."""

    check: str
    criterion: str
    span: Span
    """In the sentence."""
    claimed: str
    right: str
    agrees: bool


LONGEST = 1500
"""Sentences of more characters are not read for sequences: every pair of numbers is tried there."""
_ELSE = re.compile(
    r"\b(?:left|more|less|extra|free|remain\w*|cards?|gpus?|pool|budget|machines?|each|per|for (?:the )?cache|over"
    r"|spare|saved|without|with|plus|and|including|altogether|in total|headroom|phones?|laptops?|A\d+|H\d+)\b",
    re.IGNORECASE,
)
"""Words after a size that make it something else than what was computed."""
_WEIGHTS = re.compile(
    rf"(?P<count>{NUMBER})[ -]?(?P<scale>B\b|bn\b|billion\b|million (?:weights|param\w*))(?! ?(?:tokens|active))"
    rf"(?P<gap>[^\d;:]{{0,25}}?)(?P<bits>\b(?:bf16|fp16|float16|16[ -]bits?|fp8|int8|8[ -]bits?|int4|4[ -]bits?|nf4|"
    rf"fp32|float32|32[ -]bits?)\b)?(?P<verb>[^\d;:]{{0,30}}?){SIZE}(?P<of> of weights)?",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|takes?|weighs?|needs?|comes? to|makes?|means|requires?|uses?)\b|=", re.IGNORECASE)
_NOT_WEIGHTS = re.compile(
    r"\b(?:lora|adapters?|cache|token|gradients?|adam|optimi[sz]er|train\w*|moments|activations?|active|experts?|moe|"
    r"drafts?|split|shard\w*|parallel|tp|halves|left|prun\w+|average)\b",
    re.IGNORECASE,
)


def weights(sentence: str, _before: str) -> Iterator[Computed]:
    """Memory of the weights: parameters times bytes; 4-bit formats may carry scales and unquantised parts on top."""
    for m in _WEIGHTS.finditer(sentence):
        count = number(m["count"]) * (1e6 if m["scale"].lower().startswith("million") else 1e9)
        width = bytes_of(m["bits"]) if m["bits"] else 2.0
        right, claimed = count * width, size_bytes(m)
        said = plain(m["bits"]) if m["bits"] else "16 bits"
        text = f"{readable(count, '')} parameters x {width:g} bytes ({said}) = {readable(right)}"
        span = Span(m.start(), m.end())
        around = sentence[: m.end() + 25]
        if close(claimed, right, 0.88, 1.4 if width < 1 else 1.13):
            if not _NOT_WEIGHTS.search(sentence[max(0, m.start() - 30) : m.end()]) and (
                m["bits"] or m["of"] or m["scale"].lower()[0] == "m"
            ):
                yield Computed("weights", SERVING, span, m["size"], text, agrees=True)
            continue
        tail = sentence[m.end() : m.end() + 25]
        sure = m["bits"] and _IS.search(m["verb"]) and not _NOT_WEIGHTS.search(around) and not _ELSE.search(tail)
        over = claimed > right
        if sure and not close(claimed, right, 0.7, 1.5) and (not over or m["of"]):
            yield Computed("weights", SERVING, span, m["size"], text, agrees=False)


_CHAIN = re.compile(
    rf"(?<![\w.,])(?P<chain>{NUMBER}(?:(?![a-wyz])[^\d.;:=]{{0,20}}?(?:\btimes|\bby|[x×*])\s*(?:{NUMBER})){{1,8}})"
    rf"(?P<unit>\s*bytes?)?"
    rf"(?P<link>,?\s*(?:=|is|are|that's|that is|makes|gives|so|which is)\s*|,\s*)"
    rf"(?:{SIZE}|(?P<plain>{NUMBER})(?= (?:sequences|samples|rows|examples|again)\b|\s*(?:[,;:)](?! ?\d)|\.(?!\d)|$)))",
    re.IGNORECASE,
)
_NUMBER = re.compile(NUMBER, re.IGNORECASE)


def products(sentence: str, _before: str) -> Iterator[Computed]:
    """A product that is written out: "2 x 32 x 8 x 128 x 2 bytes = 128 KiB", "4 by 4 by 2, so 32"."""
    for m in _CHAIN.finditer(sentence):
        factors = [number(n.group()) for n in _NUMBER.finditer(m["chain"])]
        right = prod(factors)
        shown = " x ".join(f"{f:g}" for f in factors)
        if m["size"] is not None:
            agrees, wrong = close(size_bytes(m), right), m["unit"] and not close(size_bytes(m), right, 0.7, 1.4)
            claimed, text = m["size"], f"{shown} bytes = {readable(right)}"
        else:
            agrees, wrong = number(m["plain"]) == right, not m["unit"] and not close(number(m["plain"]), right)
            claimed, text = m["plain"], f"{shown} = {right:,.0f}"
        whole = "." not in m["chain"] and not re.search(r"[\^*/+()=-] ?$", sentence[: m.start()])
        strong = whole and re.search(r"\w|=", m["link"]) and "so" not in m["link"].split()
        criterion = SERVING if m["size"] is not None else CODE
        if agrees or (wrong and strong):
            yield Computed("product", criterion, Span(m.start(), m.end()), claimed, text, agrees=agrees)


_RATE = re.compile(rf"{SIZE}(?:,? of (?:kv[ -]?)?cache)?,? ?(?:per|a|each|for each|for every|/) ?token", re.IGNORECASE)
_LAYERS = re.compile(rf"(?P<n>{NUMBER}) layers", re.IGNORECASE)
_HEADS = re.compile(rf"(?P<n>{NUMBER}) (?:kv|key[ -]value) heads", re.IGNORECASE)
_DIM = re.compile(
    rf"heads? of (?:size |dimension )?(?P<n>{NUMBER})|head[ _-]dim\w*(?: of| is|:| ?=)? ?(?P<m>{NUMBER})", re.I
)
_WIDTH = re.compile(
    r"\b(?:bf16|fp16|16[ -]bits?|two bytes|2 bytes|fp8|int8|8[ -]bits?|one byte|1 byte)\b", re.IGNORECASE
)
SHAPES: tuple[tuple[str, str, int, int, int], ...] = (
    ("Llama 3 8B", r"\bllama[ -]?3(?:\.[01])?[ -]8b\b", 32, 8, 128),
    ("Llama 3 70B", r"\bllama[ -]?3(?:\.[0123])?[ -]70b\b", 80, 8, 128),
    ("Llama 2 7B", r"\bllama[ -]?2[ -]7b\b", 32, 32, 128),
    ("Llama 2 13B", r"\bllama[ -]?2[ -]13b\b", 40, 40, 128),
    ("Mistral 7B", r"\bmistral[ -]7b\b", 32, 8, 128),
)
"""Well-known models: name, how it is written, layers, KV heads, size of a head."""


def cache_per_token(sentence: str, before: str) -> Iterator[Computed]:
    """KV bytes of one token: 2 x layers x KV heads x head size x bytes, from a stated shape or a well-known model."""
    rates = list(_RATE.finditer(sentence))
    shape = _shape(sentence, before) if len(rates) == 1 else None
    if shape is None:
        return
    name, layers, heads, size = shape
    widths = {bytes_of(w) for w in _WIDTH.findall(sentence)}
    width = widths.pop() if len(widths) == 1 else 2.0
    right, claimed = 2 * layers * heads * size * width, size_bytes(rates[0])
    text = (
        f"{name}2 x {layers:g} layers x {heads:g} KV heads x {size:g} x {width:g} bytes = {right:,.0f} bytes, "
        f"{readable(right, binary=True)} per token"
    )
    span = Span(rates[0].start(), rates[0].end())
    if close(claimed, right):
        yield Computed("cache_per_token", SERVING, span, rates[0]["size"], text, agrees=True)
    elif not any(close(claimed, right, 0.7 * k, 1.4 * k) for k in (0.25, 0.5, 1, 2)):
        yield Computed("cache_per_token", SERVING, span, rates[0]["size"], text, agrees=False)


def _shape(sentence: str, before: str) -> tuple[str, float, float, float] | None:
    for text in (sentence, f"{before} {sentence}"):
        found = [list(p.finditer(text)) for p in (_LAYERS, _HEADS, _DIM)]
        if all(len(f) == 1 for f in found):
            layers, heads, size = (number(next(g for g in f[0].groups() if g)) for f in found)
            return "", layers, heads, size
    named = [s for s in SHAPES if re.search(s[1], sentence, re.IGNORECASE)]
    return (f"{named[0][0]}: ", *named[0][2:]) if len(named) == 1 else None


_TOKENS = re.compile(
    rf"(?P<n>{NUMBER}) ?(?P<k>k\b)?(?:[ -](?:shared |running |cached )?tokens?\b|(?<=k)\b)", re.IGNORECASE
)
_COUNT = re.compile(
    rf"(?P<n>{NUMBER}) (?:\w+ )?(?:users|streams|sequences|conversations|chats|documents|requests|calls|agents|"
    r"players)\b",
    re.IGNORECASE,
)


def cache_of_sequence(sentence: str, _before: str) -> Iterator[Computed]:
    """KV bytes of sequences: bytes per token times tokens, times sequences where they are counted."""
    rates = list(_RATE.finditer(sentence))
    if len(rates) != 1 or len(sentence) > LONGEST:
        return
    rate = size_bytes(rates[0])
    tokens = [(m, number(m["n"]) * (1000 if m["k"] else 1)) for m in _TOKENS.finditer(sentence)]
    tokens = [(m, n) for m, n in tokens if n > 0 and rate > 0]
    counts = [1.0, *(number(m["n"]) for m in _COUNT.finditer(sentence))]
    sizes = [
        m for m in re.finditer(SIZE, sentence, re.IGNORECASE) if not rates[0].start() <= m.start() < rates[0].end()
    ]
    for _, n in tokens:
        for size in sizes:
            fits = next((c for c in counts if n * c > 1 and close(size_bytes(size), rate * n * c)), None)
            if fits is None:
                continue
            times = f" x {fits:g}" if fits != 1 else ""
            text = f"{plain(rates[0]['size'])} x {n:,.0f} tokens{times} = {readable(rate * n * fits)}"
            span = Span(min(rates[0].start(), size.start()), max(rates[0].end(), size.end()))
            yield Computed("cache", SERVING, span, size["size"], text, agrees=True)
            return
    if len(tokens) != 1 or len(sizes) != 1 or len(counts) != 1:
        return
    (t, n), size = tokens[0], sizes[0]
    right, claimed = rate * n, size_bytes(size)
    stated = [(m.start(), m.end()) for m in (rates[0], t, size)]
    others = [number(m.group()) for m in _NUMBER.finditer(sentence) if not any(a <= m.start() < b for a, b in stated)]
    factor = any(close(claimed, right * o, 0.8, 1.25) or close(claimed * o, right, 0.8, 1.25) for o in others if o > 1)
    gap = sentence[min(t.end(), size.end()) : max(t.start(), size.start())]
    if (
        close(claimed, right, 0.6, 1.7)
        or factor
        or _ELSE.search(sentence[size.end() : size.end() + 25])
        or not _IS.search(gap)
    ):
        return
    span = Span(min(rates[0].start(), t.start(), size.start()), max(rates[0].end(), t.end(), size.end()))
    text = f"{plain(rates[0]['size'])} x {n:,.0f} tokens = {readable(right)}"
    yield Computed("cache", SERVING, span, size["size"], text, agrees=False)


_READ = re.compile(
    rf"{SIZE}(?P<one>[^;]{{0,45}}?){SPEED}(?P<two>[^;]{{0,30}}?){TIME}",
    re.IGNORECASE,
)


def reading(sentence: str, _before: str) -> Iterator[Computed]:
    """The floor of a decode step: bytes read over bytes a second. Slower than the floor is no contradiction."""
    for m in _READ.finditer(sentence):
        speed = number(m["speed"]) * (1e12 if m["scale2"].lower().startswith("t") else 1e9)
        if not speed:
            continue
        right, claimed = size_bytes(m) / speed * 1000, number(m["ms"])
        text = f"{plain(m['size'])} / {readable(speed)} a second = {right:.1f} ms"
        span = Span(m.start(), m.end())
        if close(claimed, right, 0.88, 1.2):
            yield Computed("read_time", SERVING, span, f"{m['ms']} ms", text, agrees=True)
        elif claimed < right / 2 and _IS.search(m["two"]) and not re.search(r"\d|\b(?:cards|two|four)\b", m["one"]):
            yield Computed("read_time", SERVING, span, f"{m['ms']} ms", text, agrees=False)
