"""What a turn costs must not grow with the turns before it: counted in texts that are read anew, never in time."""

from __future__ import annotations

from itertools import product

import pytest

from interviewer.core.contradiction import conflicts, contradictions, statements
from interviewer.core.guard import Context, _asks_of, _lead_of, check_lead, check_question, split_turn
from interviewer.core.text import words
from tests.core.builders import Log, unscored

TEAMS = ("a team of 4", "a team of 12")
LATENCIES = ("with its latency down to 300 ms", "with its latency down to 900 ms")


@pytest.mark.parametrize("asked", [1, 10, 200])
def test_one_more_turn_reads_one_more_turn(asked: int) -> None:
    turns = [f"You named part {asked}-{i}. What did part {asked}-{i} cost you then?" for i in range(asked + 1)]
    new = f"You said it was fast. Which percentile of part {asked} was it?"

    def check(earlier: list[str]) -> None:
        lead, question = split_turn(new)
        context = Context(probe=question, said="It was fast.", follow_up=True, asked=tuple(earlier))
        assert check_lead(lead, context) == ()
        assert check_question(question, context) == ()

    check(turns[:-1])
    before = _lead_of.cache_info().misses, _asks_of.cache_info().misses
    check(turns)
    assert (_lead_of.cache_info().misses, _asks_of.cache_info().misses) == (before[0] + 1, before[1] + 1)


def test_the_oldest_of_many_questions_is_still_held_against_the_new_one() -> None:
    old = "You named the cache. Which eviction rule did the cache use under load?"
    asked = (old, *(f"You named part {i}. What did part {i} cost you then?" for i in range(200)))
    lead, question = split_turn(old)
    context = Context(probe=question, said="The cache was small.", follow_up=True, asked=asked)
    assert "repeat" in check_lead(lead, context)
    assert "repeat" in check_question(question, context)
    assert words(lead) == ["you", "named", "the", "cache"]


@pytest.mark.parametrize("resume", ["", "I cut the checkout latency down to 300 ms with a team of 4 at Acme checkout."])
@pytest.mark.parametrize("answers", list(product((*TEAMS, *LATENCIES, "nothing to tell"), repeat=3)))
def test_answers_found_by_what_they_tell_of_conflict_as_all_pairs_do(resume: str, answers: tuple[str, ...]) -> None:
    said = [f"Checkout at Acme was {answer}, number {i}." for i, answer in enumerate(answers)]
    log = Log(resume=resume)
    for text in said:
        log.choose("q1").ask("?").answer(text).read(unscored())
    texts = [resume, *said]
    named: set[tuple[int, object]] = set()
    plain = []
    for later in range(1, len(texts)):
        for earlier in range(later):
            for a, b in conflicts(texts[earlier], texts[later]):
                if (earlier, a.span) not in named and (later, b.span) not in named:
                    named |= {(earlier, a.span), (later, b.span)}
                    plain.append((earlier, a.span.of(texts[earlier]), later, b.span.of(texts[later])))
    found = contradictions(log.state)
    assert [(c.first.quote.turn, c.first.quote.text, c.second.quote.turn, c.second.quote.text) for c in found] == plain
    assert statements(texts[1]) is statements(texts[1])
