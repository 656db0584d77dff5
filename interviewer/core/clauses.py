"""Checks for the clauses of an anchor: is one part of it plainly there in the text?

No model takes part. A check says yes only when one sentence shows the clause in the open; a sentence that denies,
wishes or asks says nothing. That a check finds nothing does not mean that the clause is missing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from interviewer.core.text import Span, sentences


class Check(NamedTuple):
    """What one sentence has to show for a clause to be there."""

    all_of: tuple[re.Pattern[str], ...]
    """Every one has to match."""
    options: bool = False
    """Two different named options have to be there as well."""
    planned: bool = False
    """Whether a plan ("I would measure ...") shows it as well; most clauses want what was done."""
    denied: bool = False
    """Whether the clause itself may be a denial ("we did not check ...", "I have never ...")."""


def _re(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(p, re.IGNORECASE) for p in patterns)


_N = r"(?<![\w.])\d+(?:[.,]\d+)*"
_UNIT = (
    r" ?(?:%|ms\b|s\b|seconds?|minutes?|hours?|days?|[KMGT]i?B\b|tokens?(?:/s|"
    r" per second)?|tok/s|percent|points?|"
    r"requests?(?: per second)?|rps|QPS|dollars?|cents?|euros?|times|x\b|examples|rows|"
    r"GPUs?|tickets?|users)"
)
_NUMBER = rf"(?:[$€] ?{_N}|{_N}{_UNIT})"
_CONDITION = (
    r"\bat (?:a )?(?:batch|concurrency|\d)|\bbatch (?:size )?(?:of )?\d|\bp(?:50|9\d)\b|"
    r"\b(?:median|percentile)\b|\bwith \d|"
    r"\bon (?:a |an |one |two |the )?(?:A100|H100|H200|L4|T4|A10G?|CPU|held-out)|"
    r"\bunder (?:\d|load)|"
    r"\b(?:prompts?|contexts?|sequences?) of \d|\bper (?:GPU|tenant|node)\b"
)
_BASELINE = r"\bfrom\b.+\bto\b|\bbaseline\b|\bcompared (?:to|with)\b|\bp(?:50|9\d)\b|\bmedian\b|" r"\binstead of \d"
_SEEN = (
    r"\b(?:I|we) (?:then |also |have |had )?(?:measured|profiled|load-?tested|benchmarked|"
    r"replayed|verified|checked|"
    r"compared|tested|evaluated|confirmed|A/B[- ]tested|ran (?:a|an|the|two|\d+)) \w+|"
    r"\bmeasured (?:with|on|by|in) \w+|\bmeasure it (?:with|on|by)\b"
)
_METHODS = (
    r"\b(vLLM|TGI|TensorRT(?:-LLM)?|SGLang|llama\.cpp|Triton|LoRA|QLoRA|DPO|SFT|PPO|"
    r"full fine-?tun\w+|fine-?tun\w+|RAG|"
    r"retrieval|prompt(?:ing|s)?|int8|int4|fp8|fp16|bf16|AWQ|GPTQ|speculative decoding|"
    r"tensor parallel\w*|pipeline parallel\w*|"
    r"static batching|continuous batching|small model|large model|\d+B)\b"
)
_AGAINST = r"\b(?:rather than|instead of|over|versus|vs|than|against|compared (?:to|with)|or)\b"
_OUTCOME = (
    r"\b(?:handling time|deflection|refunds?|cost per (?:request|ticket|call|user)|churn|"
    r"conversion|escalations?|"
    r"resolution (?:rate|time)|revenue|returns?)\b"
)
_TERM = (
    r"\b(?:KV[- ]?cache|prefill|decod(?:e|ing)|continuous batching|paged ?attention|"
    r"quanti[sz]ation|speculative decoding|"
    r"memory bandwidth|time to first token|TTFT|inter-token)\b"
)
_LIMIT = (
    r"\bI (?:do not|don't|don’t) know\b|\bI(?: have|'ve|’ve)? never (?:ran|run|used|tried|"
    r"seen|measured|worked|trained|done)\b"
)
_ACT = (
    r"\b(?:roll(?:s|ed)? (?:it )?back|fall(?:s)? back|hand(?:s|ed)? (?:it |over )?(?:to|"
    r"over)|page[sd]?|alerts?|switch\w*|disable\w*|stop\w*)\b"
)
_ABOVE = (
    rf"\b(?:above|over|below|under|exceeds?|more than|less than|reaches|" rf"drops? to)\b[^.;]{{0,40}}?{_N}|[<>] ?{_N}"
)

CHECKS: dict[str, Check] = {
    "compared": Check(_re(_AGAINST), options=True, planned=True),
    "price": Check(
        _re(
            r"\b(?:costs? (?:us|me|about)?|we (?:give up|lose|pay|accept)|I (?:give up|lose|" r"accept)|price is)\b", _N
        )
    ),
    "flip": Check(
        _re(
            r"\b(?:if|once|when|unless)\b",
            r"\b(?:I|we)(?:'d|’d| would|'ll| will)? (?:switch|move|go back|change|use|pick|choose|" r"take)\b",
        ),
        options=False,
        planned=True,
    ),
    "from_to": Check(_re(r"\bfrom\b[^.;]{1,60}\bto\b"), planned=True),
    "given_up": Check(_re(r"\b(?:give up|drop|sacrifice|cut)\b", r"\b(?:keep|protect|stays?|first)\b"), planned=True),
    "effect": Check(_re(r"\b(?:quality|accuracy|cost|latency|p9\d|throughput)\b", _NUMBER), planned=True),
    "asked": Check(_re(r"\?\s*$")),
    "deciding_fact": Check(
        _re(r"\bp(?:50|9\d)\b|\b(?:latency target|query (?:mix|distribution)|fresh\w*|" r"percentile)\b"), planned=True
    ),
    "branches": Check(
        _re(r"\bif\b.+(?:\bif (?:not|it|they|the)\b|\botherwise\b|\belse\b)", r"\b(?:I|we)\b"),
        planned=True,
        denied=True,
    ),
    "serving_term": Check(_re(_TERM), planned=True),
    "mechanism": Check(
        _re(
            r"\b(?:prefill|decod(?:e|ing))\b",
            r"\b(?:memory|bandwidth|compute)[- ]bound\b|\bbound by\b|" r"\breads? (?:all )?(?:the )?weights\b",
        ),
        planned=True,
    ),
    "worked_out": Check(
        _re(
            rf"{_N} ?(?:[KMGT]i?B|bytes) (?:per|for each|a) token|\b(?:batch|"
            rf"concurrency)[^.;]{{0,40}}{_N}[^.;]*\b(?:bound|latency|ms|[KMGT]i?B)\b"
        ),
        planned=True,
    ),
    "decided": Check(
        _re(
            r"\bso (?:I|we) (?:\w+ )?(?:chose|kept|moved|switched|dropped|set|picked|stayed|"
            r"rolled|shipped|capped|cut)\b"
        )
    ),
    "kind_of_change": Check(
        _re(
            r"\b(?:style|format|tone|knowledge|facts|behaviou?r)\b",
            r"\b(?:needs?|change[sd]?|learns?|teach\w*|because|not)\b",
            _METHODS,
        ),
        planned=True,
        denied=True,
    ),
    "method_cost": Check(
        _re(
            r"\brank (?:of )?\d+|\bforget\w*\b|\blabel (?:noise|quality)|\badapters? (?:per|"
            r"for each)|\bserving cost"
        ),
        planned=True,
    ),
    "held_out": Check(_re(r"\bheld-?out\b|\brank sweep\b|\bablation\b"), planned=True),
    "data_technique": Check(_re(r"\b(?:dedup\w*|filter\w*|review(?:ed)?|sampled?|cluster\w*)\b"), planned=True),
    "data_kinds": Check(
        _re(
            r"\b(?:mislabel\w*|wrong labels?|label (?:errors?|noise))\b",
            r"\b(?:out[- ]of[- ]distribution|OOD|leak\w*|formatting|another distribution)\b",
        ),
        planned=True,
    ),
    "data_action": Check(
        _re(
            r"\b(?:relabel\w*|reweigh\w*|isolate\w*|quarantine\w*)\b",
            r"\b(?:keep|kept|leave|drop\w*|reweigh\w*|isolate\w*)\b",
        ),
        planned=True,
    ),
    "verified": Check(_re(_SEEN)),
    "number": Check(_re(_NUMBER)),
    "number_condition": Check(_re(_NUMBER, _CONDITION)),
    "baseline": Check(_re(_N, _BASELINE)),
    "tail": Check(_re(r"\bp9\d(?:\.9)?\b|\btail\b", _N)),
    "rate": Check(_re(r"\b(?:rate|share|variance|disagree\w*)\b", r"\bof\b|\bwith\b|\bbetween\b"), planned=True),
    "threshold": Check(_re(_ABOVE, _ACT), planned=True),
    "residual": Check(_re(r"\b(?:accept|tolerate|live with)\b", _N), planned=True),
    "outcome": Check(_re(_OUTCOME), planned=True),
    "outcome_number": Check(_re(_OUTCOME, _N), planned=True),
    "not_transfer": Check(
        _re(r"\b(?:does not|doesn't|doesn’t|did not) (?:transfer|carry over|hold|map)\b"), denied=True
    ),
    "failed": Check(_re(r"\b(?:fail(?:ed|ure)|outage|broke|rolled back|went down|lost)\b")),
    "own_cause": Check(
        _re(
            r"\bmy (?:own )?(?:decision|mistake|fault|call)\b|\bI (?:had )?(?:missed|"
            r"underestimated|assumed|forgot|skipped|ignored|overlooked)\b"
        ),
        denied=True,
    ),
    "cause_evidence": Check(
        _re(
            r"\b(?:logs?|traces?|metrics?|profile|replay|diff|bisect\w*|post-?mortem)\b",
            r"\b(?:showed|shows|pointed)\b",
        )
    ),
    "since": Check(_re(r"\b(?:since then|from then on|ever since)\b"), denied=True),
    "redo": Check(
        _re(
            r"\b(?:I would|I'd|I’d)\b",
            r"\b(?:kill criterion|stop (?:if|when|after)|before (?:building|training|any)|" r"earlier signal)\b",
        ),
        planned=True,
    ),
    "limit": Check(_re(_LIMIT), denied=True),
    "reasons_on": Check(
        _re(r"\b(?:what I do know|from what I know|I (?:would|'d) expect|by analogy|it follows)\b"),
        planned=True,
        denied=True,
    ),
    "settle": Check(
        _re(r"\b(?:I would|I'd|I’d|I'll|I will)\b", r"\b(?:measure|test|try|run|benchmark|profile|look up) \w+"),
        planned=True,
    ),
    "meanwhile": Check(
        _re(r"\b(?:meanwhile|in the meantime|until (?:then|we know|I know|that is known))\b"), planned=True
    ),
    "ordered": Check(_re(r"\bfirst\b", r"\b(?:then|next|second)\b", r"\broll\w*[- ]?(?:it )?back\b"), planned=True),
    "owner_time": Check(
        _re(
            r"\b(?:I|we|[A-Z]\w+)(?:'ll| will|’ll)\b",
            r"\b(?:by|within|until) (?:tomorrow|tonight|noon|end of|Monday|Tuesday|Wednesday|" r"Thursday|Friday|\d)",
        ),
        planned=True,
    ),
    "next_move": Check(
        _re(
            r"\bif (?:they|he|she|the (?:client|customer)) (?:say|says|ask|asks|refuse|refuses|"
            r"insist|insists|push\w*|want|wants)\b"
        ),
        planned=True,
    ),
    "conceded": Check(_re(r"\b(?:concede|give (?:them|way))\b", r"\b(?:but|not)\b"), planned=True, denied=True),
    "used": Check(_re(r"\b(?:I|we) (?:used|called|ran|served|deployed|wrote|fine-?tuned|trained)\b")),
    "concrete": Check(
        _re(
            r"`[^`]+`|(?<!\w)--[a-z][a-z-]+|\b[a-z]+_[a-z_]+ ?(?:=|of|to|at|was) ?\d|"
            r"\b[a-z_.]+\([^)]*\)|\b(?:HTTP )?429s?\b"
        )
    ),
    "problem": Check(
        _re(
            r"\b(?:I|we) (?:hit|ran into|got)\b.+|\b(?:OOM|out of memory|rate limit\w*|429s?|" r"timed out|timeouts?)\b"
        )
    ),
    "solved": Check(_re(r"\b(?:I|we) (?:fixed|solved|worked around|cured)\b|\bthe fix was\b")),
    "terms": Check(
        _re(
            r"\b(?:base|salary|notice period|start (?:on|in)|remote|relocat\w*)\b",
            rf"{_N}|\b(?:January|February|March|April|May|June|July|August|September|October|" rf"November|December)\b",
        ),
        planned=True,
    ),
    "own_work": Check(_re(r"\b(?:I|we) (?:built|shipped|cut|moved|fine-?tuned|served|wrote)\b", _N)),
    "param_reason": Check(
        _re(
            r"\b(?:rank|alpha|learning rate|batch|dropout|epochs?|max_\w+|temperature)\b",
            _N,
            r"\b(?:because|since|so that|as)\b",
        ),
        planned=True,
    ),
    "edges": Check(
        _re(
            r"\b(?:pad(?:ding)?(?: tokens?)?|end[- ]of[- ]sequence|EOS|accumulat\w+|out of memory|" r"resum\w+)\b",
            r"\b(?:mask\w*|stop\w*|times|checkpoint\w*|-100|attention|multipl\w*)\b",
        ),
        planned=True,
    ),
}
"""By name, as the criteria refer to them."""

_DENIED = re.compile(r"\b(?:not|never|no|nobody|without|cannot|hardly|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_WISHED = re.compile(
    r"\b(?:would|could|should|might|will|plan to|want to|need to|suppose)\b|['’](?:d|ll)\b", re.IGNORECASE
)
_OPTION = re.compile(_METHODS, re.IGNORECASE)


def shows(name: str, text: str) -> Span | None:
    """Return the first sentence of ``text`` that plainly shows the clause; ``None`` when the check is not sure.

    Raises:
        KeyError: there is no check of that name.
    """
    check = CHECKS[name]
    return next((span for span in sentences(text) if _shows(check, span.of(text))), None)


def _shows(check: Check, sentence: str) -> bool:
    if not check.denied and _DENIED.search(sentence):
        return False
    if not check.planned and _WISHED.search(sentence):
        return False
    if check.options and len({m.group().lower() for m in _OPTION.finditer(sentence)}) < 2:
        return False
    return all(pattern.search(sentence) for pattern in check.all_of)
