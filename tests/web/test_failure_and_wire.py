"""A fault of our own is answered like any refusal, with every header; and any frame is a message or a typed error."""

from __future__ import annotations

import httpx2
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from starlette.responses import StreamingResponse

from interviewer.web.security import HEADERS, Guard
from interviewer.web.wire import CLIENT

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("type", "token", "last_seq", "msg_id", "text", "seen", "persona", "reason", "extra")
TYPES = ("hello", "answer", "interrupt", "persona", "hint", "retry", "end", "ping", "event", "")


def failing() -> FastAPI:
    app = FastAPI()

    @app.get("/v1/broken")
    async def broken() -> None:
        raise RuntimeError("a secret of the inside")

    @app.get("/v1/midway")
    async def midway() -> StreamingResponse:
        async def body() -> object:
            yield b"half"
            raise RuntimeError("too late for another answer")

        return StreamingResponse(body())  # type: ignore[arg-type]

    app.add_middleware(Guard, hosts=("*",))
    return app


async def test_a_failure_has_the_one_shape_and_every_header() -> None:
    transport = httpx2.ASGITransport(failing(), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
        answer = await client.get("/v1/broken")
    assert answer.status_code == 500 and answer.json()["error"]["code"] == "internal_error"
    assert "secret" not in answer.text
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/v1/broken", "/v1/midway"])
async def test_what_was_raised_still_reaches_the_server(path: str) -> None:
    transport = httpx2.ASGITransport(failing())
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
        with pytest.raises(RuntimeError):
            await client.get(path)


@given(st.text() | st.binary())
def test_any_frame_is_a_message_or_a_typed_error(frame: str | bytes) -> None:
    _check(frame)


@given(st.dictionaries(st.sampled_from(FIELDS), st.sampled_from(TYPES) | json_values, max_size=5))
def test_any_object_is_a_message_or_a_typed_error(fields: dict[str, object]) -> None:
    try:
        CLIENT.validate_python(fields)
    except ValidationError as error:
        assert error.errors(include_url=False, include_input=False)


@pytest.mark.parametrize(
    "frame",
    ["[" * 60_000, '{"type":"hello","token":"' + "x" * 60_000, '{"type":"ping","a":' * 3000, "9" * 60_000, "\ud800"],
    ids=["nested", "cut", "objects", "digits", "half a character"],
)
def test_a_frame_at_the_limits_is_a_typed_error(frame: str) -> None:
    with pytest.raises(ValidationError):
        CLIENT.validate_json(frame)


def _check(frame: str | bytes) -> None:
    try:
        CLIENT.validate_json(frame)
    except ValidationError as error:
        assert error.errors(include_url=False, include_input=False)
