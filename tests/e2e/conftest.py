"""A real service with the real engine, once for all end-to-end tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from interviewer.client import Client
from serving.engine_config import free_port
from tests.collector import Collector, collecting

START_SECONDS = 420


class Running:
    """The service as a child process."""

    def __init__(self, data: Path, traces: str) -> None:
        self.data = data
        self.traces = traces
        self.url = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        port = free_port("127.0.0.1")
        self.url = f"http://127.0.0.1:{port}"
        # Turns wait longer than in use: a busy machine must not look like a broken one.
        environment = {**os.environ, "INTERVIEWER_DATA_DIR": str(self.data), "INTERVIEWER_TURN_SECONDS": "120"}
        environment["INTERVIEWER_TRACES"] = self.traces
        with (self.data / "service.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "interviewer", "serve", "--port", str(port)],
                env=environment,
                stdout=log,
                stderr=log,
            )
        self.wait_ready()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        state = None
        with Client(self.url) as client:
            while time.monotonic() < deadline:
                assert self.process is not None
                assert self.process.poll() is None, f"the service died:\n{self.log()}"
                state = client.ready()
                if state and state["ready"]:
                    return
                time.sleep(1)
        pytest.fail(f"not ready after {START_SECONDS} s: {state}\n{self.log()}")

    def log(self) -> str:
        text = (self.data / "service.log").read_text(encoding="utf-8", errors="replace")
        engine = self.data / "engine.log"
        tail = engine.read_text(encoding="utf-8", errors="replace")[-3000:] if engine.is_file() else ""
        return f"{text[-3000:]}\n--- engine ---\n{tail}"

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Running]:
    service = Running(tmp_path_factory.mktemp("service"), collector.url)
    try:
        service.start()
        yield service
    finally:
        service.stop()


@pytest.fixture
def client(running: Running) -> Iterator[Client]:
    with Client(running.url, seconds=300.0) as http:
        yield http
