"""What HTTP refuses, byte by byte: exact codes, one shape of error, never a 500."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interviewer.testing import StillBackend
from interviewer.web.security import HEADERS, MAX_BODY
from tests.service.kit import ANSWER, FlakyStore, deps

from .kit import Running, running
from .test_http import code

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"content-type": "application/json"}
BODIES: list[tuple[str, Any]] = [
    ("/v1/sessions", {"persona": "recruiter"}),
    ("/v1/score", {"question": {"id": "dd-paged-kv"}, "answer": ANSWER}),
    ("/v1/score/batch", {"items": [{"id": "a", "question": {"id": "dd-paged-kv"}, "answer": ANSWER}]}),
    ("/v1/transcripts", {"rubric": "deep_dive", "content": "Interviewer: Why?\nCandidate: Because of the cache."}),
    ("/v1/loops", {}),
    ("/v1/sessions/nobody/replays", {}),
]
POSTS = [path for path, _ in BODIES]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    ("raw", "headers", "expected"),
    [
        (b"{", JSON, (422, "invalid_request")),
        (b"", JSON, (422, "invalid_request")),
        (b"null", JSON, (422, "invalid_request")),
        (b"[]", JSON, (422, "invalid_request")),
        (b'"words"', JSON, (422, "invalid_request")),
        (b'{"surprise": 1}', JSON, (422, "invalid_request")),
        (b'{"\\ud800": 1}', JSON, (422, "invalid_request")),
        (b'{"\xff\xfe": 1}', JSON, (400, "bad_request")),
        (b"[" * 100_000, JSON, (400, "bad_request")),
        (b'{"seed": ' + b"9" * 5000 + b"}", JSON, (400, "bad_request")),
        (b'{"minutes": NaN}', JSON, (422, "invalid_request")),
        (b"persona=recruiter", {"content-type": "application/x-www-form-urlencoded"}, (422, "invalid_request")),
        (b'{"persona": "recruiter"}', {"content-type": "text/plain"}, (422, "invalid_request")),
        (b'{"persona": "recruiter"}', {"content-type": "\xff/;;="}, (422, "invalid_request")),
    ],
)
async def test_a_body_that_is_not_a_request(
    shared: Running, path: str, raw: bytes, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    as_bytes = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    answer = await shared.http.post(path, content=raw, headers=as_bytes)
    assert code(answer) == expected


@pytest.mark.parametrize(
    ("path", "change", "at"),
    [
        ("/v1/sessions", {"persona": ""}, "persona"),
        ("/v1/sessions", {"persona": 7}, "persona"),
        ("/v1/sessions", {"persona": "x" * 65}, "persona"),
        ("/v1/sessions", {"persona": None}, "persona"),
        ("/v1/sessions", {"level": "staff"}, "level"),
        ("/v1/sessions", {"mode": "dream"}, "mode"),
        ("/v1/sessions", {"minutes": 4}, "minutes"),
        ("/v1/sessions", {"minutes": 241}, "minutes"),
        ("/v1/sessions", {"minutes": 10.5}, "minutes"),
        ("/v1/sessions", {"seed": -1}, "seed"),
        ("/v1/sessions", {"seed": 2**31}, "seed"),
        ("/v1/sessions", {"resume": "x" * 20_001}, "resume"),
        ("/v1/sessions", {"job": "\ud800"}, "job"),
        ("/v1/score", {"question": {}}, "question"),
        ("/v1/score", {"question": {"id": "a", "text": "both?"}}, "question"),
        ("/v1/score", {"answer": "x" * 20_001}, "answer"),
        ("/v1/score", {"criteria": ["a"] * 9}, "criteria"),
        ("/v1/score/batch", {"items": []}, "items"),
        ("/v1/score/batch", {"items": [{"id": "", "question": {"id": "dd-paged-kv"}, "answer": ANSWER}]}, "items.0.id"),
        ("/v1/transcripts", {"content": ""}, "content"),
        ("/v1/transcripts", {"format": "docx"}, "format"),
        ("/v1/transcripts", {"candidate": "x" * 81}, "candidate"),
        ("/v1/loops", {"minutes": 1}, "minutes"),
    ],
)
async def test_a_field_that_does_not_fit_is_named(shared: Running, path: str, change: dict[str, Any], at: str) -> None:
    raw = json.dumps({**dict(BODIES)[path], **change})
    answer = await shared.http.post(path, content=raw, headers=JSON)
    assert code(answer) == (422, "invalid_request")
    error = answer.json()["error"]
    assert error["details"][0]["at"] == at
    assert error["message"].startswith(at)
    assert "xxxx" not in answer.text, "what was sent is not sent back"


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/v1/sessions", {"persona": "pirate"}, (404, "unknown_persona")),
        ("/v1/sessions", {"persona": "recruiter", "rubric": "poker"}, (404, "unknown_rubric")),
        ("/v1/sessions", {"persona": "a\x00b"}, (404, "unknown_persona")),
        ("/v1/transcripts", {"rubric": "poker", "content": "Interviewer: a\nCandidate: b"}, (404, "unknown_rubric")),
        ("/v1/transcripts", {"rubric": "deep_dive", "content": "no labels"}, (422, "bad_transcript")),
        ("/v1/transcripts", {"rubric": "deep_dive", "content": "Candidate: a\x00b"}, (422, "bad_transcript")),
        ("/v1/transcripts", {"rubric": "deep_dive", "content": "{", "format": "json"}, (422, "bad_transcript")),
        ("/v1/score", {"question": {"id": "nope"}, "answer": "a"}, (404, "unknown_question")),
        ("/v1/score", {"question": {"text": "Why?"}, "answer": "a"}, (422, "no_criteria")),
        ("/v1/score", {"question": {"text": "Why?"}, "answer": "a", "criteria": ["x"]}, (404, "unknown_criterion")),
    ],
)
async def test_what_is_not_there_is_said_by_name(
    shared: Running, path: str, body: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert code(await shared.http.post(path, json=body)) == expected


@pytest.mark.parametrize(
    "session_id", ["nobody", "%00", "%ff", "..%2f..", "%F0%9F%92%A9", "x" * 3000, "'%20OR%201=1--"]
)
@pytest.mark.parametrize("tail", ["", "/events", "/transcript", "/report", "/diff"])
async def test_ids_that_no_session_has(shared: Running, session_id: str, tail: str) -> None:
    answer = await shared.http.get(f"/v1/sessions/{session_id}{tail}")
    assert answer.status_code == 404
    assert code(answer)[1] in ("unknown_session", "not_found")


@pytest.mark.parametrize("session_id", ["nobody", "%00"])
async def test_ids_that_no_session_has_cannot_be_changed(shared: Running, session_id: str) -> None:
    base = f"/v1/sessions/{session_id}"
    assert code(await shared.http.delete(base)) == (404, "unknown_session")
    assert code(await shared.http.post(f"{base}/token")) == (404, "unknown_session")
    assert code(await shared.http.post(f"{base}/replays", json={})) == (404, "unknown_session")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/v1/sessions?limit=0", (422, "invalid_request")),
        ("/v1/sessions?limit=201", (422, "invalid_request")),
        ("/v1/sessions?limit=ten", (422, "invalid_request")),
        ("/v1/sessions?before=yesterday", (422, "invalid_request")),
        ("/v1/sessions?before=2026-01-31T12:00:00", (422, "bad_time")),
        ("/v1/sessions?before=0001-01-01T00:00:00%2B14:00", (422, "bad_time")),
        ("/v1/sessions?before=9999-12-31T23:59:59-14:00", (422, "bad_time")),
        ("/v1/sessions/nobody/events?after=-1", (422, "invalid_request")),
        ("/v1/sessions/nobody/transcript?format=pdf", (422, "invalid_request")),
        ("/v1/sessions/nobody/report?format=txt", (422, "invalid_request")),
        ("/v1/questions?rubric=" + "x" * 65, (422, "invalid_request")),
        ("/v1/nothing", (404, "not_found")),
        ("/static/nothing.js", (404, "not_found")),
        ("/static/../app.py", (404, "not_found")),
        ("/static/%2e%2e/app.py", (404, "not_found")),
        ("/docs", (404, "not_found")),
    ],
)
async def test_addresses_that_do_not_fit(shared: Running, url: str, expected: tuple[int, str]) -> None:
    assert code(await shared.http.get(url)) == expected


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/score"),
        ("PUT", "/v1/sessions"),
        ("PATCH", "/v1/sessions/nobody"),
        ("POST", "/v1/personas"),
        ("DELETE", "/v1/loops"),
        ("POST", "/readyz"),
        ("BREW", "/v1/sessions"),
    ],
)
async def test_the_wrong_method_is_refused_with_those_allowed(shared: Running, method: str, path: str) -> None:
    answer = await shared.http.request(method, path)
    if method == "BREW":  # the parser of the server does not know it
        assert answer.status_code in (400, 405)
        return
    assert code(answer) == (405, "method_not_allowed")
    assert answer.headers["allow"]


POST = "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"


async def test_a_body_that_is_too_large_is_refused_by_its_declared_length(shared: Running) -> None:
    answer = await shared.raw(f"{POST}Content-Length: {MAX_BODY + 1}\r\n\r\n".encode())
    assert b" 413 " in answer.splitlines()[0] and b'"code":"body_too_large"' in answer


async def test_a_body_that_is_too_large_is_refused_while_it_comes_in_pieces(shared: Running) -> None:
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    body = piece * (MAX_BODY // 0x10000) + b"1\r\n \r\n"  # and no end
    answer = await shared.raw(f"{POST}Transfer-Encoding: chunked\r\n\r\n".encode() + body)
    assert b" 413 " in answer.splitlines()[0] and b'"code":"body_too_large"' in answer


async def test_a_body_of_the_largest_size_is_read(shared: Running) -> None:
    raw = json.dumps({"persona": "recruiter"}).encode()
    answer = await shared.http.post("/v1/sessions", content=raw.rjust(MAX_BODY), headers=JSON)
    assert answer.status_code == 201


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://[", "http://127.0.0.1", "file://"])
async def test_a_foreign_page_can_change_nothing(shared: Running, origin: str) -> None:
    for method, path in (("POST", "/v1/sessions"), ("DELETE", "/v1/sessions/nobody"), ("POST", "/v1/score")):
        answer = await shared.http.request(method, path, json={"persona": "recruiter"}, headers={"origin": origin})
        assert code(answer) == (403, "foreign_origin")


async def test_the_own_page_can(shared: Running) -> None:
    own = {"origin": f"http://{shared.host}"}
    answer = await shared.http.post("/v1/sessions", json={"persona": "recruiter"}, headers=own)
    assert answer.status_code == 201
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "[::1", "[", "127.0.0.1.evil.example", "", "a b"])
async def test_another_name_for_this_machine_is_refused(shared: Running, host: str) -> None:
    answer = await shared.raw(f"GET /v1/sessions HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert b" 421 " in answer.splitlines()[0] and b'"code":"unknown_host"' in answer


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "[::1]:8600", "127.0.0.1"])
async def test_loopback_names_are_known(shared: Running, host: str) -> None:
    assert (await shared.http.get("/healthz", headers={"host": host})).status_code == 200


async def test_further_names_can_be_allowed() -> None:
    async with running(deps(FlakyStore.open("sqlite://")), hosts=("interviews.example",)) as server:
        assert (await server.http.get("/healthz", headers={"host": "interviews.example"})).status_code == 200
        assert (await server.http.get("/healthz", headers={"host": "evil.example"})).status_code == 421


@pytest.mark.parametrize("path", ["/", "/v1/personas", "/v1/nothing", "/healthz", "/metrics", "/openapi.json"])
async def test_every_response_carries_the_security_headers(shared: Running, path: str) -> None:
    answer = await shared.http.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert "frame-ancestors 'none'" in policy


async def test_ready_only_when_the_model_is(shared: Running) -> None:
    ready = await shared.http.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {
        "ready": True,
        "checks": {"engine": {"ok": True, "detail": "scripted"}, "store": {"ok": True, "detail": "ready"}},
    }
    backend = shared.service.backend
    assert isinstance(backend, StillBackend)
    backend.ready = False
    try:
        answer = await shared.http.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (503, False)
        assert (await shared.http.get("/healthz")).json() == {"ok": True}
    finally:
        backend.ready = True


async def test_metrics_count_requests_and_hold_no_words_of_anybody(shared: Running) -> None:
    secret = "Quetzalcoatl"
    opened = await shared.create(resume=secret)
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=f"{secret} held p99 at 800 ms.")
        await client.stage("waiting", 2)
        loaded = (await shared.http.get("/metrics")).text
        assert f"interviewer_sessions_loaded {float(shared.service.sessions.loaded)}" in loaded
    await shared.http.post("/v1/score", json={"question": {"id": "dd-paged-kv"}, "answer": f"{secret} p99 again."})
    await shared.http.get(f"/v1/sessions/{opened['id']}/{secret}")
    answer = await shared.http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'interviewer_http_requests_total{method="POST",route="/v1/score",status="200"}' in answer.text
    assert secret not in answer.text and opened["id"] not in answer.text
