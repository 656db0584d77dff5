"""The figures at /metrics after sessions whose course is known, and the log lines that go with them."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from interviewer.adapters.logs import JsonFormatter, TextFormatter
from interviewer.adapters.metrics import Metrics
from interviewer.service import affinity
from interviewer.service.deps import Deps
from interviewer.service.judging import Judging
from interviewer.service.ports import ChatModel, Judge
from interviewer.testing import JUDGE_DOWN, MODEL_DOWN, ScriptedJudge, ScriptedModel, StillBackend, words_count
from tests.service.kit import ANSWER, FlakyStore, any_language, deps

from .kit import Running, running

SECRET = "Quetzalcoatl"


def watched(metrics: Metrics, model: ChatModel | None = None, judge: Judge | None = None) -> Deps:
    """Return collaborators that tell ``metrics`` what they do, as the command puts them together."""
    judging = Judging(judge or ScriptedJudge(1), words_count, any_language, told=metrics.judged)
    given = deps(FlakyStore.open("sqlite://", metrics.stored), model)
    return replace(given, judging=judging, telemetry=metrics)


async def scraped(server: Running) -> dict[str, float]:
    """Return every sample, by its name and labels."""
    text = (await server.http.get("/metrics")).text
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Running]:
    metrics = Metrics()

    async def load() -> dict[str, float]:
        return {"running": 2.0, "waiting": 7.0}

    async with running(watched(metrics), metrics=metrics.exposition, engine_load=load) as serving:
        yield serving


async def test_every_stage_of_a_turn_is_counted_once(server: Running) -> None:
    opened = await server.create()
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        for turn in (1, 2):
            await client.send(type="answer", msg_id=f"m{turn}", text=ANSWER)
            await client.stage("waiting", turn + 1)
        found = await scraped(server)
        stages = {name: found[f"interviewer_turn_seconds_count{{stage={name}}}"] for name in ("reading", "reply")}
        assert stages == {"reading": 2, "reply": 2}  # two answers; the opening question answers nothing
        # Two choices follow an answer; the first choice of a session follows nothing.
        assert found["interviewer_turn_seconds_count{stage=choosing}"] == 2
        assert found["interviewer_turn_seconds_count{stage=first_word}"] == 3
        assert found["interviewer_turn_seconds_count{stage=question}"] == 3
        asked = {key: value for key, value in found.items() if key.startswith("interviewer_questions_total")}
        assert sum(asked.values()) == 3
        assert asked["interviewer_questions_total{persona=deep_dive,source=authored}"] == 1
        assert found["interviewer_judge_results_total{outcome=scored}"] == 2
        assert found["interviewer_judge_seconds_count{}"] == 2
        assert found["interviewer_sockets_open{}"] == 1
        assert found["interviewer_sessions_loaded{}"] == 1
        assert found["interviewer_sessions_busy{}"] == 0
        # session_started, and in each of three turns a probe and a question, and two answers with their assessments
        assert found["interviewer_store_seconds_count{operation=write}"] == 1 + 3 * 2 + 2 * 2
        assert found["interviewer_store_errors_total{operation=write}"] == 0
        assert found["interviewer_engine_requests{state=waiting}"] == 7


async def test_a_model_and_a_judge_that_are_away_are_counted_as_that() -> None:
    metrics = Metrics()
    given = watched(metrics, ScriptedModel(MODEL_DOWN), ScriptedJudge(JUDGE_DOWN))
    async with running(given, metrics=metrics.exposition) as server:
        opened = await server.create()
        async with server.joined(opened) as client:
            await client.stage("waiting", 1)
            await client.send(type="answer", msg_id="m1", text=ANSWER)
            await client.stage("waiting", 2)
        found = await scraped(server)
    assert found["interviewer_judge_results_total{outcome=judge_unavailable}"] == 1
    assert found["interviewer_model_failures_total{persona=deep_dive}"] == 1
    assert found["interviewer_questions_total{persona=deep_dive,source=fallback}"] == 1


async def test_sockets_are_counted_by_how_they_ended(server: Running) -> None:
    opened = await server.create()
    async with server.socket(opened) as stranger:
        await stranger.send(type="hello", token="w" * 32, last_seq=0)
        assert await stranger.closed() == 4401
    async with server.joined(opened) as first:
        await first.stage("waiting", 1)
        async with server.joined(opened) as second:
            assert await first.closed() == 4001
            await second.alive()
    while (found := await scraped(server))["interviewer_sockets_open{}"]:
        pass
    ends = {key.partition("reason=")[2].rstrip("}"): n for key, n in found.items() if "sockets_closed_total" in key}
    assert ends == {"unauthorized": 1, "taken_over": 1, "left": 1}


async def test_what_does_not_work_is_told_by_part(server: Running) -> None:
    assert (await scraped(server))["interviewer_ready{check=store}"] == 1
    server.store.broken = True
    server.service.drain.began.set()
    backend = server.service.backend
    assert isinstance(backend, StillBackend)
    backend.ready = False
    found = await scraped(server)
    parts = {name: found[f"interviewer_ready{{check={name}}}"] for name in ("store", "engine", "service")}
    assert parts == {"store": 0, "engine": 0, "service": 0}
    ready = (await server.http.get("/readyz")).json()
    assert {name: int(check["ok"]) for name, check in ready["checks"].items()} == parts


async def test_neither_figures_nor_log_lines_hold_words_of_anybody(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    opened = await server.create(resume=SECRET)
    async with server.joined(opened) as client:
        await client.stage("waiting", 1)
        await client.send(type="answer", msg_id=SECRET, text=f"{SECRET} held p99 at 800 ms. {ANSWER}")
        await client.stage("waiting", 2)
    exposed = (await server.http.get("/metrics")).text
    lines = [JsonFormatter().format(record) for record in caplog.records if record.name.startswith("interviewer")]
    assert SECRET not in exposed + "".join(lines) and opened["id"] not in exposed
    turns = [line for line in map(json.loads, lines) if line["logger"] == "interviewer.turns"]
    assert [(line["session"], line["turn"]) for line in turns] == [(opened["id"], 1), (opened["id"], 2)]
    assert set(turns[1]["seconds"]) == {"reading", "choosing", "first_word", "reply", "question"}


def test_a_log_line_names_its_session_and_hides_what_an_error_says() -> None:
    record = logging.LogRecord("interviewer.x", logging.ERROR, "x.py", 1, "stopped on %s", ("ValueError",), None)
    record.answer = SECRET
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        record.exc_info = (ValueError, error, error.__traceback__)
    affinity.bind("s1")
    line = json.loads(JsonFormatter().format(record))
    assert (line["level"], line["message"], line["session"]) == ("error", "stopped on ValueError", "s1")
    assert line["error"] == "ValueError" and "test_metrics.py" in line["where"]
    assert SECRET not in json.dumps({k: v for k, v in line.items() if k != "where"})


def test_a_log_line_for_people_hides_what_an_error_and_its_cause_say() -> None:
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "x.py", 1, "in ASGI application", (), None)
    said = f"{SECRET} held p99 at 800 ms."
    try:
        try:
            int(said)
        except ValueError as cause:
            raise RuntimeError(said) from cause
    except RuntimeError as error:
        record.exc_info = (RuntimeError, error, error.__traceback__)
    text = TextFormatter().format(record)
    assert "ERROR uvicorn.error: in ASGI application" in text and "RuntimeError\ncaused by\n" in text
    assert text.endswith("ValueError") and "test_metrics.py" in text and SECRET not in text


async def test_a_method_that_the_service_does_not_know_is_no_label_of_its_own(server: Running) -> None:
    assert (await server.http.request("PROPFIND", "/healthz")).status_code == 405
    text = (await server.http.get("/metrics")).text
    assert 'method="other"' in text and "PROPFIND" not in text
