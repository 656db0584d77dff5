"""Flags: patterns that a committee writes down, read from level distributions and from cues in the words.

A flag's probability is a product of what the criteria say and of how clearly its cue is present; a flag whose criterion
was not assessed is not raised. Nothing here looks at length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from interviewer.core.assessment import FlagReading, Probabilities
from interviewer.core.text import Quote

RAISED = 0.5
"""Probability from which a flag is shown as raised."""

STRENGTHS = frozenset({"decision_chain", "product_sense", "honest_about_limits"})
SERIOUS = frozenset(
    {
        "knows_tools_not_tradeoffs",
        "strong_generalist_lacks_llm_intuition",
        "recites_architecture",
        "bluffing",
        "deterministic_mindset",
        "blames_others",
    }
)
"""Flags that cap the verdict at lean no hire."""

_TOOLS = re.compile(
    r"(?i)\b(?:vllm|tensorrt(?:-llm)?|tgi|sglang|llama\.cpp|ollama|triton|ray(?: serve)?|kubernetes|k8s|"
    r"lora|qlora|peft|deepspeed|"
    r"fsdp|megatron|langchain|llamaindex|pinecone|faiss|milvus|weaviate|pgvector|redis|kafka|awq|gptq|fp8|int8|int4|"
    r"flash ?attention|paged ?attention|rag|mlflow|wandb|prometheus|grafana|pytorch|onnx|openai|bedrock|vertex)\b"
)
_MECHANICS = re.compile(
    r"(?i)\b(?:kv[- ]?caches?|prefill|decod\w*|continuous batching|token(?:s)? per|inter-token|"
    r"time to first token|ttft|tpot|"
    r"memory[- ]bound|compute[- ]bound|bandwidth|attention|paged|quanti[sz]\w+|speculative|"
    r"context length|hbm|arithmetic intensity)\b"
)
_GENERIC = re.compile(
    r"(?i)\b(?:load balanc\w*|queue\w*|cache layer|caching|cdn|retr(?:y|ies)|circuit breaker\w*|"
    r"autoscal\w*|horizontal\w*|"
    r"microservice\w*|replica\w*|shard\w*|rate limit\w*|databases?|redis|kafka|thread pool\w*|"
    r"idempoten\w*|failover|backpressure)\b"
)
_ARCHITECTURE = re.compile(
    r"(?i)\b(?:vector (?:stores?|databases?|dbs?)|embedding\w*|chunk\w*|re-?rank\w*|retriev\w*|gateways?|"
    r"orchestrat\w*|pipelines?|layers?|"
    r"langchain|llamaindex|microservice\w*|component\w*)\b"
)
_DETERMINISM = re.compile(
    r"(?i)temperature\s*(?:=|to|of|at|is)?\s*(?:0|zero)|\bdeterminis\w+|\b(?:more|every|all|enough) (?:unit )?tests?\b|"
    r"\btest (?:case|every)|\bguarantee\w*|\bsame (?:answer|output) every|\bfix(?:ed)? (?:the )?seed\b|100 ?%"
)
_THEORY = re.compile(
    r"(?i)\bO\(n|\bquadratic|\bsoftmax|\bderiv\w+|\bgradient\w* of|\btheorem|\bcomplexity|\bmatri(?:x|"
    r"ces)|\beigen\w*|\bconverge\w*"
)
_THROUGHPUT = re.compile(
    r"(?i)\bthroughput|tokens? (?:per|a|/) ?s|\bQPS\b|requests? per second|\baverage\b|\butili[sz]ation"
)
_TAIL = re.compile(r"(?i)\bp ?9[059]|\bpercentile|\btail\b|\blatency|\bSLO\b|\bSLA\b|first token")
_MORE = re.compile(
    r"(?i)\b(?:bigger|larger|largest|biggest) (?:model|one|batch|gpu|base)|\bmore (?:data|parameters|"
    r"gpus?|epochs|layers|compute)|"
    r"\b(?:70|72|175|405)b\b|\bscale (?:it )?up\b"
)
_BLAME = re.compile(
    r"(?i)\b(?:their (?:fault|mistake|problem)|not (?:my|our) (?:fault|problem|job)|(?:they|he|she|"
    r"the \w+ team|management|sales|product)"
    r" (?:did not|didn't|never|refused|kept|ignored|failed|forgot|messed|broke|wouldn't|changed))\b"
)
_PRODUCT = re.compile(
    r"(?i)\b(?:users?|customers?|agents?|people|interrupt\w*|perceived|wait\w*|front ?end|stream\w*|trust)\b"
)
_BROWSER = re.compile(
    r"(?i)\bchatgpt|\bchat (?:page|window|interface)|\bin the browser|\bprompt(?:s|ed|ing)?\b|"
    r"\bthe api\b|\bplayground\b"
)


def _cue(pattern: re.Pattern[str], text: str, full: int) -> float:
    """Return how clearly a cue is present, 0 to 1: distinct matches out of ``full``."""
    return min(1.0, len({m.group().lower() for m in pattern.finditer(text)}) / full)


_Reader = Callable[[Mapping[str, Probabilities], str], float]


def _low(levels: Mapping[str, Probabilities], criterion: str, highest: int = 1) -> float:
    """P(level <= highest), or 0 when the criterion was not assessed."""
    p = levels.get(criterion)
    return sum(p[: highest + 1]) if p else 0.0


def _high(levels: Mapping[str, Probabilities], criterion: str, lowest: int = 2) -> float:
    p = levels.get(criterion)
    return sum(p[lowest:]) if p else 0.0


def _chain(levels: Mapping[str, Probabilities], text: str) -> float:
    links = ("tradeoff_reasoning", "finetuning_judgement", "llm_serving_depth", "measurement")
    heard = [_high(levels, link) for link in links if link in levels]
    return min(heard) if len(heard) >= 3 else 0.0


_READERS: dict[str, tuple[str, _Reader]] = {
    "knows_tools_not_tradeoffs": (
        "tradeoff_reasoning",
        lambda p, t: _low(p, "tradeoff_reasoning") * _cue(_TOOLS, t, 3),
    ),
    "strong_generalist_lacks_llm_intuition": (
        "llm_serving_depth",
        lambda p, t: _low(p, "llm_serving_depth") * _cue(_GENERIC, t, 3) * (1 - 0.7 * _cue(_MECHANICS, t, 3)),
    ),
    "recites_architecture": (
        "problem_framing",
        lambda p, t: _low(p, "problem_framing", 0) * _cue(_ARCHITECTURE, t, 4),
    ),
    "deterministic_mindset": (
        "managing_uncertainty",
        lambda p, t: _low(p, "managing_uncertainty", 0) * _cue(_DETERMINISM, t, 1),
    ),
    "theory_without_constraint": (
        "tradeoff_reasoning",
        lambda p, t: _low(p, "tradeoff_reasoning") * _cue(_THEORY, t, 3),
    ),
    "no_business_narrative": ("business_impact", lambda p, t: _low(p, "business_impact", 0)),
    "throughput_tunnel_vision": (
        "measurement",
        lambda p, t: _low(p, "measurement", 2) * _cue(_THROUGHPUT, t, 2) * (1 - _cue(_TAIL, t, 1)),
    ),
    "more_is_better": ("finetuning_judgement", lambda p, t: _low(p, "finetuning_judgement") * _cue(_MORE, t, 2)),
    "api_tourist": (
        "hands_on_specificity",
        lambda p, t: (
            (_low(p, "hands_on_specificity", 0) + 0.4 * _low(p, "hands_on_specificity")) / 1.4 * _cue(_BROWSER, t, 1)
        ),
    ),
    "bluffing": ("intellectual_honesty", lambda p, t: _low(p, "intellectual_honesty", 0)),
    "blames_others": (
        "failure_reflection",
        lambda p, t: max(_low(p, "failure_reflection"), _low(p, "stakeholder_decision", 0)) * _cue(_BLAME, t, 2),
    ),
    "decision_chain": ("tradeoff_reasoning", _chain),
    "product_sense": ("business_impact", lambda p, t: _high(p, "business_impact", 2) * _cue(_PRODUCT, t, 3)),
    "honest_about_limits": ("intellectual_honesty", lambda p, t: _high(p, "intellectual_honesty")),
}


def read_flags(
    levels: Mapping[str, Probabilities], text: str, evidence: Mapping[str, tuple[Quote, ...]] | None = None
) -> tuple[FlagReading, ...]:
    """Read all flags from level distributions and the candidate's words.

    Args:
        levels: Distribution per assessed criterion.
        text: Everything the candidate said, joined.
        evidence: Quotes per criterion; a flag carries those of the criterion that it rests on.

    Returns:
        Flags with a probability of at least 0.2, most probable first.
    """
    found = []
    for flag, (criterion, reader) in _READERS.items():
        probability = round(min(1.0, reader(levels, text)), 3)
        if probability >= 0.2:
            found.append(FlagReading(flag=flag, probability=probability, evidence=(evidence or {}).get(criterion, ())))
    return tuple(sorted(found, key=lambda f: (-f.probability, f.flag)))
