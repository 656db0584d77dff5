"""The guard on the project's own material: authored probes, written examples, and probes swapped on purpose."""

from __future__ import annotations

from collections import Counter
from typing import Any

from interviewer.core.guard import Context, check_lead, check_question, check_turn, split_turn
from interviewer.core.library import Library
from interviewer.core.rubric import Question


def _terms(question: Question) -> tuple[str, ...]:
    return tuple(term for fact in question.facts for term in fact.terms)


def _context(library: Library, row: dict[str, Any]) -> Context:
    found = library.find_question(row["question_id"])
    assert found is not None, row["id"]
    follow_up = row["kind"] == "follow_up"
    return Context(
        probe=row["probe"],
        said=row["said"],
        follow_up=follow_up,
        asked=(row["question"],) if follow_up else (),
        giveaways=_terms(found[1]),
        max_words=library.personas[row["persona"]].max_words,
    )


def test_every_authored_probe_passes_its_own_check(library: Library) -> None:
    wordings = [
        (question, text)
        for rubric in library.rubrics.values()
        for question in rubric.questions
        for target in question.targets
        for probe in target.probes
        for text in {probe.text, probe.senior or probe.text}
    ]
    assert len(wordings) > 700
    for question, text in wordings:
        alone = Context(probe=text, said="", follow_up=False, giveaways=_terms(question))
        assert check_question(text, alone) == (), (question.id, text)


def test_phrases_of_the_personas_are_neutral(library: Library) -> None:
    context = Context(probe="", said="", follow_up=False)
    for person in library.personas.values():
        for phrase in (*person.leads, *person.transitions):
            assert check_lead(phrase, context) == (), (person.id, phrase)
        for speech in (*person.openings, *person.closings):
            assert set(check_lead(speech, context)) <= {"too_long"}, (person.id, speech)


def test_written_examples_pass(library: Library, examples: list[dict[str, Any]]) -> None:
    assert len(examples) >= 400
    problems: Counter[str] = Counter()
    failed = 0
    for row in examples:
        found = check_turn(row["utterance"], _context(library, row))
        problems.update(found)
        failed += bool(found)
    assert failed / len(examples) <= 0.05, problems
    assert not {"leak", "verdict", "out_of_role", "not_one_question", "repeat"} & set(problems)


def test_a_question_on_another_topic_is_mostly_noticed(library: Library, examples: list[dict[str, Any]]) -> None:
    """The check is on words, so it is one-sided: it lets the right question pass and stops most wrong ones."""
    follow_ups = [row for row in examples if row["kind"] == "follow_up"]
    stopped = {"other question": 0, "same question": 0}
    swapped = {"other question": 0, "same question": 0}
    for n, row in enumerate(follow_ups):
        question = split_turn(row["utterance"])[1]
        for kind, other in (
            (
                "other question",
                next((r for r in _turned(follow_ups, n) if r["question_id"] != row["question_id"]), None),
            ),
            ("same question", next((r for r in _turned(follow_ups, n) if _sibling(r, row)), None)),
        ):
            if other is not None:
                swapped[kind] += 1
                context = Context(probe=other["probe"], said=row["said"], follow_up=True)
                stopped[kind] += "off_probe" in check_question(question, context)
    assert stopped["other question"] / swapped["other question"] >= 0.75
    assert stopped["same question"] / swapped["same question"] >= 0.6


def _turned(rows: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    return rows[n + 1 :] + rows[:n]


def _sibling(other: dict[str, Any], row: dict[str, Any]) -> bool:
    return bool(other["question_id"] == row["question_id"] and other["criterion"] != row["criterion"])
