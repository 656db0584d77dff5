"""Questions over HTTP: what is shown of one, what only when asked for, and sessions that open with one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.service.kit import library

from .kit import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def refusal(shared: Running, **body: Any) -> tuple[int, str, str]:
    answer = await shared.http.post("/v1/sessions", json=body)
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


async def opening(shared: Running, **fields: Any) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Start a session; returns its first event, the first choice of what to ask, and the words of the question."""
    opened = (await shared.http.post("/v1/sessions", json=fields)).json()
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
    log = (await shared.http.get(f"/v1/sessions/{opened['id']}/events")).text.splitlines()
    events = [json.loads(line)["event"] for line in log]
    first = {e["type"]: e for e in reversed(events)}
    return first["session_started"], first["probe_chosen"], first["question_asked"]["text"]


async def test_one_question_says_what_it_listens_for_and_nothing_of_the_answer(shared: Running) -> None:
    found = (await shared.http.get("/v1/questions/dd-paged-kv")).json()
    rubric, question = library().find_question("dd-paged-kv") or pytest.fail("the question is gone")
    assert (found["rubric"], found["text"]) == (rubric.id, question.text)
    criteria = library().vocabulary.criteria
    assert found["listens_for"] == {t.criterion: criteria[t.criterion].asks for t in question.targets}
    assert found["spoilers"] is None
    assert not [f.claim for f in question.facts if f.claim in json.dumps(found)]


async def test_hints_facts_and_probes_come_only_when_they_are_asked_for(shared: Running) -> None:
    found = (await shared.http.get("/v1/questions/dd-paged-kv", params={"spoilers": "true"})).json()["spoilers"]
    _, question = library().find_question("dd-paged-kv") or pytest.fail("the question is gone")
    assert found["hints"] == list(question.hints)
    assert found["facts"] == [f.claim for f in question.facts]
    assert {c: [p["text"] for p in probes] for c, probes in found["probes"].items()} == {
        t.criterion: [p.text for p in t.probes] for t in question.targets
    }
    assert found["givens"] == [], "it asks for an explanation, there is no case to ask about"


async def test_facts_of_a_case_are_shown_with_what_spoils_and_only_there(shared: Running) -> None:
    _, question = library().find_question("cd-kv-budget") or pytest.fail("the question is gone")
    assert question.givens
    plain, spoilt = [
        (await shared.http.get("/v1/questions/cd-kv-budget", params={"spoilers": spoilers})).text
        for spoilers in ("false", "true")
    ]
    told = [{"about": given.about, "says": given.says} for given in question.givens]
    assert json.loads(spoilt)["spoilers"]["givens"] == told
    assert not [given.says for given in question.givens if given.says in plain]


async def test_a_question_that_is_not_there_is_refused(shared: Running) -> None:
    answer = await shared.http.get("/v1/questions/nope")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_question")


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_session_opens_with_the_question_that_was_chosen(shared: Running, seed: int) -> None:
    started, chosen, _ = await opening(shared, question="dd-temperature-zero", seed=seed)
    assert (started["rubric"], started["persona"]) == ("deep_dive", "deep_dive"), "the question brings its round"
    assert started["question"] == chosen["question_id"] == "dd-temperature-zero"


async def test_another_persona_may_ask_it_at_its_level(shared: Running) -> None:
    started, chosen, asked = await opening(shared, question="hm-old-tickets", persona="recruiter", level="senior")
    _, question = library().find_question("hm-old-tickets") or pytest.fail("the question is gone")
    assert (started["rubric"], started["persona"]) == ("hiring_manager", "recruiter")
    assert chosen["question_id"] == "hm-old-tickets"
    assert asked.endswith(question.wording("senior"))


async def test_what_does_not_fit_is_refused_with_what_does(shared: Running) -> None:
    status, code, message = await refusal(shared, question="dd-nope")
    assert (status, code) == (404, "unknown_question") and "dd-paged-kv" in message and "rs-why-llm" in message
    status, code, message = await refusal(shared, question="dd-paged-kv", rubric="behavioral")
    assert (status, code) == (404, "unknown_question")
    assert "of the round 'deep_dive'" in message and "bh-crisis" in message and "rs-why-llm" not in message
    status, code, message = await refusal(shared, question="dd-paged-kv", drill="customer-crisis")
    assert (status, code) == (404, "unknown_question") and "the drill 'customer-crisis'" in message
    status, code, message = await refusal(shared, question="bh-say-no", scenario="bh-crisis-feed")
    assert (status, code) == (404, "unknown_scenario") and "leave one of the two out" in message
    assert (await refusal(shared, question="x" * 65))[:2] == (422, "invalid_request")
    assert (await refusal(shared))[:2] == (422, "invalid_request"), "somebody has to ask"


async def test_a_replay_by_another_rubric_does_not_open_with_a_question_that_it_has_not(shared: Running) -> None:
    opened = (await shared.http.post("/v1/sessions", json={"question": "dd-paged-kv"})).json()
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text="It cuts fragmentation of the cache.")
        await client.stage("waiting", 2)
        await client.send(type="end")
        await client.kind("report.ready")
    report = (await shared.http.get(f"/v1/sessions/{opened['id']}/report")).json()
    assert "chosen to open with" in report["probes"][0]["reason"]
    assert "chosen to open with" not in report["probes"][1]["reason"], "after it the policy goes on"
    for rubric, kept in (("behavioral", None), ("deep_dive", "dd-paged-kv")):
        body = {"persona": "recruiter", "rubric": rubric}
        made = await shared.http.post(f"/v1/sessions/{opened['id']}/replays", json=body)
        assert made.status_code == 201, made.text
        log = (await shared.http.get(f"/v1/sessions/{made.json()['id']}/events")).text.splitlines()
        assert json.loads(log[0])["event"]["question"] == kept
        would = [
            e for line in log if (e := json.loads(line)["event"])["type"] == "probe_chosen" and e["counterfactual"]
        ]
        assert would, "what this rubric would have asked is there"
