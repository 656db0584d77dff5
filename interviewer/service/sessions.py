"""All sessions of this process: creating, opening, following and deleting them.

Invariant: a session is loaded at most once in a process, and its frames reach each follower in order. A follower that
does not read holds a bounded amount of memory: deltas of one question are merged while they wait.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from interviewer.core import events as ev
from interviewer.core.drills import Drill
from interviewer.core.job import best_scenario
from interviewer.core.persona import Persona
from interviewer.core.prompts import VERSION
from interviewer.core.rubric import Rubric, SeniorityLevel
from interviewer.core.scenario import Scenario
from interviewer.core.session import SessionState, evolve, fold
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.frames import Delta, Frame
from interviewer.service.interview import Interview
from interviewer.service.telemetry import Watch

ANY = "any"
"""Asks for a scenario without saying which."""
LOOP_ORDER = ("recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral")


class Follower:
    """Frames of one session, waiting for one reader."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._frames: deque[Frame] = deque()
        self._wake = asyncio.Event()
        self.replaced = False
        """Set when another client took the session over."""
        self.finished = False
        """Set when nothing more will come."""

    def put(self, frame: Frame) -> None:
        """Add a frame; merges a delta into the one before it when the reader is behind."""
        last = self._frames[-1] if self._frames else None
        if isinstance(frame, Delta) and isinstance(last, Delta) and last.turn == frame.turn:
            self._frames[-1] = replace(last, text=last.text + frame.text)
        else:
            self._frames.append(frame)
        self._wake.set()

    def replace(self) -> None:
        """Tell the reader that another client follows the session now."""
        self.replaced = True
        self._wake.set()

    def finish(self) -> None:
        """Let the reader have what waits, and then end."""
        self.finished = True
        self._wake.set()

    async def get(self) -> Frame | None:
        """Return the next frame; ``None`` when the follower was replaced, or finished and nothing waits."""
        while not self._frames and not self.replaced and not self.finished:
            self._wake.clear()
            await self._wake.wait()
        return None if self.replaced or not self._frames else self._frames.popleft()


class Live:
    """A loaded session with its one follower."""

    def __init__(self, state: SessionState, deps: Deps) -> None:
        """Load the interview."""
        self.interview = Interview(state, deps, Watch(state.id, deps.telemetry, self._sink))
        self.follower: Follower | None = None

    def follow(self) -> Follower:
        """Become the session's follower; the previous one is told."""
        if self.follower is not None:
            self.follower.replace()
        self.follower = Follower()
        return self.follower

    def unfollow(self, follower: Follower) -> None:
        """Stop following, unless somebody else already took over."""
        if self.follower is follower:
            self.follower = None

    def _sink(self, frame: Frame) -> None:
        if self.follower is not None:
            self.follower.put(frame)


