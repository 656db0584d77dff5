"""Spans of turns and requests, as a collector gets them: names, parents and attributes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from fastapi import FastAPI
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from interviewer.adapters.metrics import Metrics
from interviewer.adapters.traces import Traces, open_provider, trace_requests
from interviewer.core import events as ev
from interviewer.core.prompts import Message
from interviewer.service.frames import Committed
from interviewer.service.telemetry import Watch
from interviewer.testing import ScriptedModel
from serving.engine_config import traces_address
from tests.service.kit import ANSWER, FlakyStore, deps

from .kit import Running, running

CALLER = "0af7651916cd43dd8448eb211c80319c"
SECRET = "Quetzalcoatl"
AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Asked(ScriptedModel):
    """A model that keeps what a request to it would carry."""

    def __init__(self) -> None:
        super().__init__()
        self.traces: Traces | None = None
        self.carried: list[dict[str, str]] = []

    async def stream(
        self, model: str, messages: Sequence[Message], *, max_tokens: int, temperature: float, seed: int
    ) -> AsyncGenerator[str, None]:
        assert self.traces is not None
        if max_tokens > 1:  # else it is only to read what the next prompt will begin with
            self.carried.append(self.traces.headers())
        async for piece in super().stream(model, messages, max_tokens=max_tokens, temperature=temperature, seed=seed):
            yield piece


class Traced:
    """A service with traces, and what was exported."""

    def __init__(self, server: Running, provider: TracerProvider, sent: InMemorySpanExporter, model: Asked) -> None:
        self.server = server
        self.model = model
        self._provider = provider
        self._sent = sent

    def spans(self) -> list[ReadableSpan]:
        self._provider.force_flush()
        return list(self._sent.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans() if span.name == name]


@pytest_asyncio.fixture
async def traced() -> AsyncIterator[Traced]:
    sent, model = InMemorySpanExporter(), Asked()
    provider = open_provider("", sent)
    model.traces = Traces(Metrics(), provider)
    given = replace(deps(FlakyStore.open("sqlite://"), model), telemetry=model.traces)

    def prepare(app: FastAPI) -> None:
        trace_requests(app, provider)

    async with running(given, prepare=prepare) as server:
        yield Traced(server, provider, sent, model)
    provider.shutdown()


async def test_a_turn_is_one_trace_with_a_span_for_each_stage(traced: Traced) -> None:
    opened = await traced.server.create()
    async with traced.server.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=f"{ANSWER} {SECRET}")
        await client.stage("waiting", 2)
    opening, turn = traced.named("turn")
    assert turn.attributes is not None and opening.attributes is not None
    assert turn.attributes["interviewer.session"] == opened["id"]
    assert (opening.attributes["interviewer.turn"], turn.attributes["interviewer.turn"]) == (1, 2)
    assert turn.attributes["interviewer.persona"] == "deep_dive"
    assert turn.parent is None and turn.context.trace_id != opening.context.trace_id
    stages = [span for span in traced.spans() if span.parent and span.parent.span_id == turn.context.span_id]
    assert sorted(span.name for span in stages) == ["choosing", "first_word", "question", "reading"]
    assert all(span.context.trace_id == turn.context.trace_id for span in stages)
    assert SECRET not in "".join(span.to_json() for span in traced.spans())


async def test_the_engine_is_told_the_stage_it_works_for(traced: Traced) -> None:
    opened = await traced.server.create()
    async with traced.server.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.stage("waiting", 2)
    asking = {span.context.span_id: span.context.trace_id for span in traced.named("question")}
    (carried,) = {carried["traceparent"] for carried in traced.model.carried}
    version, trace, parent, options = carried.split("-")
    assert version == "00" and int(options, 16) & 1  # sampled
    assert asking[int(parent, 16)] == int(trace, 16)


async def test_a_request_goes_on_with_its_callers_trace(traced: Traced) -> None:
    headers = {"traceparent": f"00-{CALLER}-b7ad6b7169203331-01"}
    await traced.server.http.get("/v1/personas", headers=headers)
    await traced.server.http.get("/healthz")
    (span,) = traced.spans()
    assert span.name == "GET /v1/personas"
    assert f"{span.context.trace_id:032x}" == CALLER


def test_the_turn_of_a_last_answer_is_closed_with_the_session() -> None:
    sent = InMemorySpanExporter()
    provider = open_provider("", sent)
    watch = Watch("s1", Traces(Metrics(), provider), lambda _: None)
    for seq, event in enumerate([ev.AnswerGiven(turn=1, msg_id="m1", text=ANSWER), ev.SessionEnded(reason="time")], 1):
        watch(Committed(ev.Recorded(session_id="s1", seq=seq, at=AT, event=event)))
    provider.shutdown()
    reading, turn = sent.get_finished_spans()
    assert (reading.name, turn.name) == ("reading", "turn")
    assert turn.attributes == {"interviewer.session": "s1", "interviewer.last": True}


async def test_a_turn_that_failed_says_with_which_code(traced: Traced) -> None:
    opened = await traced.server.create()
    async with traced.server.joined(opened) as client:
        await client.stage("waiting", 1)
        store = traced.server.store
        store.fail_at = frozenset({store.appends + 2})  # the answer is stored, its assessment is not
        await client.send(type="answer", msg_id="m1", text=ANSWER)
        await client.refused("store_unavailable")
    failed = [span for span in traced.named("turn") if span.status.status_code is StatusCode.ERROR]
    assert [span.status.description for span in failed] == ["store_unavailable"]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
        ("https://collect.example/otlp/mine", "https://collect.example/otlp/mine"),
    ],
)
def test_a_path_of_the_collectors_own_is_kept(given: str, address: str) -> None:
    assert traces_address(given) == address
