"""One live session: takes commands, advances turn by turn, and tells a sink what happens.

Every state change is an appended event; after a crash the log says what is missing and :meth:`Interview.resume` goes on
from there. One task at a time advances the session, apart from any connection, so a client may come and go.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from interviewer.core import events as ev
from interviewer.core import guard
from interviewer.core.assessment import Assessment
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask, decide
from interviewer.core.prompts import TurnRequest, history
from interviewer.core.reading import Said, specs
from interviewer.core.rubric import Rubric
from interviewer.core.session import Phase, SessionState, Turn, evolve
from interviewer.service.asking import Asked, Asker
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.ports import ConcurrentAppend, StoreError

Stage: TypeAlias = Literal["reading", "choosing", "asking", "waiting", "ended"]


@dataclass(frozen=True)
class Committed:
    """An event was stored."""

    recorded: ev.Recorded


@dataclass(frozen=True)
class Delta:
    """A piece of the question that is being asked."""

    turn: int
    offset: int
    text: str


@dataclass(frozen=True)
class Progress:
    """What the session is doing now."""

    stage: Stage
    turn: int


@dataclass(frozen=True)
class Failed:
    """The session could not go on by itself; what was accepted is kept and the next command tries again."""

    code: str
    message: str


Frame: TypeAlias = Committed | Delta | Progress | Failed
Sink: TypeAlias = Callable[[Frame], None]
"""Takes frames; must not block."""

MAX_ANSWER = 20_000
"""Characters of one answer."""


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

    @property
    def rubric(self) -> Rubric:
        """The round's rubric."""
        return self._deps.library.rubrics[self.state.started.rubric]

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
        if not self.busy and self.state.phase in (Phase.CHOOSING, Phase.ASKING, Phase.JUDGING):
            self._task = asyncio.create_task(self._advance(), name=f"interview-{self.state.id}")

    async def settled(self) -> None:
        """Wait until the candidate has the word, the session has ended, or it could not go on."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def answer(self, msg_id: str, text: str) -> None:
        """Accept an answer once; the same ``msg_id`` again changes nothing.

        Raises:
            Refused: the session is over, a turn is under way, or the answer is empty or too long.
            StoreError: it was not accepted; send it again.
        """
        async with self._lock:
            if msg_id in self.state.msg_ids:
                return
            self._not_ended()
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
            await self._append(ev.AnswerGiven(turn=self._turn.number, msg_id=msg_id, text=text))
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
            if self.state.phase is not Phase.ASKING:  # it was stored before the cancellation took effect
                return
            shown = self.partial if seen is None else self.partial[:seen]
            self.partial = ""
            await self._append(
                ev.QuestionAsked(
                    turn=self._turn.number,
                    text=shown.rstrip(),
                    source="authored" if self._probe.criterion is None else "generated",
                    persona=self.state.persona,
                    interrupted=True,
                )
            )
            self._sink(Progress("waiting", self._turn.number))

    async def swap(self, persona: str) -> None:
        """Let ``persona`` go on; history and rubric state stay.

        Raises:
            Refused: the session is over or there is no such persona.
        """
        async with self._lock:
            self._not_ended()
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
            self._not_ended()
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
        """End the session; ending it twice changes nothing."""
        async with self._lock:
            if self.state.phase is Phase.ENDED:
                return
            await self._cancel()
            await self._append(ev.SessionEnded(reason="candidate"))
            self._sink(Progress("ended", self.state.current.number if self.state.current else 0))

    async def stop(self) -> None:
        """Stop working without ending the session; used on shutdown."""
        await self._cancel()

    # --- advancing -------------------------------------------------------------------------------------------------

    async def _advance(self) -> None:
        try:
            while True:
                match self.state.phase:
                    case Phase.JUDGING:
                        self._sink(Progress("reading", self._turn.number))
                        await self._judge()
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

    async def _judge(self) -> None:
        turn = self._turn
        said, question = _heard(self.state, turn, self.rubric)
        targets = self.rubric.question(turn.question_id) if turn.question_id else None
        names = [t.criterion for t in targets.targets] if targets else list(self.rubric.must_ask)
        result = await self._deps.judging.assess(question, said, specs(self._deps.library.vocabulary, names))
        if isinstance(result, Assessment):
            await self._append(ev.AnswerAssessed(turn=turn.number, assessment=result))
        else:
            await self._append(
                ev.AnswerUnscored(turn=turn.number, reason=result.reason, detail=result.detail, notices=result.notices)
            )

    async def _choose(self) -> None:
        elapsed = self.elapsed()
        decision = decide(self.state, self.rubric, self.persona, elapsed)
        if isinstance(decision, Ask):
            await self._append(
                ev.ProbeChosen(
                    turn=len(self.state.turns) + 1,
                    question_id=decision.question_id,
                    criterion=decision.criterion,
                    move=decision.move,
                    probe=decision.probe,
                    reason=decision.reason,
                    elapsed=round(elapsed, 4),
                )
            )
            return
        farewell = self.persona.closings[self.state.started.seed % len(self.persona.closings)]
        reason: Literal["time", "complete"] = decision.cause
        await self._append(ev.SessionEnded(reason=reason, farewell=farewell))

    async def _ask(self) -> None:
        turn, probe, persona = self._turn, self._probe, self.persona
        asked = Asked()
        self.partial = ""
        seed = turn_seed(self.state.started.seed, turn.number)
        if probe.criterion is None:
            greet = self.state.started.minutes if turn.number == 1 else None
            stream = self._asker.main_question(persona, probe.probe, greet, seed, asked)
        else:
            request, context = turn_request(self.state, self.rubric, persona)
            stream = self._asker.follow_up(persona, request, context, seed, asked)
        async for piece in stream:
            self._sink(Delta(turn.number, len(self.partial), piece))
            self.partial += piece
        await self._append(
            ev.QuestionAsked(
                turn=turn.number,
                text=self.partial,
                source=asked.source,
                persona=persona.id,
                problems=tuple(asked.problems),
            )
        )
        self.partial = ""

    def elapsed(self) -> float:
        """Return the share of the round's minutes that has passed."""
        since = max(0.0, (self._deps.clock.now() - self.state.last_at).total_seconds())
        return (self.state.active_seconds + min(since, 600.0)) / (60 * self.state.started.minutes)

    async def _append(self, event: ev.Event) -> None:
        # Shielded: a cancelled turn must not leave the log ahead of the state in memory.
        await asyncio.shield(self._commit(event))

    async def _commit(self, event: ev.Event) -> None:
        async with self._committing:
            stored = await self._deps.store.append(
                self.state.id, self._deps.clock.now(), [event], expected_seq=self.state.seq
            )
            for recorded in stored:
                self.state = evolve(self.state, recorded)
                self._sink(Committed(recorded))

    async def _cancel(self) -> None:
        if self.busy and self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        async with self._committing:  # an append that was under way is finished before anything else is decided
            return

    def _not_ended(self) -> None:
        if self.state.phase is Phase.ENDED:
            raise Refused("session_ended", "The session is over; its report can be read.")

    @property
    def _turn(self) -> Turn:
        assert self.state.current is not None
        return self.state.current

    @property
    def _probe(self) -> ev.ProbeChosen:
        assert self._turn.probe is not None
        return self._turn.probe


