"""The harness on a structured judge that answers, declines, breaks and hangs: named, timed, counted, never stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response, StreamingResponse
from typer.testing import CliRunner

from eval.judge import measure, to_markdown
from eval.scored import NothingScored
from interviewer import tools
from interviewer.adapters.judges import BigJudge
from interviewer.client import ServiceError
from interviewer.testing import JUDGE_DOWN, ScriptedJudge
from tests.adapters.kit import Answer, chat, chat_choice, endpoint, status
from tests.service.kit import FlakyStore, deps
from tests.site import Site
from tests.web.kit import running


def verdicts(asked: dict[str, Any]) -> Response:
    """Give level 2 to everything and point at the first sentence."""
    names = asked["response_format"]["json_schema"]["schema"]["required"]
    return chat(json.dumps({name: {"level": 2, "confidence": 0.9, "sentence": "A"} for name in names}))


def hanging(_: dict[str, Any]) -> Response:
    async def never() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    return StreamingResponse(never(), media_type="application/json")


BROKEN: dict[int, Answer] = {
    3: lambda _: chat_choice(message={"content": None, "refusal": "No."}),
    4: lambda _: chat("I would say level 2."),
    5: status(500),
    6: hanging,
    7: lambda _: chat_choice(finish_reason="length", message={"content": '{"measurement'}),
    8: status(500),
}
"""What the endpoint does instead at its n-th request."""


async def test_failures_of_a_structured_judge_are_typed_and_counted() -> None:
    async with endpoint(verdicts) as api, api.client(seconds=5) as client:
        api.answer = lambda asked: BROKEN.get(len(api.asked), verdicts)(asked)
        store = FlakyStore.open("sqlite://")
        async with running(deps(store, judge=BigJudge(client, "big-1"))) as server:
            found = await asyncio.to_thread(measure, f"http://{server.host}", "calibration", lambda _: None, 1)
    judge = found["judge"]
    assert judge["judge"].startswith("structured:big-1:facts-")
    assert (judge["versions"]["model"], judge["versions"]["adapter"]) == ("big-1", "none")
    assert {kind: one["n"] for kind, one in judge["failures"].items()} == {
        "judge_unavailable": 2,
        "judge_invalid": 2,
        "judge_refused": 1,
        "judge_timeout": 1,
    }
    assert judge["scored"] == found["answers"] - 6
    assert judge["milliseconds"]["one answer, all criteria"]["n"] == judge["scored"]
    assert found["quotes_exact"] == found["quotes"] > 0
    assert found["levels"] > 3 * judge["scored"] - 1, "three to five of each answer"
    assert found["recall_level_3"] == 0, "nothing was read as 3, and no failure counts as a level"
    text = to_markdown(found)
    assert "Judge: `structured:big-1:" in text
    assert f"Not scored of {found['answers']}: " in text
    assert "judge_unavailable 2 (the first: The judge is not available: the model endpoint answered 500)" in text
    assert "judge_refused 1 (the first: The judge declined: the model refused to grade this answer)" in text


def test_a_judge_that_only_fails_is_no_report(tmp_path: Path) -> None:
    with Site(tmp_path, ScriptedJudge(JUDGE_DOWN)) as site:
        with pytest.raises(NothingScored, match=r"no answer was scored\. Not scored of .*judge_unavailable"):
            measure(site.url, "calibration", lambda _: None, 1)


def test_no_service_is_said_at_once() -> None:
    with pytest.raises(ServiceError, match="interviewer serve"):
        measure("http://127.0.0.1:9", "calibration", lambda _: None)
    done = CliRunner().invoke(tools.evaluate, ["judge", "--url", "http://127.0.0.1:9"])
    assert done.exit_code == 2 and "interviewer serve" in " ".join(done.stderr.split())
