"""Where a later answer and the resume, or an earlier answer, cannot both be so. Precision first.

Two statements conflict only when they are about the same thing (a distinctive word is shared), name the same quantity
in the same role ("down to" against "down to", never against "from"), and differ by more than rounding; or when one
says "I led" and the other that somebody else did. Whatever is hedged, planned, or of another time is left alone. A
conflict is a reason to ask, and never moves a level by itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from interviewer.core.assessment import Frozen
from interviewer.core.numerals import NUMBER, number
from interviewer.core.passages import passages
from interviewer.core.resume import Cited
from interviewer.core.screen import addresses_reader
from interviewer.core.session import SessionState
from interviewer.core.text import Span, content_words, quote

APART = 1.25
"""Factor from which two values of one quantity are more than rounding apart."""


class Contradiction(Frozen):
    """Two statements that cannot both be so."""

    about: Literal["number", "role"]
    first: Cited
    second: Cited
    """Always from an answer."""


class Statement(NamedTuple):
    """One checkable statement: what it is about, and its value."""

    key: str
    """Quantity and role, e.g. ``p99 latency:to``; ``role`` for who led."""
    value: float
    """In the quantity's base unit; for a role 1 for leading, 0 for somebody else."""
    topic: frozenset[str]
    span: Span


_N = rf"(?P<n>{NUMBER})"
_MS = r"\s?(?P<unit>ms|milliseconds?|s|sec|seconds?)\b"
_METRIC = re.compile(
    r"(?i)\b(?P<metric>p ?50|p ?90|p ?95|p ?99|median|mean|average)(?:[- ](?:latency|response time))?\b"
)
_LATENCY = re.compile(r"(?i)\b(?:latency|response time)\b")
_FROM_TO = re.compile(rf"(?i)\bfrom\s{NUMBER}\s?(?:ms|milliseconds?|s|sec|seconds?)?\s(?:down\s)?to\s{_N}{_MS}")
_DOWN_TO = re.compile(
    rf"(?i)\b(?:down|reduced|cut|brought|lowered|dropped|fell|got|went)\b[^.;]{{0,60}}?\bto\s{_N}{_MS}"
)
_STARTED = re.compile(rf"(?i)\bfrom\s{_N}(?:{_MS})?(?=\s(?:down\s)?to\s)")
_TEAM = re.compile(
    rf"(?i)\bteam\s(?:of|with)\s{_N}\b|\b{_N}[- ](?:person|people|engineer|member|man)\s(?:strong\s)?team\b".replace(
        "(?P<n>", "(?P<n1>", 1
    )
)
_YEARS = re.compile(rf"(?i)\b{_N}\+?\s?years?\s(?:of|with|in)\b")
_COUNT = re.compile(
    rf"(?i){_N}\s?(?P<scale>k|m|thousand|million|billion)?\s(?:(?P<per>daily|monthly|concurrent|active)\s)?"
    r"(?P<what>gpus?|users|qps|rps|requests\s(?:per|a)\s(?:second|day))\b"
)
_GAIN = re.compile(
    rf"(?i)\b(?P<verb>reduced|cut|lowered|improved|increased|raised)\s(?P<what>(?:[\w-]+\s){{1,5}}?)by\s{_N}\s?"
    r"(?:%|percent|per cent)"
)
_LED = re.compile(r"(?i)(?:^|\b(?:i|and)\s)(?:led|headed|spearheaded|was\sthe\s(?:tech(?:nical)?\s|team\s)?lead)\b")
_NOT_LED = re.compile(
    r"(?i)\bi\swas\s(?:just\s|only\s)?one\sof\s|\bi\s(?:did\s?n[o']?t|did\snot|never)\s(?:really\s|actually\s)?lead\b|"
    r"\bi\s(?:only|just)\s(?:helped|assisted|supported|joined)\b|\bi\swas\s(?:not|n't)\sthe\slead\b|\bi\swasn't\sthe\slead\b|"
    r"\b(?:my\s(?:manager|boss|colleague)|somebody\selse|someone\selse)\s(?:led|headed|was\sthe\slead)\b"
)
_UNSURE = re.compile(
    r"(?i)\b(?:would|could|should|might|may|if|suppose|imagine|say|target|goal|aim(?:ed)?|plan(?:ned)?|hope[ds]?|"
    r"at first|initially|originally|later|eventually|today|nowadays|since then|meanwhile|grew|grown|growing|shrank|"
    r"another|other|different|also|each|per\s(?:gpu|node|user|request)|peak|off-peak|up to|at most|at least|"
    r"before|after|by then|when i (?:left|joined)|now|once|for (?:the|a) (?:week|month)|or so|between|maybe|perhaps|"
    r"i think|i guess|usually|sometimes)\b"
)
_GENERIC = frozenset(
    """team engineer people person member latency response time median mean average p50 p90 p95 p99 percent year
    experience system service model engine platform project work worked working led lead headed spearheaded reduced
    reduce cut lowered improved increased raised brought down got one helped manager boss colleague somebody someone
    built rebuilt build used using use gpu gpus user users request requests second day qps rps million thousand
    billion daily monthly active concurrent served serve serving ran run running production new large small company
    made make was were had our my who whole part code infrastructure pipeline migration software app application
    product data cost throughput accuracy performance development design level two three four five six seven eight
    ms milliseconds sec seconds minute minutes hour hours came went fell dropped started began brought got well
    really actually just only others own time times main big first last best good better more less lot lots thing
    things group role job task area field start end result number overall total whole early
    nine ten eleven twelve thirteen fourteen fifteen sixteen twenty thirty forty fifty""".split()
)
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9}


