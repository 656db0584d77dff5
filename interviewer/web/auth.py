"""The gate: who sends a request, and whether it may pass. Everything is closed that is not opened in ``core/access``.

Without accounts it lets everything pass. With them, a request about a session or loop of somebody else is answered in
the very words for one that is not there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interviewer.core.access import is_public, named, needed_scope, spends
from interviewer.service.accounts import Accounts, TooMany
from interviewer.service.keys import Key
from interviewer.service.metering import PAYER
from interviewer.service.ports import StoreError, UnknownSession
from interviewer.web import errors
from interviewer.web.state import Service

COOKIE = "interviewer_session"
_SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass
class Caller:
    """Who sent a request."""

    key: Key | None = None
    cookie: str | None = None
    """Set when a browser's cookie said so."""
    made: list[str] = field(default_factory=list)
    """Ids of sessions that the request made, for the audit log."""

    @property
    def owner(self) -> str:
        """Whose are sessions that this caller makes; empty without accounts."""
        return self.key.name if self.key else ""

    @property
    def only(self) -> str | None:
        """Whose sessions this caller sees; ``None`` is everybody's, without accounts."""
        return self.key.name if self.key else None


def _caller(request: Request) -> Caller:
    caller = getattr(request.state, "caller", None)
    return caller if isinstance(caller, Caller) else Caller()


Who = Annotated[Caller, Depends(_caller)]


async def opening(service: Service, caller: Caller, session_id: str, token: str) -> str:
    """Return what the client has to say hello with: the session's token or, with accounts, a ticket."""
    caller.made.append(session_id)
    if service.accounts is None or caller.key is None:
        return token
    return await service.accounts.ticket(caller.key, session_id, service.deps.store)


class Gate:
    """ASGI middleware inside the guard and around the routes; sockets show their ticket in the first message."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with the caller in the request's state."""
        service: Service | None = getattr(scope["app"].state, "service", None) if scope["type"] == "http" else None
        if service is None or service.accounts is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        caller = Caller()
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            caller.key, caller.cookie = await _identify(headers, service.accounts)
            scope.setdefault("state", {})["caller"] = caller
            refusal = await _refusal(scope, headers, caller, service, service.accounts)
        except StoreError as error:
            refusal = errors.store_unavailable(error)
        paying = PAYER.set(caller.key.id if caller.key else None)
        try:
            await (refusal or self._app)(scope, receive, watched)
        finally:
            PAYER.reset(paying)
            _note(scope, service, caller, status)


async def _identify(headers: Headers, accounts: Accounts) -> tuple[Key | None, str | None]:
    """Return the key behind a request, and the cookie if it was that; a header that is wrong is not made up for."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    if kind:
        return (await accounts.by_secret(secret.strip()) if kind.lower() == "bearer" else None), None
    cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
    return (await accounts.by_cookie(cookie), cookie) if cookie else (None, None)


async def _refusal(
    scope: Scope, headers: Headers, caller: Caller, service: Service, accounts: Accounts
) -> JSONResponse | None:
    method, path, key = scope["method"], scope["path"], caller.key
    try:
        if caller.cookie is not None and method not in _SAFE and "origin" not in headers:
            return errors.error(403, "foreign_origin", "A browser that is signed in says which page sends this.")
        if key is None:
            if not is_public(path) or method not in _SAFE:
                accounts.admit(f"address:{(scope.get('client') or ('', 0))[0]}")
            return None if is_public(path) else _unauthorized(path)
        accounts.admit(key.id)
        needed = needed_scope(method, path)
        if not is_public(path) and needed is not None and needed not in key.scopes:
            return errors.error(403, "forbidden", f"This key does not have the scope {needed!r}.")
        session, loop = named(path, "sessions"), named(path, "loops")
        if session is not None and await service.deps.store.owner(session) != key.name:
            return errors.unknown_session()
        if loop is not None and await service.deps.store.loop_owner(loop) != key.name:
            return errors.unknown_loop()
        if spends(method, path):
            await accounts.affords(key)
    except UnknownSession:
        return errors.unknown_session()
    except TooMany as error:
        return errors.too_many(error)
    return None


def _unauthorized(path: str) -> JSONResponse:
    message = "This needs a key: sign in on the page, or send it as a header: Authorization: Bearer imk_..."
    response = errors.error(401, "unauthorized", message)
    response.headers["www-authenticate"] = "Bearer"
    return response


def _note(scope: Scope, service: Service, caller: Caller, status: int) -> None:
    path = scope["path"]
    if service.audit is None or (caller.key is None and is_public(path) and scope["method"] in _SAFE):
        return
    route: Any = scope.get("route")
    session = named(path, "sessions")
    service.audit.write(
        service.deps.clock.now(),
        who=caller.owner,
        key=caller.key.id if caller.key else "",
        # A path that was refused before it was routed may hold anything: it is not copied.
        action=f"{scope['method']} {getattr(route, 'path', '/'.join(path.split('/')[:3])[:64])}",
        session=",".join(dict.fromkeys([*([session[:64]] if session else []), *caller.made])),
        outcome=str(status),
    )


class Revoked(Exception):
    """The key behind a socket is not valid any more."""


class Guest:
    """Who holds a socket; without accounts whoever has the session's token."""

    def __init__(self, accounts: Accounts | None = None, key: Key | None = None) -> None:
        """Keep the key that the ticket was made for."""
        self._accounts = accounts
        self._key = key

    async def still(self) -> None:
        """Check that the key still counts.

        Raises:
            Revoked: it was revoked since.
        """
        if self._accounts and self._key and await self._accounts.valid(self._key.id) is None:
            raise Revoked

    async def may(self, *, spend: bool) -> None:
        """Check one message; ``spend``: whether it has the engine work.

        Raises:
            Revoked: the key was revoked since.
            TooMany: more messages than the key may send, or its engine time for today is used up.
        """
        if self._accounts is None or self._key is None:
            return
        await self.still()
        self._accounts.admit(self._key.id)
        if spend:
            await self._accounts.affords(self._key)


async def join(service: Service, session_id: str, token: str) -> Guest | None:
    """Return who opens a session's socket with a token, or with accounts a ticket; ``None`` when it opens nothing."""
    accounts = service.accounts
    key: Key | None = None
    try:
        if accounts is None:
            return Guest() if await service.sessions.check_token(session_id, token) else None
        key = await accounts.redeem(token, session_id, service.deps.store)
    except UnknownSession:
        return None  # The same as for a wrong token: ids of other people's sessions are not confirmed.
    if service.audit is not None:
        service.audit.write(
            service.deps.clock.now(),
            who=key.name if key else "",
            key=key.id if key else "",
            action="WS /v1/sessions/{session_id}/ws",
            session=session_id[:64],
            outcome="opened" if key else "unauthorized",
        )
    if key is None:
        return None
    PAYER.set(key.id)  # for all tasks of this connection
    return Guest(accounts, key)
