"""Practice and real: requests in place of an answer, another attempt, drills on the clock, and a newcomer's opening."""

from __future__ import annotations

from typing import Any

import pytest

from interviewer.adapters.store import SqlEventStore
from interviewer.core import events as ev
from interviewer.core.coverage import coverage
from interviewer.core.render import report_markdown
from interviewer.core.session import Phase
from interviewer.service.errors import Refused
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions
from interviewer.testing import FakeClock, ScriptedJudge, ScriptedModel
from interviewer.web.view import messages, prices, shown
from interviewer.web.wire import Prices

from .kit import ANSWER, Desk, begin, deps, kinds, library


@pytest.mark.parametrize("mode", ["practice", "real"])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please repeat the question.", "repeat"),
        ("Could you rephrase it?", "rephrase"),
        ("I need a minute to think.", "think"),
        ("Can I assume that my employer pays for it?", "clarify"),
    ],
)
async def test_a_request_is_no_turn_and_is_not_read(memory: SqlEventStore, mode: str, text: str, kind: str) -> None:
    judge = ScriptedJudge(1)
    desk = await begin(deps(memory, judge=judge), mode=mode)
    before = desk.state
    await desk.answer(text, "r1")
    await desk.answer(text, "r1")
    (made,) = [e for e in await desk.log() if isinstance(e, ev.RequestMade)]
    assert (made.kind, made.turn, made.text) == (kind, 1, text)
    assert (desk.state.turns, desk.state.phase) == (before.turns, Phase.AWAITING)
    assert judge.windows == []
    await desk.answer(ANSWER, "m1")
    assert desk.state.turns[0].answer is not None and desk.state.turns[0].answer.text == ANSWER


