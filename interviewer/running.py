"""The service as a process: from settings to a listening port, until it is told to stop."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING, Any

import uvicorn

from interviewer.adapters.documents import DocumentError
from interviewer.adapters.logs import use_logs
from interviewer.bootstrap import base_model, build
from interviewer.cli import err, fail
from interviewer.service.ports import StoreError
from interviewer.settings import Settings, SettingsError
from interviewer.web.app import create_app
from interviewer.web.drain import DrainingServer
from interviewer.web.wire import MAX_FRAME
from serving.fetch import FetchError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


def run_service(settings: Settings) -> None:
    """Run the service until it is told to stop.

    Raises:
        SettingsError: the settings contradict themselves, or need packages that are not here.
    """
    use_logs(settings.log, settings.log_level)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    try:
        if not settings.engine_url:
            base_model(settings)
    except FetchError as error:
        fail(str(error))
    settings.check_exposure()
    listening = _bind(settings.host, settings.port)
    port = listening.getsockname()[1]

    provider = _provider(settings)

    async def built() -> Any:
        service = await build(settings, lambda line: err.print(f"  {line}", markup=False), provider)
        err.print(f"Open [bold]http://{settings.host}:{port}/[/bold] - interviews can start when the engine is ready.")
        return service

    application = create_app(built, (*settings.allowed_hosts, settings.host), settings.allowed_origins)
    if provider is not None:
        from interviewer.adapters.traces import trace_requests

        trace_requests(application, provider)
    config = uvicorn.Config(
        application,
        log_level="warning",
        log_config=None,  # its own lines would bring the messages of exceptions
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME,
        ws_ping_interval=20.0,
        ws_ping_timeout=30.0,
        timeout_graceful_shutdown=5,
    )
    try:
        DrainingServer(config, settings.drain_seconds).run(sockets=[listening])
    except (DocumentError, StoreError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("stopped")


def _provider(settings: Settings) -> TracerProvider | None:
    if not settings.traces:
        return None
    try:
        from interviewer.adapters.traces import open_provider
    except ImportError as error:
        raise SettingsError(f"traces need more packages ({error.name} is missing): pip install '.[traces]'") from None
    return open_provider(settings.traces)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        fail(f"cannot listen on {host}:{port} ({error.strerror}); choose another with --port, or stop what runs there")
    return listening
