"""Very much text is bounded work, and keeps nobody else waiting."""

from __future__ import annotations

import threading

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core.assessment import Assessment
from interviewer.core.intake import MAX_ANSWERS, MAX_SPOKEN
from interviewer.core.reading import MOST_CHARS, CriterionSpec, Said, recent
from interviewer.service.errors import Refused
from interviewer.service.importing import Imports
from interviewer.service.judging import Judging
from interviewer.service.sessions import Sessions
from interviewer.testing import ScriptedJudge, words_count

from .kit import deps

SENTENCE = "We measured the p95 at batch 8 and kept the cache. "
SPEC = CriterionSpec(name="measurement", asks="Numbers?", anchors=("a", "b", "c", "d"))


@pytest.mark.parametrize(
    ("lengths", "kept"),
    [
        ((), ()),
        ((4, 3), (4, 3)),
        ((4, 6, 4), (6, 4)),
        ((1, 6, 4, 1), (4, 1)),  # no gap: what is before one that is left out is left out as well
        ((3, 11), (10,)),
        ((3, 10), (10,)),
    ],
)
def test_the_latest_is_kept_and_only_the_last_is_cut(lengths: tuple[int, ...], kept: tuple[int, ...]) -> None:
    said = [Said(turn=n, text="x" * length) for n, length in enumerate(lengths)]
    found = recent(said, 10)
    assert tuple(len(s.text) for s in found) == kept
    assert [s.turn for s in found] == [s.turn for s in said[len(said) - len(found) :]]


@pytest.mark.parametrize("answers", [1, 40])
async def test_megabytes_are_bounded_work_in_another_thread(answers: int) -> None:
    counted, threads = 0, set()

    def english(text: str) -> bool:
        nonlocal counted
        counted += len(text)
        threads.add(threading.get_ident())
        return True

    def count(text: str) -> int:
        threads.add(threading.get_ident())
        return words_count(text)

    judge = ScriptedJudge(1)
    text = (SENTENCE * 40_000)[: 1_900_000 // answers]
    result = await Judging(judge, count, english).assess(
        "What did you measure?", [Said(turn=n, text=text) for n in range(1, answers + 1)], [SPEC]
    )
    assert isinstance(result, Assessment)
    assert "too_much" in [n.code for n in result.notices]
    assert counted <= MOST_CHARS + answers and len(judge.windows) <= 4
    assert threading.get_ident() not in threads
    quotes = [*result.criteria[0].evidence, *(q for f in result.flags for q in f.evidence)]
    assert quotes and all(text[q.start : q.end] == q.text for q in quotes)


async def test_the_longest_live_answers_are_read_whole() -> None:
    said = [Said(turn=n, text=(SENTENCE * 400)[:20_000]) for n in range(1, 6)]
    result = await Judging(ScriptedJudge(1), words_count, lambda _: True).assess("What?", said, [SPEC])
    assert isinstance(result, Assessment) and "too_much" not in [n.code for n in result.notices]


@pytest.mark.parametrize(
    "content",
    [
        f"Interviewer: Why?\nCandidate: {SENTENCE * (MAX_SPOKEN // len(SENTENCE) + 1)}\n",
        "Interviewer: Why?\nCandidate: So.\n" * (MAX_ANSWERS + 1),
    ],
    ids=["one answer", "many answers"],
)
async def test_more_than_a_day_of_speech_is_refused_with_what_to_do(memory: SqlEventStore, content: str) -> None:
    given = deps(memory)
    with pytest.raises(Refused) as refused:
        await Imports(given, Sessions(given)).take(content, format="text", rubric="deep_dive")
    assert refused.value.code == "transcript_too_large" and "speakers" in refused.value.message
    assert await memory.rows() == []
