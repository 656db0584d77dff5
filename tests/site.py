"""The service with scripted model and judge on a real port, for tests that talk to it from outside."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import uvicorn

from interviewer.adapters.documents import load_library
from interviewer.adapters.store import SqlEventStore
from interviewer.adapters.system import SystemClock, new_id
from interviewer.service.about import CriterionAccuracy, Measured
from interviewer.service.deps import Deps
from interviewer.service.judging import Judging
from interviewer.service.ports import Judge
from interviewer.testing import ScriptedJudge, ScriptedModel, StillBackend, words_count
from interviewer.web.app import create_app
from interviewer.web.drain import DrainingServer
from interviewer.web.state import Service, assemble

MEASURED = Measured(
    answers=249,
    questions=54,
    kappa=0.77,
    kappa_95=(0.74, 0.79),
    exact=0.57,
    by_criterion={
        "measurement": CriterionAccuracy(n=110, kappa=0.83, exact=0.61, mean_signed_error=0.08),
        "managing_uncertainty": CriterionAccuracy(n=49, kappa=0.67, exact=0.47, mean_signed_error=-0.41),
    },
)
"""As if the scripted judge had been measured."""


class Site:
    """The service on a port of this process."""

    def __init__(self, data: Path, judge: Judge | None = None, port: int | None = None) -> None:
        self.model = ScriptedModel(delay=0.03)
        self.judge = ScriptedJudge(lambda criterion, text: 3 if "p99" in text else 1)
        self._judge = judge or self.judge
        self._data = data
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = port or probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(
            create_app(self._build), port=self.port, log_level="error", ws="websockets-sansio", ws_max_size=65536
        )
        self._server = DrainingServer(config, grace=5.0)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    async def _build(self) -> Service:
        deps = Deps(
            library=load_library(),
            store=SqlEventStore.open(f"sqlite:///{self._data / 'page.db'}"),
            model=self.model,
            judging=Judging(self._judge, words_count, lambda _: True),
            clock=SystemClock(),
            new_id=new_id,
            count=words_count,
            served={"deep_dive": "deep_dive@test"},
        )
        return assemble(deps, StillBackend(), measured=lambda _: MEASURED)

    def __enter__(self) -> Site:
        self._thread.start()
        for _ in range(1200):
            if self._server.started:
                return self
            time.sleep(0.05)
        raise RuntimeError("the service did not start")

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
