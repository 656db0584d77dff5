from __future__ import annotations

from interviewer.core.coaching import coach
from interviewer.core.text import Quote
from tests.core.builders import HONEST, IMPACT, MEASURE, TRADE, assessed, found, question, vocabulary

QUOTE = Quote(start=0, end=5, text="I did")


def test_each_note_names_what_was_shown_and_what_is_missing() -> None:
    plan = coach(assessed(found(TRADE, 1, None, QUOTE)), vocabulary(), question("cache"))
    (note,) = plan.notes
    assert (note.criterion, note.level) == (TRADE, 1)
    assert (note.shown, note.missing) == (f"{TRADE} anchor 1", f"{TRADE} anchor 2")
    assert note.builds_on == (QUOTE,)


def test_the_contrast_is_the_rubrics_own() -> None:
    plan = coach(assessed(**{TRADE: 1}), vocabulary(), question("cache"))
    assert plan.contrast is not None and (plan.contrast.bad, plan.contrast.good) == ("Bad on cache.", "Good on cache.")
    assert coach(assessed(**{TRADE: 1}), vocabulary(), None).contrast is None


def test_nothing_is_missing_at_the_top() -> None:
    note = coach(assessed(**{TRADE: 3}), vocabulary(), None).notes[0]
    assert (note.shown, note.missing) == (f"{TRADE} anchor 3", None)


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
    )
    assert [n.criterion for n in plan.notes] == [MEASURE, HONEST, TRADE, IMPACT]
