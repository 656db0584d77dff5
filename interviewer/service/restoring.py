"""Restoring: a session out of an export, with the events, times and readings that it had.

Invariant: what is taken is whole, legal and can be reported, and every quote in it is the candidate's own words; else
nothing is stored.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from interviewer.core import events as ev
from interviewer.core.assessment import Frozen
from interviewer.core.session import IllegalEvent, SessionState, fold
from interviewer.service.deps import Deps
from interviewer.service.errors import Refused
from interviewer.service.ports import ConcurrentAppend
from interviewer.service.replay import Replays
from interviewer.service.sessions import Sessions, hash_token

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_TRIES = 3


class Restored(Frozen):
    """What became of a session of an export."""

    id: str
    """Another one than in the export where that is taken by something else."""
    token: str
    repeated: bool
    """True when the very session is there already."""


class Restores:
    """Takes sessions back in."""

    def __init__(self, deps: Deps, sessions: Sessions, replays: Replays) -> None:
        """Keep the collaborators."""
        self._deps, self._sessions, self._replays = deps, sessions, replays

    async def restore(self, log: Sequence[ev.Recorded], owner: str = "") -> Restored:
        """Store a session as it stands in an export.

        Args:
            log: All its events.
            owner: Whose it becomes.

        Raises:
            Refused: ``bad_log``: the events are not one whole session that this program could have written.
            StoreError: nothing was stored.
        """
        await asyncio.to_thread(self._check, log)
        session_id, token = log[0].session_id, secrets.token_urlsafe(24)
        for _ in range(_TRIES):
            mine = [record.model_copy(update={"session_id": session_id}) for record in log]
            try:
                await self._deps.store.restore(mine, token_hash=hash_token(token), owner=owner)
                return Restored(id=session_id, token=token, repeated=False)
            except ConcurrentAppend:
                if await self._deps.store.owner(session_id) == owner and await self._there(session_id, mine):
                    token = await self._sessions.new_token(session_id)
                    return Restored(id=session_id, token=token, repeated=True)
                session_id = self._deps.new_id()
        raise Refused("conflict", "No free id was found for this session; try again.", retryable=True)

    async def _there(self, session_id: str, log: Sequence[ev.Recorded]) -> bool:
        """Return whether the session in the store is this one, or has gone on from it."""
        return (await self._deps.store.load(session_id))[: len(log)] == list(log)

    def _check(self, log: Sequence[ev.Recorded]) -> None:
        started = log[0].event
        names = [started.persona, started.rubric] if isinstance(started, ev.SessionStarted) else []
        if len({record.session_id for record in log}) != 1 or not _ID.fullmatch(log[0].session_id):
            raise Refused("bad_log", "The events have to be of one session, with an id of letters, digits, - and _.")
        if not all(record.at.tzinfo and _FIRST <= record.at < _LAST for record in log):
            raise Refused("bad_log", "Each event needs the time at which it happened, with its offset from UTC.")
        try:
            state = fold(log)
            same = [ev.Recorded.model_validate_json(record.model_dump_json()) for record in log] == list(log)
        except IllegalEvent as error:
            raise Refused(
                "bad_log",
                f"The events are not a whole session: {error}. One that still ran in real mode is exported without "
                "what its candidate may not see yet; export it again when it has ended.",
            ) from error
        except ValueError:
            same = False
        if not same or not all(name.isprintable() for name in names):
            raise Refused("bad_log", "An event would not come back from the store as it is.")
        _quotes(state)
        try:
            self._replays.packet(state)
        except Refused:
            pass  # its rubric is not here; it can be kept and exported all the same
        except (ArithmeticError, LookupError, TypeError, ValueError, AssertionError) as error:
            raise Refused("bad_log", f"No report can be made of these events ({type(error).__name__}).") from error


def _quotes(state: SessionState) -> None:
    said = {turn.number: turn.answer.text for turn in state.turns if turn.answer}
    for turn in state.turns:
        for found in getattr(turn.result, "criteria", ()):
            for quote in found.evidence:
                if said.get(quote.turn or turn.number, "")[quote.start : quote.end] != quote.text:
                    raise Refused(
                        "bad_log", f"Turn {turn.number} quotes {quote.text[:80]!r}, which the candidate did not say."
                    )
