from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.assessment import CriterionAssessment, Probabilities
from interviewer.core.debrief import debrief
from interviewer.core.facts import Finding, FindingKind, capped, check_answer
from interviewer.core.misconceptions import MISCONCEPTIONS
from interviewer.core.reading import CriterionSpec, RawReading, Said, assemble, prepare
from interviewer.core.render import report_markdown
from interviewer.core.rubric import Question, WrongClaim

from .builders import Log, assessed, drills, exactly, question, rubric, vocabulary

WRONG = "With temperature 0 the model is deterministic."


def kinds(text: str, asked: Question | None = None) -> list[tuple[str, str]]:
    return [(f.kind.value, f.check) for f in check_answer(text, asked)]


@pytest.mark.parametrize(
    ("check", "text"),
    [
        ("temperature_zero", WRONG),
        ("temperature_zero", "Temperature zero and a seed, so mine is reproducible to the letter."),
        ("flash_attention_linear", "FlashAttention makes attention linear in the length."),
        ("quantised_weights_shrink_cache", "If you quantise the weights to INT4 the cache shrinks by four."),
        ("cache_last_token", "The KV cache holds only the last token's state."),
        ("query_heads_cached", "The query heads are what must be cached."),
        ("fp8_on_a100", "The A100 runs FP8 natively."),
        ("int4_half_the_bits", "INT4 is twice as fast because it has half the bits."),
        ("decode_compute_bound", "Decoding is pure arithmetic."),
        ("prefill_memory_bound", "Prefill is bandwidth-bound."),
        ("paging_to_disk", "PagedAttention pages the weights out to disk."),
        ("batching_waits", "Continuous batching waits for a full batch."),
        ("speculation_loses_quality", "Speculative decoding costs some quality."),
        ("adapter_cannot_forget", "A LoRA cannot make the model forget."),
        ("rank_is_quality", "I take the biggest rank because rank is the quality dial."),
        ("epochs_replace_examples", "More epochs make up for the missing examples."),
        ("hallucination_solved", "After that hallucination is solved for good."),
        ("token_is_word", "A token is a word."),
    ],
)
def test_a_known_mistake_is_found(check: str, text: str) -> None:
    assert kinds(text) == [("wrong", check)]


def test_every_known_mistake_has_a_case_above() -> None:
    assert len({m.id for m in MISCONCEPTIONS}) == len(MISCONCEPTIONS) == 17


@pytest.mark.parametrize(
    "text",
    [
        "Temperature 0 does not make it deterministic.",
        "At temperature 0 the model is almost deterministic.",
        "With temperature 0 the model is deterministic, but only until the batch changes.",
        "With temperature 0 and pinned versions it is reproducible.",
        "People say that with temperature 0 the model is deterministic.",
        "I used to think that with temperature 0 the model is deterministic.",
        "With temperature 0 the model is deterministic, is that what you mean?",
        "With temperature 0 the model is deterministic. That's wrong, of course.",
        "FlashAttention makes attention linear in memory.",
        "FlashAttention is exact and no approximation.",
        "The A100 can't do that, the H100 has FP8 tensor cores.",
        "At batch 512 decoding is compute-bound.",
        f"Temperature 0 {'really ' * 30}is deterministic.",
        "The KV cache of a prefix is shared by all users.",
    ],
)
def test_what_is_taken_back_softened_or_somebody_elses_is_left_alone(text: str) -> None:
    assert kinds(text) == []


def test_a_quote_is_the_clause_with_its_place_in_the_answer() -> None:
    text = "We did evals, and with temperature 0 the model is deterministic, so one run is enough. Then we shipped."
    (found,) = check_answer(text, turn=3)
    assert found.quote.text == "and with temperature 0 the model is deterministic" == found.claimed
    assert text[found.quote.start : found.quote.end] == found.quote.text
    assert (found.quote.turn, found.criterion, found.kind) == (3, "managing_uncertainty", FindingKind.WRONG)


def test_one_place_has_one_finding() -> None:
    text = "Temperature 0 is deterministic and the KV cache holds only the last token."
    assert kinds(text) == [("wrong", "temperature_zero")]


LISTED = question(
    "start",
    wrong_claims=(
        WrongClaim(claim="The six minutes are the loading of the weights.", correction="Most is the image pull."),
        WrongClaim(claim="Cost is low.", correction="It is not."),
    ),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I think the six minutes are loading weights from the bucket.", True),
        ("The six minutes are not the loading of the weights.", False),
        ("The six minutes are the loading of the weights, but I never measured.", False),
        ("Loading takes a while.", False),
        ("Cost is low.", False),  # two words of meaning are too few to be sure
        (
            "Six minutes of loading weights we saw in March on another cluster with slow network disks, "
            "broken mirrors, "
            "strange proxies, old drivers and a cold registry somewhere in Frankfurt.",
            False,
        ),
    ],
)
def test_a_wrong_claim_of_the_question_needs_its_own_terms(text: str, found: bool) -> None:
    facts = check_answer(text, LISTED)
    assert [f.right for f in facts] == (["Most is the image pull."] if found else [])
    assert all(f.criterion == LISTED.targets[0].criterion and f.quote.text == text for f in facts)


