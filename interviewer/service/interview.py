"""One live session: takes commands, advances turn by turn, and tells a sink what happens.

Every state change is an appended event; after a crash the log says what is missing and :meth:`Interview.resume` goes on
from there. One task at a time advances the session, apart from any connection, so a client may come and go.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from contextlib import aclosing
from typing import Literal

from interviewer.core import events as ev
from interviewer.core.assessment import Unscored, UnscoredReason
from interviewer.core.code import held
from interviewer.core.drills import Drill, DrillEvent, brought_forward, narrowed
from interviewer.core.givens import earned
from interviewer.core.material import choose
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask, Close
from interviewer.core.reading import specs
from interviewer.core.requests import gave_up, recognise, reply
from interviewer.core.rubric import Given, Rubric
from interviewer.core.scenario import Scenario
from interviewer.core.session import Phase, SessionState, Turn, evolve
from interviewer.core.standing import OPEN, case, owed, read_on
from interviewer.service import affinity
from interviewer.service.asking import Asked, Asker, pieces
from interviewer.service.coding import check_code
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.frames import Committed, Delta, Failed, Progress, Sink
from interviewer.service.ports import ConcurrentAppend, StoreError, UnknownSession
from interviewer.service.turns import (
    chosen,
    handover,
    heard,
    latest_code,
    next_request,
    picked_up,
    reading,
    turn_request,
    turn_seed,
    wholly_said,
)

_log = logging.getLogger(__name__)

MAX_ANSWER = 20_000
"""Characters of one answer."""
_AGAIN = "Take that one once more."
_BACK = "Back to what I was about to ask."
_OWN_WORDS = "Let me go back to something of yours."
_EASIER = "That is fine. Let me come at it from another side."


class Interview:
    """A session that is loaded in this process."""

    def __init__(self, state: SessionState, deps: Deps, sink: Sink) -> None:
        """Take over a folded session; call :meth:`resume` to go on."""
        self.state = state
        self.partial = ""
        """What was streamed so far of the question that is being asked."""
        self._deps = deps
        self._sink = sink
        self._asker = Asker(deps)
        self._lock = asyncio.Lock()
        self._committing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._spoken: ev.QuestionAsked | None = None
        """A question that the candidate saw and that is not stored yet; it is stored before anything else is asked."""
        self._owed: tuple[Given | DrillEvent, ...] = ()
        """Facts of the scenario and news of the drill that the turn which is being asked gives."""
        self._told = False
        """The candidate knows that the persona's model is away."""
        self._ending = False
        """The candidate ended the session while an answer was read; it ends as soon as that is done."""
        self._stopped = False

    @property
    def rubric(self) -> Rubric:
        """The round's rubric, cut to the drill when the session is one."""
        return narrowed(self._deps.library.rubrics[self.state.started.rubric], self.drill)

    @property
    def drill(self) -> Drill | None:
        """The exercise that the session is, when it is one."""
        return self._deps.library.drills.get(self.state.started.drill)

    @property
    def scenario(self) -> Scenario | None:
        """The situation that the round opens with, when there is one."""
        return self._deps.library.scenarios.get(self.state.started.scenario or "")

    @property
    def persona(self) -> Persona:
        """Who asks now."""
        return self._deps.library.personas[self.state.persona]

    @property
    def busy(self) -> bool:
        """Whether a turn is under way."""
        return self._task is not None and not self._task.done()

    def resume(self) -> None:
        """Go on with whatever the log says is missing; does nothing when the candidate has the word."""
        if self._stopped or self.busy or self.state.started.origin == "imported":
            return
        if self.state.phase in (Phase.CHOOSING, Phase.ASKING, Phase.JUDGING):
            self._task = asyncio.create_task(self._advance(), name=f"interview-{self.state.id}")

    def when_idle(self, then: Callable[[], None]) -> None:
        """Call ``then`` once nothing is under way; at once when that is so already."""
        if self._task is None or self._task.done():
            then()
        else:
            self._task.add_done_callback(lambda _: then())

    async def settled(self) -> None:
        """Wait until the candidate has the word, the session has ended, or it could not go on."""
        while self.busy or self._lock.locked():
            if self._task is not None:
                await asyncio.wait([self._task])
            async with self._lock:  # a command that is being carried out may have ended the task, or start another
                pass

    async def answer(self, msg_id: str, text: str) -> None:
        """Accept an answer once; the same ``msg_id`` again changes nothing.

        A message that only asks to repeat, to explain or to wait is no answer: it is told what it asks for, and the
        question stands.

        Raises:
            Refused: the session is over, a turn is under way, or the answer is empty or too long.
            StoreError: it was not accepted; send it again.
        """
        async with self._lock:
            await self._stored()  # this very answer may be on its way: whoever sent it first has left since
            if msg_id in self.state.msg_ids:
                return
            self._open()
            if self.state.phase is not Phase.AWAITING:
                self.resume()
                raise Refused(
                    "turn_in_progress", "The interviewer has the word; wait for the question or interrupt.", True
                )
            if not text.strip():
                raise Refused("empty_answer", "The answer is empty; say something, or that you do not know.")
            if len(text) > MAX_ANSWER:
                raise Refused(
                    "answer_too_long", f"The answer has {len(text)} characters; at most {MAX_ANSWER} are taken."
                )
            if (drill := self.drill) and drill.words and len(text.split()) > drill.words:
                raise Refused(
                    "over_word_limit",
                    f"The answer has {len(text.split())} words; this drill takes at most {drill.words}. Shorten it.",
                )
            await self._append(
                self._request(msg_id, text) or ev.AnswerGiven(turn=self._turn.number, msg_id=msg_id, text=text)
            )

    def _request(self, msg_id: str, text: str) -> ev.RequestMade | None:
        """Return the event of a message that is no answer; a question that earns a fact of the scenario is one."""
        kind = recognise(text)
        if kind is None or kind == "unsure" or kind == "skip":
            return None
        question = self.rubric.question(self._turn.question_id or "")
        facts = (*(self.scenario.facts if self.scenario else ()), *case(question, self.scenario))
        if kind == "clarify" and earned(facts, text):
            return None
        told = reply(kind, self.state, question)
        return ev.RequestMade(turn=self._turn.number, msg_id=msg_id, kind=kind, text=text, reply=told)

    async def retry(self) -> None:
        """Let the candidate answer the question before this one again; this one is set aside and asked afterwards.

        The later answer counts in place of the earlier one, at one level less than before, like a hint.

        Raises:
            Refused: in real mode, with nothing answered yet, while the interviewer speaks, or when it could prove
                nothing more.
        """
        async with self._lock:
            self._open()
            if self.state.started.mode == "real":
                raise Refused("no_retry", "An answer stands in real mode.")
            if self.state.phase is not Phase.AWAITING:
                raise Refused("no_retry", "The interviewer has the word; wait for the question.", True)
            again = self.state.may_retry
            if again is None or again.probe is None:
                raise Refused("no_retry", "There is no answer that could be tried again, or its question is used up.")
            await self._append(
                again.probe.model_copy(
                    update={
                        "turn": len(self.state.turns) + 1,
                        "again_of": again.number,
                        "reason": "The candidate took another attempt at this answer.",
                        "elapsed": round(self.elapsed(), 4),
                    }
                )
            )
        self.resume()

    async def interrupt(self, seen: int | None = None) -> None:
        """Stop the question that is being asked; the history keeps what the candidate saw.

        Args:
            seen: How many characters the client showed; at most what was sent. ``None`` takes all that was sent.
        """
        async with self._lock:
            if self.state.phase is not Phase.ASKING:
                return
            await self._cancel()
            if self.state.phase is Phase.ASKING:  # else it was stored before the cancellation took effect
                await self._cut(seen)
            self._sink(Progress("waiting", self._turn.number))

    async def swap(self, persona: str) -> None:
        """Let ``persona`` go on; history and rubric state stay.

        Raises:
            Refused: the session is over or there is no such persona.
        """
        async with self._lock:
            self._open()
            if persona not in self._deps.library.personas:
                known = ", ".join(self._deps.library.personas)
                raise Refused("unknown_persona", f"There is no persona {persona!r}; there are: {known}.")
            if persona != self.state.persona:
                await self._append(ev.PersonaChanged(persona=persona, adapter=self._deps.served.get(persona)))

    async def hint(self) -> None:
        """Show the next rung of the current question's hints.

        Raises:
            Refused: not while the interviewer speaks, in real mode, or when all three were given.
        """
        async with self._lock:
            self._open()
            turn = self.state.current
            question = self.rubric.question(turn.question_id) if turn and turn.question_id else None
            if self.state.started.mode == "real":
                raise Refused("no_hint", "There are no hints in real mode.")
            if self.state.phase is not Phase.AWAITING or turn is None or question is None:
                raise Refused("no_hint", "There is nothing to hint at now; wait for the question.", True)
            rung = self.state.rungs_used(question.id) + 1
            if rung > len(question.hints):
                raise Refused("no_hint", "All three hints for this question were given.")
            await self._append(
                ev.HintGiven(turn=turn.number, question_id=question.id, rung=rung, text=question.hints[rung - 1])
            )

    async def end(self) -> None:
        """End the session; ending it twice changes nothing. An answer that is being read is read to its end first.

        Raises:
            Refused: the session is an imported one.
            StoreError: it goes on; end it again.
        """
        async with self._lock:
            if self.state.phase is Phase.ENDED:
                return
            self._open()
            if self.state.phase is Phase.JUDGING:
                self._ending = True
                self.resume()
                return
            await self._cancel()
            if self.state.phase is Phase.ASKING and self.partial:
                await self._cut(None)
            if not self._over():
                await self._append(ev.SessionEnded(reason="candidate"))
            self._sink(Progress("ended", self.state.current.number if self.state.current else 0))

    async def stop(self) -> None:
        """Stop working, for good, without ending the session; used on shutdown and before deletion."""
        self._stopped = True
        if self._warming is not None:
            self._warming.cancel()
        await self._cancel()

    # --- advancing -------------------------------------------------------------------------------------------------

    async def _advance(self) -> None:
        affinity.bind(self.state.id)
        try:
            while True:
                await self._stored()  # by a command whose sender left before its event was
                match self.state.phase:
                    case Phase.JUDGING:
                        self._sink(Progress("reading", self._turn.number))
                        await self._judge()
                    case Phase.CHOOSING if self._ending:
                        await self._append(ev.SessionEnded(reason="candidate"))
                    case Phase.CHOOSING:
                        await self._choose()
                    case Phase.ASKING:
                        self._sink(Progress("asking", self._turn.number))
                        await self._ask()
                    case Phase.AWAITING:
                        self._sink(Progress("waiting", self._turn.number))
                        return
                    case Phase.ENDED:
                        self._sink(Progress("ended", self.state.current.number if self.state.current else 0))
                        return
        except StoreError as error:
            self._sink(Failed("store_unavailable", f"The turn could not be stored: {error}"))
        except ConcurrentAppend:
            self._sink(Failed("conflict", "The session went on elsewhere; connect again to follow it."))
        except UnknownSession:
            self._sink(Failed("unknown_session", "The session was deleted."))
        except Exception as error:
            # Without the message: it may quote the candidate.
            where = "".join(traceback.format_tb(error.__traceback__))
            _log.error("session %s stopped on %s\n%s", self.state.id, type(error).__name__, where)
            self._sink(Failed("internal_error", "Something is wrong with the service; what was said is kept."))

    async def _judge(self) -> None:
        turn = self._turn
        said, question = heard(self.state, turn, self.rubric)
        criteria = specs(self._deps.library.vocabulary, read_on(self.state, self.rubric, self.scenario))
        result, _ = await asyncio.gather(self._deps.judging.assess(question, said, criteria), self._check_code(turn))
        if isinstance(result, Unscored) and result.reason is UnscoredReason.JUDGE_UNAVAILABLE and await self._again():
            result = await self._deps.judging.assess(question, said, criteria)
        await self._append(reading(turn.number, held(result, latest_code(self.state, self._turn))))

    async def _check_code(self, turn: Turn) -> None:
        """Look at the code of the answer, beside the judge, and store what was found; once per answer."""
        question = self.rubric.question(turn.question_id) if turn.question_id else None
        if question is None or question.code is None or turn.answer is None or turn.code is not None:
            return
        deps = self._deps
        found = await check_code(turn.answer.text, question.code, deps.runner, deps.why_no_runner)
        if found is not None:
            await self._append(ev.CodeChecked(turn=turn.number, report=found))

    async def _choose(self) -> None:
        elapsed = self.elapsed()
        aside = self.state.set_aside
        if aside is not None and elapsed < 1:
            number = len(self.state.turns) + 1
            why = "Asked once more: it was set aside while another answer was tried again."
            update = {"turn": number, "again_of": aside.turn, "reason": why, "elapsed": round(elapsed, 4)}
            await self._append(aside.model_copy(update=update))
            return
        decision = choose(self.state, self.rubric, self.persona, elapsed, self.scenario)
        if isinstance(decision, Close) and elapsed < 1:
            decision = brought_forward(self.drill, self.state, self.rubric) or decision
        if isinstance(decision, Ask):
            await self._append(chosen(decision, len(self.state.turns) + 1, round(elapsed, 4)))
            return
        farewell = self.persona.closings[self.state.started.seed % len(self.persona.closings)]
        reason: Literal["time", "complete"] = decision.cause
        await self._append(ev.SessionEnded(reason=reason, farewell=farewell))

    async def _ask(self) -> None:
        if self._spoken is None:
            self._spoken = await self._speak()
        spoken = self._spoken
        await self._append(spoken)
        await self._tell_of_outage(spoken)
        self._warm()
        question = self.rubric.question(self._probe.question_id)
        if question is not None and question.code is not None and self._deps.runner is not None:
            self._deps.runner.prepare()

    def _warm(self) -> None:
        """Use the time in which the candidate thinks: nothing waits for this, and nothing depends on it."""
        request = next_request(self.state, self.rubric) if self._deps.limits.warm else None
        if request is not None:
            self._warming = asyncio.create_task(self._asker.warm(self.persona, request), name=f"warm-{self.state.id}")

    async def _again(self) -> bool:
        """Wait for a model that went away, telling the candidate once; True when the turn is worth a second try."""
        waiting = asyncio.ensure_future(self._deps.recovered())
        try:
            done, _ = await asyncio.wait([waiting], timeout=self._deps.limits.tell_seconds)
            if not done:
                message = "The model is away and is being waited for; this turn goes on when it answers."
                await self._append(ev.SessionNotice(code="model_restarting", message=message))
            return await waiting
        finally:
            waiting.cancel()

    async def _tell_of_outage(self, spoken: ev.QuestionAsked) -> None:
        """Say once per outage that the persona's model is away and whose words are asked meanwhile."""
        away = "model_unavailable" in spoken.problems
        if away and not self._told:
            message = "The persona's model cannot be reached; questions are asked in the rubric's own words meanwhile."
            await self._append(ev.SessionNotice(code="model_unavailable", message=message))
        if away or spoken.source in ev.WORDED:
            self._told = away

    async def _speak(self) -> ev.QuestionAsked:
        turn, probe, persona = self._turn, self._probe, self.persona
        asked = Asked()
        self.partial = ""
        seed = turn_seed(self.state.started.seed, turn.number)
        before = next((t for t in reversed(self.state.turns) if t.answer), None)
        newcomer = handover(self.state, persona, self._asked_before())
        tie = picked_up(self.state) if newcomer else None
        if probe.again_of is not None:
            attempt = self.state.retries.get(probe.again_of) is not None
            stream = self._asker.authored(_AGAIN if attempt else _BACK, probe.probe, asked)
        elif probe.restates:
            stream = self._asker.authored(tie or OPEN, probe.probe, asked)
        elif probe.criterion is None:
            greet = self.state.started.minutes if turn.number == 1 else None
            rules = f"{self.drill.brief} " if self.drill and greet else ""
            scenario = self.scenario
            brief = f"{scenario.brief} " if scenario and scenario.question == probe.question_id else ""
            if newcomer and tie:
                stream = self._asker.authored(tie, f"{brief}{probe.probe}", asked)
            else:
                stream = self._asker.main_question(persona, f"{rules}{brief}{probe.probe}", greet, seed, asked)
        elif probe.cited:  # the candidate's own words are not put into others
            stream = self._asker.authored(tie or _OWN_WORDS, probe.probe, asked)
        elif before is not None and gave_up(before):
            stream = self._asker.authored(_EASIER, probe.probe, asked)
        else:
            request, context = turn_request(self.state, self.rubric, persona)
            stream = self._asker.follow_up(persona, request, context, seed, asked, self._again, tie)
        if newcomer:
            async with aclosing(pieces(f"{newcomer} ")) as said:
                async for piece in said:
                    await self._show(piece)
        self._owed = (*owed(self.state, self.rubric, self.scenario), *self._news())
        for fact in self._owed:
            async with aclosing(pieces(f"{fact.says} ")) as told:
                async for piece in told:
                    await self._show(piece)
        async with aclosing(stream):  # a turn that is cancelled here has to stop the generation too
            async for piece in stream:
                await self._show(piece)
        return ev.QuestionAsked(
            turn=turn.number,
            text=self.partial,
            source=asked.source,
            persona=persona.id,
            problems=tuple(asked.problems),
            revealed=wholly_said(self.partial, self._owed),
        )

    def _asked_before(self) -> str:
        """Return the name of who asked the last question."""
        who = next((t.question.persona for t in reversed(self.state.turns) if t.question), "")
        known = self._deps.library.personas.get(who)
        return known.name if known else who

    def _news(self) -> tuple[DrillEvent, ...]:
        """Return what happened in the drill by now and was not told yet, and what comes early with this question."""
        if self.drill is None:
            return ()
        told = self.state.told
        minute = self.elapsed() * self.state.started.minutes
        asked = self._probe.probe
        return tuple(e for e in self.drill.events if e.id not in told and (e.minute <= minute or e.asks == asked))

    async def _show(self, piece: str) -> None:
        self._sink(Delta(self._turn.number, len(self.partial), piece))
        self.partial += piece
        await asyncio.sleep(self._deps.limits.word_seconds)

    async def _cut(self, seen: int | None) -> None:
        """Store the question that is being asked as far as it was seen."""
        text = (self.partial if seen is None else self.partial[:seen]).rstrip()
        self._spoken = ev.QuestionAsked(
            turn=self._turn.number,
            text=text,
            revealed=wholly_said(text, self._owed),
            source="authored" if self._probe.criterion is None else "generated",
            persona=self.state.persona,
            interrupted=True,
        )
        await self._append(self._spoken)

    def elapsed(self) -> float:
        """Return the share of the round's minutes that has passed."""
        since = max(0.0, (self._deps.clock.now() - self.state.last_at).total_seconds())
        return (self.state.active_seconds + min(since, 600.0)) / (60 * self.state.started.minutes)

    async def _append(self, event: ev.Event) -> None:
        # Shielded: a cancelled turn must not leave the log ahead of the state in memory.
        await asyncio.shield(self._commit(event))

    async def _commit(self, event: ev.Event) -> None:
        async with self._committing:
            self._not_ended()  # it may have while this waited
            at, seq = self._deps.clock.now(), self.state.seq
            # Tried first: an event that does not fit must not reach the log.
            evolve(self.state, ev.Recorded(session_id=self.state.id, seq=seq + 1, at=at, event=event))
            for recorded in await self._deps.store.append(self.state.id, at, [event], expected_seq=seq):
                self.state = evolve(self.state, recorded)
                if isinstance(event, ev.QuestionAsked):
                    self.partial, self._spoken = "", None
                self._sink(Committed(recorded))
        if isinstance(event, ev.AnswerGiven):  # here, because whoever sent it may have gone meanwhile
            self.resume()

    async def _cancel(self) -> None:
        if self.busy and self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._stored()

    async def _stored(self) -> None:
        """Wait for an append that is under way: nothing is decided before it is in the state."""
        async with self._committing:
            return

    def _over(self) -> bool:
        return self.state.phase is Phase.ENDED

    def _not_ended(self) -> None:
        if self._over():
            raise Refused("session_ended", "The session is over; its report can be read.")

    def _open(self) -> None:
        self._not_ended()
        if self.state.started.origin == "imported":
            raise Refused("session_imported", "This is an imported transcript; replay it from a turn to go on live.")

    @property
    def _turn(self) -> Turn:
        assert self.state.current is not None
        return self.state.current

    @property
    def _probe(self) -> ev.ProbeChosen:
        assert self._turn.probe is not None
        return self._turn.probe
