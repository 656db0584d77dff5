"""Progress, attempts, export and deleting everything, on a real server; and what is left in the database file."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from interviewer.adapters.system import new_id
from interviewer.testing import FakeClock, ScriptedJudge
from tests.service.kit import ANSWER, FlakyStore, deps

from .access_kit import TEXT, WORDS, house
from .kit import Running, running
from .test_http import interview

IMPORT = {"rubric": "deep_dive", "content": TEXT}


def written(path: Path) -> bytes:
    """Return everything in the database file, the write-ahead log and its index."""
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


async def opened(server: Running, **fields: Any) -> str:
    return str((await interview(server, **fields))["id"])


async def test_progress_and_attempts_over_two_sessions() -> None:
    judge = ScriptedJudge(lambda criterion, text: 3 if "p99" in text else 1)
    async with running(deps(FlakyStore.open("sqlite://"), judge=judge, new_id=new_id)) as server:
        assert (await server.http.get("/v1/progress")).json()["suggestions"] == []
        first, second = await opened(server), await opened(server)
        real = await opened(server, mode="real", end=False)
        replay = await server.http.post(f"/v1/sessions/{first}/replays", json={"persona": "hiring_manager"})
        assert replay.status_code == 201
        seen = (await server.http.get("/v1/progress")).json()
        assert seen["sessions"] == 2, "no replay, and no real session before it is over"
        ids = {p["session_id"] for line in seen["criteria"] for p in line["points"]}
        assert ids == {first, second}
        assessed = [p for line in seen["criteria"] for p in line["points"] if p["level"] is not None]
        assert assessed and all(p["low"] <= p["expected"] <= p["high"] for p in assessed)
        question = seen["repeated"][0]
        path = f"/v1/questions/{question}/attempts"
        found = (await server.http.get(path)).json()
        assert [a["session_id"] for a in found["attempts"]] == [first, second]
        assert found["comparison"]["after"]["answers"][0] == ANSWER
        assert all(row["change"] == 0 for row in found["comparison"]["levels"])
        turned = (await server.http.get(path, params={"first": 2, "second": 1})).json()["comparison"]
        assert turned["before"]["session_id"] == second
        missing = await server.http.get(path, params={"first": 1, "second": 3})
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "unknown_attempt")
        for one in ({"first": 1}, {"first": 2}, {"second": 1}, {"second": 2}):
            pair = (await server.http.get(path, params=one)).json()["comparison"]
            assert (pair["before"]["at"], pair["after"]["at"]) == tuple(a["at"] for a in found["attempts"]), one
        beyond = await server.http.get(path, params={"first": 3})
        assert (beyond.status_code, beyond.json()["error"]["code"]) == (404, "unknown_attempt")
        missing = await server.http.get("/v1/questions/nope/attempts")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "unknown_question")
        await server.http.delete(f"/v1/sessions/{second}")
        assert (await server.http.get("/v1/progress")).json()["sessions"] == 1
        lines = [json.loads(line) for line in (await server.http.get("/v1/export")).text.splitlines()]
        assert {line["session"] for line in lines} == {first, real, replay.json()["id"]}
        assert {line["session"] for line in lines if line["report"] is None} == {real}
        assert "answer_assessed" not in {e["event"]["type"] for e in lines[1]["events"]}, "not before it is over"


async def test_export_in_three_formats() -> None:
    async with running(deps(FlakyStore.open("sqlite://"), new_id=new_id, clock=FakeClock())) as server:
        assert (await server.http.get("/v1/export")).text == ""
        held = await opened(server)
        [line] = [json.loads(each) for each in (await server.http.get("/v1/export")).text.splitlines()]
        log = (await server.http.get(f"/v1/sessions/{held}/events")).text.splitlines()
        assert line["events"] == [json.loads(each) for each in log]
        assert line["report"] == (await server.http.get(f"/v1/sessions/{held}/report")).json()
        table = await server.http.get("/v1/export?format=csv")
        assert table.headers["content-disposition"] == 'attachment; filename="interviews.csv"'
        rows = list(csv.DictReader(io.StringIO(table.text)))
        assert {r["criterion"]: r["level"] for r in rows} == {
            r["criterion"]: "" if r["level"] is None else str(r["level"]) for r in line["report"]["criteria"]
        }
        text = (await server.http.get("/v1/export?format=markdown")).text
        assert ANSWER in text and (await server.http.get(f"/v1/sessions/{held}/report?format=md")).text.strip() in text
        assert (await server.http.get("/v1/export?format=xml")).status_code == 422


async def test_deleting_everything_needs_the_word_and_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "all.db"
    async with running(deps(FlakyStore.open(f"sqlite:///{path}"), new_id=new_id)) as server:
        taken = (await server.http.post("/v1/transcripts", json=IMPORT)).json()["id"]
        await server.service.imports.settled(taken)
        running_ = await server.create(resume="Built the cobalt pelican cache.")
        assert (await server.http.post("/v1/loops", json={"background": f"About {WORDS}."})).status_code == 201
        async with server.joined(running_) as client:
            await client.stage("waiting")
            for confirm in ("", "?confirm=", "?confirm=yes"):
                refused = await server.http.delete(f"/v1/sessions{confirm}")
                assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_confirmed")
            gone = await server.http.delete("/v1/sessions?confirm=everything")
            assert (gone.status_code, gone.json()) == (200, {"sessions": 7})
            assert await client.closed() is not None
        assert (await server.http.get("/v1/sessions")).json()["sessions"] == []
        assert (await server.http.get("/v1/progress")).json()["sessions"] == 0
        held = written(path)
        for word in (b"pelican", taken.encode(), running_["id"].encode()):
            assert word not in held
    with closing(sqlite3.connect(path)) as connection:
        names = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        left = {
            n: connection.execute(f"SELECT count(*) FROM {n}").fetchone()[0] for n in names if n != "alembic_version"
        }
    assert set(left) >= {"session", "event", "loop"} and set(left.values()) == {0}


async def test_everything_is_what_one_owns(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        for secret in (home.alice, home.bob):
            taken = (await home.call(secret, "POST", "/v1/transcripts", IMPORT)).json()["id"]
            await home.server.service.imports.settled(taken)
        loops = [(await home.call(s, "POST", "/v1/loops", {})).json()["id"] for s in (home.alice, home.bob)]
        for secret in (home.alice, home.bob):
            exported = (await home.call(secret, "GET", "/v1/export")).text.splitlines()
            rows = (await home.call(secret, "GET", "/v1/sessions")).json()["sessions"]
            assert {json.loads(line)["session"] for line in exported} == {row["id"] for row in rows}
            assert (await home.call(secret, "GET", "/v1/progress")).json()["sessions"] == 1
        gone = await home.call(home.alice, "DELETE", "/v1/sessions?confirm=everything")
        assert gone.json() == {"sessions": 6}
        assert (await home.call(home.alice, "GET", "/v1/export")).text == ""
        assert (await home.call(home.bob, "GET", "/v1/progress")).json()["sessions"] == 1
        found = [
            (await home.call(s, "GET", f"/v1/loops/{i}")).status_code
            for s, i in zip((home.alice, home.bob), loops, strict=True)
        ]
        assert found == [404, 200]


async def test_only_a_key_for_interviews_reads_attempts(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        _, scorer = await home.accounts.add("alice", ("score",))
        for path in ("/v1/questions/dd-paged-kv/attempts", "/v1/progress", "/v1/export"):
            assert (await home.call(scorer, "GET", path)).status_code == 403
        assert (await home.call(scorer, "DELETE", "/v1/sessions?confirm=everything")).status_code == 403
        assert (await home.call(scorer, "GET", "/v1/questions")).status_code == 200


@pytest.mark.parametrize("sessions", [3])
async def test_sessions_of_one_moment_are_all_found(sessions: int) -> None:
    async with running(deps(FlakyStore.open("sqlite://"), new_id=new_id, clock=FakeClock())) as server:
        made = {(await server.create())["id"] for _ in range(sessions)}
        assert {i for i, _ in await server.store.ids()} == made
