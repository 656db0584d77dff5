"""The engine changes under running interviews: a version rolled in and back under load, and a death in mid-turn."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from safetensors.torch import load_file, save_file

from interviewer.bootstrap import version_store
from interviewer.client import Client, ServiceError, open_socket
from interviewer.core import events as ev
from interviewer.settings import Settings
from serving.engine_config import EngineConfig
from serving.train import PROJECT
from tests.serving.test_real_engine import processes_naming

from .conftest import Running
from .test_main_flows import GOOD, LIMIT, _events, _waiting

pytestmark = pytest.mark.engine

PERSONA = "recruiter"
ANSWER = (
    "I left because the team stopped shipping. In my last project I cut the cost of our chat service by forty percent, "
    "my part was the cache in front of the model, and I measured it over four weeks of production traffic."
)


def scaled(folder: Path, factor: float) -> Path:
    """Write the shipped adapter with other weights, as a training run would leave it."""
    source = PROJECT / "personas" / PERSONA / "adapter"
    (folder / "adapter").mkdir(parents=True)
    shutil.copy(source / "adapter_config.json", folder / "adapter")
    weights = {
        key: value * factor if "lora_B" in key else value
        for key, value in load_file(source / "adapter_model.safetensors").items()
    }
    save_file(weights, folder / "adapter" / "adapter_model.safetensors")
    return folder


def versions(client: Client) -> dict[str, dict[str, Any]]:
    return {row["version"]: row for row in client.get("/v1/adapters")["adapters"] if row["adapter"] == PERSONA}


def in_use(client: Client) -> str:
    return next(version for version, row in versions(client).items() if row["active"])


async def held(running: Running, client: Client, seed: int, until: asyncio.Event) -> list[str]:
    """Hold interviews until told; return what went wrong in their turns."""
    problems: list[str] = []
    while not until.is_set():
        body = {"persona": PERSONA, "minutes": 60, "seed": seed}
        opened = await asyncio.to_thread(client.post, "/v1/sessions", body)
        async with open_socket(running.url, opened["id"], opened["token"]) as socket:
            await _waiting(socket)
            for _ in range(3):
                await socket.answer(ANSWER)
                await _waiting(socket)
        for record in await asyncio.to_thread(_events, client, opened["id"]):
            event = record.event
            if isinstance(event, ev.QuestionAsked) and "model_unavailable" in event.problems:
                problems.append(f"turn {event.turn}: {event.problems}")
            elif isinstance(event, ev.AnswerUnscored | ev.SessionNotice):
                problems.append(event.model_dump_json())
    return problems


def command(running: Running, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "interviewer", "adapters", *words, "--url", running.url],
        env={**os.environ, "INTERVIEWER_DATA_DIR": str(running.data)},
        capture_output=True,
        text=True,
        timeout=240,
    )


async def test_a_version_is_rolled_in_and_back_under_load_without_a_failed_turn(
    running: Running, client: Client, tmp_path: Path
) -> None:
    shipped = in_use(client)
    enough = asyncio.Event()
    load = [asyncio.create_task(held(running, client, seed, enough)) for seed in (1, 2)]
    try:
        done = await asyncio.to_thread(command, running, "install", PERSONA, str(scaled(tmp_path / "new", 0.9)))
        assert done.returncode == 0, done.stderr
        new = in_use(client)
        assert new != shipped
        opened = await asyncio.to_thread(client.post, "/v1/sessions", {"persona": PERSONA})
        first = (await asyncio.to_thread(_events, client, opened["id"]))[0].event
        assert isinstance(first, ev.SessionStarted)
        assert first.versions.adapter == f"{PERSONA}@{new}"

        silent = await asyncio.to_thread(command, running, "install", PERSONA, str(scaled(tmp_path / "silent", 0.0)))
        assert silent.returncode == 2
        assert "failed its canary" in silent.stderr
        assert in_use(client) == new

        back = await asyncio.to_thread(command, running, "rollback", PERSONA)
        assert back.returncode == 0, back.stderr
        assert in_use(client) == shipped
    finally:
        enough.set()
        problems = await asyncio.gather(*load)
    assert problems == [[], []]


def test_what_cannot_be_rolled_in_is_said_plainly(running: Running, client: Client, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="There is no version '00000000' of 'recruiter'") as refused:
        client.post(f"/v1/adapters/{PERSONA}", {"version": "00000000"})
    assert refused.value.code == "unknown_version"
    assert command(running, "install", "nobody", str(tmp_path)).returncode == 2
    assert "adapter_config.json" in command(running, "install", PERSONA, str(tmp_path)).stderr


def engine_processes(running: Running) -> list[psutil.Process]:
    url = (running.data / "engine.url").read_text(encoding="utf-8")
    port = url.strip().removesuffix("/v1").rpartition(":")[2]
    found = [psutil.Process(pid) for pid in processes_naming(f"--port={port}")]
    watcher = next(process for process in found if any("_watch.py" in word for word in process.cmdline()))
    return watcher.children(recursive=True)


def test_the_engine_stays_within_the_memory_that_it_states(running: Running) -> None:
    settings = Settings(data_dir=running.data)
    store = version_store(settings)
    found = [store.active(name) for name in (PERSONA, "evaluator")]
    config = EngineConfig(
        model=next((settings.cache / "base").glob("smollm2*")),
        log=running.data / "unused",
        adapters={version.name: version.folder for version in found if version},
    )
    processes = engine_processes(running)
    assert len(processes) >= 2, "server and core"
    assert sum(process.memory_info().rss for process in processes) <= config.memory_bytes()


async def test_an_engine_that_dies_in_mid_turn_costs_a_notice_and_no_turn(running: Running, client: Client) -> None:
    opened = client.post("/v1/sessions", {"persona": "deep_dive", "minutes": 60, "seed": 7})
    async with open_socket(running.url, opened["id"], opened["token"]) as socket:
        await _waiting(socket)
        await socket.answer(GOOD)
        for process in engine_processes(running):
            process.send_signal(signal.SIGKILL)
        await _waiting(socket)
        await socket.answer(LIMIT)
        await _waiting(socket)
    log = [record.event for record in _events(client, opened["id"])]
    assert [e.code for e in log if isinstance(e, ev.SessionNotice)] == ["model_restarting"]
    assert len([e for e in log if isinstance(e, ev.AnswerAssessed)]) == 2, "both answers were read"
    questions = [e for e in log if isinstance(e, ev.QuestionAsked)]
    assert [q.turn for q in questions] == [1, 2, 3]
    assert not [q for q in questions if "model_unavailable" in q.problems]
    await asyncio.to_thread(running.wait_ready)
