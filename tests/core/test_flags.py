"""Flags from distributions made by hand: each row's probability is the product that the rule describes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.assessment import Probabilities, normalise
from interviewer.core.flags import SERIOUS, STRENGTHS, read_flags
from interviewer.core.library import Library
from interviewer.core.text import Quote

LOW: Probabilities = (0.4, 0.5, 0.1, 0.0)
ZERO: Probabilities = (0.7, 0.2, 0.1, 0.0)
HIGH: Probabilities = (0.0, 0.2, 0.3, 0.5)

ROWS: list[tuple[str, Mapping[str, Probabilities], str, float]] = [
    ("knows_tools_not_tradeoffs", {"tradeoff_reasoning": LOW}, "vLLM, LoRA and Redis.", 0.9),
    ("knows_tools_not_tradeoffs", {"tradeoff_reasoning": LOW}, "vLLM, vllm, VLLM.", 0.3),
    (
        "strong_generalist_lacks_llm_intuition",
        {"llm_serving_depth": LOW},
        "A load balancer, a queue and retries.",
        0.9,
    ),
    (
        "strong_generalist_lacks_llm_intuition",
        {"llm_serving_depth": LOW},
        "A load balancer, a queue and retries; the KV cache, prefill and bandwidth decide.",
        0.27,
    ),
    (
        "recites_architecture",
        {"problem_framing": ZERO},
        "A vector store, embeddings, a reranker behind a gateway.",
        0.7,
    ),
    ("deterministic_mindset", {"managing_uncertainty": ZERO}, "I set temperature to 0.", 0.7),
    ("theory_without_constraint", {"tradeoff_reasoning": LOW}, "Quadratic in n, a softmax over a matrix.", 0.9),
    ("no_business_narrative", {"business_impact": ZERO}, "", 0.7),
    ("throughput_tunnel_vision", {"measurement": LOW}, "Throughput rose and so did the average.", 1.0),
    ("more_is_better", {"finetuning_judgement": LOW}, "A bigger model and more data.", 0.9),
    ("api_tourist", {"hands_on_specificity": ZERO}, "I use ChatGPT.", round((0.7 + 0.4 * 0.9) / 1.4, 3)),
    ("bluffing", {"intellectual_honesty": ZERO}, "", 0.7),
    ("blames_others", {"failure_reflection": LOW}, "They refused, and sales ignored it.", 0.9),
    ("blames_others", {"stakeholder_decision": ZERO}, "They refused, and sales ignored it.", 0.7),
    (
        "decision_chain",
        {"tradeoff_reasoning": HIGH, "llm_serving_depth": (0.0, 0.4, 0.6, 0.0), "measurement": HIGH},
        "",
        0.6,
    ),
    ("product_sense", {"business_impact": HIGH}, "Users wait less when we stream.", 0.8),
    ("honest_about_limits", {"intellectual_honesty": HIGH}, "", 0.8),
]


@pytest.mark.parametrize(("flag", "levels", "said", "probability"), ROWS)
def test_a_flag_is_level_times_cue(
    flag: str, levels: Mapping[str, Probabilities], said: str, probability: float
) -> None:
    found = {f.flag: f.probability for f in read_flags(levels, said)}
    assert found[flag] == pytest.approx(probability, abs=1e-3)


def test_every_flag_of_the_vocabulary_is_read(library: Library) -> None:
    assert {flag for flag, *_ in ROWS} == set(library.vocabulary.flags)
    assert set(library.vocabulary.flags) >= SERIOUS | STRENGTHS
    assert not SERIOUS & STRENGTHS


@pytest.mark.parametrize(
    ("flag", "levels", "said"),
    [
        ("throughput_tunnel_vision", {"measurement": LOW}, "Throughput and the average, at p99."),  # the tail counts
        ("knows_tools_not_tradeoffs", {"tradeoff_reasoning": HIGH}, "vLLM, LoRA."),  # 0.2 * 2/3 is below 0.2
        ("knows_tools_not_tradeoffs", {"tradeoff_reasoning": LOW}, "I would compare the two."),  # no tool
        ("deterministic_mindset", {"managing_uncertainty": ZERO}, "I watch the rate of bad answers."),
        ("decision_chain", {"tradeoff_reasoning": HIGH, "measurement": HIGH}, ""),  # two links are no chain
        ("blames_others", {"failure_reflection": LOW}, "I chose the wrong metric."),
        ("strong_generalist_lacks_llm_intuition", {}, "A load balancer, a queue and retries."),  # not assessed
    ],
)
def test_no_flag(flag: str, levels: Mapping[str, Probabilities], said: str) -> None:
    assert flag not in {f.flag for f in read_flags(levels, said)}


def test_flags_come_most_probable_first_with_their_evidence() -> None:
    quote = Quote(start=0, end=4, text="They")
    found = read_flags(
        {"intellectual_honesty": ZERO, "business_impact": (0.9, 0.1, 0.0, 0.0)}, "", {"business_impact": (quote,)}
    )
    assert [(f.flag, f.probability, f.evidence) for f in found] == [
        ("no_business_narrative", 0.9, (quote,)),
        ("bluffing", 0.7, ()),
    ]


probabilities = st.tuples(*[st.floats(0, 1)] * 4).filter(lambda w: sum(w) > 0.01).map(normalise)


@given(
    st.dictionaries(st.sampled_from(sorted({c for _, levels, *_ in ROWS for c in levels})), probabilities),
    st.lists(st.sampled_from([said for *_, said, _ in ROWS]), max_size=3).map(" ".join),
)
def test_flags_are_probabilities_and_rest_on_what_was_assessed(levels: dict[str, Probabilities], said: str) -> None:
    found = read_flags(levels, said)
    assert all(0.2 <= f.probability <= 1 for f in found)
    assert len({f.flag for f in found}) == len(found)
    assert read_flags({}, said) == ()
    # length is no cue: saying everything twice changes nothing
    assert read_flags(levels, f"{said} {said}") == found
