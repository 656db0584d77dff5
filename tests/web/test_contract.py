"""The documents of the contract: in step with the code, complete, and true for what the service really sends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute

from interviewer.web import contract, errors, routes, socket
from interviewer.web.wire import CLIENT
from tests.service.kit import ANSWER

from .kit import Message, Running
from .test_http import TEXT, interview

pytestmark = pytest.mark.asyncio(loop_scope="module")
PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", ["docs/openapi.json", "docs/asyncapi.json"])
async def test_the_committed_documents_are_in_step(path: str) -> None:
    committed = (PROJECT / path).read_text(encoding="utf-8")
    assert committed == contract.documents()[path], "run: python -m interviewer.web.contract"


async def test_openapi_covers_every_route() -> None:
    document = contract.openapi()
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    served = {(m, r.path) for r in routes.router.routes if isinstance(r, APIRoute) for m in r.methods}
    assert described == served | {("GET", "/healthz"), ("GET", "/readyz")}
    for item in document["paths"].values():
        for operation in item.values():
            assert operation["description"], "every operation says what it does"


async def test_every_refusal_is_described_in_its_real_shape() -> None:
    document = contract.openapi()
    for path, item in document["paths"].items():
        for operation in item.values():
            if path.startswith("/v1/"):
                schema = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorView"}
            assert "422" not in operation["responses"], "the framework's own shape is never sent"
    assert "HTTPValidationError" not in document["components"]["schemas"]
    assert errors.error(404, "x", "y").status_code == 404


async def test_asyncapi_covers_every_message_and_close_code() -> None:
    document = contract.asyncapi()
    (channel,) = document["channels"].values()
    (served,) = [r.path for r in routes.router.routes if isinstance(r, APIWebSocketRoute)]
    assert channel["address"] == served
    named = {m["name"] for m in document["components"]["messages"].values()}
    client = {"hello", "answer", "interrupt", "persona", "hint", "retry", "end", "ping"}
    server = {"question.delta", "question.done", "assessment", "report.ready", "error", "pong", "resync", "event"}
    assert named == client | server | {"welcome", "status", "prices", "going_away"}
    codes = {value for name, value in vars(socket).items() if name.startswith("CLOSE_")}
    assert codes <= set(contract.CLOSE_CODES)
    assert "interview.v1" in channel["description"]


async def test_the_documents_refer_to_nothing_that_is_not_there() -> None:
    for document in (contract.openapi(), contract.asyncapi()):
        for pointer in references(document):
            found: Any = document
            for part in pointer.removeprefix("#/").split("/"):
                found = found[part.replace("~1", "/")]


def references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [r for value in node.values() for r in references(value)]
    return [r for value in node for r in references(value)] if isinstance(node, list) else []


def check(value: object, schema: Message, document: Message) -> None:
    """Validate ``value`` by a schema of a document, with references and without unknown keys."""
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


async def test_what_is_returned_is_what_is_described(shared: Running) -> None:
    document = contract.openapi()
    ended = (await interview(shared))["id"]
    replay = (await shared.http.post(f"/v1/sessions/{ended}/replays", json={"persona": "recruiter"})).json()["id"]
    loop = (await shared.http.post("/v1/loops", json={})).json()["id"]
    question = {"id": "dd-paged-kv"}
    calls: list[tuple[str, str, dict[str, str], Message | None]] = [
        ("get", "/healthz", {}, None),
        ("get", "/readyz", {}, None),
        ("get", "/v1/personas", {}, None),
        ("get", "/v1/rubrics", {}, None),
        ("get", "/v1/questions", {}, None),
        ("get", "/v1/questions/{question_id}", {"question_id": "dd-paged-kv"}, None),
        ("get", "/v1/about", {}, None),
        ("post", "/v1/score", {}, {"question": question, "answer": ANSWER}),
        ("post", "/v1/score/batch", {}, {"items": [{"id": "a", "question": question, "answer": ANSWER}]}),
        ("post", "/v1/sessions", {}, {"persona": "recruiter"}),
        ("post", "/v1/sessions", {}, {"question": "dd-paged-kv"}),
        ("get", "/v1/sessions", {}, None),
        ("get", "/v1/sessions/{session_id}", {"session_id": ended}, None),
        ("post", "/v1/sessions/{session_id}/token", {"session_id": ended}, None),
        ("get", "/v1/sessions/{session_id}/transcript", {"session_id": ended}, None),
        ("get", "/v1/sessions/{session_id}/report", {"session_id": ended}, None),
        ("post", "/v1/sessions/{session_id}/replays", {"session_id": ended}, {"persona": "recruiter"}),
        ("get", "/v1/sessions/{session_id}/diff", {"session_id": replay}, None),
        ("post", "/v1/transcripts", {}, {"rubric": "deep_dive", "content": TEXT}),
        ("post", "/v1/loops", {}, {}),
        ("get", "/v1/loops/{loop_id}", {"loop_id": loop}, None),
        ("get", "/v1/loops/{loop_id}/memo", {"loop_id": loop}, None),
        ("get", "/v1/sessions/{session_id}", {"session_id": "nobody"}, None),
        ("get", "/v1/loops/{loop_id}", {"loop_id": "nobody"}, None),
        ("post", "/v1/sessions", {}, {"minutes": 1}),
    ]
    for method, path, values, body in calls:
        answer = await shared.http.request(method, path.format(**values), json=body)
        described = document["paths"][path][method]["responses"]
        status = str(answer.status_code)
        key = status if status in described else f"{status[0]}XX"
        check(answer.json(), described[key]["content"]["application/json"]["schema"], document)
        if body is not None and answer.is_success:
            schema = document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
            check(body, schema, document)


async def test_what_is_sent_over_the_socket_is_what_is_described(shared: Running) -> None:
    document = contract.asyncapi()
    payloads = {m["name"]: m["payload"] for m in document["components"]["messages"].values()}
    opened = await shared.create()
    said: list[Message] = [
        {"type": "hello", "token": opened["token"], "last_seq": 99},
        {"type": "ping"},
        {"type": "hint"},
        {"type": "persona", "persona": "hiring_manager"},
        {"type": "answer", "msg_id": "m1", "text": ANSWER},
        {"type": "interrupt", "last_seq": 5, "seen": 3},
        {"type": "answer", "msg_id": "m1", "text": ""},
        {"type": "end"},
    ]
    async with shared.socket(opened) as client:
        for message in said:
            check(message, payloads[message["type"]], document)
            assert CLIENT.validate_json(json.dumps(message)).type == message["type"]
            await client.send(**message)
            if message["type"] == "hello" or message.get("text"):  # a repeated answer is not answered again
                await client.stage("waiting")
        await client.stage("ended")
        await client.send(type="hint")
        await client.kind("error")
        for message in client.received:
            check(message, payloads[message["type"]], document)
    assert {"welcome", "resync", "event", "question.done", "assessment", "report.ready", "error", "pong"} <= {
        m["type"] for m in client.received
    }
