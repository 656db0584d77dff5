"""Rates, quotas, expiry, retention, and what a log may hold."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from interviewer.adapters.store.keys import SqlKeyStore
from interviewer.core.access import Bucket, seconds_to_midnight, take
from interviewer.service.accounts import Accounts, Rules
from interviewer.service.keys import Key
from interviewer.service.metering import PAYER, MeteredJudge, MeteredModel
from interviewer.service.ports import StoreError
from interviewer.service.retention import keep
from interviewer.testing import FakeClock, ScriptedJudge, ScriptedModel
from tests.service.kit import FlakyStore, deps, eventually
from tests.store.samples import NOON, answer, started

from .access_kit import TEXT, WORDS, House, house, moment
from .kit import running
from .test_access import QUESTION, refused


def test_a_bucket_gives_a_burst_and_then_an_even_pace() -> None:
    bucket: Bucket | None = None
    for _ in range(2):
        bucket, wait = take(bucket, 100.0, per_minute=30, burst=2)
        assert wait == 0
    bucket, wait = take(bucket, 100.5, per_minute=30, burst=2)
    assert wait == pytest.approx(1.5), "one every two seconds, a quarter of one is there"
    bucket, wait = take(bucket, 102.0, per_minute=30, burst=2)
    assert wait == 0
    bucket, _ = take(bucket, 10_000.0, per_minute=30, burst=2)
    assert bucket.left == 1, "it holds no more than a burst"


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        ("2026-03-01T23:59:59+00:00", 1),
        ("2026-03-01T00:00:00+00:00", 86_400),
        ("2026-12-31T23:00:00.5+00:00", 3600),
        ("2026-03-02T00:30:00+02:00", 5400),
    ],
)
def test_a_quota_begins_again_at_midnight_utc(now: str, seconds: int) -> None:
    assert seconds_to_midnight(moment(now)) == seconds


async def test_too_many_requests_are_told_when_to_come_back(tmp_path: Path) -> None:
    async with house(tmp_path, rules=Rules(per_minute=1, burst=3)) as home:
        answers = [await home.call(home.alice, "GET", "/v1/personas") for _ in range(4)]
        assert [a.status_code for a in answers] == [200, 200, 200, 429]
        error = answers[3].json()["error"]
        assert error["code"] == "rate_limited"
        assert 1 <= int(answers[3].headers["retry-after"]) == error["retry_after"] <= 61
        assert (await home.call(home.bob, "GET", "/v1/personas")).status_code == 200, "others are not slowed down"
        nobody = [(await home.call(None, "POST", "/v1/auth", {"key": "imk_guess_1"})).status_code for _ in range(4)]
        assert nobody == [401, 401, 401, 429], "nor can keys be guessed at speed"
        assert (await home.call(None, "GET", "/healthz")).status_code == 200


async def test_engine_time_of_a_day_is_accounted_and_ends(tmp_path: Path) -> None:
    clock = FakeClock(moment("2026-03-01T22:00:00+00:00"), step=0.0)
    async with house(tmp_path, rules=Rules(per_minute=60_000, burst=60_000, engine_seconds=30), clock=clock) as home:
        key = (await home.accounts.keys())[0]
        await home.call(home.alice, "POST", "/v1/score", QUESTION)
        await home.accounts.settled()
        assert await spent(tmp_path, key, "2026-03-01") > 0, "the judge's time is put down"
        opened = await home.create(home.alice)
        async with home.server.joined(opened) as client:
            await client.stage("waiting")
            home.accounts.charge(key.id, 30.0)
            await home.accounts.settled()
            await client.send(type="answer", msg_id="m1", text="Late.")
            message = await client.refused("quota_spent")
            assert "00:00 UTC, in 2 h 0 min" in message["message"]
            assert (message["retryable"], message["msg_id"]) == (True, "m1")
        for path, body in [("/v1/score", QUESTION), ("/v1/loops", {}), ("/v1/sessions", {"persona": "recruiter"})]:
            answer_ = await home.call(home.alice, "POST", path, body)
            assert (answer_.status_code, answer_.json()["error"]["code"]) == (429, "quota_spent")
            assert answer_.headers["retry-after"] == "7200"
        assert (await home.call(home.alice, "GET", f"/v1/sessions/{opened['id']}/transcript")).status_code == 200
        assert (await home.call(home.bob, "POST", "/v1/score", QUESTION)).status_code == 200
        clock.advance(7200)
        assert (await home.call(home.alice, "POST", "/v1/score", QUESTION)).status_code == 200, "a new day"


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def spent(folder: Path, key: Key, day: str) -> float:
    store = SqlKeyStore.open(f"sqlite:///{folder / 'keys.db'}")
    try:
        return await store.spent(key.id, day)
    finally:
        await store.close()


async def test_tickets_and_sign_ins_end(tmp_path: Path) -> None:
    clock = FakeClock(step=0.0)
    async with house(tmp_path, clock=clock) as home:
        opened = await home.create(home.alice)
        clock.advance(31)
        async with home.server.socket(opened) as client:
            await client.send(type="hello", token=opened["token"])
            await refused(client)
        _, cookie = await home.accounts.sign_in(home.alice)
        assert await home.accounts.by_cookie(cookie)
        clock.advance(12 * 3600)
        assert await home.accounts.by_cookie(cookie) is None
        _, cookie = await home.accounts.sign_in(home.alice)
        for key in await home.accounts.keys():
            if key.name == "alice" and not key.revoked_at:
                await home.accounts.revoke(key.id)
        assert await home.accounts.by_cookie(cookie) is None, "revoking the key puts its browsers out"


async def test_only_the_hash_of_a_key_is_kept(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        listed = str(await home.accounts.keys())
        files = on_disk(tmp_path)
        for secret in (home.alice, home.bob, home.gone):
            assert len(secret.split("_", 2)[2]) == 43, "32 random bytes"
            assert secret.split("_", 2)[2] not in listed
            assert secret.split("_", 2)[2].encode() not in files


@pytest.mark.parametrize("secret", ["", "imk_", "imk__", "imk_00000000_x", "sk-123", "imk_\x00_x", "imk_" + "é" * 40])
async def test_what_is_no_key_is_refused(tmp_path: Path, secret: str) -> None:
    store = SqlKeyStore.open("sqlite://")
    assert await Accounts(store, FakeClock()).by_secret(secret) is None
    await store.close()


async def test_a_whole_interview_leaves_no_words_or_secrets_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("aiosqlite", "asyncio", "websockets", "httpcore2", "httpx2"):  # the client's own, in this process
        logging.getLogger(name).setLevel(logging.WARNING)
    async with house(tmp_path) as home:
        secrets = [home.alice, home.bob]
        opened = await home.create(home.alice)
        secrets.append(opened["token"])
        async with home.server.joined(opened) as client:
            await client.stage("waiting")
            await client.send(type="answer", msg_id="m1", text=f"We held p99 at 800 ms, {WORDS}.")
            await client.stage("waiting", 2)
            await client.send(type="nonsense", text=WORDS)
            await client.kind("error")
            await client.send(type="end")
            await client.kind("report.ready")
        for path in ("", "/report", "/transcript", "/events"):
            await home.call(home.alice, "GET", f"/v1/sessions/{opened['id']}{path}")
        await home.call(home.alice, "POST", "/v1/transcripts", {"rubric": "deep_dive", "content": TEXT})
        await home.call(home.alice, "POST", "/v1/score", {**QUESTION, "answer": WORDS, "extra": WORDS})
        await failing(home)
        cookie = (await home.server.http.post("/v1/auth", json={"key": home.bob})).cookies["interviewer_session"]
        secrets.append(cookie)
        await home.call(home.alice, "DELETE", f"/v1/sessions/{opened['id']}")
    assert caplog.records, "something was logged, or this shows nothing"
    written = "\n".join(f"{r.getMessage()} {r.exc_text or ''}" for r in caplog.records)
    for found in (*secrets, *WORDS.split()[:2]):
        assert found not in written
    assert WORDS.split()[0] not in home.audit.read_text(encoding="utf-8")


async def failing(home: House) -> None:
    """Let the store fail under a request, which is logged."""
    home.server.store.broken = True
    body = {"persona": "recruiter", "background": WORDS}
    assert (await home.call(home.alice, "POST", "/v1/sessions", body)).status_code == 503
    home.server.store.broken = False


def kept(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what retention logged."""
    return [r.getMessage() for r in caplog.records if r.name == "interviewer.service.retention"]


