"""What the model may say reaches the candidate; what it may not is replaced by the rubric's wording."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core import guard
from interviewer.core.prompts import Message, TurnRequest
from interviewer.core.rubric import Move
from interviewer.service.asking import Asked, Asker
from interviewer.service.deps import Limits
from interviewer.service.ports import ChatModel
from interviewer.testing import MODEL_DOWN, ScriptedModel

from .kit import ANSWER, Desk, Saying, begin, deps, eventually, library, lower

Say = Callable[[str], str]


def _without(probe: str) -> str:
    """Return a question on the probe that shares no word with the answer."""
    return " ".join(w for w in probe.split() if not guard.refers(w, ANSWER))


class Turns(Saying):
    """Says one thing first and another when asked again."""

    def __init__(self, first: Say, then: Say) -> None:
        super().__init__(first)
        self._second = then
        self.temperatures = list[float]()

    async def stream(self, *args: Any, **kwargs: Any) -> AsyncGenerator[str, None]:
        self.temperatures.append(kwargs["temperature"])
        if len(self.temperatures) == 2:
            self._say = self._second
        async for piece in super().stream(*args, **kwargs):
            yield piece


async def second_turn(store: SqlEventStore, model: ChatModel, **changes: Any) -> tuple[Desk, ev.QuestionAsked, str]:
    """Return a session after its first follow-up, that follow-up and the probe that it pursued."""
    desk = await begin(deps(store, model, **changes))
    await desk.answer()
    probe = desk.state.turns[1].probe
    assert probe is not None and probe.criterion is not None
    asked = desk.question(2)
    assert desk.streamed(2) == asked.text, "what was streamed is what is stored"
    return desk, asked, probe.probe


def tied_to(before: str) -> bool:
    """Whether ``before`` is one of the persona's frames around an exact piece of the answer."""
    for frame in library().personas["deep_dive"].ties:
        start, end = frame.split("{quote}")
        if before.startswith(start) and before.endswith(end):
            return before[len(start) : len(before) - len(end)] in ANSWER
    return False


async def test_a_generated_follow_up_is_asked_as_it_is(memory: SqlEventStore) -> None:
    _, asked, probe = await second_turn(memory, Saying(lambda p: f"You mentioned the tail. {p}"))
    assert asked.text == f"You mentioned the tail. {probe}"
    assert (asked.source, asked.problems) == ("generated", ())


async def test_a_verdict_in_the_lead_is_dropped_and_the_question_kept(memory: SqlEventStore) -> None:
    say: Say = lambda p: f"Great answer, I like that. On that latency, {lower(p)}"  # noqa: E731
    _, asked, probe = await second_turn(memory, Saying(say))
    assert asked.text == f"On that latency, {lower(probe)}"
    assert (asked.source, asked.problems) == ("generated", ("verdict",))


async def test_only_the_first_of_several_lead_sentences_is_said(memory: SqlEventStore) -> None:
    _, asked, probe = await second_turn(memory, Saying(lambda p: f"You named latency. You named batch. {p}"))
    assert asked.text == f"You named latency. {probe}"


async def test_a_second_question_is_cut_off(memory: SqlEventStore) -> None:
    model = Saying(lambda p: f"You mentioned the tail. {p} And how would you test that? Tell me more.", hang=True)
    _, asked, probe = await second_turn(memory, model)
    assert asked.text == f"You mentioned the tail. {probe}"
    assert (asked.source, asked.problems) == ("generated", ())
    assert model.closed == 1, "generation stops at the first question mark"


@pytest.mark.parametrize(
    ("say", "code"),
    [
        (lambda p: f"As an AI I wonder about your latency: {lower(p)}", "out_of_role"),
        (lambda p: "Great, and that latency was impressive in which percentile?", "verdict"),
        (lambda p: "Latency how?", "too_short"),
        (lambda p: "For that latency, is your favourite colour blue or green today?", "off_probe"),
        (lambda p: f"{p[:-1]}, {'really ' * 60}with that latency?", "too_long"),
        (lambda p: "", "no_question"),
        (lambda p: "   \n ", "no_question"),
        (lambda p: "You mentioned latency. Tell me more about that.", "no_question"),
    ],
)
async def test_a_question_that_fails_the_guard_is_replaced_by_the_authored_one(
    memory: SqlEventStore, say: Say, code: str
) -> None:
    _, asked, probe = await second_turn(memory, Saying(say))
    assert code in asked.problems
    assert asked.text.endswith(probe)
    assert asked.text.count("?") == probe.count("?")
    before = asked.text.removesuffix(probe).strip()
    assert before == "You mentioned latency." or tied_to(before)
    assert asked.source == ("mixed" if before == "You mentioned latency." else "fallback")


async def test_a_question_that_is_joined_to_the_first_is_cut_off(memory: SqlEventStore) -> None:
    say: Say = lambda p: f"On that latency: {lower(p)[:-1]}, and what would you have done about that instead?"  # noqa: E731
    _, asked, probe = await second_turn(memory, Saying(say))
    assert asked.text == f"On that latency: {lower(probe)}"
    assert (asked.source, asked.problems) == ("generated", ("stacked",))


