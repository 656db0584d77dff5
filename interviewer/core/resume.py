"""What stands in a resume: projects, claims worth checking, numbers and technologies, each in its own exact words.

Pattern matching and no model, so that nothing can be invented. Invariant: every reference is a :class:`Quote` of the
text that was given, ``text[start:end] == quote.text``. Passages that talk to the reader are left out, with a notice.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from interviewer.core.assessment import Frozen, Notice
from interviewer.core.numerals import NUMBER
from interviewer.core.passages import told
from interviewer.core.text import Quote, Span, quote

ClaimKind: TypeAlias = Literal["led", "scale", "number"]
MAX_RESUME = 20_000
"""Characters of a resume or a job description."""
QUOTED_WORDS = 16
"""Most words of the resume that one question quotes."""
_MOST = 40
"""References of one kind that are kept; the first ones."""

_BUILT = (
    r"(?:(?:re)?built|(?:re)?designed|(?:re)?wrote|(?:re)?implemented|developed|created|made|launched|shipped|deployed|"
    r"migrated|moved|ported|optimi[sz]ed|reduced|cut|lowered|improved|increased|accelerated|sped|scaled|tuned|trained|"
    r"fine-?tuned|integrated|automated|introduced|refactored|architected|led|headed|spearheaded|quanti[sz]ed|profiled|"
    r"parallelised|parallelized|served|delivered|maintained|owned|replaced|halved|doubled)"
)
_PROJECT = re.compile(
    rf"(?i)^(?:(?:in|at|for)\s[^,.]{{2,40}},\s*)?(?:(?:i|we)\s+(?:have\s+|also\s+|then\s+)?)?(?:successfully\s+)?{_BUILT}\b"
    rf"|\b(?:i|we)\s+(?:have\s+)?{_BUILT}\b"
)
_GAIN = re.compile(
    r"(?i)\b(?:reduc|cut|lower|improv|optimi[sz]|faster|speed|sped|latency|throughput|reliab|scal|accelerat|halv|"
    r"cost|quanti[sz])\w*"
)
_SECTION = re.compile(
    r"(?i)^\W*(?:(?P<projects>(?:(?:selected|personal|key|side)\s+)?projects?)|(?:work\s+)?experience|education|skills|"
    r"summary|profile|employment(?:\s+history)?|publications|languages|interests|certifications?|awards|contact|"
    r"references|hobbies|technical\s+skills|objective)\W*$"
)
_LED = re.compile(r"(?i)\b(?:led|headed|spearheaded|team\s+lead|tech(?:nical)?\s+lead|owned|architected)\b")
_UNIT = (
    r"(?:%|percent\b|per cent\b|[x×](?!\w)|times\b|ms\b|milliseconds?\b|seconds?\b|minutes?\b|hours?\b|fps\b|[kmgt]b\b|"
    r"qps\b|rps\b|tps\b|(?:million|billion|thousand)\b|[kmb]\b|gpus?\b|nodes?\b|users?\b|customers?\b|engineers?\b|"
    r"people\b|developers?\b|requests?\b|queries\b|tokens?\b|documents?\b|parameters?\b|models?\b|years?\b|months?\b)"
)
_NUMBER = re.compile(rf"(?i)[$€£]\s?{NUMBER}(?:\s?(?:k|m|b|million|billion|thousand)\b)?|{NUMBER}\s?\+?\s?-?{_UNIT}")
_SCALE = re.compile(
    rf"(?i){NUMBER}\s?\+?\s?(?:k|m|b|thousand|million|billion)?\+?\s?(?:(?:daily|monthly|active|concurrent|peak)\s)*"
    r"(?:qps|rps|tps|requests?|queries|users|customers|events|messages|tokens|documents|gpus|nodes|servers|devices|"
    r"parameters|images|orders|auctions)\b"
)
_CHANGE = re.compile(rf"(?i){NUMBER}\s?-?(?:%|percent\b|per cent\b|[x×](?!\w)|times\b)")
_BASELINE = re.compile(
    r"(?i)\bfrom\b.{1,40}\bto\b|\b(?:baseline|compared|against|versus|vs)\b|\bover the\b|\bthan\b|\bp\d\d\b"
)
_DANGLING = re.compile(
    r"(?i)(?:\s+(?:to|from|of|with|and|or|by|in|on|at|for|the|an?|than|using|via|over|that|which))+$"
)
_TECHNOLOGY = re.compile(
    r"(?<![\w./+-])(?:(?i:python|pytorch|tensorflow|jax|tensorrt(?:-llm)?|onnx(?:\s?runtime)?|triton|vllm|sglang|cuda|"
    r"kubernetes|docker|kafka|spark|flink|redis|postgres(?:ql)?|mysql|mongodb|elasticsearch|faiss|milvus|pinecone|"
    r"langchain|llamaindex|hugging\s?face|transformers|peft|q?lora|deepspeed|megatron|nccl|fsdp|bert|t5|gpt-?\d\w*|"
    r"llama[- ]?\d?(?:\.\d)?|mistral|qwen\d?(?:\.\d)?|openai(?:\s+api)?|whisper|ros\s?2?|opencv|grpc|fastapi|aws|gcp|"
    r"azure|terraform|prometheus|grafana|airflow|ray|c\+\+|rust|golang|java|scala|typescript|slam|xgboost|"
    r"scikit-learn|numpy|pandas|flashattention|gptq|awq|gguf|llama\.cpp)|RAG|LLMs?|FPGA|Go|SQL|MLflow|Nsight)(?![\w+])"
)


class Cited(Frozen):
    """Words that a question goes back to, and where they stand."""

    source: Literal["resume", "job", "answer"]
    quote: Quote
    """Of an answer: with the number of its turn."""


class Claim(Frozen):
    """Something that a resume says and that an interviewer would want to check."""

    kind: ClaimKind
    """led: a leading role; scale: a size; number: a change in per cent or as a factor without what it is against."""
    quote: Quote


class Found(Frozen):
    """What was found in a resume; every entry in the resume's own words."""

    projects: tuple[Quote, ...] = ()
    """Things that were built or made better; those with a gain first, else in order."""
    claims: tuple[Claim, ...] = ()
    numbers: tuple[Quote, ...] = ()
    technologies: tuple[Quote, ...] = ()
    """First mention of each."""
    notices: tuple[Notice, ...] = ()


