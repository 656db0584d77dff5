"""``/metrics``: HTTP requests, what is open and loaded now, what works, and whatever the service's telemetry holds."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response

from interviewer.web.state import Service

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
"""Counted by name; any other word that a client sends as one is counted as other, so that labels stay few."""


def install(app: FastAPI) -> None:
    """Count the application's requests and serve the figures."""
    registry = CollectorRegistry()
    requests = Counter("interviewer_http_requests", "HTTP requests", ["method", "route", "status"], registry=registry)
    seconds = Histogram("interviewer_http_seconds", "Seconds per HTTP request", ["route"], registry=registry)
    now = _Now(registry)

    @app.middleware("http")
    async def count(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        began = time.perf_counter()
        response = await call_next(request)
        route = getattr(request.scope.get("route"), "path", "other")
        requests.labels(request.method if request.method in METHODS else "other", route, response.status_code).inc()
        seconds.labels(route).observe(time.perf_counter() - began)
        return response

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        """Return Prometheus metrics; never any words of a transcript."""
        service: Service = request.app.state.service
        await now.look(service)
        return Response(generate_latest(registry) + service.metrics(), media_type=CONTENT_TYPE)


class _Now:
    """Gauges that are looked up when they are asked for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._loaded = Gauge("interviewer_sessions_loaded", "Sessions loaded in this process", registry=registry)
        self._busy = Gauge("interviewer_sessions_busy", "Sessions with a turn under way", registry=registry)
        self._sockets = Gauge("interviewer_sockets_open", "Open sockets", registry=registry)
        self._ready = Gauge(
            "interviewer_ready", "What /readyz says of each part: 1 works, 0 does not", ["check"], registry=registry
        )
        self._engine = Gauge(
            "interviewer_engine_requests", "The engine's own count of requests, where it tells", ["state"],
            registry=registry,
        )  # fmt: skip

    async def look(self, service: Service) -> None:
        self._loaded.set(service.sessions.loaded)
        self._busy.set(service.sessions.busy)
        self._sockets.set(service.drain.sockets)
        self._ready.clear()  # a check that is gone, like an adapter's, must not stay as it was
        for name, check in (await service.checks()).items():
            self._ready.labels(name).set(check.ok)
        self._engine.clear()
        for state, number in (await service.engine_load()).items():
            self._engine.labels(state).set(number)
