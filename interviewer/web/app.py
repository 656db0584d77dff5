"""The application: contract, page, health and metrics around one service."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from interviewer import __version__
from interviewer.web import errors, models
from interviewer.web.routes import router
from interviewer.web.security import Guard
from interviewer.web.state import Service

STATIC = Path(str(files("interviewer.web"))) / "static"


def create_app(build: Callable[[], Awaitable[Service]], hosts: tuple[str, ...] = ()) -> FastAPI:
    """Return the application.

    Args:
        build: Makes the service when the application starts.
        hosts: Host names, beside loopback ones, under which it may be called.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = await build()
        app.state.service = service
        try:
            await service.backend.start()
            yield
        finally:
            await service.stop()

    app = FastAPI(title="LLM mock interviewer", version=__version__, lifespan=lifespan, redoc_url=None, docs_url=None)
    app.include_router(router)
    errors.install(app)
    _health(app)
    _metrics(app)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        """Return the page."""
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    app.add_middleware(Guard, hosts=hosts)
    return app


def _health(app: FastAPI) -> None:
    @app.get("/healthz")
    async def healthz() -> dict[str, bool]:
        """Return that the process answers."""
        return {"ok": True}

    @app.get("/readyz", responses={200: {"model": models.Ready}, 503: {"model": models.Ready}})
    async def readyz(request: Request) -> Response:
        """Return whether interviews can be held: store usable, model answering as each adapter."""
        service: Service = request.app.state.service
        checks = await service.checks()
        ready = all(check.ok for check in checks.values())
        body = models.Ready(
            ready=ready, checks={name: models.CheckView(ok=c.ok, detail=c.detail) for name, c in checks.items()}
        )
        return JSONResponse(body.model_dump(), status_code=200 if ready else 503)


def _metrics(app: FastAPI) -> None:
    registry = CollectorRegistry()
    requests = Counter("interviewer_http_requests", "HTTP requests", ["method", "route", "status"], registry=registry)
    seconds = Histogram("interviewer_http_seconds", "Seconds per HTTP request", ["route"], registry=registry)
    sockets = Gauge("interviewer_sessions_loaded", "Sessions loaded in this process", registry=registry)

    @app.middleware("http")
    async def count(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        began = time.perf_counter()
        response = await call_next(request)
        route = getattr(request.scope.get("route"), "path", "other")
        requests.labels(request.method, route, response.status_code).inc()
        seconds.labels(route).observe(time.perf_counter() - began)
        return response

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        """Return Prometheus metrics; never any words of a transcript."""
        service: Service = request.app.state.service
        sockets.set(service.sessions.loaded)
        return Response(generate_latest(registry), media_type="text/plain; version=0.0.4; charset=utf-8")
