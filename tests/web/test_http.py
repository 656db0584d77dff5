"""Every route, on a real server: what it returns, and how it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest

from interviewer.core.chat import parse_json
from interviewer.core.labelled import parse_text
from interviewer.core.reading import CriterionSpec, RawReading, Window
from interviewer.service.scoring import BATCH_LIMIT, CONCURRENT
from interviewer.testing import ScriptedJudge
from tests.service.kit import ANSWER, FlakyStore, deps, eventually, library

from .kit import Message, Running, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "Interviewer: Why is paging good?\nCandidate: It cuts fragmentation of the cache.\n"


async def interview(server: Running, answers: int = 2, end: bool = True, **fields: Any) -> Message:
    """Hold a session over the socket and return what opened it."""
    opened = await server.create(**fields)
    async with server.joined(opened) as client:
        for turn in range(1, answers + 1):
            await client.stage("waiting", turn)
            await client.send(type="answer", msg_id=f"m{turn}", text=ANSWER)
        await client.stage("waiting", answers + 1)
        if end:
            await client.send(type="end")
            await client.kind("report.ready")
    return opened


def code(response: httpx2.Response) -> tuple[int, str]:
    body = response.json()
    assert set(body) == {"error"} and body["error"]["message"], body
    assert response.headers["content-type"] == "application/json"
    return response.status_code, body["error"]["code"]


async def test_the_documents_are_listed(shared: Running) -> None:
    personas = (await shared.http.get("/v1/personas")).json()["personas"]
    assert {p["id"] for p in personas} == set(library().personas)
    assert all(p["prompt_only"] for p in personas), "no adapter is served here"
    rubrics = (await shared.http.get("/v1/rubrics")).json()
    assert {r["id"]: r["questions"] for r in rubrics["rubrics"]} == {
        r.id: len(r.questions) for r in library().rubrics.values()
    }
    assert set(rubrics["criteria"]) == set(library().vocabulary.criteria)


async def test_questions_do_not_show_what_the_interviewer_knows(shared: Running) -> None:
    everything = (await shared.http.get("/v1/questions")).json()["questions"]
    assert len(everything) == sum(len(r.questions) for r in library().rubrics.values())
    one = (await shared.http.get("/v1/questions", params={"rubric": "behavioral"})).json()["questions"]
    assert {q["rubric"] for q in one} == {"behavioral"}
    assert all(set(q) == {"id", "rubric", "topic", "text", "senior", "criteria"} for q in everything)
    assert code(await shared.http.get("/v1/questions", params={"rubric": "poker"})) == (404, "unknown_rubric")


async def test_a_session_from_start_to_deletion(shared: Running) -> None:
    opened = await interview(shared, level="senior")
    base = f"/v1/sessions/{opened['id']}"
    view = (await shared.http.get(base)).json()
    assert (view["phase"], view["questions"], view["minutes"]) == ("ended", 3, 20)
    assert view["progress"] == {"assessed": 2, "total": 2}
    assert view["ended"] and view["level"] == "senior"
    listed = (await shared.http.get("/v1/sessions")).json()["sessions"]
    assert opened["id"] in [row["id"] for row in listed]
    assert (await shared.http.delete(base)).status_code == 204
    for path in ("", "/events", "/transcript", "/report", "/diff"):
        assert code(await shared.http.get(base + path)) == (404, "unknown_session")
    assert code(await shared.http.delete(base)) == (404, "unknown_session")
    assert opened["id"] not in (await shared.http.get("/v1/sessions")).text


async def test_the_log_is_ndjson_and_can_be_read_from_a_point(shared: Running) -> None:
    opened = await interview(shared)
    log = await shared.http.get(f"/v1/sessions/{opened['id']}/events")
    assert log.headers["content-type"] == "application/x-ndjson"
    events = [json.loads(line) for line in log.text.splitlines()]
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert events[0]["event"]["type"] == "session_started" and events[-1]["event"]["type"] == "session_ended"
    later = await shared.http.get(f"/v1/sessions/{opened['id']}/events", params={"after": 5})
    assert later.text == "".join(f"{line}\n" for line in log.text.splitlines()[5:])
    beyond = await shared.http.get(f"/v1/sessions/{opened['id']}/events", params={"after": 10**30})
    assert (beyond.status_code, beyond.text) == (200, "")


async def test_the_transcript_comes_in_three_shapes_with_the_same_words(shared: Running) -> None:
    opened = await interview(shared)
    url = f"/v1/sessions/{opened['id']}/transcript"
    as_json = await shared.http.get(url)
    as_text = await shared.http.get(url, params={"format": "txt"})
    as_markdown = await shared.http.get(url, params={"format": "md"})
    lines = [(line["speaker"], line["text"]) for line in as_json.json()["lines"]]
    assert ("candidate", ANSWER) in lines
    assert [(line.speaker, line.text) for line in parse_text(as_text.text).lines] == lines
    assert [(line.speaker, line.text) for line in parse_json(as_json.text).lines] == lines
    assert all(text in as_markdown.text for _, text in lines)
    assert as_text.headers["content-type"].startswith("text/plain")
    assert as_markdown.headers["content-type"].startswith("text/markdown")


async def test_the_report_says_everything_in_both_shapes(shared: Running) -> None:
    opened = await interview(shared)
    url = f"/v1/sessions/{opened['id']}/report"
    packet = (await shared.http.get(url)).json()
    assert packet["session_id"] == opened["id"]
    assert {row["criterion"] for row in packet["criteria"]} == set(library().rubrics["deep_dive"].weights)
    assert len(packet["probes"]) == 3
    quotes = [q for row in packet["criteria"] for q in row["quotes"]]
    assert quotes and all(ANSWER[q["start"] : q["end"]] == q["text"] for q in quotes)
    markdown = (await shared.http.get(url, params={"format": "md"})).text
    assert markdown.startswith("# Debrief")
    assert all(probe["asked"] in markdown for probe in packet["probes"])


async def test_a_report_so_far_can_be_read_in_practice_mode(shared: Running) -> None:
    opened = await interview(shared, answers=1, end=False)
    assert (await shared.http.get(f"/v1/sessions/{opened['id']}/report")).status_code == 200


async def test_sessions_are_paged_newest_first(shared: Running) -> None:
    ids = [(await shared.create())["id"] for _ in range(3)]
    page = (await shared.http.get("/v1/sessions", params={"limit": 2})).json()["sessions"]
    assert [row["id"] for row in page] == [ids[2], ids[1]]
    rest = (await shared.http.get("/v1/sessions", params={"before": page[-1]["created_at"]})).json()["sessions"]
    assert rest[0]["id"] == ids[0]


async def test_a_replay_and_its_diff(shared: Running) -> None:
    opened = await interview(shared)
    made = await shared.http.post(f"/v1/sessions/{opened['id']}/replays", json={"persona": "hiring_manager"})
    assert made.status_code == 201
    child = made.json()
    assert child["diff"]["parent"] == opened["id"]
    diff = await shared.http.get(f"/v1/sessions/{child['id']}/diff")
    assert diff.json() == child["diff"]
    markdown = await shared.http.get(f"/v1/sessions/{child['id']}/diff", params={"format": "md"})
    assert markdown.text.startswith("# Replay: deep dive -> hiring manager")
    assert code(await shared.http.get(f"/v1/sessions/{opened['id']}/diff")) == (422, "not_a_replay")


async def test_a_what_if_goes_on_live(shared: Running) -> None:
    opened = await interview(shared)
    url = f"/v1/sessions/{opened['id']}/replays"
    made = await shared.http.post(url, json={"from_turn": 1, "edits": {"1": "I would have said p50."}})
    assert (made.status_code, made.json()["diff"]) == (201, None)
    async with shared.joined(made.json()) as client:
        await client.stage("waiting", 2)
    said = (await shared.http.get(f"/v1/sessions/{made.json()['id']}/transcript")).json()["lines"]
    assert said[1]["text"] == "I would have said p50."


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"persona": "pirate"}, (404, "unknown_persona")),
        ({"rubric": "poker"}, (404, "unknown_rubric")),
        ({"from_turn": 99}, (404, "unknown_turn")),
        ({"from_turn": 10**30}, (404, "unknown_turn")),
        ({"from_turn": 1, "edits": {"1": "  "}}, (422, "bad_edit")),
        ({"from_turn": 1, "persona": "recruiter"}, (422, "bad_replay")),
        ({"edits": {"1": "no turn"}}, (422, "bad_replay")),
        ({"from_turn": 0}, (422, "invalid_request")),
        ({"from_turn": 1, "edits": {"one": "x"}}, (422, "invalid_request")),
        ({"from_turn": 1, "edits": {"1": "x" * 20_001}}, (422, "invalid_request")),
        ({"judge": "better"}, (404, "unknown_judge")),
    ],
)
async def test_what_cannot_be_replayed(shared: Running, body: Message, expected: tuple[int, str]) -> None:
    opened = await interview(shared, answers=1)
    assert code(await shared.http.post(f"/v1/sessions/{opened['id']}/replays", json=body)) == expected


async def test_a_transcript_is_imported_and_read(shared: Running) -> None:
    made = await shared.http.post("/v1/transcripts", json={"rubric": "deep_dive", "content": TEXT})
    assert (made.status_code, made.json()["turns"], made.json()["unplaced"]) == (201, 1, [])
    await shared.service.imports.settled(made.json()["id"])
    view = (await shared.http.get(f"/v1/sessions/{made.json()['id']}")).json()
    assert (view["origin"], view["phase"]) == ("imported", "ended")
    assert view["progress"] == {"assessed": 1, "total": 1}


async def test_the_same_transcript_is_the_same_session(shared: Running) -> None:
    body = {"rubric": "deep_dive", "content": "Interviewer: Why twice?\nCandidate: To be sure."}
    unclear = await shared.http.post("/v1/transcripts", json={**body, "content": "Bo: Why?\nAna: Because.\n"})
    told = unclear.json()["error"]
    assert (unclear.status_code, told["code"], told["choices"]) == (422, "speakers_unclear", ["Bo", "Ana"])
    first = (await shared.http.post("/v1/transcripts", json=body)).json()
    again = (await shared.http.post("/v1/transcripts", json=body)).json()
    assert (first["repeated"], again["repeated"], again["id"]) == (False, True, first["id"])
    assert again["notices"] == []


async def test_reading_of_an_import_goes_on_when_it_is_looked_at(shared: Running) -> None:
    store = shared.store
    store.fail_at = frozenset({store.appends + 1})
    made = (
        await shared.http.post("/v1/transcripts", json={"rubric": "deep_dive", "content": f"{TEXT}\nThe end."})
    ).json()
    await shared.service.imports.settled(made["id"])
    view = (await shared.http.get(f"/v1/sessions/{made['id']}")).json()
    assert view["progress"] == {"assessed": 0, "total": 1}
    await shared.service.imports.settled(made["id"])
    view = (await shared.http.get(f"/v1/sessions/{made['id']}")).json()
    assert view["progress"] == {"assessed": 1, "total": 1}


async def test_a_loop_with_its_memo(shared: Running) -> None:
    profile = {"background": "Six years of ad serving.", "resume": "Cut p99 by half.", "job": "We serve LLMs."}
    made = (await shared.http.post("/v1/loops", json={"level": "senior", "minutes": 15, **profile})).json()
    assert [s["rubric"] for s in made["sessions"]] == [
        "recruiter",
        "hiring_manager",
        "coding_design",
        "deep_dive",
        "behavioral",
    ]
    view = (await shared.http.get(f"/v1/loops/{made['id']}")).json()
    assert [s["id"] for s in view["sessions"]] == [s["id"] for s in made["sessions"]]
    for session in made["sessions"]:
        log = (await shared.http.get(f"/v1/sessions/{session['id']}/events")).text.splitlines()
        assert profile.items() <= json.loads(log[0])["event"].items(), "one candidate, told once"
    first = made["sessions"][0]
    async with shared.joined(first) as client:
        await client.stage("waiting", 1)
        await client.send(type="end")
        await client.kind("report.ready")
    memo = (await shared.http.get(f"/v1/loops/{made['id']}/memo")).json()
    assert [r["session_id"] for r in memo["rounds"]] == [first["id"]], "only rounds that have ended"
    assert memo["decision"]["step"] is None
    said = memo["decision"]["unfinished"]
    assert [s["sources"][0]["session_id"] for s in said] == [s["id"] for s in made["sessions"]]
    assert "has not begun" in said[-1]["text"] and "not enough was heard" in said[0]["text"]
    markdown = await shared.http.get(f"/v1/loops/{made['id']}/memo", params={"format": "md"})
    assert markdown.text.startswith("# Committee memo: no decision")
    for path in ("/v1/loops/nobody", "/v1/loops/nobody/memo", "/v1/loops/%00"):
        assert code(await shared.http.get(path)) == (404, "unknown_loop")


async def test_an_answer_is_scored(shared: Running) -> None:
    body = {"question": {"id": "dd-paged-kv"}, "answer": ANSWER}
    scored = await shared.http.post("/v1/score", json=body)
    assert scored.status_code == 200
    assert {s["level"] for s in scored.json()["scores"]} == {1}
    levels = {"0": "It shouts.", "1": "It is loud.", "2": "It is even.", "3": "It is calm."}
    for anchors in (levels, list(levels.values())):
        own = {"criteria": {"calm": {"asks": "Is it calm?", "levels": anchors}}}
        body = {"question": {"text": "How do you stay calm?"}, "answer": ANSWER, "rubric": own}
        (score,) = (await shared.http.post("/v1/score", json=body)).json()["scores"]
        assert (score["criterion"], score["anchor"]) == ("calm", "It is loud.")


async def test_answers_are_scored_in_a_batch(shared: Running) -> None:
    items = [
        {"id": "a", "question": {"id": "dd-paged-kv"}, "answer": ANSWER},
        {"id": "b", "question": {"id": "no-such"}, "answer": ANSWER},
    ]
    results = (await shared.http.post("/v1/score/batch", json={"items": items})).json()["results"]
    assert [r["id"] for r in results] == ["a", "b"]
    assert results[0]["error"] is None and results[0]["result"]["scores"]
    assert results[1]["result"] is None and results[1]["error"]["code"] == "unknown_question"
    conflict = [items[0], {**items[0], "answer": "other"}]
    answer = await shared.http.post("/v1/score/batch", json={"items": conflict})
    assert code(answer) == (409, "conflicting_items")
    many = [{**items[0], "id": str(n)} for n in range(BATCH_LIMIT + 1)]
    assert code(await shared.http.post("/v1/score/batch", json={"items": many})) == (413, "batch_too_large")


async def test_outcomes_of_a_batch_are_sent_as_lines_while_it_runs(shared: Running) -> None:
    item: Message = {"question": {"id": "dd-paged-kv"}, "answer": ANSWER}
    items = [{**item, "id": "a"}, {**item, "id": "b", "answer": 7}, {**item, "id": "a"}]
    url = "/v1/score/batch?format=jsonl"
    answer = await shared.http.post(url, json={"items": items})
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = {o["id"]: o for o in map(json.loads, answer.text.splitlines())}
    assert len(answer.text.splitlines()) == 2, "an id once"
    assert found["a"]["result"]["scores"] and found["b"]["error"]["code"] == "invalid_item"
    whole = (await shared.http.post("/v1/score/batch", json={"items": items})).json()["results"]
    assert [o["id"] for o in whole] == ["a", "b", "a"]
    assert whole[0]["result"]["scores"] == found["a"]["result"]["scores"]
    conflict = [items[0], {**items[0], "answer": "other"}]
    assert code(await shared.http.post(url, json={"items": conflict})) == (409, "conflicting_items")


class Stuck(ScriptedJudge):
    """Reads as many answers as are read at once, and hangs on all others."""

    hanging = 0

    async def read(self, window: Window, criteria: Sequence[CriterionSpec]) -> list[RawReading]:
        readings = await super().read(window, criteria)
        if len(self.windows) > CONCURRENT:
            self.hanging += 1
            try:
                await asyncio.Event().wait()
            finally:
                self.hanging -= 1
        return readings


async def test_who_hangs_up_on_a_batch_stops_the_judge() -> None:
    judge = Stuck(1)
    items = [{"id": str(n), "question": {"id": "dd-paged-kv"}, "answer": ANSWER} for n in range(100)]
    async with running(deps(FlakyStore.open("sqlite://"), judge=judge, judge_seconds=600)) as server:
        async with server.http.stream("POST", "/v1/score/batch?format=jsonl", json={"items": items}) as answer:
            lines = answer.aiter_lines()  # kept: when it is collected, the connection is closed
            await anext(lines)
            await eventually(lambda: judge.hanging == CONCURRENT)
        await eventually(lambda: judge.hanging == 0)
    assert len(judge.windows) == 2 * CONCURRENT


async def test_a_store_that_fails_is_said_so_and_the_same_request_works_later(shared: Running) -> None:
    store = shared.store
    opened = await shared.create()
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
    store.broken = True
    try:
        assert code(await shared.http.get(f"/v1/sessions/{opened['id']}")) == (503, "store_unavailable")
        assert code(await shared.http.post("/v1/sessions", json={"persona": "recruiter"})) == (503, "store_unavailable")
        ready = await shared.http.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["checks"]["store"] == {"ok": False, "detail": "the disk is full"}
    finally:
        store.broken = False
    assert (await shared.http.get(f"/v1/sessions/{opened['id']}")).status_code == 200


async def test_many_requests_at_once_are_all_served(shared: Running) -> None:
    made = await asyncio.gather(*(shared.create() for _ in range(20)))
    assert len({m["id"] for m in made}) == 20
