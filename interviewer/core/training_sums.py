"""Sums about training that can be computed from the candidate's own text: effective batch, adapter size, intensity."""

from __future__ import annotations

import re
from collections.abc import Iterator

from interviewer.core.computed import CODE, SERVING, Computed
from interviewer.core.numerals import NUMBER, close, number, readable
from interviewer.core.text import Span

_IS_AT = r"(?: ?=| ?:| of| is| at| stays at)? ?"
_MICRO = re.compile(
    rf"(?:micro[ _-]?batch(?: size)?|per[_ -]device(?:_train)?[_ -]batch(?:[_ -]size)?){_IS_AT}(?P<n>{NUMBER})",
    re.IGNORECASE,
)
_STEPS = re.compile(
    rf"accumulation(?:[_ ]steps)?{_IS_AT}(?P<n>{NUMBER})|(?P<m>{NUMBER}) (?:gradient )?accumulation steps",
    re.IGNORECASE,
)
_CARDS = re.compile(
    rf"(?P<n>{NUMBER}) (?:cards|gpus|devices|a100s|h100s|ranks)\b|world[_ ]size{_IS_AT}(?P<m>{NUMBER})", re.IGNORECASE
)
_BATCH = re.compile(
    rf"(?:effective|global|total) batch(?: size)?(?: is| of| =| stays| remains|:)?(?: still| at| about| again)* ?"
    rf"(?P<n>{NUMBER})(?!\.?\d)|(?P<m>{NUMBER}) sequences (?:per|an|each) (?:update|optimi[sz]er step)",
    re.IGNORECASE,
)
_MOVES = re.compile(
    r"\b(?:from|drops?|to|halve\w*|doubl\w+|tensor|pipeline|model[ -]parallel|sharded|instead)\b", re.IGNORECASE
)


def effective_batch(sentence: str, before: str) -> Iterator[Computed]:
    """Effective batch: micro batch x accumulation x devices, when each is stated once."""
    claims = list(_BATCH.finditer(sentence))
    if len(claims) != 1:
        return
    both = f"{before} {sentence}"
    micro, steps, cards = ({_value(m) for m in p.finditer(both)} for p in (_MICRO, _STEPS, _CARDS))
    if len(micro) != 1 or len(steps) != 1 or len(cards) > 1:
        return
    claim, a, b = claims[0], micro.pop(), steps.pop()
    devices = cards.pop() if cards else 1.0
    right, claimed = a * b * devices, _value(claim)
    text = f"micro batch {a:g} x accumulation {b:g} x {devices:g} device(s) = {right:g}"
    agrees = claimed == right
    if agrees or (devices > 1 and not _MOVES.search(both)):
        yield Computed("effective_batch", CODE, Span(claim.start(), claim.end()), f"{claimed:g}", text, agrees)


def _value(match: re.Match[str]) -> float:
    return number(next(g for g in match.groups() if g))


_ADAPTER = re.compile(
    rf"(?:rank|\br ?=) ?(?:of )?(?P<rank>{NUMBER})\b[^;]{{0,40}}?(?P<a>{NUMBER}) ?(?:by|x|×) ?(?P<b>{NUMBER})\b"
    rf"[^;\d]{{0,40}}?(?:is|are|has|adds|takes|=) (?:about |some |only )?(?P<claim>{NUMBER})"
    r"(?P<scale>k| thousand| million)? (?:trainable |extra |new )?(?:parameters|params|weights)",
    re.IGNORECASE,
)
_MANY = re.compile(r"\b(?:layers?|every|each|all|both|together|projections|matrices|q and v)\b", re.IGNORECASE)


def adapter_size(sentence: str, _before: str) -> Iterator[Computed]:
    """Parameters of one LoRA pair: rank x (in + out)."""
    for m in _ADAPTER.finditer(sentence):
        rank, a, b = number(m["rank"]), number(m["a"]), number(m["b"])
        scale = {"": 1.0, "k": 1e3, "thousand": 1e3, "million": 1e6}[(m["scale"] or "").strip().lower()]
        right, claimed = rank * (a + b), number(m["claim"]) * scale
        text = f"{rank:g} x ({a:g} + {b:g}) = {right:,.0f} parameters, {readable(2 * right)} in 16 bits"
        agrees = close(claimed, right, 0.96, 1.04)
        if agrees or (not close(claimed, right) and not _MANY.search(sentence)):
            said = f"{m['claim']}{m['scale'] or ''}"
            yield Computed("adapter_size", CODE, Span(m.start(), m.end()), said, text, agrees)


_INTENSITY = re.compile(
    rf"(?P<claim>{NUMBER}) (?:flops?|operations|ops) (?:per|a|for each|for every) byte", re.IGNORECASE
)
_ROWS = re.compile(rf"batch(?: size)?(?: of| is)? ?(?P<n>{NUMBER})", re.IGNORECASE)


def intensity(sentence: str, _before: str) -> Iterator[Computed]:
    """Arithmetic intensity of decoding at batch b: 2b operations per weight, so b FLOP per byte in 16 bits."""
    claims, rows = list(_INTENSITY.finditer(sentence)), list(_ROWS.finditer(sentence))
    if len(claims) != 1 or len(rows) != 1 or not re.search(r"\bdecod", sentence, re.IGNORECASE):
        return
    if re.search(r"\b(?:prefill|ridge|needs?|fp8|int[48]|[48][ -]bit)\b", sentence, re.IGNORECASE):
        return
    right, claimed = number(rows[0]["n"]), number(claims[0]["claim"])
    text = f"2 x {right:g} operations per weight / 2 bytes = about {right:g} FLOP per byte"
    agrees = close(claimed, right, 0.45, 2.2)
    if agrees or not close(claimed, right, 0.3, 5):
        span = Span(min(claims[0].start(), rows[0].start()), max(claims[0].end(), rows[0].end()))
        yield Computed("intensity", SERVING, span, claims[0].group(), text, agrees)
