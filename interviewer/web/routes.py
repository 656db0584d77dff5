"""The HTTP contract. Routes translate; the service decides."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, WebSocket
from pydantic import BaseModel
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from interviewer.core.debrief_rows import Debrief
from interviewer.core.diff import ReplayDiff
from interviewer.core.labelled import to_text
from interviewer.core.memo import memo
from interviewer.core.memo_parts import Memo, OpenRound
from interviewer.core.memo_render import memo_markdown
from interviewer.core.render import diff_markdown, report_markdown
from interviewer.core.transcript import Transcript, of_session, to_markdown
from interviewer.service.errors import Refused
from interviewer.service.importing import progress
from interviewer.service.score_request import ScoreRequest
from interviewer.service.scoring import ScoreResult, unique
from interviewer.web import about_routes, auth_routes, library_routes, memory_routes, profile_routes, socket
from interviewer.web import models as m
from interviewer.web.auth import Who, opening
from interviewer.web.state import Service, Srv
from interviewer.web.view import shown, ws_url

_REFUSED: dict[int | str, dict[str, Any]] = {"4XX": {"model": m.ErrorView}, "503": {"model": m.ErrorView}}
router = APIRouter(prefix="/v1", responses=_REFUSED)


def _also(model: type[BaseModel], *types: str) -> dict[int | str, dict[str, Any]]:
    """Describe a response that is JSON of ``model`` or, on request, text."""
    return {200: {"model": model, "content": {kind: {"schema": {"type": "string"}} for kind in types}}}


@router.post("/score")
async def score(body: ScoreRequest, service: Srv) -> ScoreResult:
    """Score one written answer. Stateless."""
    return await service.scoring.score(body)


@router.post("/score/batch", responses=_also(m.BatchResult, "application/x-ndjson"))
async def score_batch(
    body: m.Batch, service: Srv, format: Annotated[Literal["json", "jsonl"], Query()] = "json"
) -> Response:
    """Score up to 1,000 answers; an item that fails does not fail the others.

    ``format=jsonl`` sends each outcome as soon as it is there, one line each, each id once; nothing is kept.
    """
    if format == "json":
        results = await service.scoring.batch(body.items)
        return JSONResponse(m.BatchResult(results=tuple(results)).model_dump(mode="json"))
    outcomes = service.scoring.each(unique(body.items))
    lines = (f"{outcome.model_dump_json()}\n" async for outcome in outcomes)
    return StreamingResponse(lines, media_type="application/x-ndjson")


@router.get("/adapters")
async def adapters(service: Srv) -> m.AdapterList:
    """List the versions of every adapter that the embedded engine can serve."""
    return m.AdapterList(adapters=tuple(service.backend.versions()))


@router.post("/adapters/{adapter}")
async def activate(adapter: str, body: m.ActivateVersion, service: Srv) -> m.AdapterList:
    """Let new turns use another version, once it has passed its canary; running turns end on the old one."""
    await service.backend.activate(adapter, body.version)
    return m.AdapterList(adapters=tuple(service.backend.versions()))


@router.post("/adapters/{adapter}/rollback")
async def rollback(adapter: str, service: Srv) -> m.AdapterList:
    """Let new turns use the version that was in use before."""
    await service.backend.rollback(adapter)
    return m.AdapterList(adapters=tuple(service.backend.versions()))


@router.post("/sessions", status_code=201)
async def create_session(body: m.NewSession, service: Srv, caller: Who) -> m.Opened:
    """Start an interview; connect to ``ws_url`` and say hello with ``token``."""
    service.drain.refuse()
    session_id, token = await service.sessions.create(
        persona=body.persona,
        rubric=body.rubric,
        level=body.level,
        mode=body.mode,
        minutes=body.minutes,
        seed=body.seed,
        background=body.background,
        resume=body.resume,
        job=body.job,
        scenario=body.scenario,
        drill=body.drill,
        question=body.question,
        owner=caller.owner,
    )
    token = await opening(service, caller, session_id, token)
    return m.Opened(id=session_id, token=token, ws_url=ws_url(session_id))


@router.get("/sessions")
async def list_sessions(
    service: Srv,
    caller: Who,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[datetime | None, Query()] = None,
) -> m.SessionList:
    """List sessions, newest first."""
    if before is not None:
        if before.tzinfo is None:
            raise Refused("bad_time", '"before" needs a time zone, as in 2026-01-31T12:00:00Z.')
        try:
            before = before.astimezone(UTC)
        except OverflowError:
            raise Refused("bad_time", '"before" is outside the calendar.') from None
    return m.SessionList(sessions=tuple(await service.deps.store.rows(limit=limit, before=before, owner=caller.only)))


@router.get("/sessions/{session_id}")
async def get_session(session_id: str, service: Srv) -> m.SessionView:
    """Return where a session stands."""
    row = await service.deps.store.row(session_id)
    state = await service.sessions.state(session_id)
    if state.started.origin == "imported" and state.ended is None:
        service.imports.read(session_id)
    return m.SessionView(
        **row.model_dump(),
        phase=state.phase,
        questions=sum(t.question is not None for t in state.turns),
        minutes=state.started.minutes,
        elapsed_seconds=round(state.active_seconds, 1),
        progress=m.Progress(**progress(state)),
        replays=tuple(await service.deps.store.replays(session_id)),
    )


@router.delete("/sessions/{session_id}", status_code=204)
async def delete_session(session_id: str, service: Srv) -> Response:
    """Delete a session and everything said in it, really: its replays repeat it and are deleted with it.

    ``replays`` of the session says which these are; 204 means that all of them are gone, an error that none is.
    """
    service.imports.forget(session_id)
    await service.sessions.delete(session_id)
    return Response(status_code=204)


@router.post("/sessions/{session_id}/token")
async def new_token(session_id: str, service: Srv, caller: Who) -> m.Token:
    """Replace the session's token, for a client that lost it; with accounts it opens the socket once, within 30 s."""
    token = await opening(service, caller, session_id, await service.sessions.new_token(session_id))
    return m.Token(token=token, ws_url=ws_url(session_id))


