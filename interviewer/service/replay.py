"""Replays: a session again, as another persona or rubric, with another judge, or going on from an edited answer.

A replay is a new session linked to its parent; the parent is never touched. As somebody else: the candidate's words
stay and every turn also carries what would have been asked instead. What-if: events up to turn N are copied, the answer
is replaced, and the interview goes on live.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime

from interviewer.core import events as ev
from interviewer.core.assessment import Assessment
from interviewer.core.code import held
from interviewer.core.debrief import Debrief, debrief
from interviewer.core.diff import ReplayDiff, diff
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask, decide
from interviewer.core.reading import Said, specs
from interviewer.core.rubric import Rubric
from interviewer.core.scenario import opens_with
from interviewer.core.session import SessionState, Turn, evolve
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.sessions import Sessions, hash_token
from interviewer.service.turns import latest_code


class Replays:
    """Makes replays and compares them with their parents."""

    def __init__(self, deps: Deps, sessions: Sessions) -> None:
        """Keep the collaborators."""
        self._deps = deps
        self._sessions = sessions

    async def replay(
        self, parent_id: str, *, persona: str | None = None, rubric: str | None = None, rejudge: bool = False
    ) -> tuple[str, str, ReplayDiff]:
        """Replay a session as another persona or rubric; returns the child's id, its token and the diff.

        Args:
            parent_id: The session to replay.
            persona: Who would ask; the parent's when ``None``.
            rubric: The round to judge by; the parent's when ``None``.
            rejudge: Read the answers again even though persona and rubric do not need it.

        Raises:
            UnknownSession: no such session.
            Refused: no such persona or rubric, nothing was answered yet, or its levels may not be seen yet.
        """
        parent = await self._sessions.state(parent_id)
        _readable(parent)
        if not any(t.answer for t in parent.turns):
            raise Refused("nothing_to_replay", "Nothing was answered in this session yet.")
        who, round_ = self._sessions.documents(persona or parent.persona, rubric or parent.started.rubric)
        log = _Log(self._deps.new_id(), self._deps.clock.now(), self._start(parent, who, round_))
        for turn in parent.turns:
            if turn.question is None:
                continue
            await self._replay_turn(log, parent, turn, who, round_, rejudge or round_.id != parent.started.rubric)
        log.add(ev.SessionEnded(reason="replayed"))
        token = await self._store(log)
        return log.session_id, token, self._compare(parent, log.state)

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
        who, round_ = self._sessions.documents(parent.persona, parent.started.rubric)
        start = self._start(parent, who, round_).model_copy(update={"seed": parent.started.seed})
        log = _Log(self._deps.new_id(), self._deps.clock.now(), start)
        for turn in kept:
            assert turn.probe and turn.question and turn.answer
            log.add(turn.probe)
            log.add(turn.question)
            for hint in (h for h in parent.hints if h.turn == turn.number):
                log.add(hint)
            text = edits.get(turn.number, turn.answer.text)
            log.add(ev.AnswerGiven(turn=turn.number, msg_id=f"replay-{turn.number}", text=text))
            if turn.code is not None and turn.number not in edits:
                log.add(ev.CodeChecked(turn=turn.number, report=turn.code))
            edited = any(n <= turn.number for n in edits)
            if turn.number < from_turn:
                reuse = turn if not edited else turn.model_copy(update={"result": None})
                log.add(await self._reading(log.state, reuse, round_))
        return log.session_id, await self._store(log)

    async def compare(self, child_id: str) -> ReplayDiff:
        """Return what a replay changed against its parent.

        Raises:
            UnknownSession: no such session, or its parent was deleted.
            Refused: the session is not a replay, or one of the two still runs in real mode.
        """
        child = await self._sessions.state(child_id)
        if child.started.parent is None:
            raise Refused("not_a_replay", "This session is not a replay of another.")
        parent = await self._sessions.state(child.started.parent)
        _readable(parent)
        _readable(child)
        return self._compare(parent, child)

    def packet(self, state: SessionState) -> Debrief:
        """Return the debrief of a session."""
        library = self._deps.library
        rubric = library.rubrics.get(state.started.rubric)
        if rubric is None:
            raise Refused("unknown_rubric", f"The rubric {state.started.rubric!r} of this session no longer exists.")
        scenario = library.scenarios.get(state.started.scenario or "")
        return debrief(state, rubric, library.vocabulary, library.drills, scenario)

    def _compare(self, parent: SessionState, child: SessionState) -> ReplayDiff:
        return diff(parent, self.packet(parent), child, self.packet(child))

    def _start(self, parent: SessionState, persona: Persona, rubric: Rubric) -> ev.SessionStarted:
        scenario = self._deps.library.scenarios.get(parent.started.scenario or "")
        return parent.started.model_copy(
            update={
                "persona": persona.id,
                "rubric": rubric.id,
                "origin": "replay",
                "parent": parent.id,
                "versions": self._sessions.versions(persona, rubric, scenario),
            }
        )

    async def _replay_turn(
        self, log: _Log, parent: SessionState, turn: Turn, persona: Persona, rubric: Rubric, rejudge: bool
    ) -> None:
        probe, question = turn.probe, turn.question
        assert probe is not None and question is not None
        scenario = self._deps.library.scenarios.get(parent.started.scenario or "")
        only = opens_with(log.state, scenario if scenario and scenario.rubric == rubric.id else None)
        choice = decide(log.state, rubric, persona, min(probe.elapsed, 0.99), only)
        log.add(probe)
        log.add(question)
        if isinstance(choice, Ask):
            log.add(
                ev.ProbeChosen(
                    turn=turn.number,
                    question_id=choice.question_id,
                    criterion=choice.criterion,
                    move=choice.move,
                    probe=choice.probe,
                    reason=choice.reason,
                    elapsed=probe.elapsed,
                    counterfactual=True,
                )
            )
        for hint in (h for h in parent.hints if h.turn == turn.number):
            log.add(hint)
        if turn.answer is not None:
            log.add(turn.answer)
            if turn.code is not None:
                log.add(ev.CodeChecked(turn=turn.number, report=turn.code))
            reuse = turn.model_copy(update={"result": None}) if rejudge else turn
            log.add(await self._reading(log.state, reuse, rubric))

    async def _reading(self, state: SessionState, turn: Turn, rubric: Rubric) -> ev.Event:
        """Return the reading of a turn: the parent's when it still holds, else a new one."""
        if isinstance(turn.result, Assessment):
            return ev.AnswerAssessed(turn=turn.number, assessment=turn.result)
        question_id = turn.question_id or ""
        question = rubric.question(question_id)
        said = [Said(turn=t.number, text=t.answer.text) for t in state.on_question(question_id) if t.answer]
        names = [t.criterion for t in question.targets] if question else list(rubric.must_ask)
        asked = question.wording(state.started.level) if question else (turn.question.text if turn.question else "")
        result = await self._deps.judging.assess(asked, said, specs(self._deps.library.vocabulary, names))
        result = held(result, latest_code(state, state.turns[-1]))
        if isinstance(result, Assessment):
            return ev.AnswerAssessed(turn=turn.number, assessment=result)
        return ev.AnswerUnscored(turn=turn.number, reason=result.reason, detail=result.detail, notices=result.notices)

    async def _store(self, log: _Log) -> str:
        token = secrets.token_urlsafe(24)
        await self._deps.store.create(log.session_id, log.at, log.events, token_hash=hash_token(token))
        return token


def _readable(state: SessionState) -> None:
    """Refuse what would show the levels of a session in real mode before it has ended."""
    if state.started.mode == "real" and state.ended is None:
        raise Refused("session_running", "In real mode nothing is shown before the session has ended.")


class _Log:
    """A log that is written in memory first, so that the child is stored whole or not at all."""

    def __init__(self, session_id: str, at: datetime, start: ev.SessionStarted) -> None:
        self.session_id = session_id
        self.at = at
        self.events: list[ev.Event] = []
        self._state: SessionState | None = None
        self.add(start)

    @property
    def state(self) -> SessionState:
        assert self._state is not None
        return self._state

    def add(self, event: ev.Event) -> None:
        self.events.append(event)
        recorded = ev.Recorded(session_id=self.session_id, seq=len(self.events), at=self.at, event=event)
        self._state = evolve(self._state, recorded)
