"""A client of the service, for the terminal, benchmarks and tests: HTTP calls and the socket."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from interviewer.web import wire

DEFAULT_URL = "http://127.0.0.1:8600"


class ServiceError(Exception):
    """The service refused, or cannot be reached; the message says what to do."""

    def __init__(self, code: str, message: str) -> None:
        """Keep the code and the sentence."""
        super().__init__(message)
        self.code = code


def api_key() -> str:
    """Return the key for a service that asks for one: ``INTERVIEWER_API_KEY``, or the file ``..._FILE`` names."""
    path = os.environ.get("INTERVIEWER_API_KEY_FILE")
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else os.environ.get("INTERVIEWER_API_KEY", "")
    except OSError as error:
        raise ServiceError("no_key", f"INTERVIEWER_API_KEY_FILE: cannot read {path}: {error.strerror}") from None


class Client:
    """HTTP calls; every refusal is a :class:`ServiceError`."""

    def __init__(self, url: str = DEFAULT_URL, *, seconds: float = 120.0) -> None:
        """Talk to the service at ``url``."""
        self.url = url.rstrip("/")
        key = api_key()
        self._http = httpx2.Client(
            base_url=self.url,
            timeout=httpx2.Timeout(seconds, connect=5.0),
            headers={"authorization": f"Bearer {key}"} if key else {},
        )

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close connections."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON of a GET.

        Raises:
            ServiceError: refused or unreachable.
        """
        return self._call("GET", path, params={k: v for k, v in query.items() if v is not None}).json()

    def text(self, path: str, **query: Any) -> str:
        """Return the text of a GET.

        Raises:
            ServiceError: refused or unreachable.
        """
        return self._call("GET", path, params=query).text

    def post(self, path: str, body: object) -> Any:
        """Return the JSON of a POST.

        Raises:
            ServiceError: refused or unreachable.
        """
        return self._call("POST", path, json=body).json()

    def lines(self, path: str, body: object, **query: Any) -> Iterator[Any]:
        """Yield the JSON of each line that a POST is answered with, as it comes.

        Raises:
            ServiceError: refused, unreachable, or cut off.
        """
        with self._telling(), self._http.stream("POST", path, json=body, params=query) as response:
            if not response.is_success:
                response.read()
                raise _refusal("POST", path, response)
            for line in response.iter_lines():
                yield json.loads(line)

    def pieces(self, path: str, **query: Any) -> Iterator[bytes]:
        """Yield the body of a GET as it comes.

        Raises:
            ServiceError: refused, unreachable, or cut off.
        """
        with self._telling(), self._http.stream("GET", path, params=query) as response:
            if not response.is_success:
                response.read()
                raise _refusal("GET", path, response)
            yield from response.iter_bytes()

    def delete(self, path: str, **query: Any) -> httpx2.Response:
        """Send a DELETE; returns what it was answered with.

        Raises:
            ServiceError: refused or unreachable.
        """
        return self._call("DELETE", path, params=query)

    def ready(self) -> dict[str, Any] | None:
        """Return what ``/readyz`` says; ``None`` when nothing answers there."""
        try:
            data = self._http.get("/readyz", timeout=5.0).json()
        except (httpx2.HTTPError, ValueError):
            return None
        return data if isinstance(data, dict) and "ready" in data else None

    def _call(self, method: str, path: str, **options: Any) -> httpx2.Response:
        with self._telling():
            response = self._http.request(method, path, **options)
        if response.is_success:
            return response
        raise _refusal(method, path, response)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except httpx2.ConnectError as error:
            raise ServiceError("unreachable", f"No service at {self.url}; start it with: interviewer serve") from error
        except httpx2.HTTPError as error:
            raise ServiceError("unreachable", f"{self.url} did not answer: {type(error).__name__}") from error


def _refusal(method: str, path: str, response: httpx2.Response) -> ServiceError:
    try:
        problem = response.json()["error"]
        return ServiceError(problem["code"], problem["message"])
    except (ValueError, KeyError, TypeError):
        return ServiceError("refused", f"{method} {path} answered {response.status_code}")


class Socket:
    """One connection to a session."""

    def __init__(self, connection: ClientConnection) -> None:
        """Wrap an open connection that has said hello."""
        self._connection = connection
        self.seq = 0
        """Highest ``seq`` seen."""

    async def send(self, message: wire.ClientMessage) -> None:
        """Send one message."""
        await self._connection.send(message.model_dump_json())

    async def answer(self, text: str) -> str:
        """Send an answer; returns its message id."""
        msg_id = secrets.token_hex(8)
        await self.send(wire.Answer(msg_id=msg_id, text=text))
        return msg_id

    async def receive(self) -> wire.ServerMessage:
        """Return the next message.

        Raises:
            websockets.ConnectionClosed: the service closed the connection.
        """
        message = wire.SERVER.validate_json(await self._connection.recv())
        self.seq = max(self.seq, getattr(message, "seq", 0))
        return message

    async def close(self) -> None:
        """Close the connection; the session stays."""
        await self._connection.close()


@asynccontextmanager
async def open_socket(url: str, session_id: str, token: str, last_seq: int = 0) -> AsyncIterator[Socket]:
    """Connect to a session and say hello.

    Args:
        url: Of the service, ``http://host:port``.
        session_id: The session.
        token: Its token.
        last_seq: What was seen already; later events are sent again.
    """
    parts = urlsplit(url)
    scheme = "wss" if parts.scheme == "https" else "ws"
    address = f"{scheme}://{parts.netloc}/v1/sessions/{session_id}/ws"
    async with connect(address, subprotocols=[Subprotocol(wire.SUBPROTOCOL)], max_size=2**22) as connection:
        socket = Socket(connection)
        await socket.send(wire.Hello(token=token, last_seq=last_seq))
        yield socket
