"""Signing in with a key, for the page: the key is shown once and exchanged for a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from interviewer.service.errors import Refused
from interviewer.web import errors
from interviewer.web.auth import COOKIE, Who
from interviewer.web.state import Service, Srv

router = APIRouter(prefix="/auth")


class AuthView(BaseModel):
    """Who the caller is to the service."""

    model_config = ConfigDict(extra="forbid")

    required: bool
    """Whether a key is needed at all."""
    name: str | None
    """Name on the key; null for nobody, and where no key is needed."""
    stored: bool
    """Whether sessions are kept when the service stops."""


class SignIn(BaseModel):
    """A key, to sign in with."""

    model_config = ConfigDict(extra="forbid")

    key: Annotated[str, Field(min_length=8, max_length=200)]


@router.get("")
async def who_am_i(service: Srv, caller: Who) -> AuthView:
    """Return whether a key is needed, and who is signed in."""
    return _view(service, caller.key.name if caller.key else None)


@router.post("", responses={200: {"model": AuthView}})
async def sign_in(request: Request, body: SignIn, service: Srv) -> Response:
    """Sign a browser in: answers with a cookie that ends by itself."""
    if service.accounts is None:
        raise Refused("no_accounts", "This service runs without accounts; there is nothing to sign in to.")
    try:
        key, cookie = await service.accounts.sign_in(body.key)
    except Refused as error:
        return errors.error(401, error.code, error.message)
    response = JSONResponse(_view(service, key.name).model_dump())
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=int(service.accounts.rules.signed_in.total_seconds()),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response


@router.delete("", status_code=204)
async def sign_out(service: Srv, caller: Who) -> Response:
    """Sign the browser out: its cookie is void at once."""
    if service.accounts is not None and caller.cookie is not None:
        await service.accounts.sign_out(caller.cookie)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


def _view(service: Service, name: str | None) -> AuthView:
    return AuthView(required=service.accounts is not None, name=name, stored=service.stored)