@router.get("/sessions/{session_id}/events", responses={200: {"content": {"application/x-ndjson": {}}}})
async def events(session_id: str, service: Srv, after: Annotated[int, Query(ge=0)] = 0) -> Response:
    """Return the log as NDJSON; while the session runs, without what the candidate may not see yet."""
    state = await service.sessions.state(session_id)
    log = await service.deps.store.load(session_id, after=after)
    lines = [allowed.model_dump_json() for r in log if (allowed := shown(state, r))]
    return Response("".join(f"{line}\n" for line in lines), media_type="application/x-ndjson")


@router.get("/sessions/{session_id}/transcript", responses=_also(Transcript, "text/markdown", "text/plain"))
async def transcript(
    session_id: str,
    service: Srv,
    format: Annotated[Literal["json", "md", "txt"], Query()] = "json",
) -> Response:
    """Return what was said."""
    state = await service.sessions.state(session_id)
    said = of_session(state)
    if format == "md":
        return Response(to_markdown(said, f"Interview {session_id}"), media_type="text/markdown; charset=utf-8")
    if format == "txt":
        return PlainTextResponse(to_text(said))
    return JSONResponse(said.model_dump(mode="json"))


@router.get("/sessions/{session_id}/report", responses=_also(Debrief, "text/markdown"))
async def report(session_id: str, service: Srv, format: Annotated[Literal["json", "md"], Query()] = "json") -> Response:
    """Return the debrief: of the whole session, or so far in practice mode."""
    state = await service.sessions.state(session_id)
    if state.started.mode == "real" and state.ended is None:
        raise Refused("session_running", "In real mode the report is written when the session has ended.")
    packet = await asyncio.to_thread(service.replays.packet, state)
    if format == "md":
        return Response(report_markdown(packet), media_type="text/markdown; charset=utf-8")
    return JSONResponse(packet.model_dump(mode="json"))


@router.post("/transcripts", status_code=201)
async def import_transcript(body: m.NewTranscript, service: Srv, caller: Who) -> m.ImportedView:
    """Import a transcript; its answers are read in the background, see ``progress`` of the session."""
    taken = await service.imports.take(
        body.content,
        format=body.format,
        rubric=body.rubric,
        persona=body.persona,
        level=body.level,
        candidate=body.candidate,
        owner=caller.owner,
    )
    return m.ImportedView(
        id=taken.id,
        token=await opening(service, caller, taken.id, taken.token),
        ws_url=ws_url(taken.id),
        turns=taken.turns,
        unplaced=tuple(m.UnplacedView(line=u.line, text=u.text) for u in taken.unplaced),
        notices=taken.notices,
        repeated=taken.repeated,
    )