async def test_old_sessions_are_deleted_with_their_replays_and_counted_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="interviewer.service.retention")
    path = tmp_path / "old.db"
    store = FlakyStore.open(f"sqlite:///{path}")
    await store.create_loop("old-loop", NOON - timedelta(days=9), "mid")
    old = NOON - timedelta(days=8)
    await store.create("old", old, [started(resume=WORDS), answer(text=WORDS)], token_hash="h", loop_id="old-loop")
    await store.create("again", NOON - timedelta(days=1), [started(parent="old"), answer(text=WORDS)], token_hash="h")
    await store.create("new", NOON - timedelta(days=6), [started()], token_hash="h")
    given = deps(store, clock=FakeClock(NOON))
    async with running(given, keep_days=7) as server:
        await eventually(lambda: bool(kept(caplog)))
        assert [row["id"] for row in (await server.http.get("/v1/sessions")).json()["sessions"]] == ["new"]
        assert (await server.http.get("/v1/loops/old-loop")).status_code == 404
        assert kept(caplog) == ["deleted 2 sessions that nothing was added to for 7 days"]
    assert b"pelican" not in on_disk(tmp_path), "really"


async def test_a_store_that_fails_does_not_end_retention(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(FlakyStore):
        async def purge(self, before: object) -> int:
            raise StoreError("the disk is full")

    failing_ = Failing.open("sqlite://")
    task = asyncio.create_task(keep(failing_, FakeClock(), 1))
    await eventually(lambda: bool(kept(caplog)))
    assert not task.done() and "next try" in kept(caplog)[0]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await failing_.close()


async def test_the_meter_counts_the_model_and_not_its_reader() -> None:
    bills: list[tuple[str, float]] = []

    def charge(key: str, seconds: float) -> None:
        bills.append((key, seconds))

    model = MeteredModel(ScriptedModel("One two."), charge)
    said = [p async for p in model.stream("m", [], max_tokens=1, temperature=0, seed=1)]
    assert (said, bills) == (["One ", "two. "], []), "nobody pays without accounts"
    PAYER.set("k1")
    said = [p async for p in model.stream("m", [], max_tokens=1, temperature=0, seed=1)]
    inner = ScriptedJudge(RuntimeError("broken"))
    judge = MeteredJudge(inner, charge)
    with pytest.raises(RuntimeError):
        await judge.read(None, [])  # type: ignore[arg-type]
    assert [key for key, _ in bills] == ["k1", "k1"], "also for what failed"
    assert all(seconds >= 0 for _, seconds in bills)
    assert (judge.identity, judge.stamp, judge.budget) == (inner.identity, inner.stamp, inner.budget)
