"""What a judge is told of a criterion in words."""

from __future__ import annotations

from interviewer.core.reading import CriterionSpec, Said, prepare
from interviewer.core.referenced import Referenced, told
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
