"""What a job description asks for: criteria that its words mention, each with those words and where they stand.

A criterion that is mentioned is pursued more: its weight in the choice of questions is multiplied by :data:`ONCE`, or
by :data:`OFTEN` when two different words or more mention it. The verdict keeps the round's own weights, so that the
same answers get the same verdict whatever the posting says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from interviewer.core.assessment import Frozen
from interviewer.core.passages import told
from interviewer.core.rubric import Rubric
from interviewer.core.scenario import Scenario
from interviewer.core.text import Quote, content_words

ONCE = 1.25
OFTEN = 1.5
HEAVIEST = 3.0
"""No weight becomes more than a document may give."""
SHARED = 2
"""Words that a scenario has to share with the job to be chosen for it."""

_MENTIONS = {
    "llm_serving_depth": r"inference|serving|vllm|tensorrt(?:-llm)?|triton|kv[- ]cache|batching|quanti[sz]\w*|cuda|"
    r"kernels?|"
    r"throughput|gpus?|speculative decoding",
    "finetuning_judgement": r"fine-?tun\w*|q?lora|peft|post-training|adapters?|rlhf|dpo|distil\w*|alignment",
    "data_intuition": r"data (?:quality|curation|cleaning|labell?ing|pipelines?)|annotation|datasets?|labelled data|"
    r"synthetic data",
    "measurement": r"benchmark\w*|evaluations?|evals?|metrics|a/b tests?|profil(?:er|ing)|load tests?|slos?|"
    r"experiments?",
    "constraint_adaptation": r"scal(?:e|able|ing|ability)|cost[- ](?:efficien\w+|effective\w*)|budgets?|low[- ]latency|"
    r"latency|high[- ]traffic|real[- ]time",
    "managing_uncertainty": r"monitoring|guardrails?|hallucinations?|drift|reliab\w+|safety|non-?determinis\w+",
    "business_impact": r"business|customers?|revenue|product (?:impact|sense|teams?)|roi|users",
    "stakeholder_decision": r"stakeholders?|cross-functional|incidents?|customer-facing|clients?|on-call",
    "problem_framing": r"ambigu\w+|requirements|problem[- ]solving|scoping|discovery",
    "tradeoff_reasoning": r"trade-?offs?|architecture|design decisions|system design",
    "experience_transfer": r"robotics|autonomous driving|ads?[- ]tech|trading|distributed systems|real-time systems|"
    r"c\+\+",
    "failure_reflection": r"post-?mortems?|blameless|lessons learned|ownership|continuous improvement",
    "intellectual_honesty": r"humility|intellectual honesty|curious|curiosity|open feedback|transparen\w+",
    "hands_on_specificity": r"hands-on|openai|anthropic|apis?|prompt engineering|langchain|production experience",
    "role_fit": r"on-?site|hybrid|relocat\w+|compensation|equity|bonus|salary",
    "implementation_correctness": r"python|pytorch|clean code|unit tests?|coding|software engineering",
}
MENTIONS = {name: re.compile(rf"(?i)(?<![\w-])(?:{words})(?![\w-])") for name, words in _MENTIONS.items()}
"""Words by which a job description mentions a criterion."""


class Steer(Frozen):
    """One criterion that is pursued more for this job, and why."""

    criterion: str
    factor: float
    because: tuple[Quote, ...]
    """The words of the job description; each word once, at its first place."""


@lru_cache(maxsize=64)
def steers(job: str) -> tuple[Steer, ...]:
    """Return the criteria that ``job`` mentions, in the order of the mapping."""
    read, _ = told(job)
    found = []
    for criterion, pattern in MENTIONS.items():
        words: dict[str, Quote] = {}
        for span in read:
            for m in pattern.finditer(job, span.start, span.end):
                words.setdefault(m.group().lower(), Quote(start=m.start(), end=m.end(), text=m.group()))
        if words:
            factor = ONCE if len(words) == 1 else OFTEN
            found.append(Steer(criterion=criterion, factor=factor, because=tuple(words.values())[:8]))
    return tuple(found)


def steered(rubric: Rubric, job: str) -> Rubric:
    """Return ``rubric`` with the weights by which questions are chosen for ``job``; never used for a verdict."""
    factors = {s.criterion: s.factor for s in steers(job)} if job else {}
    if not factors.keys() & rubric.weights.keys():
        return rubric
    weights = {name: min(HEAVIEST, weight * factors.get(name, 1.0)) for name, weight in rubric.weights.items()}
    return rubric.model_copy(update={"weights": weights})


def best_scenario(job: str, scenarios: Iterable[Scenario]) -> Scenario | None:
    """Return the scenario that shares most words with ``job``; ``None`` when none is clearly ahead."""
    ranked = sorted(((len(in_common(job, s)), s.id, s) for s in scenarios), reverse=True, key=lambda entry: entry[:2])
    if not ranked or ranked[0][0] < SHARED or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][2]


def in_common(job: str, scenario: Scenario) -> tuple[Quote, ...]:
    """Return the words of ``job`` that a scenario is about, each once, at its first place."""
    about = content_words(" ".join((scenario.title, scenario.brief, *(fact.says for fact in scenario.facts)))) - _PLAIN
    words: dict[str, Quote] = {}
    for m in re.finditer(r"[A-Za-z][\w-]*", job):
        for word in content_words(m.group()) & about:
            words.setdefault(word, Quote(start=m.start(), end=m.end(), text=m.group()))
    return tuple(words.values())


_PLAIN = frozenset(
    "read team work model new first year day week month company system people build built make made use engineer know "
    "time way part side half need want good part own kind number one two three four data product".split()
)
