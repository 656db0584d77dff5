"""Claims about language models that are wrong whatever the question, how candidates put them, and what is true.

A sentence makes a claim when it names the topic and then asserts the mistake, with nothing between them that takes it
back. Patterns are narrow on purpose: a claim that is missed costs less than a right one that is called wrong.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SERVING, TUNING, CHANCE = "llm_serving_depth", "finetuning_judgement", "managing_uncertainty"


class Misconception(NamedTuple):
    """One mistake."""

    id: str
    criterion: str
    topic: str
    asserts: str
    right: str
    unless: str = r"(?!)"
    """What the sentence may not hold; by default anything may stand there."""


MISCONCEPTIONS: tuple[Misconception, ...] = (
    Misconception(
        "temperature_zero",
        CHANCE,
        r"temperature (?:of |to |at |= ?)?(?:0|zero)\b",
        r"deterministic|(?:is|are|be) exact(?:ly)?\b|always (?:comes? )?(?:the )?(?:tested )?same|the same (?:each"
        r"|every) time"
        r"|reproducible|can'?t (?:get worse|make a mistake|surprise)|nothing bad|always valid|as certain as",
        "Temperature 0 removes the sampling and not the numerical differences between batches, kernels and versions; "
        "and an "
        "answer that repeats can be wrong each time. The rate of bad outputs has to be measured either way.",
        unless=r"pinned|batch[- ]invariant|same kernels|batch size (?:1|one)\b",
    ),
    Misconception(
        "flash_attention_linear",
        SERVING,
        r"flash[ -]?attention",
        r"\blinear\b|approximat\w+|cache is not stored|(?:shrinks|reduces|cuts|halves) the (?:kv[ -]?)?cache",
        "FlashAttention is exact and its arithmetic stays quadratic; only its memory is linear, as the score matrix "
        "is never "
        "written out. The KV cache keeps its size.",
        unless=r"\bmemory\b|linear attention",
    ),
    Misconception(
        "quantised_weights_shrink_cache",
        SERVING,
        r"quanti[sz]\w+ (?:of )?(?:the |our |its )?weights",
        r"cache (?:also )?(?:shrinks|gets smaller|is (?:halved|smaller)|halves)|(?:shrinks|halves"
        r"|reduces) the (?:kv[ -]?)?cache",
        "The KV cache has its own precision. Quantising the weights frees memory that the cache may use, but each "
        "cached "
        "token keeps its size.",
    ),
    Misconception(
        "cache_last_token",
        SERVING,
        r"(?:kv|key[ -]value)[ -]?cache",
        r"(?:holds|keeps|stores) (?:just|only) the last token|is shared by all (?:the )?users"
        r"|grows with the number of parameters",
        "The KV cache holds keys and values of every token of every running sequence: 2 x layers x KV heads x head "
        "size x "
        "bytes, for each token. It grows with length and with the number of sequences.",
        unless=r"prefix",
    ),
    Misconception(
        "query_heads_cached",
        SERVING,
        r"query heads",
        r"(?:must be|have to be|that are|that get) (?:cached|stored)",
        "Only keys and values are cached, so the KV heads count and the query heads do not.",
    ),
    Misconception(
        "fp8_on_a100",
        SERVING,
        r"\bA100s?\b",
        r"FP8 (?:natively|in hardware|tensor cores)|native FP8",
        "FP8 tensor cores came with Hopper and Ada. An A100 can store weights in FP8 and multiplies them in 16 bits.",
        unless=r"\bH[12]00|Hopper|\bAda\b|\bL40?S?\b",
    ),
    Misconception(
        "int4_half_the_bits",
        SERVING,
        r"\bint4\b",
        r"(?:twice|double) (?:as fast|the speed)[^.;]{0,30}(?:half the bits|int8)",
        "Usual INT4 serving is weight-only and multiplies in 16 bits; it gains where reading weights is the limit "
        "and can lose "
        "at large batch.",
    ),
    Misconception(
        "decode_compute_bound",
        SERVING,
        r"\b(?:decod(?:e|ing)|generation) is",
        r"pure arithmetic|compute[- ]bound|limited by (?:compute|arithmetic)",
        "Decoding does about two operations per weight and sequence; at small batch it waits for the weights to be "
        "read, "
        "so more rows cost little until the cache or the arithmetic becomes the limit.",
        unless=r"\b(?:large|big|batch\w*|hundreds|beyond|above|becomes?|then)\b",
    ),
    Misconception(
        "prefill_memory_bound",
        SERVING,
        r"\bprefill is",
        r"(?:memory|bandwidth)[- ](?:bandwidth[- ])?bound|limited by (?:memory )?bandwidth",
        "Prefill reads the weights once for all tokens of the prompt, hundreds of operations per byte, so compute is "
        "its limit.",
        unless=r"\b(?:short|cached?|chunk\w*|small|decod\w*)\b",
    ),
    Misconception(
        "paging_to_disk",
        SERVING,
        r"\bpaged ?attention|\bpaging",
        r"out to (?:the )?(?:disk|ssd)|is on the (?:disk|ssd)",
        "Paging gives the cache to sequences in fixed blocks of GPU memory through a table, so that little is "
        "reserved and "
        "not used. Nothing goes to disk.",
    ),
    Misconception(
        "batching_waits",
        SERVING,
        r"continuous batching",
        r"waits (?:until|for) (?:the |a )?(?:whole |full )?batch",
        "Continuous batching lets a request join and leave at any step; it does not wait for a batch to fill or to "
        "end.",
    ),
    Misconception(
        "speculation_loses_quality",
        SERVING,
        r"speculative decoding",
        r"(?:lowers|costs|hurts|loses|reduces|trades) (?:some |a (?:little|bit of) )?(?:answer )?(?:quality|accuracy)",
        "With the usual acceptance rule the output follows the large model's own distribution; what is at stake is "
        "speed.",
        unless=r"lossy|relaxed|typical acceptance|medusa",
    ),
    Misconception(
        "adapter_cannot_forget",
        TUNING,
        r"\b(?:lora|adapters?)\b",
        r"can(?:'t|not) (?:make the model )?(?:forget|degrade)|needn't worry about it forgetting",
        "The update is added to the frozen weights whenever the adapter is active, so the adapted model can lose other "
        "abilities; only taking the adapter off brings the base back.",
    ),
    Misconception(
        "rank_is_quality",
        TUNING,
        r"\brank\b",
        r"(?:better answers?|better),? always|only get better|the better it (?:gets|learns)|quality dial|\bIQ of",
        "Rank is capacity and not quality: past what the task needs it adds memory and overfitting. A sweep on "
        "held-out data "
        "shows where it stops paying.",
    ),
    Misconception(
        "epochs_replace_examples",
        TUNING,
        r"more epochs",
        r"makes? up for",
        "More passes over few examples mostly memorise them; cleaner or more varied data, or no fine-tune, is the "
        "remedy.",
    ),
    Misconception(
        "hallucination_solved",
        CHANCE,
        r"hallucinat\w*",
        r"is (?:solved|gone|impossible)\b|any ?more[^.;]{0,60}fine-tuned|only knows what you",
        "Neither tuning nor retrieval rules out unsupported answers; the rate has to be measured and watched.",
    ),
    Misconception(
        "token_is_word",
        SERVING,
        r"\b(?:a|one|each) token",
        r"is (?:a|one) word\b",
        "In English a token is about three quarters of a word; code and many languages need more tokens.",
    ),
)

_NEGATED = re.compile(
    r"\b(?:not|no|never|lacks?|without|hardly|nearly|almost|mostly|more|less|fairly|largely|closer|hard(?:er)? to|isn|"
    r"doesn|don|won|cannot)\b|n't",
    re.IGNORECASE,
)
"""Between the topic and the mistake, it takes the claim back or softens it."""
GAP = 130
"""Most characters between the two."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_COMPILED = tuple((m, _pattern(m.topic), _pattern(m.asserts), _pattern(m.unless)) for m in MISCONCEPTIONS)


def claims(sentence: str) -> list[tuple[Misconception, int, int]]:
    """Return the mistakes that a sentence asserts, each with its range in the sentence."""
    found = []
    for mistake, topic, asserts, unless in _COMPILED:
        start = topic.search(sentence)
        if start is None or unless.search(sentence):
            continue
        end = asserts.search(sentence, start.end())
        if end is None or end.start() - start.end() > GAP or _NEGATED.search(sentence[start.end() : end.start()]):
            continue
        found.append((mistake, start.start(), end.end()))
    return found
