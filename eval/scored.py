"""Answers scored through the service for a report: which judge read them, how long it took, what failed and how."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any, Self

from eval.machine import summary, table
from interviewer.client import Client, ServiceError

NOTHING: dict[str, Any] = {"scores": [], "flags": [], "facts": [], "notices": []}
"""Stands for the result of an answer that no result came back for."""


class NothingScored(Exception):
    """No answer at all was scored, so that there is nothing to report; the message says what failed."""


class Failures:
    """What failed, counted by type: the reasons of a judge and the codes of the service."""

    def __init__(self) -> None:
        """Begin with none."""
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        """What was said the first time, by type."""

    def add(self, kind: str, detail: str) -> None:
        """Count one."""
        self.counts[kind] += 1
        self.first.setdefault(kind, detail)

    def described(self) -> dict[str, dict[str, Any]]:
        """Return number and first detail by type, most frequent first."""
        return {kind: {"n": n, "first": self.first[kind]} for kind, n in self.counts.most_common()}


def failures_line(found: dict[str, dict[str, Any]], asked: int) -> str:
    """Return the failures of ``asked`` requests as a sentence of a report."""
    if not found:
        return f"All {asked} answers were scored."
    named = "; ".join(f"{kind} {one['n']} (the first: {one['first']})" for kind, one in found.items())
    return f"Not scored of {asked}: {named}"


class Scorer:
    """Scores one answer after another; a failure is counted and the run goes on."""

    def __init__(self, url: str, *, seconds: float = 300.0) -> None:
        """Talk to the service at ``url``; wait at most ``seconds`` for one answer."""
        self._client = Client(url, seconds=seconds)
        self._asked = 0
        self.failures = Failures()
        self.milliseconds: list[float] = []
        """Time of each answer that was scored, as the caller waits for it."""
        self.versions: dict[str, str] = {}
        """Stamp of the last result."""
        self.judges: Counter[str] = Counter()
        """Identities of the judges that answered; more than one when the judge was replaced meanwhile."""

    def __enter__(self) -> Self:
        """Return the scorer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close connections."""
        self._client.__exit__()

    def score(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the result of one request, with no scores when it failed.

        Raises:
            ServiceError: the very first request got no result, so that no other would.
        """
        self._asked += 1
        began = time.perf_counter()
        try:
            result: dict[str, Any] = self._client.post("/v1/score", body)
        except ServiceError as error:
            if self._asked == 1:
                raise
            self.failures.add(error.code, str(error))
            return NOTHING
        self.judges[result["versions"]["judge"]] += 1
        self.versions = result["versions"]
        if result["unscored"]:
            self.failures.add(result["unscored"]["reason"], result["unscored"]["detail"])
        else:
            self.milliseconds.append((time.perf_counter() - began) * 1000)
        return result

    def batch(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the outcomes of a batch in its order; an empty outcome stands for each item when it failed."""
        try:
            outcomes: list[dict[str, Any]] = self._client.post("/v1/score/batch", {"items": items})["results"]
        except ServiceError as error:
            self.failures.add(error.code, str(error))
            return [{} for _ in items]
        return outcomes

    def described(self) -> dict[str, Any]:
        """Return the judge, its versions, the time per answer and the failures so far, for a report.

        Raises:
            NothingScored: nothing was.
        """
        failed = self.failures.described()
        if not self.milliseconds:
            raise NothingScored(f"no answer was scored. {failures_line(failed, self._asked)}")
        return {
            "judge": " and ".join(self.judges),
            "versions": self.versions,
            "milliseconds": {"one answer, all criteria": summary(self.milliseconds)},
            "scored": len(self.milliseconds),
            "failures": failed,
        }


def judge_lines(found: dict[str, Any]) -> str:
    """Return the Markdown of :meth:`Scorer.described`."""
    asked = found["scored"] + sum(one["n"] for one in found["failures"].values())
    return (
        f"Judge: `{found['judge']}` (model {found['versions']['model']}, adapter {found['versions']['adapter']}, "
        f"calibration {found['versions']['calibration']}). {failures_line(found['failures'], asked)}\n\n"
        f"{table(found['milliseconds'], 'ms')}\n"
    )
