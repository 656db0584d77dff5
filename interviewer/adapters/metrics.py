"""The service's figures in Prometheus' form; labels are names of this program and its documents, never ids or words."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from interviewer.service.telemetry import Stage

TURN_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Seconds: a turn on one processor takes about one, a turn that waits for a lost engine up to twenty and more."""
STORE_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Seconds: a commit on a local disk takes a few milliseconds; five seconds is how long a lock is waited for."""


class Metrics:
    """A :class:`~interviewer.service.telemetry.Telemetry` that Prometheus can read."""

    def __init__(self) -> None:
        """Start at zero, in a registry of its own: several services may live in one process."""
        self._registry = registry = CollectorRegistry()
        self._stages = Histogram(
            "interviewer_turn_seconds", "Seconds of a turn's stages", ["stage"], buckets=TURN_BUCKETS, registry=registry
        )
        self._questions = Counter(
            "interviewer_questions", "Questions asked, by where their words came from", ["persona", "source"],
            registry=registry,
        )  # fmt: skip
        self._away = Counter(
            "interviewer_model_failures", "Questions whose model could not be reached", ["persona"], registry=registry
        )
        self._stopped = Counter(
            "interviewer_turn_failures", "Turns that could not go on by themselves", ["code"], registry=registry
        )
        self._judge = Histogram(
            "interviewer_judge_seconds", "Seconds of one pass of the judge", buckets=TURN_BUCKETS, registry=registry
        )
        self._judged = Counter(
            "interviewer_judge_results", "Passes of the judge: scored, or why not", ["outcome"], registry=registry
        )
        self._closed = Counter(
            "interviewer_sockets_closed", "Sockets that ended, by reason", ["reason"], registry=registry
        )
        self._store = Histogram(
            "interviewer_store_seconds", "Seconds of one transaction", ["operation"], buckets=STORE_BUCKETS,
            registry=registry,
        )  # fmt: skip
        self._store_errors = Counter(
            "interviewer_store_errors", "Transactions that failed", ["operation"], registry=registry
        )
        for operation in ("read", "write", "erase", "probe"):  # a counter that is not there yet cannot be seen to rise
            self._store_errors.labels(operation)

    def began(self, session_id: str, stage: Stage) -> None:
        """Do nothing: a stage counts when it is over."""

    def took(self, session_id: str, stage: Stage, seconds: float) -> None:
        """Note how long a stage of a turn took."""
        self._stages.labels(stage).observe(seconds)

    def asked(self, session_id: str, turn: int, persona: str, source: str, *, model_away: bool) -> None:
        """Note a question."""
        self._questions.labels(persona, source).inc()
        if model_away:
            self._away.labels(persona).inc()

    def stopped(self, session_id: str, code: str) -> None:
        """Note a turn that could not go on."""
        self._stopped.labels(code).inc()

    def ended(self, session_id: str) -> None:
        """Do nothing: what it comes to is counted as turns and sockets."""

    def judged(self, outcome: str, seconds: float) -> None:
        """Note one pass of the judge."""
        self._judge.observe(seconds)
        self._judged.labels(outcome).inc()

    def closed(self, reason: str) -> None:
        """Note a socket that ended."""
        self._closed.labels(reason).inc()

    def stored(self, operation: str, seconds: float, failed: bool) -> None:
        """Note a transaction; called from the store's threads."""
        self._store.labels(operation).observe(seconds)
        if failed:
            self._store_errors.labels(operation).inc()

    def exposition(self) -> bytes:
        """Return everything in the text format."""
        return generate_latest(self._registry)