async def test_a_question_that_picks_up_nothing_is_asked_after_a_quote(memory: SqlEventStore) -> None:
    desk, asked, probe = await second_turn(memory, Saying(lambda p: f"Hm. {_without(p)}"))
    before = asked.text.removesuffix(_without(probe)).strip()
    assert tied_to(before)
    assert (asked.source, asked.problems) == ("tied", ("not_tied",))
    assert guard.refers(asked.text, desk.state.turns[0].answer.text)  # type: ignore[union-attr]


async def test_a_lead_that_picks_up_nothing_is_not_said(memory: SqlEventStore) -> None:
    _, asked, probe = await second_turn(memory, Saying(lambda p: f"The weather is fine. On that latency, {lower(p)}"))
    assert asked.text == f"On that latency, {lower(probe)}"
    assert asked.source == "generated"


async def test_a_lead_that_says_the_question_itself_is_not_said(memory: SqlEventStore) -> None:
    _, asked, probe = await second_turn(memory, Saying(lambda p: f"{p[:-1]}. On that latency, {lower(p)}"))
    assert asked.text == f"On that latency, {lower(probe)}"
    assert (asked.source, asked.problems) == ("generated", ("echo",))


async def test_a_question_that_fails_once_is_tried_again_and_the_wait_is_not_silent(memory: SqlEventStore) -> None:
    model = Turns(lambda p: "You mentioned latency. Latency how?", lambda p: f"On the batch, {lower(p)}")
    _, asked, probe = await second_turn(memory, model)
    assert asked.text == f"You mentioned latency. On the batch, {lower(probe)}"
    assert (asked.source, asked.problems) == ("generated", ("too_short", "off_probe"))
    assert model.temperatures == [0.3, pytest.approx(0.7)]


async def test_before_the_second_try_a_quote_goes_out(memory: SqlEventStore) -> None:
    model = Turns(lambda p: "Latency how?", lambda p: f"You mentioned latency. {p}")
    _, asked, probe = await second_turn(memory, model)
    assert tied_to(asked.text.removesuffix(probe).strip()), "the quote went out before the second try"
    assert asked.source == "tied"


class Begun(Saying):
    """Knows how the turn was begun."""

    def __init__(self, say: Say) -> None:
        super().__init__(say)
        self.begun: list[str] = []

    async def stream(self, model: str, messages: Sequence[Message], **rest: Any) -> AsyncGenerator[str, None]:
        *known, last = messages
        self.begun.append(last["content"] if last["role"] == "assistant" else "")
        async for piece in super().stream(model, known if self.begun[-1] else messages, **rest):
            yield piece


async def test_with_a_quote_first_the_model_goes_on_from_it(memory: SqlEventStore) -> None:
    model = Begun(lambda p: f"Hm. {p}")
    _, asked, probe = await second_turn(memory, model, limits=Limits(quote_first=True))
    (begun,) = model.begun
    assert tied_to(begun)
    assert asked.text == f"{begun} {probe}"
    assert (asked.source, asked.problems) == ("tied", ())


async def test_a_quote_is_sent_before_the_model_has_said_anything(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, Saying(lambda p: "", hang=True), limits=Limits(quote_first=True)))
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: tied_to(desk.streamed(2).strip()))
    await desk.interview.stop()


async def test_without_a_fit_quote_the_model_ties_in_itself(memory: SqlEventStore) -> None:
    model = Begun(lambda p: f"You just said yes. {p}")
    desk = await begin(deps(memory, model, limits=Limits(quote_first=True)))
    await desk.answer("Yes, yes.")
    assert model.begun == [""]
    assert desk.question(2).source == "generated"


async def test_the_same_lead_is_not_said_twice_while_there_is_another(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, ScriptedModel(MODEL_DOWN)))
    for _ in range(4):
        await desk.answer("Yes.")
    asked = [t.question.text for t in desk.state.turns[1:5] if t.question]
    spoken = [text for text in asked for lead in library().personas["deep_dive"].leads if text.startswith(lead)]
    assert len(spoken) > 1
    assert len({guard.split_turn(text)[0] for text in spoken}) == len(spoken)


async def test_a_leaked_fact_never_reaches_the_candidate(memory: SqlEventStore) -> None:
    first = await begin(deps(memory, new_id=lambda: "first"))
    question = library().rubrics["deep_dive"].question(first.state.turns[0].question_id or "")
    assert question is not None
    term = question.facts[0].terms[0]
    model = Saying(lambda p: f"You mentioned the tail. Given {term}, {lower(p)}")
    _, asked, probe = await second_turn(memory, model)
    assert term.lower() not in asked.text.lower()
    assert asked.text == f"You mentioned the tail. {probe}"
    assert (asked.source, asked.problems) == ("mixed", ("leak", "leak"))


