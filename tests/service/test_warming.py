"""While the candidate thinks, the model reads what is known of the next prompt; nothing waits for it."""

from __future__ import annotations

from interviewer.adapters.store import SqlEventStore
from interviewer.service.deps import Limits
from interviewer.testing import MODEL_DOWN, ScriptedModel

from .kit import begin, deps, eventually

WARM = Limits(warm=True)


async def test_what_was_read_ahead_is_the_beginning_of_what_is_asked(memory: SqlEventStore) -> None:
    model = ScriptedModel("You said p99. Which number did you give up for that latency?")
    desk = await begin(deps(memory, model, limits=WARM), background="I ran a search team for six years.")
    for turn in (1, 2, 3, 4, 5):
        await eventually(lambda: len(model.requests) >= 1)
        ahead = model.requests[-1]
        model.requests.clear()
        await desk.answer(f"Answer {turn}: we held p99 latency at 800 ms because the tail decides.")
        if desk.state.turns[-1].question_id != desk.state.turns[-2].question_id:
            continue  # a new main question is asked in its own words
        asked = model.requests[0]
        assert ahead[0] == asked[0] and ahead[1][0] == asked[1][0], "the same adapter and the same system prompt"
        known = asked[1][1]["content"].split("\nCandidate:")[0]
        assert ahead[1][1]["content"].startswith(f"{known}\n"), "all that comes before the answer"


async def test_a_model_that_is_away_while_it_reads_ahead_is_nothing(memory: SqlEventStore) -> None:
    model = ScriptedModel(MODEL_DOWN)
    desk = await begin(deps(memory, model, limits=WARM))
    await eventually(lambda: len(model.requests) == 1)
    assert desk.state.notices == ()
    assert desk.failures == []


async def test_stopping_stops_it(memory: SqlEventStore) -> None:
    model = ScriptedModel("One two three?", delay=60)
    desk = await begin(deps(memory, model, limits=WARM))
    await eventually(lambda: len(model.requests) == 1)
    await desk.interview.stop()
    await eventually(lambda: model.cancelled == 1)


async def test_it_is_off_unless_asked_for(memory: SqlEventStore) -> None:
    model = ScriptedModel()
    await begin(deps(memory, model))
    assert model.requests == []
