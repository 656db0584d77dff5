from __future__ import annotations

import random

import pytest

from interviewer.core.flag_weights import WEIGHTS, FlagWeights, listed
from interviewer.core.flags import heard, worded
from serving.train.answers import Answer
from serving.train.flag_wording import Cued, cued, fit_words, unseen_wording, wording
from serving.train.flags import SHAPES, best_cut, measured, to_module

BLAMES = ("my boss broke it", "my boss said no", "then my boss left", "it was my boss again")
OTHERS = ("the batch was full", "we read the cache", "it took two days", "nobody looked at it", "the run was slow")


def answer(number: int, sentences: list[str], flags: tuple[str, ...]) -> Answer:
    return Answer(
        id=f"t-{number}",
        question_id=f"q-{number % 10}",
        round="behavioral",
        question="What went wrong?",
        answer=" ".join(f"{s.capitalize()}." for s in sentences),
        labels={"failure_reflection": 0 if flags else 2},
        flags=flags,
    )


@pytest.fixture(scope="module")
def rows() -> list[Cued]:
    """Sixty answers, half of which have one sentence that blames, in any place."""
    chance = random.Random(3)
    made = []
    for number in range(60):
        said = chance.sample(OTHERS, 3)
        if number % 2:
            said.insert(chance.randint(0, 3), chance.choice(BLAMES))
        made.append(cued(answer(number, said, ("blames_others",) if number % 2 else ())))
    return made


def test_the_words_of_the_one_sentence_that_shows_a_flag_are_found(rows: list[Cued]) -> None:
    words = fit_words(rows)["blames_others"]
    assert max(words, key=words.__getitem__) in {"boss", "my", "my boss"}
    new = cued(answer(99, ["we read the cache", "my boss wanted that", "it took two days"], ()))
    plain = cued(answer(98, ["we read the cache", "it took two days"], ()))
    assert wording(words, new) > 1 > wording(words, plain)
    # More sentences that say nothing take nothing away: what counts is the one that shows it.
    padded = cued(answer(97, [*OTHERS, "my boss wanted that"], ()))
    assert wording(words, padded) == wording(words, new)


def test_only_so_many_words_are_kept(rows: list[Cued]) -> None:
    assert 1 <= len(fit_words(rows, 3)["blames_others"]) <= 3


def test_a_word_counts_less_in_a_long_sentence() -> None:
    words = {"boss": 3.0}
    assert worded(words, heard("boss")) == 3.0
    assert worded(words, heard("the boss")) == pytest.approx(3 / 3**0.5)  # "the", "boss", "the boss"
    assert worded(words, heard("nothing of it")) == 0.0
    assert worded(words, heard("")) == 0.0


def test_unseen_wording_is_read_by_models_that_never_saw_the_question(rows: list[Cued]) -> None:
    strange = cued(answer(0, ["zebra zebra zebra", "the zebra did it"], ("blames_others",)))
    copies = [cued(strange.answer.model_copy(update={"id": f"z-{n}", "question_id": "q-zebra"})) for n in range(6)]
    found = unseen_wording([*rows, *copies])
    assert all(by["blames_others"] <= 0.5 for by in found[len(rows) :]), "its word was in its own question alone"


def test_precision_and_recall_count_each_reading() -> None:
    predictions = [(0.9, True), (0.9, True), (0.2, True), (0.8, False), (0.1, False), (0.1, False)]
    found = measured(predictions, 0.5)
    assert found.support == 1
    assert found.precision == found.recall == found.f1 == pytest.approx(2 / 3)


def test_the_module_that_is_written_holds_the_same_weights() -> None:
    source = to_module(WEIGHTS)
    space: dict[str, object] = {"__name__": "interviewer.core.flag_weights"}
    exec(compile(source, "flag_weights.py", "exec"), space)
    written = space["WEIGHTS"]
    assert isinstance(written, dict)
    assert set(written) == set(SHAPES)
    for flag, weights in WEIGHTS.items():
        assert FlagWeights.model_validate(written[flag].model_dump()) == weights


def test_words_are_listed_with_their_weights() -> None:
    assert listed("always 0.4; temperature zero 1.2; mcp -0.5") == {"always": 0.4, "temperature zero": 1.2, "mcp": -0.5}


def test_a_rare_weakness_is_raised_from_the_lowest_of_nearly_equal_cuts() -> None:
    # F1 is 0.75 at 0.3 (6 right of 9 raised, of 7) and 0.77 at 0.6 (5 right of 6).
    few = [(0.8, True)] * 5 + [(0.4, True), (0.01, True)] + [(0.95, False)] + [(0.45, False)] * 2 + [(0.01, False)] * 30
    assert measured(few, 0.3).f1 == pytest.approx(0.75)
    assert measured(few, 0.6).f1 == pytest.approx(10 / 13)
    assert best_cut(few, balanced=False, strength=False) == 0.05
    assert best_cut(few * 20, balanced=False, strength=False) > 0.4
    assert best_cut(few, balanced=False, strength=True) > 0.4
