"""Who may talk to the service from a browser: known hosts, the page's own origin, bounded bodies, strict headers."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 4 * 1024 * 1024
"""Bytes of one request body."""
FAILED = "The service failed on this request, and its log says why. Try it once more; if it fails again, report it."
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "testserver"})
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for "
    "'script'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


def origin_allowed(headers: Headers, others: frozenset[str] = frozenset()) -> bool:
    """Return whether a request comes from the page itself, one of ``others``, or from something that is no browser."""
    origin = headers.get("origin")
    if origin is None or origin in others:
        return True
    scheme, _, rest = origin.partition("://")
    return scheme in ("http", "https") and rest == headers.get("host", "") != ""


class Guard:
    """ASGI middleware around everything: hosts, origins, body size, response headers."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        """Allow loopback names and ``hosts``; ``*`` allows any. ``origins`` may send beside the page itself."""
        self._app = app
        self._origins = frozenset(origin.rstrip("/") for origin in origins)
        self._hosts = LOOPBACK | set(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what is not allowed, else pass on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = _name(headers.get("host", ""))
        if "*" not in self._hosts and host not in self._hosts:
            await _refuse(scope, receive, send, 421, "unknown_host", f"This service is not known as {host!r}.")
        elif scope["type"] == "websocket" and not origin_allowed(headers, self._origins):
            await _refuse(scope, receive, send, 403, "foreign_origin", "Only the service's own page may connect.")
        elif (
            scope["type"] == "http"
            and scope["method"] not in ("GET", "HEAD")
            and not origin_allowed(headers, self._origins)
        ):
            await _refuse(scope, receive, send, 403, "foreign_origin", "Only the service's own page may send this.")
        elif _declared(headers) > MAX_BODY:
            await _refuse(scope, receive, send, 413, "body_too_large", f"At most {MAX_BODY} bytes are taken.")
        else:
            body = _Bounded(receive)
            sending = _Sending(send, body, scope["path"].startswith("/v1/"))
            try:
                await self._app(scope, body, sending)
            except Exception:
                # The framework would answer outside of this middleware, in plain text and without the headers. What
                # was raised goes on to the server, which logs it.
                if scope["type"] == "http" and not sending.started:
                    await _refusal(500, "internal_error", FAILED)(scope, receive, sending)
                raise


class _Bounded:
    """Ends a body that is longer than it may be; a chunked one declares no length."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._taken = 0

    @property
    def exceeded(self) -> bool:
        """Whether more came than is taken."""
        return self._taken > MAX_BODY

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._taken += len(message.get("body", b""))
            if self.exceeded:
                return {"type": "http.disconnect"}
        return message


def _name(host: str) -> str:
    """Return the name in a ``Host`` header, without the port; empty when it is not a host."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _declared(headers: Headers) -> int:
    value = headers.get("content-length", "0")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else 0


class _Sending:
    """Adds the headers to a response; whatever the answer to a body that was cut short is, it becomes a 413.

    What is personal is kept by no cache.
    """

    def __init__(self, send: Send, body: _Bounded, personal: bool) -> None:
        self._send = send
        self._body = body
        self._personal = personal
        self._refused = False
        self.started = False
        """Whether the response is on its way."""

    async def __call__(self, message: Message) -> None:
        if self._body.exceeded and message["type"] == "http.response.start":
            self._refused = self.started = True
            answer = _refusal(413, "body_too_large", f"At most {MAX_BODY} bytes are taken.")
            await self._send({**message, "status": 413, "headers": list(answer.raw_headers)})
            await self._send({"type": "http.response.body", "body": answer.body})
        elif not self._refused:
            if message["type"] == "http.response.start":
                self.started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self._personal:
                    headers.setdefault("cache-control", "no-store")
            await self._send(message)


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, code: str, message: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403, "reason": message})
        return
    await _refusal(status, code, message)(scope, receive, send)


def _refusal(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message}}, status_code=status, headers=HEADERS)
