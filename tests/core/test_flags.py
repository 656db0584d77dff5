"""Flags on what candidates might say, with distributions made by hand; none of it is in the labelled answers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.assessment import Probabilities, normalise
from interviewer.core.flags import RAISED, SERIOUS, STRENGTHS, read_flags
from interviewer.core.library import Library
from interviewer.core.text import Quote

ZERO: Probabilities = (0.7, 0.2, 0.1, 0.0)
ONE: Probabilities = (0.2, 0.6, 0.2, 0.0)
HIGH: Probabilities = (0.0, 0.05, 0.25, 0.7)
PLAIN = "We tried it on Tuesday and looked at what came out."

ROWS: list[tuple[str, Mapping[str, Probabilities], str]] = [
    (
        "knows_tools_not_tradeoffs",
        {"tradeoff_reasoning": ZERO, "llm_serving_depth": ONE},
        (
            "There is vLLM, TensorRT-LLM, SGLang, TGI and Ollama, and then LoRA, QLoRA, AWQ, GPTQ and "
            "FlashAttention. Any of them will do, they are all good."
        ),
    ),
    (
        "strong_generalist_lacks_llm_intuition",
        {"llm_serving_depth": ZERO, "constraint_adaptation": ONE},
        (
            "A model is just another service. I put a load balancer and a queue before it, autoscale the "
            "pods, add retries with back-off and a circuit breaker, as for any other web app."
        ),
    ),
    (
        "recites_architecture",
        {"problem_framing": ZERO, "tradeoff_reasoning": ZERO},
        (
            "Documents go through ingestion, chunking and an embedding model into a vector database, then "
            "retrieval, a reranker, the orchestrator, the LLM gateway and guardrails, with monitoring on "
            "top."
        ),
    ),
    (
        "deterministic_mindset",
        {"managing_uncertainty": ZERO, "intellectual_honesty": ZERO},
        (
            "I set the temperature to zero, so it always gives the same answer and cannot be wrong; the unit "
            "tests prove it."
        ),
    ),
    (
        "theory_without_constraint",
        {"tradeoff_reasoning": ZERO, "measurement": ZERO},
        (
            "Attention is quadratic in the sequence length, softmax of QK transposed over the square root of "
            "d, and the gradient of the loss gives a low-rank update by the singular value decomposition."
        ),
    ),
    (
        "no_business_narrative",
        {"business_impact": ZERO, "measurement": ONE},
        (
            "We got the kernel from 40 to 22 milliseconds with a fused attention and a very elegant "
            "scheduler, and I am proud of that."
        ),
    ),
    (
        "throughput_tunnel_vision",
        {"measurement": ONE, "llm_serving_depth": ONE},
        (
            "Throughput is the only number that counts, tokens per second; I raise the batch until the GPU "
            "is at full utilisation."
        ),
    ),
    (
        "more_is_better",
        {"finetuning_judgement": ZERO, "data_intuition": ZERO},
        (
            "I would take a bigger model, the 70B, and more data, and more epochs, because more parameters "
            "are always better."
        ),
    ),
    (
        "api_tourist",
        {"hands_on_specificity": ZERO, "implementation_correctness": ZERO},
        ("I use ChatGPT every day and I write good prompts; what happens behind the API I never needed to look at."),
    ),
    (
        "bluffing",
        {"intellectual_honesty": ZERO, "llm_serving_depth": ZERO},
        (
            "It is proven that this always works, there is no doubt, every expert knows that quantisation "
            "never costs anything."
        ),
    ),
    (
        "blames_others",
        {"failure_reflection": ZERO, "stakeholder_decision": ZERO},
        (
            "That was the data team's fault, they never told us and their manager refused to listen; there "
            "was nothing that I could have done."
        ),
    ),
    (
        "decision_chain",
        {
            "tradeoff_reasoning": HIGH,
            "finetuning_judgement": HIGH,
            "llm_serving_depth": HIGH,
            "constraint_adaptation": HIGH,
        },
        (
            "Because the base is 8B we adapt with LoRA, so one server holds all tenants; if a tenant grows "
            "past ten requests a second, then it gets merged weights and its own replica, and if drift shows "
            "in the weekly sample, we go back to prompts."
        ),
    ),
    (
        "product_sense",
        {"business_impact": HIGH, "tradeoff_reasoning": HIGH},
        (
            "Users stop trusting it once they wait; so agents would go back to searching by hand, and that "
            "costs more than the GPU that we saved."
        ),
    ),
    (
        "honest_about_limits",
        {"intellectual_honesty": HIGH},
        (
            "I have not run this above four GPUs, so I do not know whether it holds; what would settle it is "
            "a load test at eight, and I would expect the interconnect to bite first."
        ),
    ),
]


@pytest.mark.parametrize(("flag", "levels", "said"), ROWS)
def test_a_flag_is_raised_by_levels_and_words_together(
    flag: str, levels: Mapping[str, Probabilities], said: str
) -> None:
    likely = {f.flag: f.probability for f in read_flags(levels, said)}
    # How much a missing story weighs depends on what was asked; it is likely but may stay below the line.
    assert likely[flag] >= (0.35 if flag == "no_business_narrative" else RAISED)


@pytest.mark.parametrize(("flag", "levels", "said"), ROWS)
def test_words_alone_raise_nothing(flag: str, levels: Mapping[str, Probabilities], said: str) -> None:
    opposite = ZERO if flag in STRENGTHS else HIGH
    assert flag not in {f.flag for f in read_flags(dict.fromkeys(levels, opposite), said)}
    assert read_flags({}, said) == (), "nothing was assessed"


@pytest.mark.parametrize(("flag", "levels", "said"), [row for row in ROWS if row[0] not in {"bluffing"}])
def test_levels_alone_raise_nothing_but_bluffing(flag: str, levels: Mapping[str, Probabilities], said: str) -> None:
    assert flag not in {f.flag for f in read_flags(levels, PLAIN) if f.probability >= RAISED}
    assert said != PLAIN


def test_every_flag_of_the_vocabulary_is_read(library: Library) -> None:
    assert {flag for flag, *_ in ROWS} == set(library.vocabulary.flags)
    assert set(library.vocabulary.flags) >= SERIOUS | STRENGTHS
    assert not SERIOUS & STRENGTHS


def test_mechanics_speak_against_the_strong_generalist() -> None:
    levels = {"llm_serving_depth": ONE, "constraint_adaptation": ONE}
    generic = "I put a load balancer and a queue before it, autoscale the pods, and retry with back-off."
    knowing = f"{generic} Prefill is compute bound and decode reads the whole KV cache, so I watch HBM bandwidth."
    first, second = (
        {f.flag: f.probability for f in read_flags(levels, said)}.get("strong_generalist_lacks_llm_intuition", 0.0)
        for said in (generic, knowing)
    )
    assert first > RAISED
    assert second < first - 0.2


def test_a_flag_carries_the_sentence_that_shows_it() -> None:
    text = "We launched in May. That was the data team's fault, they never told us."
    levels = {"failure_reflection": ZERO, "stakeholder_decision": ZERO}
    found = read_flags(levels, [Quote(start=0, end=len(text), text=text, turn=3)])
    blamed = next(f for f in found if f.flag == "blames_others")
    (quote,) = blamed.evidence
    assert (quote.text, quote.turn) == ("That was the data team's fault, they never told us.", 3)
    assert text[quote.start : quote.end] == quote.text


def test_flags_come_most_probable_first() -> None:
    found = read_flags({"managing_uncertainty": ZERO, "intellectual_honesty": ZERO}, ROWS[3][2])
    assert found[0].flag == "deterministic_mindset"
    assert [f.probability for f in found] == sorted((f.probability for f in found), reverse=True)


probabilities = st.tuples(*[st.floats(0, 1)] * 4).filter(lambda w: sum(w) > 0.01).map(normalise)


@given(
    st.dictionaries(st.sampled_from(sorted({c for _, levels, _ in ROWS for c in levels})), probabilities),
    st.lists(st.sampled_from([said for *_, said in ROWS]), max_size=3).map(" ".join),
)
def test_flags_are_probabilities_and_length_is_no_cue(levels: dict[str, Probabilities], said: str) -> None:
    found = read_flags(levels, said)
    assert all(0.2 <= f.probability <= 0.99 for f in found)
    assert len({f.flag for f in found}) == len(found)
    assert read_flags(levels, f"{said} {said}") == found
