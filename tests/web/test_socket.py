"""The socket on a real server: a whole interview, and coming back to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from interviewer.adapters.system import new_id
from interviewer.service.deps import Deps
from interviewer.testing import ScriptedModel
from tests.service.kit import ANSWER, FlakyStore, Saying, deps, eventually

from .kit import Message, Running, running

LEAD = "You mentioned the tail. "


def world(model: Saying | ScriptedModel | None = None) -> Deps:
    return deps(FlakyStore.open("sqlite://"), model)


async def test_a_question_streams_and_is_then_done(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as client:
        assert client.connection.subprotocol == "interview.v1"
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting", 2)
        done = [m for m in client.received if m["type"] == "question.done"]
        assert [m["turn"] for m in done] == [1, 2]
        for message in done:
            assert client.text(message["turn"]) == message["text"]
            assert not message["interrupted"]
        unordered = ("status", "question.delta", "prices")
        order = [m["type"] for m in client.received if m["type"] not in unordered]
        turn = ["event", "assessment", "event", "question.done"]
        assert order == ["welcome", "event", "event", "question.done", *turn]
        assert client.seqs() == [1, 2, 3, 4, 5, 6, 7]


async def test_practice_mode_shows_levels_with_quotes(server: Running) -> None:
    async with server.joined(await server.create()) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        read = await client.kind("assessment")
        event = read["recorded"]["event"]
        assert (read["turn"], event["type"]) == (1, "answer_assessed")
        quotes = [q for c in event["assessment"]["criteria"] for q in c["evidence"]]
        assert quotes and all(ANSWER[q["start"] : q["end"]] == q["text"] for q in quotes)


async def test_the_report_is_ready_when_the_candidate_ends(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="end")
        ready = await client.kind("report.ready")
        assert ready["url"] == f"/v1/sessions/{opened['id']}/report"
        await client.stage("ended")
        await client.send(type="answer", msg_id="late", text=ANSWER)
        assert (await client.refused("session_ended"))["msg_id"] == "late"
    report = await server.http.get(ready["url"])
    assert report.status_code == 200 and report.json()["session_id"] == opened["id"]


async def test_hint_and_persona_reach_the_client(server: Running) -> None:
    async with server.joined(await server.create()) as client:
        await client.stage("waiting", 1)
        await client.send(type="hint")
        hint = await client.until(lambda m: m["type"] == "event" and m["recorded"]["event"]["type"] == "hint_given")
        assert hint["recorded"]["event"]["rung"] == 1
        await client.send(type="persona", persona="hiring_manager")
        swap = await client.until(lambda m: m["type"] == "event" and "persona" in m["recorded"]["event"])
        assert swap["recorded"]["event"]["persona"] == "hiring_manager"
        await client.send(type="persona", persona="pirate")
        await client.refused("unknown_persona")


async def test_an_answer_sent_twice_is_applied_once(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        for _ in range(3):
            await client.send(type="answer", msg_id="same", text=ANSWER)
        await client.stage("waiting", 2)
        await client.send(type="answer", msg_id="same", text="changed")
        await client.alive()
        given = [m for m in client.received if m["type"] == "event" and "msg_id" in m["recorded"]["event"]]
        assert [m["recorded"]["event"]["text"] for m in given] == [ANSWER]
        assert not [m for m in client.received if m["type"] == "error"]


async def test_an_interrupt_is_acknowledged_and_nothing_more_is_sent() -> None:
    async with running(world(Saying(lambda p: f"{LEAD}Which of", hang=True))) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.until(lambda m: client.text(2) == LEAD)
            await client.send(type="interrupt", seen=3)
            done = await client.kind("question.done")
            assert (done["turn"], done["text"], done["interrupted"]) == (2, "You", True)
            await client.stage("waiting", 2)
            told = len(client.received)
            await client.alive()
            assert len(client.received) == told + 1, "only the pong"
        said = (await server.http.get(f"/v1/sessions/{opened['id']}/transcript")).json()
        assert said["lines"][-1]["text"] == "You"


async def test_missed_events_come_exactly_once(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as client:
        for turn in (1, 2):
            await client.stage("waiting", turn)
            await client.send(type="answer", msg_id=f"m{turn}", text=ANSWER)
        await client.stage("waiting", 3)
        everything = [m for m in client.received if "seq" in m and m["type"] != "welcome"]
    last = everything[-1]["seq"]
    for cut in range(last + 1):
        async with server.joined(opened, last_seq=cut) as client:
            status = await client.kind("status")
            assert (status["stage"], status["turn"]) == ("waiting", 3)
            missed = [m for m in client.received if "seq" in m and m["type"] != "welcome"]
            assert missed == [m for m in everything if m["seq"] > cut]
            await client.alive()


async def test_an_answer_whose_receipt_was_lost_goes_on_without_the_client() -> None:
    async with running(world(ScriptedModel(delay=0.01))) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.stage("reading")
            client.connection.transport.abort()
        async with server.joined(opened, last_seq=3) as client:
            await client.stage("waiting", 2)
            await client.send(type="answer", msg_id="m1", text=ANSWER)  # sent again: it has no receipt
            await client.alive()
            assert client.seqs() == [4, 5, 6, 7]


async def test_coming_back_in_mid_question_shows_what_was_said_so_far() -> None:
    model = Saying(lambda p: f"{LEAD}Which of", hang=True)
    async with running(world(model)) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.until(lambda m: client.text(2) == LEAD)
        async with server.joined(opened, last_seq=5) as client:
            assert client.received[0]["partial"] == LEAD
            assert (await client.kind("status"))["stage"] == "asking"
            await client.send(type="interrupt")
            done = await client.kind("question.done")
            assert done["text"] == LEAD.strip()


async def test_a_last_seq_from_the_future_means_start_over(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
    async with server.joined(opened, last_seq=9999) as client:
        resync = await client.receive()
        assert resync == {"type": "resync", "seq": 3}
        await client.stage("waiting", 1)
        assert client.seqs() == [1, 2, 3]


@pytest.mark.parametrize("ended", [False, True])
async def test_real_mode_keeps_levels_to_itself_until_the_end(server: Running, ended: bool) -> None:
    opened = await server.create(mode="real")
    base = f"/v1/sessions/{opened['id']}"

    def hidden(messages: list[Message]) -> bool:
        return not [m for m in messages if m["type"] == "assessment" or "probe_chosen" in str(m)]

    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting", 2)
        if ended:
            await client.send(type="end")
            await client.stage("ended")
        live = list(client.received)
    assert hidden(live), "nothing is shown while it runs"
    async with server.joined(opened) as client:
        await client.kind("status")
        assert hidden(client.received) is not ended
    log = (await server.http.get(f"{base}/events")).text
    report = await server.http.get(f"{base}/report")
    if ended:
        assert "answer_assessed" in log and "probe_chosen" in log
        assert report.status_code == 200
    else:
        assert "answer_assessed" not in log and "probe_chosen" not in log
        assert (report.status_code, report.json()["error"]["code"]) == (409, "session_running")
        replay = await server.http.post(f"{base}/replays", json={})
        assert (replay.status_code, replay.json()["error"]["code"]) == (409, "session_running")


async def test_deleting_ends_the_connection(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        assert (await server.http.delete(f"/v1/sessions/{opened['id']}")).status_code == 204
        assert await client.closed() == 4001
        assert client.received[-1]["code"] == "taken_over"
    async with server.socket(opened) as client:
        await client.send(type="hello", token=opened["token"])
        assert await client.closed() == 4401
    assert server.service.sessions.loaded == 0


async def test_a_second_client_takes_over(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as first:
        await first.stage("waiting", 1)
        async with server.joined(opened) as second:
            assert await first.closed() == 4001
            assert first.received[-1]["code"] == "taken_over"
            await second.stage("waiting", 1)
            await second.send(type="answer", msg_id="m1", text=ANSWER)
            await second.stage("waiting", 2)
    await eventually(lambda: server.service.sessions.loaded == 0)


async def test_a_service_that_stops_says_so_and_keeps_the_answer(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'interviews.db'}"
    async with running(deps(FlakyStore.open(url), ScriptedModel(delay=5.0), new_id=new_id)) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.stage("asking", 2)
            server.server.should_exit = True
            assert await client.closed() == 1012
    async with running(deps(FlakyStore.open(url))) as server, server.joined(opened, last_seq=3) as client:
        await client.stage("waiting", 2)
        assert client.seqs() == [4, 5, 6, 7], "answered before, asked after"


async def test_an_imported_session_can_be_looked_at_but_not_answered(server: Running) -> None:
    content = "Interviewer: Why is paging good?\nCandidate: It cuts fragmentation of the cache."
    taken = (await server.http.post("/v1/transcripts", json={"rubric": "deep_dive", "content": content})).json()
    await server.service.imports.settled(taken["id"])
    async with server.joined(taken) as client:
        await client.stage("ended")
        assert client.seqs() == [1, 2, 3, 4, 5, 6]
        await client.send(type="answer", msg_id="m1", text="me, too")
        await client.refused("session_ended")