async def test_a_question_is_repeated_without_what_came_before_it(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    first = desk.state.turns[0]
    await desk.answer("Could you repeat the question, please?", "r1")
    assert first.probe is not None
    assert desk.state.requests[0].reply == first.probe.probe
    assert desk.question(1).text.endswith(first.probe.probe) and desk.question(1).text != first.probe.probe
    await desk.answer()
    await desk.answer("Say again?", "r2")
    told = desk.state.requests[1].reply
    assert desk.question(2).text.endswith(told) and told.count("?") == 1


async def test_what_is_assumed_is_not_confirmed_or_denied(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.answer("Should I assume that the cache is cold?", "r1")
    assert "state your assumption" in desk.state.requests[0].reply


async def test_who_does_not_know_gets_an_easier_way_in_and_then_another_question(memory: SqlEventStore) -> None:
    model = ScriptedModel()
    desk = await begin(deps(memory, model, ScriptedJudge(0)))
    question = desk.state.turns[0].question_id
    await desk.answer("I don't know.")
    assert desk.state.turns[1].question_id == question
    assert desk.question(2).text.startswith("That is fine.")
    assert model.requests == [], "there is nothing in it that a model could pick up"
    await desk.answer("No idea, sorry.")
    assert desk.state.turns[2].question_id != question
    assert desk.state.turns[2].probe is not None and desk.state.turns[2].probe.criterion is None


async def test_what_is_skipped_is_left_at_once(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, judge=ScriptedJudge(0)))
    await desk.answer("Can we skip this one?")
    assert desk.state.turns[1].question_id != desk.state.turns[0].question_id


async def test_not_knowing_the_follow_up_takes_nothing_from_the_answer(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(1)
    desk = await begin(deps(memory, judge=judge))
    await desk.answer(ANSWER)
    await desk.answer("I do not know.")
    read = [" ".join(s.quote.text for s in window.segments) for window in judge.windows]
    assert "latency at 800 ms" in read[-1] and "do not know" not in read[-1]


async def test_another_attempt_counts_in_place_of_the_earlier_one_at_a_level_less(memory: SqlEventStore) -> None:
    judge = ScriptedJudge(lambda _, text: 3 if "second try" in text else 1)
    desk = await begin(deps(memory, judge=judge))
    await desk.answer("The first try says that latency is what matters to the user.", "m1")
    standing = desk.state.turns[1].probe
    offers = prices(desk.state)
    assert [(p.retry_turn, p.retry_cap) for p in offers] == [(1, 2)], "the price is told before it is taken"
    await desk.interview.retry()
    await desk.settle()
    again = desk.state.turns[2]
    assert again.probe is not None and desk.state.turns[0].probe is not None and standing is not None
    assert (again.probe.again_of, again.probe.probe) == (1, desk.state.turns[0].probe.probe)
    assert prices(desk.state)[0].retry_turn is None, "one attempt at a time"
    await desk.answer("The second try names p99 under load at batch 8.", "m2")
    assert desk.state.superseded == {1}
    assert "first try" not in " ".join(s.quote.text for s in judge.windows[-1].segments)
    known = coverage(desk.state, desk.interview.rubric)
    assert {c.level for c in known.criteria if c.assessed} == {2}, "level 3 read, one level less"
    last = desk.state.turns[3].probe
    assert last is not None and (last.probe, last.again_of) == (standing.probe, 2), "what was set aside is asked again"
    assert [e.text[:5] for e in await desk.log() if isinstance(e, ev.AnswerGiven)] == ["The f", "The s"]
    await desk.interview.end()
    packet = Replays(desk.deps, Sessions(desk.deps)).packet(desk.state)
    assert [p.replaced for p in packet.probes] == [True, False, False, False]
    assert "given again later" in report_markdown(packet)


@pytest.mark.parametrize("mode", ["real", "practice"])
async def test_an_answer_stands_in_real_mode_and_before_there_is_one(memory: SqlEventStore, mode: str) -> None:
    desk = await begin(deps(memory), mode=mode)
    if mode == "real":
        await desk.answer()
    with pytest.raises(Refused) as refused:
        await desk.interview.retry()
    assert (refused.value.code, refused.value.retryable) == ("no_retry", False)


async def test_attempts_end_where_they_could_prove_nothing(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    await desk.answer(ANSWER, "m1")
    for attempt in range(2):
        await desk.interview.retry()
        await desk.settle()
        await desk.answer(ANSWER, f"again-{attempt}")
    with pytest.raises(Refused):
        await desk.interview.retry()


@pytest.mark.parametrize("mode", ["practice", "real"])
async def test_nothing_of_the_reason_or_the_reading_is_seen_before_the_end(memory: SqlEventStore, mode: str) -> None:
    desk = await begin(deps(memory), mode=mode)
    await desk.answer()
    log = await memory.load(desk.state.id)
    sent = [m.model_dump_json() for r in log for m in messages(desk.state, r)]
    reasons = [t.probe.reason for t in desk.state.turns if t.probe]
    assert reasons and not any(reason in line for reason in reasons for line in sent)
    if mode == "real":
        assert not any("assess" in line or "prices" in line or "probe_chosen" in line for line in sent)
    await desk.interview.end()
    told = [r.event for record in await memory.load(desk.state.id) if (r := shown(desk.state, record))]
    assert [e.reason for e in told if isinstance(e, ev.ProbeChosen)] == reasons


async def test_the_price_of_a_hint_is_told_before_it_is_taken(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory))
    caps = []
    for _ in range(3):
        (offer,) = prices(desk.state)
        caps.append((offer.hint_rung, offer.hint_cap))
        await desk.interview.hint()
    assert caps == [(1, 2), (2, 1), (3, 0)]
    assert prices(desk.state)[0].hint_rung is None
    assert any(isinstance(m, Prices) for r in await memory.load(desk.state.id) for m in messages(desk.state, r))


@pytest.mark.parametrize("drill", [d.id for d in library().drills.drills])
async def test_each_drill_is_held_alone_and_has_its_section(memory: SqlEventStore, drill: str) -> None:
    given = deps(memory, judge=ScriptedJudge(2, sure=0.97))
    session, _ = await Sessions(given).create(drill=drill, seed=3)
    desk = await Desk(await Sessions(given).state(session), given).settle()
    wanted = library().drills.get(drill)
    assert wanted is not None and desk.state.started.minutes == wanted.minutes
    assert desk.state.persona == library().rubrics[wanted.rubric].persona
    assert wanted.brief in desk.question(1).text
    for number in range(30):
        if desk.state.phase is Phase.ENDED:
            break
        await desk.answer(f"Answer {number}: we held p99 at 800 ms at batch 8.", f"m{number}")
    assert desk.state.ended is not None and desk.state.ended.reason == "complete"
    assert {t.question_id for t in desk.state.turns} <= set(wanted.questions)
    packet = Replays(given, Sessions(given)).packet(desk.state)
    assert packet.drill is not None and packet.drill.asked >= 1
    assert packet.drill.trained, "it brings out what it says it trains"
    assert "## The drill" in report_markdown(packet)


async def test_the_crisis_moves_while_the_clock_runs(memory: SqlEventStore) -> None:
    clock = FakeClock()
    given = deps(memory, judge=ScriptedJudge(1), clock=clock)
    session, _ = await Sessions(given).create(drill="customer-crisis", seed=3)
    desk = await Desk(await Sessions(given).state(session), given).settle()
    assert desk.state.started.scenario is not None, "it is one of the round's situations"
    clock.advance(10 * 60)
    await desk.answer(ANSWER, "m1")
    assert "a second customer reports the same" in desk.question(2).text
    assert "crisis-second-customer" in desk.question(2).revealed
    clock.advance(10 * 60)
    await desk.answer(ANSWER, "m2")
    assert "moved the call forward" in desk.question(3).text and "second customer" not in desk.question(3).text
    clock.advance(10 * 60)
    await desk.answer("The draft that I was writing when the bell rang.", "m3")
    assert desk.state.ended is not None and desk.state.ended.reason == "time"
    assert desk.state.turns[2].result is not None, "it was taken and read"
    packet = Replays(given, Sessions(given)).packet(desk.state)
    assert packet.drill is not None and [n.told_in for n in packet.drill.news] == [2, 3, None]


async def test_the_crisis_goes_on_to_its_last_news_and_the_bell(memory: SqlEventStore) -> None:
    clock = FakeClock()
    given = deps(memory, judge=ScriptedJudge(1), clock=clock)
    session, _ = await Sessions(given).create(drill="customer-crisis", seed=3)
    desk = await Desk(await Sessions(given).state(session), given).settle()
    for number in range(1, 11):
        clock.advance(3 * 60)
        await desk.answer(ANSWER, f"m{number}")
    assert desk.state.ended is not None and desk.state.ended.reason == "time", "not when three follow-ups were put"
    packet = Replays(given, Sessions(given)).packet(desk.state)
    assert packet.drill is not None and [n.told_in for n in packet.drill.news] == [4, 6, 9], "minutes 9, 15 and 24"
    put = [t.probe.probe for t in desk.state.turns if t.probe]
    assert len(put) == len(set(put)) == 10


async def test_the_news_of_a_crisis_come_early_to_who_has_answered_everything(memory: SqlEventStore) -> None:
    given = deps(memory, judge=ScriptedJudge(1), clock=FakeClock(step=0.0))
    session, _ = await Sessions(given).create(drill="customer-crisis", seed=3)
    desk = await Desk(await Sessions(given).state(session), given).settle()
    drill = library().drills.get("customer-crisis")
    assert drill is not None
    number = 0
    while desk.state.phase is not Phase.ENDED:
        number += 1
        await desk.answer(ANSWER, f"m{number}")
    early = [t for t in desk.state.turns if t.probe and t.probe.probe in {e.asks for e in drill.events}]
    assert [t.question.revealed for t in early if t.question] == [(e.id,) for e in drill.events], "in order, once"
    for turn, event in zip(early, drill.events, strict=True):
        assert turn.question is not None and event.says in turn.question.text
        assert turn.question.text.endswith("?") and turn.probe is not None and "comes early" in turn.probe.reason
    assert early == list(desk.state.turns[-3:]) and len(desk.state.turns) > 8, "after everything else"
    assert desk.state.ended is not None and desk.state.ended.reason == "complete"


async def test_a_drill_that_takes_few_words_refuses_more_and_keeps_the_word_with_the_candidate(
    memory: SqlEventStore,
) -> None:
    given = deps(memory)
    session, _ = await Sessions(given).create(drill="explain-an-optimisation", seed=3)
    desk = await Desk(await Sessions(given).state(session), given).settle()
    with pytest.raises(Refused) as refused:
        await desk.answer("word " * 301)
    assert refused.value.code == "over_word_limit" and "at most 300" in refused.value.message
    assert desk.state.phase is Phase.AWAITING


@pytest.mark.parametrize("fields", [{"drill": "nothing"}, {"drill": "customer-crisis", "rubric": "recruiter"}])
async def test_a_drill_that_is_not_there_is_refused(memory: SqlEventStore, fields: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        await Sessions(deps(memory)).create(**fields)
    assert refused.value.code == "unknown_drill"


async def test_a_newcomer_picks_up_what_was_said_where_the_model_does_not(memory: SqlEventStore) -> None:
    model = ScriptedModel("Great answer! Hello, I am new. What is your favourite colour?")
    desk = await begin(deps(memory, model))
    await desk.interview.swap("hiring_manager")
    await desk.answer()
    text = desk.question(2).text
    name = library().personas["deep_dive"].name
    assert text.startswith(f"I go on from here in place of {name}")
    assert 'You said: "I gave up 15 percent of throughput for it".' in text
    assert "Hello" not in text and "Great" not in text
    await desk.answer()
    assert "in place of" not in desk.question(3).text, "said once"


async def test_a_newcomer_opens_a_main_question_on_what_was_said_and_repeats_none(memory: SqlEventStore) -> None:
    desk = await begin(deps(memory, judge=ScriptedJudge(3, sure=0.97)))
    spent = 0
    while desk.state.turns[-1].question_id == desk.state.turns[0].question_id and spent < 6:
        await desk.interview.swap("recruiter" if spent % 2 == 0 else "deep_dive")
        await desk.answer(msg_id=f"m{spent}")
        spent += 1
    last = desk.state.turns[-1]
    assert last.probe is not None and last.probe.criterion is None
    assert "You said:" in desk.question(last.number).text
    put = [t.probe.probe for t in desk.state.turns if t.probe]
    assert len(put) == len(set(put))
    assert kinds(await desk.log()).count("session_started") == 1