def turn_seed(seed: int, turn: int) -> int:
    """Derive a repeatable seed for one turn, below 2**31."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{turn}".encode()).digest()[:4], "big") >> 1


def turn_request(state: SessionState, rubric: Rubric, persona: Persona) -> tuple[TurnRequest, guard.Context]:
    """Return what the wording of the probe just chosen depends on, and what it is checked against."""
    probe = state.turns[-1].probe
    assert probe is not None
    question = rubric.question(probe.question_id)
    said = next((t.answer.text for t in reversed(state.turns) if t.answer), "")
    request = TurnRequest(
        level=state.started.level,
        question=question.wording(state.started.level) if question else probe.probe,
        said=said,
        probe=probe.probe,
        move=probe.move,
        earlier=history(state, rubric),
    )
    context = guard.Context(
        probe=probe.probe,
        said=said,
        follow_up=True,
        asked=tuple(t.question.text for t in state.turns if t.question),
        giveaways=tuple(term for fact in question.facts for term in fact.terms) if question else (),
        max_words=persona.max_words,
    )
    return request, context


def _heard(state: SessionState, turn: Turn, rubric: Rubric) -> tuple[Sequence[Said], str]:
    """Return all that was said on the turn's question so far, and that question."""
    turns = state.on_question(turn.question_id) if turn.question_id else (turn,)
    said = [Said(turn=t.number, text=t.answer.text) for t in turns if t.answer]
    question = rubric.question(turn.question_id) if turn.question_id else None
    if question is not None:
        return said, question.wording(state.started.level)
    return said, turn.question.text if turn.question else ""
