"""OpenTelemetry traces, when they are asked for: a span per turn and stage, and the engine's spans below them.

A span holds the session's id, names of this program and codes; never words of anybody. Requests to the engine carry the
context of the stage that they are made for, so an engine that traces, too, shows its part in the same trace.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import FastAPI
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from interviewer import __version__
from interviewer.service import affinity
from interviewer.service.telemetry import Stage, Telemetry
from serving.engine_config import traces_address

UNTRACED = "healthz,readyz,metrics,static,/ws"
"""Routes that get no span: probes, and sockets, which last an hour; the turns in them have spans of their own."""
EXPORT_SECONDS = 5.0
"""Longest wait for a collector that is away, also when the service stops."""


def open_provider(endpoint: str, exporter: SpanExporter | None = None) -> TracerProvider:
    """Return a provider that sends spans to a collector, in batches on a thread of its own.

    Args:
        endpoint: Address of an OTLP collector over HTTP, ``http://host:4318``.
        exporter: Used in its place, by tests.
    """
    name = Resource.create({SERVICE_NAME: "interviewer", "service.version": __version__})
    provider = TracerProvider(resource=name)
    exporter = exporter or OTLPSpanExporter(traces_address(endpoint), timeout=EXPORT_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def trace_requests(app: FastAPI, provider: TracerProvider) -> None:
    """Give each HTTP request a span, and its caller's context as parent."""
    FastAPIInstrumentor.instrument_app(
        app, tracer_provider=provider, excluded_urls=UNTRACED, exclude_spans=["receive", "send"]
    )


@dataclass
class _Turn:
    span: Span
    stages: dict[Stage, Span] = field(default_factory=dict)


class Traces:
    """A :class:`~interviewer.service.telemetry.Telemetry` that writes spans and hands everything on to another."""

    def __init__(self, told: Telemetry, provider: TracerProvider) -> None:
        """Stand before ``told``."""
        self._told = told
        self._tracer = provider.get_tracer("interviewer", __version__)
        self._turns: dict[str, _Turn] = {}

    def headers(self) -> dict[str, str]:
        """Return what a request of this task carries: the context of its session's stage, or else of its own span."""
        turn = self._turns.get(affinity.bound() or "")
        carrier: dict[str, str] = {}
        context = None if turn is None else set_span_in_context(next(reversed(turn.stages.values()), turn.span))
        TraceContextTextMapPropagator().inject(carrier, context)
        return carrier

    def began(self, session_id: str, stage: Stage) -> None:
        """Open the stage's span, and the turn's with the first."""
        turn = self._turns.get(session_id)
        if turn is None:
            span = self._tracer.start_span("turn", Context(), attributes={"interviewer.session": session_id})
            turn = self._turns[session_id] = _Turn(span)
        if stage != "reply":  # the way to the first word: what the stages before it show
            turn.stages[stage] = self._tracer.start_span(stage, set_span_in_context(turn.span))
        self._told.began(session_id, stage)

    def took(self, session_id: str, stage: Stage, seconds: float) -> None:
        """Close the stage's span."""
        turn = self._turns.get(session_id)
        if turn is not None and (span := turn.stages.pop(stage, None)) is not None:
            span.end()
        self._told.took(session_id, stage, seconds)

    def asked(self, session_id: str, turn: int, persona: str, source: str, *, model_away: bool) -> None:
        """Close the turn's span, with what was asked by whom."""
        named: dict[str, str | int | bool] = {
            "interviewer.turn": turn,
            "interviewer.persona": persona,
            "interviewer.source": source,
        }
        named["interviewer.model_away"] = model_away
        self._close(session_id, named)
        self._told.asked(session_id, turn, persona, source, model_away=model_away)

    def stopped(self, session_id: str, code: str) -> None:
        """Close the turn's span as one that failed."""
        self._close(session_id, {}, code)
        self._told.stopped(session_id, code)

    def ended(self, session_id: str) -> None:
        """Close the span of a turn after which nothing was asked any more."""
        self._close(session_id, {"interviewer.last": True})
        self._told.ended(session_id)

    def judged(self, outcome: str, seconds: float) -> None:
        """Hand it on: the stage ``reading`` shows it."""
        self._told.judged(outcome, seconds)

    def closed(self, reason: str) -> None:
        """Hand it on: sockets have no spans."""
        self._told.closed(reason)

    def _close(self, session_id: str, named: dict[str, str | int | bool], code: str | None = None) -> None:
        turn = self._turns.pop(session_id, None)
        if turn is None:
            return
        for stage in turn.stages.values():
            stage.end()
        turn.span.set_attributes(named)
        if code is not None:
            turn.span.set_status(Status(StatusCode.ERROR, code))
        turn.span.end()
