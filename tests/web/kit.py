"""The application on a real server in this process, and clients for it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx2
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from interviewer.service.deps import Deps
from interviewer.testing import StillBackend
from interviewer.web.app import create_app
from interviewer.web.drain import DrainingServer
from interviewer.web.state import Service, assemble
from interviewer.web.wire import MAX_FRAME, SUBPROTOCOL
from tests.service.kit import FlakyStore

Message: TypeAlias = dict[str, Any]
SECONDS = 60.0
"""Longest wait for anything that should come."""


@dataclass
class Running:
    """A server that runs."""

    port: int
    server: uvicorn.Server
    service: Service
    http: httpx2.AsyncClient

    @property
    def store(self) -> FlakyStore:
        """The store behind it, which a test may let fail."""
        store = self.service.deps.store
        assert isinstance(store, FlakyStore)
        return store

    @property
    def unsent(self) -> int:
        """Most bytes that wait to be sent to one client."""
        sizes = [c.transport.get_write_buffer_size() for c in self.server.server_state.connections]
        return max(sizes, default=0)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def raw(self, request: bytes) -> bytes:
        """Send bytes and return all that comes back; the request has to ask for the connection to be closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        async with asyncio.timeout(SECONDS):
            answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    async def create(self, **fields: Any) -> Message:
        """Start a session; returns its id, token and address."""
        body = {"persona": "deep_dive", "minutes": 20, "seed": 3, **fields}
        answer = await self.http.post("/v1/sessions", json=body)
        assert answer.status_code == 201, answer.text
        opened: Message = answer.json()
        return opened

    @asynccontextmanager
    async def socket(
        self,
        opened: Message,
        *,
        subprotocol: str | None = SUBPROTOCOL,
        origin: str | None = None,
        sock: socket.socket | None = None,
    ) -> AsyncIterator[Client]:
        """Connect to a session's socket, without saying hello."""
        async with connect(
            f"ws://{self.host}{opened['ws_url']}",
            subprotocols=[Subprotocol(subprotocol)] if subprotocol else None,
            origin=Origin(origin) if origin else None,
            ping_interval=None,
            max_size=None,
            close_timeout=1,
            proxy=None,
            sock=sock,
        ) as connection:
            yield Client(connection)

    @asynccontextmanager
    async def joined(self, opened: Message, last_seq: int = 0, **how: Any) -> AsyncIterator[Client]:
        """Connect and say hello."""
        async with self.socket(opened, **how) as client:
            await client.send(type="hello", token=opened["token"], last_seq=last_seq)
            welcome = await client.receive()
            assert welcome["type"] == "welcome", welcome
            yield client


class Client:
    """One socket, with all that it received."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.received: list[Message] = []

    async def send(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def receive(self) -> Message:
        async with asyncio.timeout(SECONDS):
            message: Message = json.loads(await self.connection.recv())
        self.received.append(message)
        return message

    async def until(self, fits: Callable[[Message], bool]) -> Message:
        while not fits(message := await self.receive()):
            pass
        return message

    async def stage(self, stage: str, turn: int | None = None) -> Message:
        """Wait for a status."""
        return await self.until(lambda m: m["type"] == "status" and m["stage"] == stage and turn in (None, m["turn"]))

    async def kind(self, kind: str) -> Message:
        """Wait for a message of one type."""
        return await self.until(lambda m: bool(m["type"] == kind))

    async def refused(self, code: str) -> Message:
        """Wait for an error and check its code."""
        message = await self.kind("error")
        assert message["code"] == code, message
        return message

    async def alive(self) -> None:
        """Check that the connection still answers."""
        await self.send(type="ping")
        await self.kind("pong")

    async def closed(self) -> int | None:
        """Read to the end and return the code with which the server closed."""
        try:
            while True:
                await self.receive()
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else None

    def seqs(self) -> list[int]:
        """Return the seq of every stored event that was received; two messages of one event count once."""
        found = [m["seq"] for m in self.received if m["type"] in ("event", "question.done", "assessment")]
        return found

    def text(self, turn: int) -> str:
        """Put the pieces of a question together."""
        text = next((m["partial"] for m in self.received if m["type"] == "welcome"), "")
        for m in self.received:
            if m["type"] == "question.delta" and m["turn"] == turn:
                text = text[: m["offset"]] + m["text"]
        return str(text)


@asynccontextmanager
async def running(
    given: Deps,
    backend: StillBackend | None = None,
    *,
    hosts: tuple[str, ...] = (),
    small_buffers: bool = False,
    grace: float = 0.0,
    prepare: Callable[[FastAPI], None] = lambda _: None,
    **parts: Any,
) -> AsyncIterator[Running]:
    """Serve the application as the command does: same protocol implementation, same frame limit."""
    service = assemble(given, backend or StillBackend(), **parts)

    async def build() -> Service:
        return service

    listening = socket.socket()
    if small_buffers:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    application = create_app(build, hosts)
    prepare(application)
    config = uvicorn.Config(
        application,
        log_level="error",
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME,
        timeout_graceful_shutdown=1,
    )
    server = DrainingServer(config, grace)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    async with asyncio.timeout(SECONDS):
        while not server.started:
            assert not serving.done(), "the server did not start"
            await asyncio.sleep(0.005)
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=SECONDS) as http:
            yield Running(port, server, service, http)
    finally:
        server.should_exit = True
        await serving
        listening.close()