def read(level: int, p: Probabilities, criterion: str = "managing_uncertainty") -> CriterionAssessment:
    return CriterionAssessment(criterion=criterion, probabilities=p, level=level, confidence=p[level])


def test_a_wrong_claim_holds_its_criterion_at_level_one() -> None:
    low, reason = capped(read(2, (0.1, 0.2, 0.5, 0.2)), check_answer(WRONG))
    assert low.level == 1
    assert low.probabilities == pytest.approx((0.1, 0.9, 0.0, 0.0))
    assert low.confidence == pytest.approx(0.9)
    assert reason is not None and reason.code == "wrong_claim"
    assert "managing uncertainty is held at level 1" in reason.message
    assert "With temperature 0 the model is deterministic" in reason.message


def unsure() -> list[Finding]:
    return [f.model_copy(update={"confidence": 0.8}) for f in check_answer(WRONG)]


@pytest.mark.parametrize(
    ("found", "facts"),
    [
        (read(1, (0.1, 0.7, 0.1, 0.1)), check_answer(WRONG)),  # low enough already
        (read(3, (0.0, 0.0, 0.0, 1.0), "measurement"), check_answer(WRONG)),  # another criterion
        (read(3, (0.0, 0.0, 0.0, 1.0)), unsure()),
        (read(3, (0.0, 0.0, 0.0, 1.0), "llm_serving_depth"), check_answer("An 8B in bf16 is 16 GB.")),  # a right one
        (read(3, (0.0, 0.0, 0.0, 1.0)), ()),
    ],
)
def test_nothing_else_moves(found: CriterionAssessment, facts: list[Finding]) -> None:
    assert capped(found, facts) == (found, None)


def test_an_assessment_is_held_down_and_says_why() -> None:
    """Both the live session and a single score pass through here."""
    spec = CriterionSpec(name="managing_uncertainty", asks="Is it managed?", anchors=("a", "b", "c", "d"))
    said = [Said(turn=4, text=f"{WRONG} We then measured 40 runs at p99 and kept it.")]
    prepared = prepare("How?", said, [spec], 900, lambda text: len(text.split()))
    for level, reported, notices in ((3, 1, ["wrong_claim"]), (0, 0, [])):
        raw = RawReading(probabilities=exactly(level), level=level, segment=0)
        made = assemble([spec], prepared, [[raw]], said, "judge")
        assert (made.criteria[0].level, [n.code for n in made.notices]) == (reported, notices)


def test_a_report_shows_what_could_be_checked_and_no_section_without() -> None:
    log = Log().choose("cache").ask("What cache?").answer(f"An 8B in bf16 is 16 GB of weights. {WRONG}")
    text = report_markdown(debrief(log.read(assessed()).end().state, rubric(), vocabulary(), drills()))
    block = text.split("## Claims that can be checked\n")[1].split("\n## ")[0].strip().splitlines()
    assert block[0] == (
        '- "8B in bf16 is 16 GB of weights" (turn 1): right. 8 billion parameters x 2 bytes (bf16) = 16 GB'
    )
    assert block[1].startswith('- "With temperature 0 the model is deterministic" (turn 1): not right. Temperature 0 ')
    plain = Log().choose("cache").ask("What cache?").answer("A cache.").read(assessed()).end()
    assert "Claims that" not in report_markdown(debrief(plain.state, rubric(), vocabulary(), drills()))


NUMBERS = [
    "8B",
    "bf16",
    "16 GB",
    "4 x",
    "8 by 4",
    "128 KB per token",
    "0 GB",
    "0 tokens",
    "at 2 TB/s",
    "5 ms",
    "is",
    "=",
]
WORDS = [
    *NUMBERS,
    "rank 0",
    "effective batch 0",
    "temperature 0",
    "deterministic",
    "9 users",
    ". ",
    "\n",
    "decode",
    "batch 0",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)))
def test_any_text_is_read_and_every_quote_is_exact(text: str) -> None:
    found = check_answer(text, LISTED)
    assert all(text[f.quote.start : f.quote.end] == f.quote.text for f in found)
    assert all(a.quote.end <= b.quote.start or b.quote.end <= a.quote.start for a in found for b in found if a is not b)