@router.post("/sessions/{session_id}/replays", status_code=201)
async def create_replay(session_id: str, body: m.NewReplay, service: Srv, caller: Who) -> m.ReplayView:
    """Replay a session as another persona, rubric or judge; or go on live from ``from_turn`` with ``edits``."""
    if body.from_turn is not None:
        if body.persona or body.rubric or body.judge:
            raise Refused("bad_replay", "A what-if keeps persona, rubric and judge; swap the persona once it runs.")
        child, token = await service.replays.what_if(session_id, body.from_turn, body.edits)
        token = await opening(service, caller, child, token)
        return m.ReplayView(id=child, token=token, ws_url=ws_url(child), diff=None)
    if body.edits:
        raise Refused("bad_replay", 'Edits need "from_turn": the turn from which the interview goes on.')
    child, token, found = await service.replays.replay(
        session_id, persona=body.persona, rubric=body.rubric, judge=body.judge
    )
    token = await opening(service, caller, child, token)
    return m.ReplayView(id=child, token=token, ws_url=ws_url(child), diff=found)


@router.get("/sessions/{session_id}/diff", responses=_also(ReplayDiff, "text/markdown"))
async def get_diff(
    session_id: str, service: Srv, format: Annotated[Literal["json", "md"], Query()] = "json"
) -> Response:
    """Return what a replay changed against its parent."""
    found = await service.replays.compare(session_id)
    if format == "md":
        return Response(diff_markdown(found), media_type="text/markdown; charset=utf-8")
    return JSONResponse(found.model_dump(mode="json"))


@router.post("/loops", status_code=201)
async def create_loop(body: m.NewLoop, service: Srv, caller: Who) -> m.OpenedLoop:
    """Start the five rounds of a loop, all with one profile of the candidate."""
    service.drain.refuse()
    loop_id, created = await service.sessions.create_loop(
        level=body.level,
        mode=body.mode,
        minutes=body.minutes,
        background=body.background,
        resume=body.resume,
        job=body.job,
        owner=caller.owner,
    )
    rounds = []
    for session_id, token in created:
        row = await service.deps.store.row(session_id)
        token = await opening(service, caller, session_id, token)
        rounds.append(
            m.OpenedRound(id=session_id, token=token, ws_url=ws_url(session_id), rubric=row.rubric, persona=row.persona)
        )
    return m.OpenedLoop(id=loop_id, sessions=tuple(rounds))


@router.get("/loops/{loop_id}")
async def get_loop(loop_id: str, service: Srv) -> m.LoopView:
    """Return where the rounds of a loop stand."""
    if not await service.deps.store.loop_exists(loop_id):
        raise Refused("unknown_loop", "There is no loop with that id.")
    rows = await service.deps.store.rows(limit=50, loop_id=loop_id)
    return m.LoopView(id=loop_id, sessions=tuple(sorted(rows, key=lambda r: r.created_at)))


@router.get("/loops/{loop_id}/memo", responses=_also(Memo, "text/markdown"))
async def get_memo(
    loop_id: str,
    service: Srv,
    format: Annotated[Literal["json", "md"], Query()] = "json",
) -> Response:
    """Return the committee's memo over the packets of the rounds that have ended; the others are named."""
    view = await get_loop(loop_id, service)
    packets = []
    for row in view.sessions:
        if row.ended:
            packets.append(await asyncio.to_thread(service.replays.packet, await service.sessions.state(row.id)))
    unfinished = [OpenRound(rubric=r.rubric, session_id=r.id, begun=r.seq > 1) for r in view.sessions if not r.ended]
    found: Memo = memo(loop_id, packets, unfinished)
    if format == "md":
        return Response(memo_markdown(found), media_type="text/markdown; charset=utf-8")
    return JSONResponse(found.model_dump(mode="json"))


router.include_router(auth_routes.router)
router.include_router(library_routes.router)
router.include_router(about_routes.router)
router.include_router(profile_routes.router)
router.include_router(memory_routes.router)


@router.websocket("/sessions/{session_id}/ws")
async def session_socket(websocket: WebSocket, session_id: str) -> None:
    """Hold an interview; see the AsyncAPI document."""
    service: Service = websocket.app.state.service
    await socket.serve(websocket, session_id, service)
