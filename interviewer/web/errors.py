"""One shape for every refusal: ``{"error": {"code", "message", "details"?}}``; never a 500 for a client's mistake."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from interviewer.service.accounts import TooMany
from interviewer.service.errors import Refused
from interviewer.service.ports import ConcurrentAppend, StoreError, UnknownSession

_log = logging.getLogger(__name__)
_STATUS = {
    "turn_in_progress": 409,
    "session_ended": 409,
    "session_running": 409,
    "conflicting_items": 409,
    "batch_too_large": 413,
    "transcript_too_large": 413,
    "not_ready": 503,
    "shutting_down": 503,
    "engine_not_ready": 503,
    "adapters_elsewhere": 409,
    "no_accounts": 409,
    "not_confirmed": 409,
}


def error(status: int, code: str, message: str, **details: object) -> JSONResponse:
    """Return an error response."""
    body: dict[str, object] = {"code": code, "message": message, **details}
    return JSONResponse({"error": body}, status_code=status)


def unknown_session() -> JSONResponse:
    """Return the answer for a session that is not there, and for one that is somebody else's."""
    return error(404, "unknown_session", "There is no session with that id; it may have been deleted.")


def unknown_loop() -> JSONResponse:
    """Return the answer for a loop that is not there, and for one that is somebody else's."""
    return error(404, "unknown_loop", "There is no loop with that id.")


def too_many(problem: TooMany) -> JSONResponse:
    """Return the answer to what is used up for now, with the time after which it is worth another try."""
    response = error(429, problem.code, problem.message, retry_after=problem.seconds)
    response.headers["retry-after"] = str(problem.seconds)
    return response


def store_unavailable(problem: StoreError) -> JSONResponse:
    """Return the answer when the store fails."""
    _log.error("store: %s", problem)
    return error(503, "store_unavailable", f"The store cannot be used now, nothing was changed: {problem}")


def install(app: FastAPI) -> None:
    """Register the handlers."""

    @app.exception_handler(Refused)
    async def _refused(_: Request, exc: Refused) -> Response:
        status = 404 if exc.code.startswith("unknown_") else _STATUS.get(exc.code, 422)
        return error(status, exc.code, exc.message, **({"choices": list(exc.choices)} if exc.choices else {}))

    @app.exception_handler(UnknownSession)
    async def _unknown(_: Request, __: UnknownSession) -> Response:
        return unknown_session()

    @app.exception_handler(ConcurrentAppend)
    async def _conflict(_: Request, __: ConcurrentAppend) -> Response:
        return error(409, "conflict", "The session changed meanwhile; load it again and repeat.")

    @app.exception_handler(StoreError)
    async def _store(_: Request, exc: StoreError) -> Response:
        return store_unavailable(exc)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, exc: RequestValidationError) -> Response:
        problems = [
            {"at": ".".join(str(p) for p in e["loc"] if p != "body"), "problem": e["msg"]} for e in exc.errors()
        ][:10]
        first = problems[0] if problems else {"at": "", "problem": "invalid request"}
        message = f"{first['at'] or 'body'}: {first['problem']}"
        return error(422, "invalid_request", message, details=jsonable_encoder(problems))

    @app.exception_handler(HTTPException)
    async def _http(_: Request, exc: HTTPException) -> Response:
        codes = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}
        response = error(exc.status_code, codes.get(exc.status_code, "refused"), str(exc.detail))
        response.headers.update(exc.headers or {})
        return response
