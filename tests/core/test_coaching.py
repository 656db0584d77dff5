from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.clauses import CHECKS, shows
from interviewer.core.coaching import CoachingNote, CoachingPlan, coach
from interviewer.core.facts import check_answer
from interviewer.core.rubric import Clause, Vocabulary
from interviewer.core.text import Quote
from tests.core.builders import HONEST, IMPACT, MEASURE, TRADE, assessed, found, question, shipped, vocabulary

SAID = "I did it with LoRA. We measured the p95 on the A100."
QUOTE = Quote(start=0, end=5, text="I did")
PRAISE = re.compile(
    r"\b(great|good|nice\w*|excellent|well done|strong|impressive|perfect|congratulations|solid|clever|brilliant)\b",
    re.I,
)
WORDS = (
    "We measured p95 of 300 ms at batch 8 with vLLM rather than TGI. I don't know. My mistake was the cache. "
    "If quality falls below 90 % we roll back. Since then I check. Is it 7B? ü \n"
)


def test_each_note_names_what_was_shown_and_what_is_missing() -> None:
    plan = coach(assessed(found(TRADE, 1, None, QUOTE)), vocabulary(), question("cache"), SAID)
    (note,) = plan.notes
    assert (note.criterion, note.level) == (TRADE, 1)
    assert (note.shown, note.missing) == (f"{TRADE} anchor 1", f"{TRADE} anchor 2")
    assert note.builds_on == (QUOTE,)
    assert note.clauses == (), "these anchors have no clauses"


def test_the_contrast_is_the_rubrics_own() -> None:
    plan = coach(assessed(**{TRADE: 1}), vocabulary(), question("cache"), SAID)
    assert plan.contrast is not None and (plan.contrast.bad, plan.contrast.good) == ("Bad on cache.", "Good on cache.")
    assert coach(assessed(**{TRADE: 1}), vocabulary(), None, SAID).contrast is None


def test_nothing_is_missing_at_the_top() -> None:
    plan = coach(assessed(**{TRADE: 3}), shipped().vocabulary, None, SAID)
    (note,) = plan.notes
    assert (note.missing, note.clauses, plan.first) == (None, (), None)


def test_what_is_closest_to_its_next_level_comes_first() -> None:
    plan = coach(
        assessed(
            found(IMPACT, 3),
            found(TRADE, 1),  # on its level
            found(MEASURE, (0.0, 0.6, 0.4, 0.0), 1),  # 0.4 above its level
            found(HONEST, 0),  # on its level as well; the name decides
        ),
        vocabulary(),
        None,
        SAID,
    )
    assert [n.criterion for n in plan.notes] == [MEASURE, HONEST, TRADE, IMPACT]


@pytest.mark.parametrize("blank", ["", "  \n", "...", "?!"])
def test_a_blank_answer_is_not_coached(blank: str) -> None:
    plan = coach(assessed(**{TRADE: 0}), shipped().vocabulary, question("cache"), blank)
    assert plan == CoachingPlan(notes=(), contrast=None)


