"""An OpenTelemetry collector that keeps what it is sent: OTLP over HTTP, on a port of this process."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Sent(NamedTuple):
    """A span as it came; ids in hexadecimal."""

    service: str
    name: str
    trace: str
    id: str
    parent: str


class Collector:
    """What came so far."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Sent] = []

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {a.key: a.value.string_value for a in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [
                    Sent(named["service.name"], s.name, s.trace_id.hex(), s.span_id.hex(), s.parent_span_id.hex())
                    for s in scope.spans
                ]

    def below(self, name: str) -> list[tuple[str, str]]:
        """Return service and name of each span whose parent has this name, in the same trace."""
        parents = {(span.trace, span.id) for span in self.spans if span.name == name}
        return [(span.service, span.name) for span in self.spans if (span.trace, span.parent) in parents]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            collector.take(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any, **__: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