class Sessions:
    """The sessions that are loaded, and the way to all others."""

    def __init__(self, deps: Deps) -> None:
        """Start with none loaded."""
        self._deps = deps
        self._live: dict[str, Live] = {}
        self._loading = asyncio.Lock()

    @property
    def loaded(self) -> int:
        """How many sessions are in memory."""
        return len(self._live)

    @property
    def busy(self) -> int:
        """How many sessions have a turn under way."""
        return sum(live.interview.busy for live in self._live.values())

    async def create(
        self,
        *,
        persona: str | None = None,
        rubric: str | None = None,
        level: SeniorityLevel = "mid",
        mode: ev.Mode = "practice",
        minutes: int | None = None,
        seed: int | None = None,
        background: str = "",
        resume: str = "",
        job: str = "",
        scenario: str | None = None,
        drill: str | None = None,
        question: str | None = None,
        loop_id: str | None = None,
        owner: str = "",
    ) -> tuple[str, str]:
        """Store a new session of ``owner``; returns its id and the token that its client has to show.

        Raises:
            Refused: no such persona, rubric, scenario, drill or question, or one of them is of another round.
            StoreError: nothing was stored.
        """
        exercise = self._drill(drill, rubric)
        if exercise is not None:
            rubric = exercise.rubric
            persona = persona or self._deps.library.rubrics[exercise.rubric].persona
            scenario = scenario or (ANY if exercise.scenario and question is None else None)
        if question is not None:
            asked_in = self._opening(question, rubric, exercise)
            rubric, persona = asked_in.id, persona or asked_in.persona
        who, round_ = self.documents(persona or "", rubric)
        seed = secrets.randbits(31) if seed is None else seed
        played = self._scenario(scenario, round_, seed, job)
        if played is not None and question not in (None, played.question):
            message = f"The scenario {played.id!r} opens with {played.question!r}; leave one of the two out."
            raise Refused("unknown_scenario", message)
        session_id, token = self._deps.new_id(), secrets.token_urlsafe(24)
        started = ev.SessionStarted(
            persona=who.id,
            rubric=round_.id,
            level=level,
            mode=mode,
            minutes=minutes or (exercise or round_).minutes,
            seed=seed,
            background=background,
            resume=resume,
            job=job,
            scenario=played.id if played else None,
            drill=exercise.id if exercise else None,
            question=question,
            versions=self.versions(who, round_, played, exercise),
        )
        await self._deps.store.create(
            session_id,
            self._deps.clock.now(),
            [started],
            token_hash=hash_token(token),
            loop_id=loop_id,
            owner=owner,
        )
        return session_id, token

    def documents(self, persona: str, rubric: str | None) -> tuple[Persona, Rubric]:
        """Return the documents of a session.

        Raises:
            Refused: no such persona or rubric; the message lists those there are.
        """
        library = self._deps.library
        who = library.personas.get(persona)
        if who is None:
            known = ", ".join(library.personas)
            raise Refused("unknown_persona", f"There is no persona {persona!r}; there are: {known}.")
        round_ = library.rubrics.get(rubric or who.rubric)
        if round_ is None:
            raise Refused("unknown_rubric", f"There is no rubric {rubric!r}; there are: {', '.join(library.rubrics)}.")
        return who, round_

    def _drill(self, wanted: str | None, rubric: str | None) -> Drill | None:
        """Return the drill of a session.

        Raises:
            Refused: there is none of that name, or it is a piece of another round than the one that was named.
        """
        if wanted is None:
            return None
        offered = [d for d in self._deps.library.drills.drills if d.rubric in self._deps.library.rubrics]
        found = next((d for d in offered if d.id == wanted), None)
        if found is None:
            known = ", ".join(d.id for d in offered) or "none"
            raise Refused("unknown_drill", f"There is no drill {wanted!r}; there are: {known}.")
        if rubric is not None and rubric != found.rubric:
            raise Refused(
                "unknown_drill", f"The drill {wanted!r} is a piece of the round {found.rubric!r}; leave the rubric out."
            )
        return found

    def _opening(self, wanted: str, rubric: str | None, drill: Drill | None) -> Rubric:
        """Return the round of the question that a session shall open with.

        Raises:
            Refused: there is none of that id, it is of another round than the one that was named, or the drill does
                not ask it; the message lists those that fit.
        """
        rounds = self._deps.library.rubrics
        named = rounds.get(rubric or "")
        here = drill.questions if drill else tuple(q.id for q in named.questions) if named else ()
        found = self._deps.library.find_question(wanted)
        if found is not None and (wanted in here or rubric is None):
            return found[0]
        fitting = ", ".join(here or (q.id for r in rounds.values() for q in r.questions))
        if found is None:
            raise Refused("unknown_question", f"There is no question {wanted!r}; there are: {fitting}.")
        where = f"the drill {drill.id!r}" if drill else f"the round {rubric!r}"
        raise Refused(
            "unknown_question",
            f"{wanted!r} is a question of the round {found[0].id!r} and not of {where}; leave that out, or take one "
            f"of: {fitting}.",
        )

    def _scenario(self, wanted: str | None, rubric: Rubric, seed: int, job: str = "") -> Scenario | None:
        """Return the scenario of a session: the one that was named, one by the job or the seed for ``any``, or none.

        Raises:
            Refused: there is none of that name for this round.
        """
        if wanted is None:
            return None
        fitting = [s for s in self._deps.library.scenarios.values() if s.rubric == rubric.id]
        if wanted == ANY and fitting:
            return best_scenario(job, fitting) or fitting[seed % len(fitting)]
        found = next((s for s in fitting if s.id == wanted), None)
        if found is None:
            known = ", ".join(s.id for s in fitting) or "none"
            raise Refused(
                "unknown_scenario", f"The round {rubric.id!r} has no scenario {wanted!r}; there are: {known}."
            )
        return found

    def versions(
        self, persona: Persona, rubric: Rubric, scenario: Scenario | None = None, drill: Drill | None = None
    ) -> ev.Versions:
        """Return what shapes a session that starts now."""
        deps = self._deps
        return ev.Versions(
            rubric=deps.library.hashes.get(f"rubric:{rubric.id}", ""),
            persona=deps.library.hashes.get(f"persona:{persona.id}", ""),
            prompt=VERSION,
            model=deps.base,
            adapter=deps.served.get(persona.id),
            judge=deps.judging.identity,
            scenario=deps.library.hashes.get(f"scenario:{scenario.id}", "") if scenario else None,
            drill=hashlib.sha256(drill.model_dump_json().encode()).hexdigest()[:12] if drill else None,
        )

    async def state(self, session_id: str) -> SessionState:
        """Return the state of a session, from memory when it is loaded, with what another worker added since.

        Raises:
            UnknownSession: no such session.
        """
        live = self._live.get(session_id)
        if live is not None and live.interview.state.started.origin != "imported":
            state = live.interview.state
            for recorded in await self._deps.store.load(session_id, after=state.seq):
                state = evolve(state, recorded)
            return state
        return fold(await self._deps.store.load(session_id))

    async def open(self, session_id: str) -> Live:
        """Load a session, once, and let it go on.

        Raises:
            UnknownSession: no such session.
            Refused: it cannot go on because its rubric or persona no longer exists.
        """
        async with self._loading:
            live = self._live.get(session_id)
            if live is None:
                state = fold(await self._deps.store.load(session_id))
                if state.ended is None:
                    self.documents(state.persona, state.started.rubric)
                live = Live(state, self._deps)
                self._live[session_id] = live
        live.interview.resume()
        return live

    def release(self, session_id: str) -> None:
        """Forget a loaded session that nobody follows, as soon as nothing works on it."""
        live = self._live.get(session_id)
        if live is None or live.follower is not None:
            return
        if live.interview.busy:
            live.interview.when_idle(lambda: self.release(session_id))
        else:
            del self._live[session_id]

    async def delete(self, session_id: str) -> None:
        """Stop and delete a session and its replays, which repeat what was said in it; really.

        Raises:
            UnknownSession: no such session.
            StoreError: nothing was deleted.
        """
        for each in (session_id, *await self._deps.store.replays(session_id)):
            await self.drop(each)
        await self._deps.store.delete(session_id)

    async def drop(self, session_id: str) -> None:
        """Stop a session that is being deleted and tell who follows it."""
        live = self._live.pop(session_id, None)
        if live is not None:
            await live.interview.stop()
            if live.follower is not None:
                live.follower.replace()

    async def check_token(self, session_id: str, token: str) -> bool:
        """Return whether ``token`` is the session's; takes the same time for every wrong one.

        Raises:
            UnknownSession: no such session.
        """
        return hmac.compare_digest(await self._deps.store.token_hash(session_id), hash_token(token))

    async def new_token(self, session_id: str) -> str:
        """Replace the session's token and return the new one.

        Raises:
            UnknownSession: no such session.
        """
        token = secrets.token_urlsafe(24)
        await self._deps.store.set_token_hash(session_id, hash_token(token))
        return token

    async def create_loop(
        self,
        *,
        level: SeniorityLevel,
        mode: ev.Mode,
        minutes: int | None,
        background: str = "",
        resume: str = "",
        job: str = "",
        rounds: Sequence[str] = LOOP_ORDER,
        owner: str = "",
    ) -> tuple[str, list[tuple[str, str]]]:
        """Create one session per round, grouped; returns the loop's id and ``(session id, token)`` in order.

        All rounds get one profile of the candidate; what was said in one is known in no other.

        Raises:
            Refused: a round has no rubric.
            StoreError: not all were stored.
        """
        for rubric in rounds:
            if rubric not in self._deps.library.rubrics:
                raise Refused("unknown_rubric", f"A loop needs the rubric {rubric!r}, which is not there.")
        loop_id = self._deps.new_id()
        await self._deps.store.create_loop(loop_id, self._deps.clock.now(), level, owner)
        created = []
        for rubric in rounds:
            persona = self._deps.library.rubrics[rubric].persona
            created.append(
                await self.create(
                    persona=persona,
                    rubric=rubric,
                    level=level,
                    mode=mode,
                    minutes=minutes,
                    background=background,
                    resume=resume,
                    job=job,
                    loop_id=loop_id,
                    owner=owner,
                )
            )
        return loop_id, created

    async def stop(self) -> None:
        """Stop all work; accepted answers are stored already and go on at the next start."""
        for live in list(self._live.values()):
            await live.interview.stop()


def hash_token(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
