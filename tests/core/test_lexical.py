from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.lexical import MOST, NO_WORDS, Linear, Mix, WordModel, features

MODEL = Linear(
    bias=1.0,
    shared={"p99": 0.6, "fast": -0.4, "the": 0.0},
    own={"measurement": {"p99": 0.2}, "role_fit": {}},
    own_bias={"measurement": 0.5},
)


@pytest.mark.parametrize(
    ("criterion", "text", "score"),
    [
        ("measurement", "", 1.5),
        ("measurement", "P99 p99 p99", 2.3),  # a word counts once: 1 + 0.5 + 0.6 + 0.2
        ("measurement", "the p99 of unknown things", 1.5 + 0.8 / 2**0.5),  # two known words
        ("role_fit", "p99 fast", 1.0 + 0.2 / 2**0.5),
        ("never_seen", "p99", 1.6),
    ],
)
def test_scores_by_hand(criterion: str, text: str, score: float) -> None:
    assert MODEL.score(criterion, text) == pytest.approx(score)


def test_padding_with_words_that_mean_nothing_draws_to_the_middle() -> None:
    plain, padded = MODEL.score("measurement", "p99"), MODEL.score("measurement", "p99 the the the")
    assert 1.5 < padded < plain


def test_the_lean_is_limited_and_nothing_for_a_criterion_that_was_never_seen() -> None:
    loud = Linear(bias=1.5, shared={"p99": 40.0, "fast": -40.0}, own={"measurement": {}})
    model = WordModel(version="1", level=loud)
    assert model.lean("measurement", ["p99"]) == MOST
    assert model.lean("measurement", ["fast"]) == -MOST
    assert model.lean("measurement", ["nothing known"]) == 0.0
    assert model.lean("measurement", []) == 0.0
    assert model.lean("on_call_sense", ["p99"]) == 0.0


def test_a_pair_of_neighbours_counts_beside_its_words() -> None:
    assert features("We measured p99, p99.") == ("we", "measured", "p99", "we measured", "measured p99", "p99 p99")
    pairs = Linear(shared={"not": 0.0, "measured": 0.5, "not measured": -1.4})
    assert pairs.score("measurement", "measured") == pytest.approx(0.5)
    assert pairs.score("measurement", "not measured") == pytest.approx((0.5 - 1.4) / 3**0.5)


def test_the_height_is_the_whole_answer_mixed_with_its_best_sentence() -> None:
    model = WordModel(
        version="1",
        level=Linear(bias=1.0, own={"measurement": {}}),
        shown=Linear(shared={"p99": 2.0, "fast": -1.0}),
        mix=Mix(whole=0.5, best=2.0, bias=-0.25, own_bias={"measurement": 0.1}),
    )
    segments = ["It was fast.", "p99.", "So be it."]
    assert model.height("measurement", segments) == pytest.approx(0.5 * 1.0 + 2.0 * 2.0 - 0.25 + 0.1)
    assert model.height("measurement", segments[:1]) == pytest.approx(0.5 - 2.0 - 0.25 + 0.1)
    assert model.height("other", segments) == pytest.approx(4.25), "its own bias is another criterion's"


def test_the_best_sentence_is_pointed_at_and_the_first_of_equals() -> None:
    model = WordModel(version="1", evidence=MODEL)
    assert model.point("measurement", ["It was fast.", "The p99 fell.", "So be it."]) == 1
    assert model.point("measurement", ["So be it.", "And that."]) == 0
    assert model.point("measurement", []) is None


@given(st.text(), st.sampled_from(["measurement", "other"]))
def test_without_weights_every_text_is_the_same(text: str, criterion: str) -> None:
    assert NO_WORDS.lean(criterion, [text]) == 0.0
    assert NO_WORDS.level.score(criterion, text) == 0.0
