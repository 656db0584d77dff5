"""Candidates in a hurry, for Locust: each holds an interview over the socket and answers at once.

    pip install locust websockets
    locust -f serving/load/locustfile.py --host http://127.0.0.1:8600 --headless --users 50 --spawn-rate 5 --run-time 2m

With accounts, a key with the scope ``interview`` in INTERVIEWER_KEY. ``first word`` is what a candidate waits for, from
the answer to the first word of the next question; ``whole question`` ends when all of it was sent.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from locust import HttpUser, between, task
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

SUBPROTOCOL = "interview.v1"
ANSWER = "We held p99 latency at 800 ms at batch 8 because the tail decides for the user; it cost 15 percent."
TURNS = 8
SECONDS = 60.0


class Candidate(HttpUser):
    """Holds one interview after another."""

    wait_time = between(1, 3)

    @task
    def interview(self) -> None:
        """Answer a few questions and end the session."""
        key = os.environ.get("INTERVIEWER_KEY")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        body = {"persona": "deep_dive", "minutes": 20}
        with self.client.post("/v1/sessions", json=body, headers=headers, catch_response=True) as answer:
            if answer.status_code != 201:
                answer.failure(f"refused: {answer.status_code}")
                return
            opened = answer.json()
        address = self.host.replace("http", "ws", 1) + opened["ws_url"]
        with connect(address, subprotocols=[Subprotocol(SUBPROTOCOL)], proxy=None) as socket:
            self._say(socket, type="hello", token=opened["token"], last_seq=0)
            began = time.perf_counter()
            for turn in range(1, TURNS + 1):
                if not self._question(socket, began):
                    return
                self._say(socket, type="answer", msg_id=f"m{turn}", text=ANSWER)
                began = time.perf_counter()
            self._say(socket, type="end")

    def _question(self, socket: ClientConnection, began: float) -> bool:
        """Read to the end of a question and report it; False when the session is over."""
        first, size = None, 0
        while True:
            try:
                raw = socket.recv(timeout=SECONDS)
            except Exception as error:
                self._report("whole question", began, size, error)
                return False
            message: dict[str, Any] = json.loads(raw)
            size += len(raw)
            if message["type"] == "question.delta" and first is None:
                first = time.perf_counter()
                self._report("first word", began, size)
            elif message["type"] == "error":
                self._report("whole question", began, size, RuntimeError(str(message["code"])))
                return False
            elif message["type"] == "status" and message["stage"] in ("waiting", "ended"):
                self._report("whole question", began, size)
                return bool(message["stage"] == "waiting")

    def _report(self, name: str, began: float, size: int, error: Exception | None = None) -> None:
        self.environment.events.request.fire(
            request_type="WS",
            name=name,
            response_time=(time.perf_counter() - began) * 1000,
            response_length=size,
            exception=error,
            context={},
        )

    @staticmethod
    def _say(socket: ClientConnection, **message: object) -> None:
        socket.send(json.dumps(message))
