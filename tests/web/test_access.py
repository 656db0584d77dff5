"""Who reaches what: every route and every message of the socket, by owner, stranger, nobody and a revoked key.

The routes are taken from the application. A route that is not in the table fails the test, so none can be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, get_args

import pytest
import pytest_asyncio
from fastapi.routing import APIRoute
from starlette.routing import Route

from interviewer.web import wire
from interviewer.web.app import create_app
from interviewer.web.auth import COOKIE
from tests.service.kit import ANSWER, FlakyStore, deps

from .access_kit import TEXT, House, house
from .kit import Client, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

PERSONA = {"persona": "recruiter"}
QUESTION = {"question": {"id": "dd-paged-kv"}, "answer": ANSWER}
OPEN = (200, 200, 200, 200)
OWN = (200, 404, 401, 401)
"""Of one session or loop: the owner, a stranger, nobody, a revoked key."""
ANY = (200, 200, 401, 401)
MAKES = (201, 201, 401, 401)
ADMIN = (403, 403, 401, 401)
TABLE: dict[tuple[str, str], tuple[tuple[int, int, int, int], Any]] = {
    ("GET", "/"): (OPEN, None),
    ("GET", "/healthz"): (OPEN, None),
    ("GET", "/readyz"): (OPEN, None),
    ("GET", "/metrics"): (ADMIN, None),
    ("GET", "/openapi.json"): (ANY, None),
    ("GET", "/v1/auth"): (OPEN, None),
    ("POST", "/v1/auth"): ((401, 401, 401, 401), {"key": "imk_00000000_wrong"}),
    ("DELETE", "/v1/auth"): ((204, 204, 204, 204), None),
    ("POST", "/v1/score"): (ANY, QUESTION),
    ("POST", "/v1/score/batch"): (ANY, {"items": [{"id": "a", **QUESTION}]}),
    ("GET", "/v1/personas"): (ANY, None),
    ("GET", "/v1/adapters"): (ANY, None),
    ("POST", "/v1/adapters/{adapter}"): (ADMIN, {"version": "0123abcd"}),
    ("POST", "/v1/adapters/{adapter}/rollback"): (ADMIN, None),
    ("GET", "/v1/rubrics"): (ANY, None),
    ("GET", "/v1/questions"): (ANY, None),
    ("GET", "/v1/questions/{question_id}"): (ANY, None),
    ("GET", "/v1/about"): (ANY, None),
    ("GET", "/v1/scenarios"): (ANY, None),
    ("GET", "/v1/drills"): (ANY, None),
    ("POST", "/v1/profiles/parse"): (ANY, {"resume": "Cut p99 by half."}),
    ("POST", "/v1/profiles/pdf"): ((422, 422, 401, 401), {"not": "a PDF"}),
    ("POST", "/v1/sessions"): (MAKES, PERSONA),
    ("GET", "/v1/sessions"): (ANY, None),
    ("DELETE", "/v1/sessions"): ((409, 409, 401, 401), None),
    ("GET", "/v1/progress"): (ANY, None),
    ("GET", "/v1/questions/{question_id}/attempts"): (ANY, None),
    ("GET", "/v1/export"): (ANY, None),
    ("POST", "/v1/transcripts"): (MAKES, {"rubric": "deep_dive", "content": TEXT}),
    ("POST", "/v1/restores"): ((422, 422, 401, 401), {"events": []}),
    ("POST", "/v1/loops"): (MAKES, {}),
    ("GET", "/v1/loops/{loop_id}"): (OWN, None),
    ("GET", "/v1/loops/{loop_id}/memo"): (OWN, None),
    ("GET", "/v1/sessions/{session_id}"): (OWN, None),
    ("POST", "/v1/sessions/{session_id}/token"): (OWN, None),
    ("GET", "/v1/sessions/{session_id}/events"): (OWN, None),
    ("GET", "/v1/sessions/{session_id}/transcript"): (OWN, None),
    ("GET", "/v1/sessions/{session_id}/report"): (OWN, None),
    ("POST", "/v1/sessions/{session_id}/replays"): ((201, 404, 401, 401), PERSONA),
    ("GET", "/v1/sessions/{session_id}/diff"): (OWN, None),
    ("DELETE", "/v1/sessions/{session_id}"): ((204, 404, 401, 401), None),
}
MESSAGES = [m.model_fields["type"].default for m in get_args(get_args(wire.ClientMessage)[0])]
REFUSED = {401: "unauthorized", 403: "forbidden"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with house(tmp_path_factory.mktemp("house")) as opened:
        yield opened


def served() -> set[tuple[str, str]]:
    async def never() -> Any:
        raise RuntimeError("only the routes are needed")

    found: set[tuple[str, str]] = set()
    waiting = list(create_app(never).routes)
    while waiting:
        route = waiting.pop()
        if isinstance(route, APIRoute | Route):
            found |= {(method, route.path) for method in route.methods or () if method != "HEAD"}
        else:
            waiting += getattr(route, "routes", None) or []
    return found


async def test_the_table_has_every_route() -> None:
    assert served() == set(TABLE)
    for _, path in TABLE:
        assert path.startswith("/v1/sessions/{session_id}") == ("{session_id}" in path), "the gate finds ids by place"
        assert path.startswith("/v1/loops/{loop_id}") == ("{loop_id}" in path)


@pytest.mark.parametrize(("method", "path"), list(TABLE), ids=lambda value: str(value))
async def test_every_route_by_everybody(home: House, method: str, path: str) -> None:
    statuses, body = TABLE[method, path]
    taken = (await home.call(home.alice, "POST", "/v1/transcripts", {"rubric": "deep_dive", "content": TEXT})).json()
    await home.server.service.imports.settled(taken["id"])
    session = taken["id"]
    if path.endswith("/diff"):
        session = (await home.call(home.alice, "POST", f"/v1/sessions/{session}/replays", PERSONA)).json()["id"]
    loop = (await home.call(home.alice, "POST", "/v1/loops", {})).json()["id"] if "{loop_id}" in path else ""
    address = path.format(session_id=session, loop_id=loop, adapter="deep_dive", question_id="dd-paged-kv")
    absent = path.format(session_id="not-there", loop_id="not-there", adapter="deep_dive", question_id="none")
    who = [
        ("revoked", home.gone),
        ("nobody", None),
        ("stranger", home.bob),
        ("owner", home.alice),
    ]  # the owner may delete
    for (name, secret), expected in zip(who, reversed(statuses), strict=True):
        answer = await home.call(secret, method, address, body)
        assert answer.status_code == expected, (name, answer.text)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        if path != "/v1/auth" and expected in REFUSED:
            assert answer.json()["error"]["code"] == REFUSED[expected]
        if expected == 404:
            missing = await home.call(secret, method, absent, body)
            assert (missing.status_code, missing.content) == (404, answer.content), "the same words, byte for byte"


async def test_lists_show_only_ones_own(home: House) -> None:
    mine, theirs = await home.create(home.alice), await home.create(home.bob)
    for secret, there, absent in [(home.alice, mine, theirs), (home.bob, theirs, mine)]:
        rows = (await home.call(secret, "GET", "/v1/sessions?limit=200")).json()["sessions"]
        ids = {row["id"] for row in rows}
        assert there["id"] in ids and absent["id"] not in ids


async def test_the_same_transcript_of_two_people_is_two_sessions(home: House) -> None:
    body = {"rubric": "deep_dive", "content": TEXT.replace("batch 8", "batch 9")}
    first, again, other = [
        (await home.call(secret, "POST", "/v1/transcripts", body)).json()
        for secret in (home.alice, home.alice, home.bob)
    ]
    assert first["id"] == again["id"] != other["id"]
    assert (again["repeated"], other["repeated"]) == (True, False)


@pytest.mark.parametrize("message", MESSAGES)
async def test_every_message_needs_a_ticket_first(home: House, message: str) -> None:
    mine, theirs = await home.create(home.alice), await home.create(home.bob)
    fields: dict[str, Any] = {"answer": {"msg_id": "m1", "text": ANSWER}, "persona": PERSONA}.get(message, {})
    if message != "hello":
        async with home.server.socket(mine) as nobody:
            await nobody.send(type=message, **fields)
            await refused(nobody)
    for token in ("x" * 32, theirs["token"], home.alice, mine["token"][:-1] + "!"):
        async with home.server.socket(mine) as stranger:
            await stranger.send(type="hello", token=token)
            await refused(stranger)
    async with home.server.joined(mine) as owner:
        await owner.stage("waiting")
        await owner.send(type=message, **({"token": mine["token"]} if message == "hello" else fields))
        if message == "hello":
            await owner.refused("bad_message")
        else:
            await owner.alive()


@pytest.mark.parametrize("message", MESSAGES)
async def test_a_key_that_is_revoked_ends_its_sockets_at_the_next_message(home: House, message: str) -> None:
    key, secret = await home.accounts.add("carol")
    opened = await home.create(secret)
    fields: dict[str, Any] = {
        "answer": {"msg_id": "m1", "text": ANSWER},
        "persona": PERSONA,
        "hello": {"token": "x" * 20},
    }.get(message, {})
    async with home.server.joined(opened) as client:
        await client.stage("waiting")
        await home.accounts.revoke(key.id)
        await client.send(type=message, **fields)
        await refused(client)
    state = await home.server.service.sessions.state(opened["id"])
    assert state.ended is None and not any(turn.answer for turn in state.turns), "nothing of it was applied"


async def refused(client: Client) -> None:
    await client.refused("unauthorized")
    assert await client.closed() == 4401


async def test_a_ticket_opens_once(home: House) -> None:
    opened = await home.create(home.alice)
    async with home.server.joined(opened) as client:
        await client.alive()
    async with home.server.socket(opened) as second:
        await second.send(type="hello", token=opened["token"])
        await refused(second)
    fresh = (await home.call(home.alice, "POST", f"/v1/sessions/{opened['id']}/token")).json()
    async with home.server.joined({**opened, **fresh}) as third:
        await third.alive()


async def test_a_ticket_of_a_revoked_key_opens_nothing(home: House) -> None:
    key, secret = await home.accounts.add("dave")
    opened = await home.create(secret)
    await home.accounts.revoke(key.id)
    async with home.server.socket(opened) as client:
        await client.send(type="hello", token=opened["token"])
        await refused(client)


async def test_two_keys_of_one_name_share_sessions_and_scopes_hold(home: House) -> None:
    _, second = await home.accounts.add("alice")
    _, scorer = await home.accounts.add("alice", ("score",))
    _, admin = await home.accounts.add("root", ("admin", "metrics"))
    opened = await home.create(home.alice)
    path = f"/v1/sessions/{opened['id']}"
    assert (await home.call(second, "GET", path)).status_code == 200
    assert (await home.call(scorer, "GET", path)).status_code == 403
    assert (await home.call(scorer, "POST", "/v1/score", QUESTION)).status_code == 200
    assert (await home.call(admin, "GET", path)).status_code == 403, "whoever runs the service reads no interviews"
    assert (await home.call(admin, "GET", "/metrics")).status_code == 200
    assert (await home.call(admin, "POST", "/v1/adapters/deep_dive/rollback")).status_code == 404


async def test_signing_in_and_out(home: House) -> None:
    http, origin = home.server.http, {"origin": f"http://{home.server.host}"}
    assert (await http.get("/v1/auth")).json() == {"required": True, "name": None, "stored": True}
    wrong = await http.post("/v1/auth", json={"key": home.gone}, headers=origin)
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
    entered = await http.post("/v1/auth", json={"key": home.alice}, headers=origin)
    assert entered.json() == {"required": True, "name": "alice", "stored": True}
    attributes = {part.strip().lower() for part in entered.headers["set-cookie"].split(";")[1:]}
    assert attributes == {"httponly", "max-age=43200", "path=/", "samesite=strict"}, "Secure too, where TLS is"
    cookie = {"cookie": f"{COOKIE}={entered.cookies[COOKIE]}"}
    http.cookies.clear()
    assert home.alice not in cookie["cookie"]
    assert (await http.get("/v1/sessions", headers=cookie)).status_code == 200
    assert (await http.post("/v1/sessions", json=PERSONA, headers=cookie | origin)).status_code == 201
    for bad in ({}, {"origin": "https://evil.example"}, {"origin": "null"}):
        forged = await http.post("/v1/sessions", json=PERSONA, headers=cookie | bad)
        assert (forged.status_code, forged.json()["error"]["code"]) == (403, "foreign_origin")
    assert (await http.delete("/v1/auth", headers=cookie | origin)).status_code == 204
    http.cookies.clear()
    assert (await http.get("/v1/sessions", headers=cookie)).status_code == 401, "void, not only forgotten"


async def test_the_audit_log_says_who_did_what_without_words_or_secrets(home: House) -> None:
    opened = await home.create(home.alice)
    async with home.server.joined(opened) as client:
        await client.stage("waiting")
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting")
    await home.call(home.bob, "GET", f"/v1/sessions/{opened['id']}/transcript?format=md")
    await home.call(None, "GET", f"/v1/{ANSWER[:20]}")
    raw = home.audit.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in raw.splitlines()]
    mine = [(e["who"], e["action"], e["outcome"]) for e in lines if e["session"] == opened["id"]]
    assert mine == [
        ("alice", "POST /v1/sessions", "201"),
        ("alice", "WS /v1/sessions/{session_id}/ws", "opened"),
        ("bob", "GET /v1/sessions", "404"),
    ]
    assert home.audit.stat().st_mode & 0o777 == 0o600
    for secret in (home.alice, home.bob, opened["token"], ANSWER[:40], "pelican"):
        assert secret not in raw


async def test_the_default_asks_for_nothing() -> None:
    async with running(deps(FlakyStore.open("sqlite://"))) as server:
        assert (await server.http.get("/v1/auth")).json() == {"required": False, "name": None, "stored": True}
        opened = await server.create()
        assert (await server.http.get(f"/v1/sessions/{opened['id']}")).status_code == 200
        problem = await server.http.post("/v1/auth", json={"key": "imk_00000000_x"})
        assert (problem.status_code, problem.json()["error"]["code"]) == (409, "no_accounts")