async def test_a_leak_in_the_lead_never_reaches_the_candidate(memory: SqlEventStore) -> None:
    first = await begin(deps(memory, new_id=lambda: "first"))
    question = library().rubrics["deep_dive"].question(first.state.turns[0].question_id or "")
    assert question is not None
    term = question.facts[0].terms[0]
    _, asked, probe = await second_turn(memory, Saying(lambda p: f"It is all about {term} here. {p}"))
    assert term.lower() not in asked.text.lower()
    assert asked.problems == ("leak", "not_tied"), "without its lead the question is not tied to the answer"
    assert tied_to(asked.text.removesuffix(probe).strip())
    assert asked.source == "tied"


async def test_a_model_that_is_down_does_not_stop_the_interview(memory: SqlEventStore) -> None:
    desk, asked, probe = await second_turn(memory, ScriptedModel(MODEL_DOWN))
    assert asked.source == "fallback"
    assert tied_to(asked.text.removesuffix(probe).strip())
    assert asked.problems[:2] == ("model_unavailable", "the model endpoint cannot be reached")
    assert desk.failures == []
    await desk.answer()
    assert desk.question(3).text != ""
    assert [n.code for n in desk.state.notices] == ["model_unavailable"], "told once, not at every question"


async def test_a_model_that_breaks_after_its_lead_keeps_the_lead(memory: SqlEventStore) -> None:
    model = Saying(lambda p: "You mentioned the tail. Which ", then=MODEL_DOWN)
    _, asked, probe = await second_turn(memory, model)
    assert asked.text == f"You mentioned the tail. {probe}"
    assert asked.source == "mixed"
    assert "model_unavailable" in asked.problems


async def test_a_model_that_is_slow_is_not_waited_for(memory: SqlEventStore) -> None:
    model = Saying(lambda p: "You mentioned the tail. Which ", hang=True)
    desk, asked, probe = await second_turn(memory, model, limits=Limits(model_seconds=0.05))
    assert asked.text == f"You mentioned the tail. {probe}"
    assert "model_unavailable" in asked.problems
    assert model.closed == 1, "the generation is cancelled"
    assert desk.stages[-1] == "waiting"


async def test_abbreviations_do_not_end_a_lead(memory: SqlEventStore) -> None:
    _, asked, probe = await second_turn(memory, Saying(lambda p: f"You named limits, e.g. batch size. {p}"))
    assert asked.text == f"You named limits, e.g. batch size. {probe}"


@pytest.mark.parametrize("before", ["", "\n", "\n\n  "])
async def test_the_lead_is_sent_while_the_model_still_speaks(memory: SqlEventStore, before: str) -> None:
    desk = await begin(deps(memory, Saying(lambda p: f"{before}You mentioned the tail. Which", hang=True)))
    await desk.interview.answer("m1", ANSWER)
    await eventually(lambda: desk.streamed(2) == "You mentioned the tail. ")
    await desk.interview.stop()


FRAGMENTS = st.sampled_from(
    (
        "You mentioned latency. ",
        "Great point! ",
        "Which percentile of that latency did you hold at that batch, compared with what? ",
        "What did you give up? ",
        "And why? ",
        "It is the paged cache. ",
        "As an AI, ",
        "\n",
        "e.g. ",
        "<|im_end|>",
        "candidate: I know",
        "latency ",
        "?",
        "... ",
        "é 日本 ",
    )
)
PROBE = "Which percentile did you hold, at which batch, compared with what?"
CONTEXT = guard.Context(
    probe=PROBE, said=ANSWER, follow_up=True, asked=("What did you give up?",), giveaways=("paged cache",)
)
REQUEST = TurnRequest(level="mid", question="Why?", said=ANSWER, probe=PROBE, move=Move.ASK_NUMBER)


@settings(max_examples=150, deadline=None)
@given(st.lists(FRAGMENTS, max_size=7).map("".join), st.integers(0, 9), st.booleans())
def test_whatever_the_model_says_one_clean_question_is_asked(said: str, pieces: int, breaks: bool) -> None:
    model = Saying(lambda _: said, pieces=pieces, then=MODEL_DOWN if breaks else None)
    persona = library().personas["deep_dive"]

    async def ask() -> tuple[str, Asked]:
        asked = Asked()
        asker = Asker(deps(None, model))  # type: ignore[arg-type]  # nothing is stored here
        pieces = [p async for p in asker.follow_up(persona, REQUEST, CONTEXT, 5, asked)]
        return "".join(pieces), asked

    streamed, asked = asyncio.run(ask())
    assert streamed == asked.text
    assert streamed.count("?") == 1 and streamed.endswith("?")
    assert "paged" not in streamed and "Great" not in streamed and "<|" not in streamed and "AI" not in streamed
    assert model.closed in (1, 2), "every stream is ended"
    if asked.source == "fallback":
        assert tied_to(streamed.removesuffix(PROBE).strip())
    elif asked.source == "mixed":
        assert streamed.endswith(PROBE)
    else:
        assert guard.check_turn(streamed, CONTEXT) == ()