# Criterion, level read, answer, first words of the clauses of the next level that cannot be seen.
CASES = [
    # A number without its condition; then with it.
    (MEASURE, 1, "Throughput rose by 30 %.", ["a number with", "the baseline"]),
    (MEASURE, 1, "Throughput rose by 30 % at batch 16 on an A100.", ["the baseline"]),
    (MEASURE, 1, "At batch 16 the p95 fell from 900 ms to 300 ms.", []),
    (MEASURE, 1, "It became much faster and users were happy.", ["a number with", "the baseline"]),
    (MEASURE, 2, "At batch 16 p95 fell from 900 ms to 300 ms.", ["how it was", "what the"]),
    # Short and excellent.
    (MEASURE, 2, "We load-tested it: p99 4.1 s to 1.9 s at batch 8, so we capped the batch there.", []),
    # A wish is not a measurement, nor is a denial.
    (MEASURE, 2, "We would have measured the p95.", ["how it was", "what the", "the tail"]),
    (MEASURE, 2, "We never measured it under load.", ["how it was", "what the", "the tail"]),
    (TRADE, 0, "We use vLLM, it is fast.", ["one option"]),
    (TRADE, 0, "I take LoRA rather than full fine-tuning.", []),
    (TRADE, 1, "LoRA is cheap.", ["two named", "the reason"]),
    (TRADE, 1, "With forty tenants I take LoRA over full fine-tuning.", ["the reason"]),
    (TRADE, 2, "int8 costs us 2 points of accuracy. If the drop passed 4 points I would go back.", []),
    (TRADE, 2, "int8 costs us 2 points of accuracy.", ["the condition"]),
    (TRADE, 2, "int8 has its price. If the drop passed 4 points I would go back.", ["the price"]),
    # Non-native, and all there.
    (TRADE, 2, "We lose 3 % of quality by it. When traffic become double we switch to big model.", []),
    # Long and empty.
    (TRADE, 1, "There are many options and each has its merits. " * 20, ["two named", "the reason"]),
    ("constraint_adaptation", 1, "I would scale out.", ["the concrete", "why that"]),
    ("constraint_adaptation", 1, "I would go from fp16 to int8.", ["why that"]),
    ("constraint_adaptation", 2, "I would cut the long context and keep the p95 of 400 ms.", []),
    ("problem_framing", 1, "What is the budget?", ["the deciding"]),
    ("problem_framing", 1, "Which latency target, and at which percentile?", []),
    ("problem_framing", 2, "If the mix is mostly short I cache it, otherwise I retrieve.", []),
    ("llm_serving_depth", 1, "I use the KV cache.", ["the mechanism:", "the mechanism applied"]),
    ("llm_serving_depth", 1, "Decode is memory-bound.", ["the mechanism applied"]),
    ("llm_serving_depth", 2, "It is 128 KB per token, so we capped the batch at 32.", []),
    ("finetuning_judgement", 1, "LoRA because data is small.", ["the kind", "data quality"]),
    ("finetuning_judgement", 2, "On a held-out set I compare them.", ["when the"]),
    ("data_intuition", 1, "I separate mislabelled rows from leaked rows.", ["how each"]),
    ("managing_uncertainty", 2, "Above 2 % we roll back.", ["the residual"]),
    ("managing_uncertainty", 1, "We monitor it.", ["the failure", "the signal"]),
    (IMPACT, 1, "It improves user experience.", ["a named"]),
    (IMPACT, 1, "It cuts handling time.", []),
    ("experience_transfer", 1, "The fixed frame budget does not carry over to tokens.", ["the mechanism"]),
    ("failure_reflection", 1, "The team was slow.", ["an own", "the root", "what has"]),
    ("failure_reflection", 1, "I underestimated the cache. The logs showed it. Since then I size it first.", []),
    (HONEST, 1, "I don't know.", ["reasoning"]),
    (HONEST, 1, "I have never run MoE. From what I know, the routing decides.", []),
    (HONEST, 2, "I would test it on two nodes. Until then we keep the old one.", []),
    ("stakeholder_decision", 1, "I would calm them.", ["the complaint", "steps", "who does"]),
    ("hands_on_specificity", 1, "I used the API.", ["a call"]),
    ("hands_on_specificity", 1, "I set max_num_seqs=64.", []),
    ("hands_on_specificity", 2, "We hit an OOM. We fixed it with shorter sequences.", ["how that"]),
    ("role_fit", 1, "I like AI.", ["a specific", "plain facts"]),
    ("implementation_correctness", 2, "The padding tokens are masked with -100.", ["why each"]),
]


def _note(criterion: str, level: int, answer: str) -> CoachingNote:
    (note,) = coach(assessed(**{criterion: level}), shipped().vocabulary, None, answer).notes
    return note


@pytest.mark.parametrize(("criterion", "level", "answer", "open_"), CASES)
def test_the_clauses_that_cannot_be_seen(criterion: str, level: int, answer: str, open_: list[str]) -> None:
    needs = [c.needs for c in _note(criterion, level, answer).clauses if c.shown is None]
    assert len(needs) == len(open_), needs
    assert all(need.startswith(start) for need, start in zip(needs, open_, strict=True)), needs


