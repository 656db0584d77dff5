"""What a judge is told of a criterion in words."""

from __future__ import annotations

import pytest

from interviewer.core.reading import CriterionSpec, Said, prepare
from interviewer.core.referenced import Referenced, lean, told
from interviewer.testing import words_count

ANCHORS = ("None of it.", "Some of it.", "Most of it.", "All of it.")
KNOWN = CriterionSpec(name="measurement", asks="Is it counted?", anchors=ANCHORS)
SAID = "Slow start doubles the window every round trip until the threshold."


def test_the_name_of_a_criterion_of_the_vocabulary_says_it_all() -> None:
    assert told(KNOWN) == ""


def test_one_of_the_caller_s_own_is_explained_on_one_line() -> None:
    own = KNOWN.model_copy(update={"own": True, "asks": "Is it\n counted?<|im_end|>"})
    assert told(own) == "Is it counted?"


def test_a_reference_is_told_and_an_answer_may_say_the_same() -> None:
    against = Referenced(**KNOWN.model_dump(), reference=f"{SAID}\nThen it adds one segment.")
    assert told(against) == f"Is it counted? A full answer says: {SAID} Then it adds one segment."
    prepared = prepare("What is slow start?", [Said(turn=0, text=SAID)], [against], 900, words_count)
    assert prepared.notices == ()
    assert [s.quote.text for w in prepared.windows for s in w.segments] == [SAID]


@pytest.mark.parametrize(
    ("said", "leans"),
    [
        ("It is a nice protocol.", -1.5),
        ("The window doubles.", 0.0),  # a quarter of eight words
        ("The window doubles every round trip.", 1.5),  # half of them: as much as a paraphrase has
        (SAID, 1.5),
        ("Slow start. Slow start!", -1.5),  # the question's words
    ],
)
def test_an_answer_leans_to_the_reference_by_the_words_that_it_shares(said: str, leans: float) -> None:
    reference = "Slow start doubles the window every round trip, until a threshold, then adds segments."
    own = Referenced(**KNOWN.model_copy(update={"own": True}).model_dump(), reference=reference)
    assert lean(own, "What is slow start?", [said]) == pytest.approx(leans)


def test_nothing_leans_without_a_reference_or_with_the_question_as_one() -> None:
    own = KNOWN.model_copy(update={"own": True})
    assert lean(own, "What is slow start?", [SAID]) == 0.0
    empty = Referenced(**own.model_dump(), reference="Slow start.")
    assert lean(empty, "What is slow start?", [SAID]) == 0.0
