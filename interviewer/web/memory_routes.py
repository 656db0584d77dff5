"""All sessions of the caller together: progress, attempts, export and back, and deleting everything."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from interviewer.service.errors import Refused
from interviewer.service.memory import Attempts, Format, Progress
from interviewer.web.auth import Who, opening
from interviewer.web.models import NewRestore, RestoredView
from interviewer.web.state import Srv
from interviewer.web.view import shown, ws_url

router = APIRouter()
_KINDS = {
    "json": ("application/x-ndjson", "jsonl"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "csv": ("text/csv; charset=utf-8", "csv"),
}
Number = Annotated[int | None, Query(ge=1, le=100_000)]


class Deleted(BaseModel):
    """What is gone."""

    sessions: int


@router.post("/restores", status_code=201)
async def restore(body: NewRestore, service: Srv, caller: Who) -> RestoredView:
    """Take a session of a JSON export back in, with the times and readings that it had; the same twice is one."""
    made = await service.restores.restore(body.events, caller.owner)
    token = await opening(service, caller, made.id, made.token)
    return RestoredView(id=made.id, token=token, ws_url=ws_url(made.id), repeated=made.repeated)


@router.get("/progress")
async def progress(service: Srv, caller: Who) -> Progress:
    """Return levels over time with their uncertainty, flags, and what to practise next with the reason."""
    return await service.memory.progress(caller.only)


@router.get("/questions/{question_id}/attempts")
async def attempts(
    question_id: str, service: Srv, caller: Who, first: Number = None, second: Number = None
) -> Attempts:
    """Return all attempts at a question, and two of them side by side: the last two, or those that are named."""
    return await service.memory.attempts(question_id, caller.only, first, second)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {kind.split(";")[0]: {"schema": {"type": "string"}} for kind, _ in _KINDS.values()}}},
)
async def export(
    service: Srv, caller: Who, kind: Annotated[Format, Query(alias="format")] = "json"
) -> StreamingResponse:
    """Write everything out: sessions with events and reports as JSON Lines, levels as CSV, or text to read."""
    media, suffix = _KINDS[kind]
    name = f'attachment; filename="interviews.{suffix}"'
    parts = service.memory.export(kind, caller.only, shown)
    return StreamingResponse(parts, media_type=media, headers={"content-disposition": name})


@router.delete("/sessions")
async def delete_everything(service: Srv, caller: Who, confirm: Annotated[str, Query(max_length=64)] = "") -> Deleted:
    """Delete all sessions and loops of the caller and everything said in them, really; needs ``confirm=everything``."""
    if confirm != "everything":
        raise Refused("not_confirmed", "This deletes every session for good; to do so, add ?confirm=everything.")
    return Deleted(sessions=await service.memory.delete_everything(caller.only))