def test_the_question_is_put_to_the_candidates_own_words() -> None:
    answer = "Throughput rose a lot. The team liked it."
    carried = Quote(start=0, end=22, text="Throughput rose a lot.")
    plan = coach(assessed(found(MEASURE, 1, None, carried)), shipped().vocabulary, None, answer)
    assert plan.first is not None and plan.first.line == (
        'You said "Throughput rose a lot.": by how much, and under which condition, such as batch size, length or load?'
    )


def test_where_nothing_carries_the_level_the_question_is_about_what_was_seen() -> None:
    note = _note(TRADE, 1, "With forty tenants I take LoRA over full fine-tuning.")
    assert note.clauses[1].line == (
        'You said "With forty tenants I take LoRA over full fine-tuning.": why does that decide it here, and not in '
        "general?"
    )


def test_evidence_that_is_not_in_the_answer_is_not_quoted() -> None:
    stray = Quote(start=0, end=5, text="Other")
    (note,) = coach(assessed(found(MEASURE, 1, None, stray)), shipped().vocabulary, None, "Hello there.").notes
    assert all(c.builds_on is None and c.line and c.line[0].isupper() for c in note.clauses)


def test_a_wrong_claim_comes_first_with_what_is_right() -> None:
    answer = "We picked vLLM rather than TGI. With temperature 0 the model is deterministic."
    facts = check_answer(answer)
    plan = coach(assessed(**{TRADE: 1}), shipped().vocabulary, None, answer, facts)
    assert plan.first is not None and plan.first.line.startswith('You said "With temperature 0')
    assert plan.first.line.endswith(facts[0].right)
    assert [c.quote for c in plan.corrections] == [f.quote for f in facts]


def test_a_sentence_with_a_wrong_claim_shows_nothing() -> None:
    answer = "With temperature 0 the model is deterministic and the p95 is 300 ms at batch 8."
    facts = check_answer(answer)
    assert facts and shows("number_condition", answer)
    (note,) = coach(assessed(**{MEASURE: 1}), shipped().vocabulary, None, answer, facts).notes
    assert note.clauses[0].shown is None


def test_every_check_is_known_and_used() -> None:
    named = {c.check for _, _, c in _clauses(shipped().vocabulary) if c.check}
    assert named == set(CHECKS)


def test_every_anchor_has_clauses_and_they_praise_nobody() -> None:
    words = shipped().vocabulary
    assert {(name, level) for name, level, _ in _clauses(words)} == {
        (n, lv) for n in words.criteria for lv in (1, 2, 3)
    }
    for name, level, clause in _clauses(words):
        assert not PRAISE.search(f"{clause.needs} {clause.ask}"), (name, level)
        assert clause.ask.endswith("?"), (name, level)


def test_every_question_has_a_contrast_of_its_own() -> None:
    pairs = [q.coaching for r in shipped().rubrics.values() for q in r.questions]
    texts = [text for pair in pairs for text in (pair.bad, pair.good)]
    assert len(set(texts)) == len(texts) and min(map(len, texts)) >= 60


@given(
    answer=st.lists(st.sampled_from(re.split(r"(?<= )", WORDS)), max_size=60).map("".join) | st.text(max_size=200),
    level=st.integers(0, 3),
)
def test_quotes_are_exact_lines_praise_nobody_and_what_is_seen_is_not_asked_for(answer: str, level: int) -> None:
    words = shipped().vocabulary
    read = assessed(**dict.fromkeys(words.criteria, level))
    facts = check_answer(answer)
    plan = coach(read, words, None, answer, facts)
    assert plan == coach(read, words, None, answer, facts)
    for note in plan.notes:
        for clause in note.clauses:
            assert (clause.shown is None) == (clause.line is not None)
            for cut in (clause.shown, clause.builds_on):
                assert cut is None or answer[cut.start : cut.end] == cut.text
            own = clause.builds_on.text if clause.builds_on else ""
            assert clause.line is None or not PRAISE.search(clause.line.replace(f'"{own}"', ""))


def _clauses(words: Vocabulary) -> list[tuple[str, int, Clause]]:
    return [(n, int(lv), c) for n, k in words.criteria.items() for lv, cs in k.clauses.items() for c in cs]
