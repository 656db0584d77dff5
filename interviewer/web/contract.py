"""The contract as documents: OpenAPI for HTTP, AsyncAPI for the socket, both made from the models that serve it.

``docs/openapi.json`` and ``docs/asyncapi.json`` are written by :func:`write`; a test fails when they are out of step.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from interviewer import __version__
from interviewer.web import socket, wire
from interviewer.web.app import create_app
from interviewer.web.state import Service
from interviewer.web.view import ws_url

CLOSE_CODES: Mapping[int, str] = {
    1009: f"A frame was larger than {wire.MAX_FRAME} bytes.",
    1011: "The store cannot be used; connect again later.",
    1012: "The service restarts; connect again.",
    socket.CLOSE_TAKEN_OVER: "The session was opened by another client, or deleted.",
    socket.CLOSE_BAD: "Wrong subprotocol, a first message that is no hello, or a session that cannot go on.",
    socket.CLOSE_UNAUTHORIZED: "No hello in time, or not the session's token.",
    socket.CLOSE_CONFLICT: "The session went on in another process; connect again.",
    socket.CLOSE_FLOOD: "More messages at once than replies were read.",
}
"""What the server means when it closes a socket."""


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document; nothing is started for it."""

    async def never() -> Service:
        raise RuntimeError("only the routes are needed")

    return create_app(never).openapi()


def asyncapi() -> dict[str, Any]:
    """Return the AsyncAPI 3.0 document of ``WS /v1/sessions/{session_id}/ws``."""
    sent, received = _members(wire.ClientMessage), _members(wire.ServerMessage)
    _, schemas = models_json_schema(
        [(model, "validation") for model in sent] + [(model, "serialization") for model in received],
        ref_template="#/components/schemas/{model}",
    )
    channel = "#/channels/session"
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "LLM mock interviewer: the socket of a session",
            "version": __version__,
            "description": _text(wire),
        },
        "defaultContentType": "application/json",
        "channels": {
            "session": {
                "address": ws_url("{session_id}"),
                "description": f"Subprotocol {wire.SUBPROTOCOL}. Closes with: "
                + " ".join(f"{code}: {meaning}" for code, meaning in CLOSE_CODES.items()),
                "parameters": {"session_id": {"description": "The id of the session."}},
                "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
                "messages": {m.__name__: {"$ref": f"#/components/messages/{m.__name__}"} for m in (*sent, *received)},
            }
        },
        "operations": {
            "takeMessage": _operation("receive", "What a client may send.", channel, sent),
            "sendMessage": _operation("send", "What the service sends.", channel, received),
        },
        "components": {
            "messages": {m.__name__: _message(m) for m in (*sent, *received)},
            "schemas": schemas["$defs"],
        },
    }


def documents() -> dict[str, str]:
    """Return both documents as they are stored, by path relative to the project."""
    made = {"docs/openapi.json": openapi(), "docs/asyncapi.json": asyncapi()}
    return {path: json.dumps(document, indent=1, sort_keys=True) + "\n" for path, document in made.items()}


def write(project: Path) -> None:
    """Write both documents into the project."""
    for path, text in documents().items():
        target = project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _members(union: Any) -> tuple[type[BaseModel], ...]:
    """Return the models of an annotated union."""
    return get_args(get_args(union)[0])


def _operation(action: str, summary: str, channel: str, models: tuple[type[BaseModel], ...]) -> dict[str, Any]:
    return {
        "action": action,
        "summary": summary,
        "channel": {"$ref": channel},
        "messages": [{"$ref": f"{channel}/messages/{m.__name__}"} for m in models],
    }


def _message(model: type[BaseModel]) -> dict[str, Any]:
    return {
        "name": model.model_fields["type"].default,
        "summary": _text(model),
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
    }


def _text(thing: object) -> str:
    return " ".join((thing.__doc__ or "").split())


if __name__ == "__main__":
    write(Path(__file__).parents[2])
