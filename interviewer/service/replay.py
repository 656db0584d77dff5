"""Replays: a session again, as another persona or rubric, with another judge, or going on from an edited answer.

A replay is a new session linked to its parent; the parent is never touched. As somebody else: the candidate's words
stay and every turn also carries what would have been asked instead. What-if: events up to turn N are copied, the answer
is replaced, and the interview goes on live with the clock where it stood.

Invariant: the same parent, documents and judge give the same events, whenever and however often it is replayed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping

from interviewer.core import events as ev
from interviewer.core.assessment import Assessment
from interviewer.core.code import held
from interviewer.core.debrief import debrief
from interviewer.core.debrief_rows import Debrief
from interviewer.core.diff import ReplayDiff, diff
from interviewer.core.drills import narrowed
from interviewer.core.material import choose
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask
from interviewer.core.reading import specs
from interviewer.core.rubric import Rubric
from interviewer.core.scenario import Scenario
from interviewer.core.session import SessionState, Turn, fold
from interviewer.core.standing import read_on
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.judging import Judging
from interviewer.service.ports import UnknownSession
from interviewer.service.replay_log import Log, spent
from interviewer.service.sessions import Sessions, hash_token
from interviewer.service.turns import chosen, heard, latest_code, reading

AGAIN = "again"
"""Name of the judge that runs now."""


class Replays:
    """Makes replays and compares them with their parents."""

    def __init__(self, deps: Deps, sessions: Sessions) -> None:
        """Keep the collaborators."""
        self._deps = deps
        self._sessions = sessions

    async def replay(
        self, parent_id: str, *, persona: str | None = None, rubric: str | None = None, judge: str | None = None
    ) -> tuple[str, str, ReplayDiff]:
        """Replay a session as another persona or rubric; returns the child's id, its token and the diff.

        Args:
            parent_id: The session to replay.
            persona: Who would ask; those who did when ``None``, swaps included.
            rubric: The round to judge by; the parent's when ``None``.
            judge: Read the answers again even though persona and rubric do not need it: ``again`` with the judge that
                runs now, or with the one of that name.

        Raises:
            UnknownSession: no such session.
            Refused: no such persona, rubric or judge, nothing was answered yet, or its levels may not be seen yet.
        """
        parent = await self._sessions.state(parent_id)
        _readable(parent)
        if not any(t.answer for t in parent.turns):
            raise Refused("nothing_to_replay", "Nothing was answered in this session yet.")
        who, round_ = self._documents(parent, persona or parent.started.persona, rubric or parent.started.rubric)
        before = await asyncio.to_thread(
            self.packet, parent
        )  # first, as nothing is stored for a parent that nothing can be compared with
        judging = self._judging(judge)
        if judging is None and round_.id != parent.started.rubric:
            judging = self._deps.judging
        log = Log(self._deps.new_id(), self._deps.clock.now(), self._start(parent, who, round_, judging))
        for turn in parent.turns:
            if turn.question is None:
                continue
            asks = who
            if persona is None and turn.question.persona != log.state.persona:
                asks, _ = self._documents(parent, turn.question.persona, round_.id)
                log.add(ev.PersonaChanged(persona=asks.id, adapter=self._deps.served.get(asks.id)))
            elif persona is None:
                asks, _ = self._documents(parent, log.state.persona, round_.id)
            await self._replay_turn(log, parent, turn, asks, round_, judging)
        log.add(ev.SessionEnded(reason="replayed"))
        token = await self._store(log)
        return log.session_id, token, diff(parent, before, log.state, await asyncio.to_thread(self.packet, log.state))

    async def what_if(self, parent_id: str, from_turn: int, edits: Mapping[int, str]) -> tuple[str, str]:
        """Copy a session up to the answer of ``from_turn``, with edited answers, to go on live from there.

        Raises:
            UnknownSession: no such session.
            Refused: there is no such turn, an edit is for a later turn or empty, the documents are gone, or the
                session still runs in real mode.
        """
        parent = await self._sessions.state(parent_id)
        _readable(parent)
        kept = [t for t in parent.turns if t.number <= from_turn and t.probe and t.question and t.answer]
        if not kept or kept[-1].number != from_turn:
            raise Refused("unknown_turn", f"Turn {from_turn} of this session has no answer to go on from.")
        strange = [n for n, text in edits.items() if n not in {t.number for t in kept} or not text.strip()]
        if strange:
            raise Refused("bad_edit", f"Edits must be non-empty answers of turns up to {from_turn}; not {strange}.")
        recorded = await self._deps.store.load(parent_id)
        until = next(i for i, r in enumerate(recorded) if _answers(r.event, from_turn))
        then = fold(recorded[: until + 1])
        who, round_ = self._documents(parent, parent.started.persona, parent.started.rubric)
        self._documents(parent, then.persona, round_.id)
        start = self._start(parent, who, round_, self._deps.judging)
        log = Log(
            self._deps.new_id(),
            self._deps.clock.now(),
            start.model_copy(update={"spent_seconds": spent(then)}),
        )
        # Readings by another judge than the one that goes on would not compare with what follows.
        keep = parent.started.versions.judge == start.versions.judge
        by_number = {turn.number: turn for turn in kept}
        for event in (r.event for r in recorded[1 : until + 1]):
            if isinstance(event, ev.AnswerGiven):
                turn = by_number[event.turn]
                text = edits.get(turn.number, event.text)
                log.add(ev.AnswerGiven(turn=turn.number, msg_id=f"replay-{turn.number}", text=text))
                if turn.code is not None and turn.number not in edits:
                    log.add(ev.CodeChecked(turn=turn.number, report=turn.code))
                same = keep and not any(n <= turn.number for n in edits)
                if turn.number < from_turn:
                    reuse = turn if same else turn.model_copy(update={"result": None})
                    log.add(await self._reading(log.state, reuse, round_, self._scenario(parent, round_)))
            elif not isinstance(event, _MADE_AGAIN) and not getattr(event, "counterfactual", False):
                log.add(event)
        return log.session_id, await self._store(log)

    async def compare(self, child_id: str) -> ReplayDiff:
        """Return what a replay changed against its parent.

        Raises:
            UnknownSession: no such session, or its parent was deleted.
            Refused: the session is not a replay, it still goes on, or its parent still runs in real mode.
        """
        child = await self._sessions.state(child_id)
        if child.started.parent is None:
            raise Refused("not_a_replay", "This session is not a replay of another.")
        if child.ended is None:
            raise Refused("session_running", "This replay still goes on; it can be compared once it has ended.", True)
        parent = await self._sessions.state(child.started.parent)
        _readable(parent)
        before, after = await asyncio.to_thread(lambda: (self.packet(parent), self.packet(child)))
        return diff(parent, before, child, after)

    def packet(self, state: SessionState) -> Debrief:
        """Return the debrief of a session."""
        library = self._deps.library
        rubric = library.rubrics.get(state.started.rubric)
        if rubric is None:
            raise Refused(
                "unknown_rubric",
                f"The rubric {state.started.rubric!r} of this session no longer exists, so it cannot be compared or "
                "reported; put the document back. Its transcript and events can still be exported.",
            )
        scenario = library.scenarios.get(state.started.scenario or "")
        return debrief(state, rubric, library.vocabulary, library.drills, scenario)

    def _documents(self, parent: SessionState, persona: str, rubric: str) -> tuple[Persona, Rubric]:
        """Return the documents of a replay; a refusal says when it is the parent whose documents are gone."""
        try:
            who, round_ = self._sessions.documents(persona, rubric)
            return who, narrowed(round_, self._deps.library.drills.get(parent.started.drill))
        except Refused as refused:
            gone = persona if refused.code == "unknown_persona" else rubric
            asked = {
                parent.started.persona,
                parent.started.rubric,
                *(t.question.persona for t in parent.turns if t.question),
            }
            if gone not in asked:
                raise
            what = refused.code.removeprefix("unknown_")
            message = f"The session was held with the {what} {gone!r}, which no longer exists. Name another one for it."
            raise Refused(refused.code, f"{message} {refused.message}") from refused

    def _judging(self, name: str | None) -> Judging | None:
        """Return who reads the answers again; ``None`` when the readings are kept."""
        if name is None or name == AGAIN:
            return self._deps.judging if name else None
        found = self._deps.judges.get(name)
        if found is None:
            known = (AGAIN, *self._deps.judges)
            raise Refused("unknown_judge", f"There is no judge {name!r}; there are: {', '.join(known)}.", choices=known)
        return found

    def _start(
        self, parent: SessionState, persona: Persona, rubric: Rubric, judging: Judging | None
    ) -> ev.SessionStarted:
        scenario = self._deps.library.scenarios.get(parent.started.scenario or "")
        versions = self._sessions.versions(persona, rubric, scenario)
        # Readings that are kept are not of the judge that runs now.
        reads = judging.identity if judging else parent.started.versions.judge
        versions = versions.model_copy(update={"judge": reads})
        return parent.started.model_copy(
            update={
                "persona": persona.id,
                "rubric": rubric.id,
                "origin": "replay",
                "parent": parent.id,
                "spent_seconds": 0.0,
                "question": parent.started.question if rubric.question(parent.started.question or "") else None,
                "versions": versions,
            }
        )

    async def _replay_turn(
        self, log: Log, parent: SessionState, turn: Turn, persona: Persona, rubric: Rubric, judging: Judging | None
    ) -> None:
        probe, question = turn.probe, turn.question
        assert probe is not None and question is not None
        scenario = self._scenario(parent, rubric)
        choice = choose(log.state, rubric, persona, min(probe.elapsed, 0.99), scenario)
        log.add(probe)
        log.add(question)
        if isinstance(choice, Ask):
            log.add(chosen(choice, turn.number, probe.elapsed, counterfactual=True))
        for hint in (h for h in parent.hints if h.turn == turn.number):
            log.add(hint)
        if turn.answer is not None:
            log.add(turn.answer)
            if turn.code is not None:
                log.add(ev.CodeChecked(turn=turn.number, report=turn.code))
            reuse = turn.model_copy(update={"result": None}) if judging else turn
            log.add(await self._reading(log.state, reuse, rubric, scenario, judging))

    def _scenario(self, parent: SessionState, rubric: Rubric) -> Scenario | None:
        found = self._deps.library.scenarios.get(parent.started.scenario or "")
        return found if found and found.rubric == rubric.id else None

    async def _reading(
        self, state: SessionState, turn: Turn, rubric: Rubric, scenario: Scenario | None, judging: Judging | None = None
    ) -> ev.Event:
        """Return the reading of a turn: the parent's when it still holds, else a new one."""
        if isinstance(turn.result, Assessment):
            return reading(turn.number, turn.result)
        said, asked = heard(state, state.turns[-1], rubric)
        criteria = specs(self._deps.library.vocabulary, read_on(state, rubric, scenario))
        result = await (judging or self._deps.judging).assess(asked, said, criteria)
        return reading(turn.number, held(result, latest_code(state, state.turns[-1])))

    async def _store(self, log: Log) -> str:
        token = secrets.token_urlsafe(24)
        owner = await self._deps.store.owner(log.state.started.parent or "")
        await self._deps.store.create(log.session_id, log.at, log.events, token_hash=hash_token(token), owner=owner)
        try:
            await self._deps.store.row(log.state.started.parent or "")
        except UnknownSession:  # deleted while it was replayed; nothing that was said in it may stay
            await self._deps.store.delete(log.session_id)
            raise
        return token


_MADE_AGAIN = (ev.CodeChecked, ev.AnswerAssessed, ev.AnswerUnscored)
"""Events that a what-if does not copy from the log, as they belong to an answer that may be another one."""


def _answers(event: ev.Event, turn: int) -> bool:
    return isinstance(event, ev.AnswerGiven) and event.turn == turn


def _readable(state: SessionState) -> None:
    """Refuse what would show the levels of a session in real mode before it has ended."""
    if state.started.mode == "real" and state.ended is None:
        raise Refused("session_running", "In real mode nothing is shown before the session has ended.")
