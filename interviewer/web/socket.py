"""The socket: one reader, one writer, and a session that goes on without either.

The reader never waits for a generation, so heartbeats are always answered. The writer has one bounded queue and a send
timeout: a client that stops reading is disconnected and nobody else notices.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from interviewer.core.events import QuestionAsked, Recorded
from interviewer.core.session import Phase
from interviewer.service import frames
from interviewer.service.errors import Refused
from interviewer.service.ports import ConcurrentAppend, StoreError, UnknownSession
from interviewer.service.sessions import Follower, Live
from interviewer.web import wire
from interviewer.web.auth import Guest, Revoked, join
from interviewer.web.state import Service
from interviewer.web.view import messages, prices

_log = logging.getLogger(__name__)

HELLO_SECONDS = 10.0
SEND_SECONDS = 20.0
SETTLE_SECONDS = 1.0
"""How long an append of this process may take between the store and the state in memory."""
QUEUE = 64
"""Replies (pong, errors) that may wait for one client; a flood beyond it ends the connection."""

CLOSE_TAKEN_OVER = 4001
CLOSE_BAD = 4400
CLOSE_UNAUTHORIZED = 4401
CLOSE_CONFLICT = 4409
CLOSE_RESTART = 1012
CLOSE_FLOOD = 4429


async def serve(websocket: WebSocket, session_id: str, service: Service) -> None:
    """Serve one connection until it ends."""
    if wire.SUBPROTOCOL not in websocket.scope.get("subprotocols", []):
        await websocket.accept()
        await _fail(websocket, "bad_subprotocol", f'Connect with the subprotocol "{wire.SUBPROTOCOL}".', CLOSE_BAD)
        return
    await websocket.accept(subprotocol=wire.SUBPROTOCOL)
    with service.drain.connected():
        await _served(websocket, session_id, service)


async def _served(websocket: WebSocket, session_id: str, service: Service) -> None:
    try:
        hello = await _hello(websocket)
        if hello is None:
            return
        guest = await join(service, session_id, hello.token)
        if guest is None:
            await _fail(websocket, "unauthorized", "This token does not open this session.", CLOSE_UNAUTHORIZED)
            return
        service.drain.refuse()
        live = await service.sessions.open(session_id)
        await _Connection(websocket, session_id, live, service, guest).run(hello.last_seq)
    except WebSocketDisconnect:
        _closed(websocket, "left")
    except UnknownSession:
        await _fail(websocket, "taken_over", _ELSEWHERE, CLOSE_TAKEN_OVER)
    except ConcurrentAppend:
        await _fail(websocket, "conflict", "The session went on elsewhere; connect again.", CLOSE_CONFLICT)
    except StoreError as error:
        await _fail(websocket, "store_unavailable", str(error), 1011)
    except Refused as error:
        await _fail(websocket, error.code, error.message, CLOSE_RESTART if error.retryable else CLOSE_BAD)
    finally:
        service.sessions.release(session_id)


_ELSEWHERE = "This session was opened or deleted elsewhere."


async def _hello(websocket: WebSocket) -> wire.Hello | None:
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            message = wire.CLIENT.validate_json(await _receive(websocket))
    except TimeoutError:
        await _fail(websocket, "unauthorized", f"No hello within {HELLO_SECONDS:.0f} s.", CLOSE_UNAUTHORIZED)
        return None
    except ValidationError:
        await _fail(websocket, "bad_message", 'The first message must be {"type": "hello", "token": ...}.', CLOSE_BAD)
        return None
    if not isinstance(message, wire.Hello):
        await _fail(websocket, "unauthorized", "Say hello with the session's token first.", CLOSE_UNAUTHORIZED)
        return None
    return message


async def _receive(websocket: WebSocket) -> str | bytes:
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text: str | bytes | None = message.get("text")
    return text if text is not None else message.get("bytes") or b""


async def _fail(websocket: WebSocket, code: str, text: str, close: int) -> None:
    _closed(websocket, code)
    with contextlib.suppress(*_GONE):
        if websocket.application_state is WebSocketState.CONNECTED:
            message = wire.ErrorMessage(code=code, message=text, retryable=False)
            async with asyncio.timeout(SEND_SECONDS):
                await websocket.send_text(message.model_dump_json())
                await websocket.close(close, code)


def _closed(websocket: WebSocket, reason: str) -> None:
    service: Service = websocket.app.state.service
    service.deps.telemetry.closed(reason)


_STAGES: dict[Phase, frames.Stage] = {
    Phase.CHOOSING: "choosing",
    Phase.ASKING: "asking",
    Phase.AWAITING: "waiting",
    Phase.JUDGING: "reading",
    Phase.ENDED: "ended",
}
"""What a client that comes back is told; the stages before it came are not repeated."""

_GONE = (WebSocketDisconnect, TimeoutError, RuntimeError)
"""How a send or receive ends when the client has left or stopped reading."""


class _Flood(Exception):
    """The client sends faster than it takes the replies."""


class _Connection:
    """One accepted client of one session."""

    def __init__(self, websocket: WebSocket, session_id: str, live: Live, service: Service, guest: Guest) -> None:
        self._websocket = websocket
        self._guest = guest
        self._session_id = session_id
        self._live = live
        self._service = service
        self._replies: asyncio.Queue[wire.ServerMessage] = asyncio.Queue(maxsize=QUEUE)
        self._sent = 0
        """Highest seq that was sent, so that nothing is sent twice."""
        self._asked = 0
        """Highest turn whose whole question was sent; pieces of it that still wait are void."""

    async def run(self, last_seq: int) -> None:
        # No await between following and taking the snapshot: every event is either in it or among the frames.
        follower = self._live.follow()
        interview = self._live.interview
        state, partial = interview.state, interview.partial
        try:
            await self._send(wire.Welcome(session_id=self._session_id, seq=state.seq, partial=partial))
            if last_seq > state.seq:
                await self._send(wire.Resync(seq=state.seq))
                last_seq = 0
            self._sent = last_seq
            for recorded in await self._service.deps.store.load(self._session_id, after=last_seq):
                await self._send_event(recorded)
            await self._send(wire.Status(stage=_STAGES[state.phase], turn=len(state.turns)))
            for offer in prices(state):
                await self._send(offer)
            tasks = [
                asyncio.create_task(self._read()),
                asyncio.create_task(self._write_frames(follower)),
                asyncio.create_task(self._write_replies()),
                asyncio.create_task(self._leave(follower)),
                asyncio.create_task(self._watch()),
            ]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                ends = await asyncio.gather(*tasks, return_exceptions=True)
            for end in ends:
                if isinstance(end, _Flood):
                    await _fail(self._websocket, "flood", "Too many messages at once; slow down.", CLOSE_FLOOD)
                elif isinstance(end, Revoked):
                    await _fail(self._websocket, "unauthorized", "The key was revoked.", CLOSE_UNAUTHORIZED)
                elif isinstance(end, Exception) and not isinstance(end, _GONE):
                    raise end
                elif isinstance(end, _GONE):
                    _closed(self._websocket, "stalled" if isinstance(end, TimeoutError) else "left")
                    break  # the other tasks ended of the same
            if follower.replaced:
                await _fail(self._websocket, "taken_over", _ELSEWHERE, CLOSE_TAKEN_OVER)
            elif follower.finished:
                _closed(self._websocket, "going_away")
                with contextlib.suppress(*_GONE):
                    await self._websocket.close(CLOSE_RESTART, "going_away")
        finally:
            self._live.unfollow(follower)

    async def _read(self) -> None:
        while True:
            raw = await _receive(self._websocket)
            try:
                message = wire.CLIENT.validate_json(raw)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                at = ".".join(map(str, first["loc"])) or "message"
                self._reply(_error("bad_message", f"{at}: {first['msg']}"))
                continue
            msg_id = message.msg_id if isinstance(message, wire.Answer) else None
            try:
                await self._handle(message)
            except Refused as error_:
                self._reply(_error(error_.code, error_.message, error_.retryable, msg_id))
            except StoreError as error_:
                self._reply(_error("store_unavailable", f"Not stored, send it again: {error_}", True, msg_id))

    async def _handle(self, message: wire.ClientMessage) -> None:
        await self._guest.may(spend=isinstance(message, wire.Answer | wire.Retry))
        interview = self._live.interview
        match message:
            case wire.Answer():
                self._service.drain.refuse()
                await interview.answer(message.msg_id, message.text)
            case wire.Interrupt():
                await interview.interrupt(message.seen)
            case wire.SwapPersona():
                await interview.swap(message.persona)
            case wire.Hint():
                await interview.hint()
            case wire.Retry():
                await interview.retry()
            case wire.End():
                await interview.end()
            case wire.Ping():
                self._reply(wire.Pong(seq=interview.state.seq))
                interview.resume()  # a turn that a store's failure stopped goes on when the store is back
            case wire.Hello():  # pragma: no branch
                self._reply(_error("bad_message", "hello was said already"))

    def _reply(self, message: wire.ServerMessage) -> None:
        try:
            self._replies.put_nowait(message)
        except asyncio.QueueFull:
            raise _Flood from None

    async def _write_replies(self) -> None:
        while True:
            await self._send(await self._replies.get())

    async def _leave(self, follower: Follower) -> None:
        """When the process leaves: say so, let the running turn end and be sent, and then let the writer end."""
        await self._service.drain.began.wait()
        await self._send(wire.GoingAway(retry_after_ms=self._service.drain.retry_after_ms()))
        await self._live.interview.settled()
        follower.finish()
        await asyncio.get_running_loop().create_future()  # the writer ends the connection

    async def _watch(self) -> None:
        """Look now and then at what nobody tells a client that only listens.

        Raises:
            Revoked: its key counts no more.
            UnknownSession: another process deleted the session.
            ConcurrentAppend: the session goes on in another process.
        """
        store, interview = self._service.deps.store, self._live.interview
        while True:
            await asyncio.sleep(self._service.watch_seconds)
            with contextlib.suppress(StoreError):  # told by /readyz, and by the next thing that is to be stored
                await self._guest.still()
                there = (await store.row(self._session_id)).seq
                if there > interview.state.seq:
                    await asyncio.sleep(SETTLE_SECONDS)
                    if there > interview.state.seq:
                        raise ConcurrentAppend(f"session {self._session_id} has {there} events")

    async def _write_frames(self, follower: Follower) -> None:
        while (frame := await follower.get()) is not None:
            match frame:
                case frames.Committed():
                    await self._send_event(frame.recorded)
                case frames.Delta() if frame.turn <= self._asked:
                    continue
                case frames.Delta():
                    await self._send(wire.QuestionDelta(turn=frame.turn, offset=frame.offset, text=frame.text))
                case frames.Progress():
                    await self._send(wire.Status(stage=frame.stage, turn=frame.turn))
                case frames.Failed(code="conflict"):
                    raise ConcurrentAppend(frame.message)
                case frames.Failed():  # pragma: no branch
                    await self._send(_error(frame.code, frame.message, retryable=True))

    async def _send_event(self, recorded: Recorded) -> None:
        if recorded.seq > self._sent:
            self._sent = recorded.seq
            if isinstance(recorded.event, QuestionAsked):
                self._asked = recorded.event.turn
            for message in messages(self._live.interview.state, recorded):
                await self._send(message)

    async def _send(self, message: wire.ServerMessage) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self._websocket.send_text(message.model_dump_json())


def _error(code: str, text: str, retryable: bool = False, msg_id: str | None = None) -> wire.ErrorMessage:
    return wire.ErrorMessage(code=code, message=text, retryable=retryable, msg_id=msg_id)
