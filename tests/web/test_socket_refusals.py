"""Who is not let in, and what is not taken, on a real server: a clear error, and nobody else notices."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from interviewer.service.interview import MAX_ANSWER
from interviewer.testing import ScriptedModel
from interviewer.web.wire import MAX_FRAME
from tests.service.kit import ANSWER, FlakyStore, deps, eventually

from .kit import Running, running

pytestmark = pytest.mark.asyncio(loop_scope="module")
HELLO = {"type": "hello", "token": "some-token-or-other", "last_seq": 0}


@pytest.mark.parametrize(
    ("first", "code", "close"),
    [
        (json.dumps(HELLO), "unauthorized", 4401),
        (json.dumps({**HELLO, "token": ""}), "bad_message", 4400),
        (json.dumps({**HELLO, "token": 1}), "bad_message", 4400),
        (json.dumps({"type": "hello"}), "bad_message", 4400),
        (json.dumps({"type": "ping"}), "unauthorized", 4401),
        (json.dumps({"type": "answer", "msg_id": "m1", "text": "hello?"}), "unauthorized", 4401),
        ("not json", "bad_message", 4400),
        ("", "bad_message", 4400),
        (b"\x00\xff\xfe", "bad_message", 4400),
        (json.dumps({**HELLO, "last_seq": -1}), "bad_message", 4400),
    ],
)
async def test_without_the_token_nobody_gets_in(shared: Running, first: str | bytes, code: str, close: int) -> None:
    opened = await shared.create()
    async with shared.socket(opened) as client:
        await client.connection.send(first)
        await client.refused(code)
        assert await client.closed() == close
        assert len(client.received) == 1, "nothing of the session is sent"


async def test_the_token_of_another_session_does_not_open_this_one(shared: Running) -> None:
    mine, other = await shared.create(), await shared.create()
    async with shared.socket({**mine, "token": other["token"]}) as client:
        await client.send(type="hello", token=other["token"])
        await client.refused("unauthorized")
        assert await client.closed() == 4401


async def test_a_session_that_does_not_exist_is_told_in_the_same_words_as_a_wrong_token(shared: Running) -> None:
    answers = []
    for path in ((await shared.create())["ws_url"], "/v1/sessions/nobody/ws", "/v1/sessions/%00%ff/ws"):
        async with shared.socket({"ws_url": path}) as client:
            await client.send(**HELLO)
            assert await client.closed() == 4401
            answers.append(client.received)
    assert answers[0] == answers[1] == answers[2]


async def test_a_renewed_token_voids_the_old_one(shared: Running) -> None:
    opened = await shared.create()
    renewed = (await shared.http.post(f"/v1/sessions/{opened['id']}/token")).json()
    async with shared.socket(opened) as client:
        await client.send(type="hello", token=opened["token"])
        assert await client.closed() == 4401
    async with shared.joined({**opened, **renewed}) as client:
        await client.stage("waiting", 1)


@pytest.mark.parametrize("subprotocol", [None, "interview.v2"])
async def test_another_subprotocol_is_refused(shared: Running, subprotocol: str | None) -> None:
    async with shared.socket(await shared.create(), subprotocol=subprotocol) as client:
        await client.refused("bad_subprotocol")
        assert await client.closed() == 4400


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://[", "http://127.0.0.1:1"])
async def test_a_foreign_page_cannot_connect(shared: Running, origin: str) -> None:
    opened = await shared.create()
    with pytest.raises(InvalidStatus) as refused:
        async with shared.socket(opened, origin=origin):
            pass
    assert refused.value.response.status_code == 403


async def test_the_own_page_can_connect(shared: Running) -> None:
    async with shared.joined(await shared.create(), origin=f"http://{shared.host}") as client:
        await client.stage("waiting", 1)


BAD = [
    "{",
    "[]",
    "null",
    "3",
    '"ping"',
    "{}",
    '{"type": "dance"}',
    '{"type": 7}',
    '{"type": "ping", "more": 1}',
    '{"type": "answer", "text": "no id"}',
    '{"type": "answer", "msg_id": "", "text": "empty id"}',
    json.dumps({"type": "answer", "msg_id": "x" * 65, "text": "long id"}),
    '{"type": "answer", "msg_id": "m", "text": 7}',
    '{"type": "answer", "msg_id": "m", "text": "\\ud800"}',
    '{"type": "interrupt", "seen": -1}',
    '{"type": "interrupt", "seen": "all"}',
    '{"type": "persona"}',
    '{"type": "persona", "persona": ""}',
    '{"type": "hello", "token": "short"}',
    "[" * 20_000,
    '{"type": "ping"',
    "\x00",
]


async def test_malformed_messages_are_refused_and_the_connection_stays(shared: Running) -> None:
    async with shared.joined(await shared.create()) as client:
        await client.stage("waiting", 1)
        for raw in BAD:
            await client.connection.send(raw)
            error = await client.refused("bad_message")
            assert error["message"] and not error["retryable"]
        for binary in (b"\xff\xfe\x00", b"", random.Random(1).randbytes(2000)):
            await client.connection.send(binary)
            await client.refused("bad_message")
        await client.send(**HELLO)
        await client.refused("bad_message")
        await client.alive()


async def test_random_frames_do_no_harm(shared: Running) -> None:
    chance = random.Random(7)
    words = [
        "type",
        "answer",
        "msg_id",
        "text",
        "ping",
        "seen",
        '"',
        "{",
        "}",
        ":",
        ",",
        "[",
        "]",
        "null",
        "\\u0000",
        "é",
    ]
    async with shared.joined(await shared.create()) as client:
        await client.stage("waiting", 1)
        for _ in range(150):
            size = chance.randrange(200)
            if chance.random() < 0.5:
                await client.connection.send(chance.randbytes(size))
            else:
                await client.connection.send("".join(chance.choices(words, k=size)))
            await client.refused("bad_message")
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting", 2)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty_answer"), ("  \n", "empty_answer"), ("x" * (MAX_ANSWER + 1), "answer_too_long")],
)
async def test_an_answer_that_cannot_be_taken_is_named_by_its_id(shared: Running, text: str, code: str) -> None:
    async with shared.joined(await shared.create()) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=text)
        error = await client.refused(code)
        assert error["msg_id"] == "m1"
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting", 2)


async def test_every_character_that_json_can_carry_is_kept(shared: Running) -> None:
    text = 'nul \x00 tab \t "quotes" \\ \u202e emoji \U0001f9d1\u200d\U0001f4bb <b>bold</b> <|im_end|> \uffff'
    opened = await shared.create()
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m\x00\u20ac", text=text)
        await client.stage("waiting", 2)
    said = (await shared.http.get(f"/v1/sessions/{opened['id']}/transcript")).json()
    assert said["lines"][1]["text"] == text


async def test_a_frame_over_64_kb_ends_the_connection(shared: Running) -> None:
    opened = await shared.create()
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
        just = json.dumps({"type": "answer", "msg_id": "m1", "text": ""})
        fill = "x" * (MAX_FRAME - len(just))
        await client.send(type="answer", msg_id="m1", text=fill)
        await client.refused("answer_too_long")
        await client.send(type="answer", msg_id="m1", text=fill + "x")
        assert await client.closed() == 1009
    async with shared.joined(opened, last_seq=3) as client:
        await client.stage("waiting", 1)


async def test_pings_are_answered_while_a_question_is_generated() -> None:
    async with running(deps(FlakyStore.open("sqlite://"), ScriptedModel(delay=0.05))) as server:
        async with server.joined(await server.create()) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.stage("asking", 2)
            for _ in range(3):
                await client.send(type="ping")
                pong = await client.receive()
                while pong["type"] != "pong":
                    assert pong["type"] == "question.delta"
                    pong = await client.receive()
            await client.stage("waiting", 2)


async def test_a_flood_of_pings_ends_the_connection_and_nothing_else(shared: Running) -> None:
    opened = await shared.create()
    async with shared.joined(opened) as client:
        await client.stage("waiting", 1)
        for _ in range(300):
            await client.send(type="ping")
        assert await client.closed() == 4429
        assert client.received[-1]["code"] == "flood"
    async with shared.joined(opened, last_seq=3) as client:
        await client.stage("waiting", 1)
        for _ in range(100):
            await client.alive()


async def test_a_client_that_does_not_read_holds_little_and_nobody_else_notices() -> None:
    async with running(deps(FlakyStore.open("sqlite://")), small_buffers=True) as server:
        stalled, other = await server.create(), await server.create()
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", server.port))
        async with server.joined(stalled, sock=sock) as client:
            await client.stage("waiting", 1)
            client.connection.transport.pause_reading()
            most = 0
            for number in range(1500):  # each is refused in a sentence of 300 bytes
                with contextlib.suppress(ConnectionClosed):
                    await client.send(type="persona", persona=f"{number:064}")
                if number % 100 == 0:
                    await asyncio.sleep(0.001)
                    most = max(most, server.unsent)
            async with server.joined(other) as quick:
                await quick.stage("waiting", 1)
                await quick.send(type="answer", msg_id="m1", text=ANSWER)
                await quick.stage("waiting", 2)
            assert most < 150_000, "of 450 kB of replies"
            client.connection.transport.resume_reading()
            assert await client.closed() == 4429
        await eventually(lambda: server.service.sessions.loaded == 0)