@lru_cache(maxsize=4096)  # the answers of many sessions at once: each is held against those before it
def statements(text: str) -> tuple[Statement, ...]:
    """Return the checkable statements of ``text``, in order; hedged ones and those of another time are left out."""
    found: list[Statement] = []
    for span in passages(text):
        said = " ".join(span.of(text).split("\n"))
        if _UNSURE.search(said) or said.rstrip().endswith("?") or addresses_reader(said):
            continue
        words = {w for w in content_words(re.sub(r"['’]s\b", "", said)) if w not in _GENERIC and not w[0].isdigit()}
        found += [Statement(key, value, frozenset(words), span) for key, value in _values(said)]
    return tuple(found)


def conflicts(first: str, second: str) -> list[tuple[Statement, Statement]]:
    """Return the pairs of statements that cannot both be so, one from each text."""
    return [
        (a, b)
        for b in statements(second)
        for a in statements(first)
        if a.key == b.key and a.topic & b.topic and _apart(a.value, b.value)
    ]


def contradictions(state: SessionState) -> tuple[Contradiction, ...]:
    """Return where an answer conflicts with the resume or an earlier answer; each statement is named once."""
    found: list[Contradiction] = []
    told: list[tuple[Literal["resume", "answer"], int, str]] = [("resume", 0, state.started.resume)]
    telling: dict[str, list[int]] = {key: [0] for key in _keys(state.started.resume)}
    """Places in ``told`` by what is told of: only texts that tell of the same thing are held against each other."""
    void = state.superseded
    named: set[tuple[int, Span]] = set()
    for turn in state.turns:
        if turn.answer is None or turn.number in void:
            continue  # an answer that was tried again is not held against the new one
        said = turn.answer.text
        about = _keys(said)
        for place in sorted({place for key in about for place in telling.get(key, ())}):
            source, number_, text = told[place]
            for a, b in conflicts(text, said):
                if (number_, a.span) in named or (turn.number, b.span) in named:
                    continue
                named |= {(number_, a.span), (turn.number, b.span)}
                found.append(
                    Contradiction(
                        about="role" if a.key == "role" else "number",
                        first=Cited(source=source, quote=quote(text, a.span, number_)),
                        second=Cited(source="answer", quote=quote(said, b.span, turn.number)),
                    )
                )
        for key in about:
            telling.setdefault(key, []).append(len(told))
        told.append(("answer", turn.number, said))
    return tuple(found)


def _keys(text: str) -> frozenset[str]:
    return frozenset(statement.key for statement in statements(text))


def _apart(a: float, b: float) -> bool:
    low, high = sorted((a, b))
    return high > low * APART if low > 0 else high != low


def _values(said: str) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    latency = {m["metric"].lower().replace(" ", "") for m in _METRIC.finditer(said)}
    if len(latency) == 1 or (not latency and _LATENCY.search(said)):
        metric = next(iter(latency), "latency")
        to = _FROM_TO.search(said) or _DOWN_TO.search(said)
        if to is not None:
            found.append((f"{metric}:to", _milliseconds(to["n"], to["unit"])))
            start = _STARTED.search(said)
            if start is not None:
                found.append((f"{metric}:from", _milliseconds(start["n"], start["unit"] or to["unit"])))
    teams = list(_TEAM.finditer(said))
    if len(teams) == 1:
        found.append(("team", number(teams[0]["n1"] or teams[0]["n"])))
    years = list(_YEARS.finditer(said))
    if len(years) == 1:
        found.append(("years", number(years[0]["n"])))
    counts = list(_COUNT.finditer(said))
    if len(counts) == 1:
        count = counts[0]
        what = " ".join(filter(None, (count["per"], count["what"]))).lower().replace(" a ", " per ")
        what = "gpus" if what == "gpu" else "qps" if what in ("rps", "requests per second") else what
        found.append((what, number(count["n"]) * _SCALES.get((count["scale"] or "").lower(), 1.0)))
    gains = list(_GAIN.finditer(said))
    if len(gains) == 1:
        what = " ".join(sorted(content_words(gains[0]["what"]) & _GAINED))
        if what:
            found.append((f"{what}:by", number(gains[0]["n"])))
    led, not_led = bool(_LED.search(said)), bool(_NOT_LED.search(said))
    if led != not_led:
        found.append(("role", float(led)))
    return found


_GAINED = frozenset(("latency", "throughput", "cost", "costs", "accuracy", "memory", "revenue", "p99", "p95", "p50"))


def _milliseconds(value: str, unit: str) -> float:
    return number(value) * (1.0 if unit.lower().startswith("m") else 1000.0)
