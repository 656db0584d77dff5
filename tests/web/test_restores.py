"""An export comes back as it was: events, times, levels and report; what no interview could have been is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interviewer.adapters.system import new_id
from interviewer.testing import ScriptedJudge
from tests.service.kit import ANSWER, FlakyStore, deps

from .access_kit import TEXT, house
from .kit import Running, running
from .test_http import interview


async def exported(server: Running) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (await server.http.get("/v1/export")).text.splitlines()]


async def restored(server: Running, events: object) -> Any:
    return await server.http.post("/v1/restores", json={"events": events})


async def test_everything_comes_back_as_it_was(tmp_path: Path) -> None:
    judge = ScriptedJudge(lambda criterion, text: 3 if "p99" in text else 1)
    async with running(deps(FlakyStore.open(f"sqlite:///{tmp_path / 'a.db'}"), judge=judge, new_id=new_id)) as server:
        held = (await interview(server))["id"]
        await server.http.post(f"/v1/sessions/{held}/replays", json={"persona": "hiring_manager"})
        taken = (await server.http.post("/v1/transcripts", json={"rubric": "deep_dive", "content": TEXT})).json()["id"]
        await server.service.imports.settled(taken)
        lines = await exported(server)
        before = (await server.http.get("/v1/progress")).json()
    assert len(lines) == 3
    async with running(deps(FlakyStore.open(f"sqlite:///{tmp_path / 'b.db'}"), judge=judge, new_id=new_id)) as server:
        for line in lines:
            made = (await restored(server, line["events"])).json()
            assert (made["id"], made["repeated"]) == (line["session"], False)
        assert await exported(server) == lines, "events, times and reports"
        after = (await server.http.get("/v1/progress")).json()
        assert after | {"now": None} == before | {"now": None}
        again = (await restored(server, lines[0]["events"])).json()
        assert (again["id"], again["repeated"]) == (lines[0]["session"], True)
        assert await exported(server) == lines
        await server.http.delete(f"/v1/sessions/{held}")
        assert [line["session"] for line in await exported(server)] == [taken], "its replay went with it"


async def test_a_session_that_was_not_over_goes_on_from_where_it_stood() -> None:
    async with running(deps(FlakyStore.open("sqlite://"), new_id=new_id)) as server:
        await interview(server, end=False)
        [line] = await exported(server)
    async with running(deps(FlakyStore.open("sqlite://"), new_id=new_id)) as server:
        made = (await restored(server, line["events"])).json()
        async with server.joined(made) as client:
            await client.stage("waiting", 3)
            await client.send(type="answer", msg_id="later", text=ANSWER)
            await client.stage("waiting", 4)
        [now] = await exported(server)
        assert now["events"][: len(line["events"])] == line["events"] and len(now["events"]) > len(line["events"])
        again = (await restored(server, line["events"])).json()
        assert (again["id"], again["repeated"]) == (made["id"], True), "it has gone on since, and stays"
        assert await exported(server) == [now]


def changed(events: list[dict[str, Any]], kind: str, **fields: Any) -> list[dict[str, Any]]:
    """Return the events with fields of the first one of a kind replaced."""
    made = json.loads(json.dumps(events))
    next(e["event"] for e in made if e["event"]["type"] == kind).update(fields)
    return list(made)


async def test_what_no_interview_was_is_refused_and_not_stored() -> None:
    async with running(deps(FlakyStore.open("sqlite://"), judge=ScriptedJudge(2), new_id=new_id)) as server:
        await interview(server)
        [line] = await exported(server)
        whole = line["events"]
        await server.http.delete(f"/v1/sessions/{line['session']}")
        other = json.loads(json.dumps(whole))
        other[1]["session_id"] = "another"
        naive = json.loads(json.dumps(whole))
        naive[0]["at"] = "2026-03-01T12:00:00"
        early = json.loads(json.dumps(whole))
        early[0]["at"] = "0001-01-01T00:00:00Z"
        for events, says in (
            (changed(whole, "answer_given", text="Something that was never said."), "did not say"),
            (whole[1:], "starts with session_started"),
            (whole[:2] + whole[3:], "not a whole session"),
            (other, "of one session"),
            ([{**e, "session_id": "../x"} for e in whole], "of one session"),
            (naive, "offset from UTC"),
            (early, "offset from UTC"),
            (changed(whole, "session_started", persona="a\u0000b"), "would not come back"),
        ):
            refused = await restored(server, events)
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_log"), says
            assert says in refused.json()["error"]["message"]
        shapes: tuple[object, ...] = ([], [{}], "events", [{**whole[0], "seq": 0}])
        for body in shapes:
            assert (await restored(server, body)).json()["error"]["code"] == "invalid_request"
        assert await exported(server) == []
        assert (await restored(server, changed(whole, "session_started", rubric="gone"))).status_code == 201, (
            "a round that is no longer here is kept all the same"
        )


@pytest.mark.parametrize("mine", [True, False])
async def test_an_id_that_is_taken_is_not_overwritten_and_tells_nothing(tmp_path: Path, mine: bool) -> None:
    async with house(tmp_path) as home:
        opened = await home.create(home.alice)
        text = (await home.call(home.alice, "GET", "/v1/export")).text
        events = changed(json.loads(text)["events"], "session_started", seed=99)
        made = await home.call(home.alice if mine else home.bob, "POST", "/v1/restores", {"events": events})
        assert made.status_code == 201 and made.json()["id"] != opened["id"] and not made.json()["repeated"]
        rows = (await home.call(home.alice, "GET", "/v1/sessions")).json()["sessions"]
        assert len(rows) == (2 if mine else 1)
        assert (await home.call(home.alice, "GET", f"/v1/sessions/{opened['id']}")).status_code == 200
