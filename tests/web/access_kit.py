"""A service with accounts: four callers, and one of everything that the first of them owns."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from interviewer.adapters.audit import AuditLog
from interviewer.adapters.store.keys import SqlKeyStore
from interviewer.adapters.system import SystemClock, new_id
from interviewer.service.accounts import Accounts, Rules
from interviewer.service.deps import Deps
from interviewer.service.metering import MeteredJudge, MeteredModel
from interviewer.testing import ScriptedJudge, ScriptedModel
from tests.service.kit import FlakyStore, deps

from .kit import Message, Running, running

WORDS = "cobalt pelican latency"
"""Words of a candidate that must turn up nowhere but in the session."""
TEXT = f"Interviewer: How did you serve it?\nCandidate: We held p99 at 800 ms at batch 8, {WORDS}."
ROOMY = Rules(per_minute=60_000, burst=60_000)


@dataclass
class House:
    """A running service with accounts, and keys."""

    server: Running
    accounts: Accounts
    alice: str
    bob: str
    gone: str
    """A key of alice's that was revoked."""
    audit: Path

    def headers(self, secret: str | None) -> dict[str, str]:
        return {"authorization": f"Bearer {secret}"} if secret else {}

    async def call(self, secret: str | None, method: str, path: str, body: object = None) -> Any:
        return await self.server.http.request(method, path, json=body, headers=self.headers(secret))

    async def create(self, secret: str) -> Message:
        answer = await self.call(secret, "POST", "/v1/sessions", {"persona": "deep_dive", "minutes": 20, "seed": 3})
        assert answer.status_code == 201, answer.text
        opened: Message = answer.json()
        return opened


@asynccontextmanager
async def house(
    folder: Path, *, rules: Rules = ROOMY, clock: Any = None, given: Deps | None = None, **parts: Any
) -> AsyncIterator[House]:
    """Serve with accounts as the command does: metered model and judge, keys in a database of their own."""
    clock = clock or SystemClock()
    accounts = Accounts(SqlKeyStore.open(f"sqlite:///{folder / 'keys.db'}"), clock, rules)
    (_, alice), (_, bob), (lost, gone) = [await accounts.add(name) for name in ("alice", "bob", "alice")]
    await accounts.revoke(lost.id)
    model = MeteredModel(ScriptedModel(), accounts.charge)
    judge = MeteredJudge(ScriptedJudge(1), accounts.charge)
    given = given or deps(FlakyStore.open("sqlite://"), model, judge, clock=clock, new_id=new_id)
    audit = folder / "audit.jsonl"
    async with running(given, accounts=accounts, audit=AuditLog(audit), **parts) as server:
        yield House(server, accounts, alice, bob, gone, audit)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
