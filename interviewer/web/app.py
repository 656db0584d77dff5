"""The application: contract, page, health and metrics around one service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from interviewer import __version__
from interviewer.service.retention import keep
from interviewer.web import errors, metrics_routes, models
from interviewer.web.auth import Gate
from interviewer.web.routes import router
from interviewer.web.security import Guard
from interviewer.web.state import Service

STATIC = Path(str(files("interviewer.web"))) / "static"


def create_app(
    build: Callable[[], Awaitable[Service]], hosts: tuple[str, ...] = (), origins: tuple[str, ...] = ()
) -> FastAPI:
    """Return the application.

    Args:
        build: Makes the service when the application starts.
        hosts: Host names, beside loopback ones, under which it may be called.
        origins: Origins, beside the page's own, whose pages may call it.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = await build()
        app.state.service = service
        try:
            await service.backend.start()
            async with _kept(service):
                yield
        finally:
            await service.stop()

    app = FastAPI(title="LLM mock interviewer", version=__version__, lifespan=lifespan, redoc_url=None, docs_url=None)
    app.include_router(router)
    errors.install(app)
    app.add_middleware(Gate)
    _health(app)
    metrics_routes.install(app)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        """Return the page."""
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    app.add_middleware(Guard, hosts=hosts, origins=origins)
    return app


@asynccontextmanager
async def _kept(service: Service) -> AsyncIterator[None]:
    """Delete old sessions while the service runs, where that was asked for."""
    if service.keep_days is None:
        yield
        return
    keeping = asyncio.create_task(keep(service.deps.store, service.deps.clock, service.keep_days), name="retention")
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


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