@lru_cache(maxsize=64)
def read_resume(text: str) -> Found:
    """Find what a resume says; the same text gives the same result."""
    read, left_out = told(text)
    return Found(
        projects=tuple(quote(text, span) for span in _projects(text, read))[:_MOST],
        claims=tuple(_claims(text, read))[:_MOST],
        numbers=tuple(quote(text, span) for span in _all(_NUMBER, text, read))[:_MOST],
        technologies=tuple(_first({}, text, read))[:_MOST],
        notices=(Notice(code="prompt_injection", message=_ADDRESSED.format(n=left_out)),) if left_out else (),
    )


_ADDRESSED = "{n} passage(s) talked to the interviewer instead of telling about the candidate; they were not read."


def shortened(text: str, span: Span, limit: int = QUOTED_WORDS) -> Span:
    """Return the beginning of ``span`` with at most ``limit`` words, cut after a clause where there is one."""
    ends = [span.start + m.end() for m in re.finditer(r"\S+", span.of(text))]
    if len(ends) > limit:
        head = text[span.start : ends[limit - 1]]
        clause = [m.start() for m in re.finditer(r"[,;:(]|\s[-–—]\s", head) if len(head[: m.start()].split()) >= 5]
        span = Span(span.start, span.start + (clause[-1] if clause else len(head)))
    kept = _DANGLING.sub("", span.of(text).rstrip(" .,;:(-–—\n\t"))
    return Span(span.start, span.start + len(kept))


def _projects(text: str, read: list[Span]) -> list[Span]:
    found, under = [], False
    for span in read:
        said = span.of(text)
        section = _SECTION.match(said)
        if section:
            under = section["projects"] is not None
            continue
        named = under and len(said.split()) >= 3
        if (len(said.split()) >= 4 and _PROJECT.search(said)) or named:
            found.append(shortened(text, span))
    return sorted((s for s in found if s.end > s.start), key=lambda s: not _GAIN.search(s.of(text)))


def _claims(text: str, read: list[Span]) -> list[Claim]:
    found = []
    for span in read:
        said = span.of(text)
        if len(said.split()) < 3:
            continue
        for kind, pattern in _KINDS:
            match = pattern.search(said)
            if match is None or (kind == "number" and _BASELINE.search(said)):
                continue
            part = shortened(text, span)
            if part.end >= span.start + match.end():  # the words that make it a claim must be in what is quoted
                found.append(Claim(kind=kind, quote=quote(text, part)))
                break
    return found


_KINDS: tuple[tuple[ClaimKind, re.Pattern[str]], ...] = (("number", _CHANGE), ("scale", _SCALE), ("led", _LED))


def _all(pattern: re.Pattern[str], text: str, read: list[Span]) -> list[Span]:
    return [Span(m.start(), m.end()) for span in read for m in pattern.finditer(text, span.start, span.end)]


def _first(seen: dict[str, Quote], text: str, read: list[Span]) -> list[Quote]:
    for span in _all(_TECHNOLOGY, text, read):
        seen.setdefault(span.of(text).lower(), quote(text, span))
    return list(seen.values())
