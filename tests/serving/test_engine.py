from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path

import pytest

from serving.engine import Engine, EngineConfig, EngineError, EngineFailed, EngineState, health, log_tail

SERVER = """
import http.server, os, sys, threading, time
port, life, answers = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if answers == "well" else 503); self.end_headers()
    def log_message(self, *_): pass
print("engine says: loading", flush=True)
if life == 0: sys.exit("engine says: no memory")
threading.Timer(life, lambda: os._exit(1)).start()
http.server.HTTPServer(("127.0.0.1", port), Health).serve_forever()
"""
"""A tiny engine: answers its health check for ``life`` seconds, or dies at once."""


def stub(tmp_path: Path, life: float, answers: str = "well", port: int = 0) -> EngineConfig:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    return EngineConfig(
        model=tmp_path,
        log=tmp_path / "logs" / "engine.log",
        port=port,
        command=(sys.executable, "-c", SERVER, "{port}", str(life), answers),
    )


def make_adapter(folder: Path, rank: int = 8, modules: object = ("q_proj",)) -> Path:
    folder.mkdir()
    (folder / "adapter_model.safetensors").write_bytes(b"")
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank, "target_modules": modules}), encoding="utf-8")
    return folder


async def test_start_ready_stop(tmp_path: Path) -> None:
    states: list[EngineState] = []
    said: list[str] = []
    engine = Engine(stub(tmp_path, 60), states.append)
    await engine.start(said.append)
    await engine.wait_ready()
    port = int(engine.base_url.removesuffix("/v1").rpartition(":")[2])
    assert await health("127.0.0.1", port, 5) == 200
    with pytest.raises(EngineError, match="runs already"):
        await engine.start()

    await engine.stop()
    await engine.stop()

    assert await health("127.0.0.1", port, 5) is None
    assert states == ["starting", "ready", "stopping", "stopped"]
    assert engine.restarts == 0
    assert "ready after" in said[-1]
    with pytest.raises(EngineError, match="not running"):
        await engine.wait_ready()


async def test_an_engine_that_dies_comes_back_at_the_same_address(tmp_path: Path) -> None:
    states: list[EngineState] = []
    back = asyncio.Event()

    def on_state(state: EngineState) -> None:
        states.append(state)
        if states.count(EngineState.READY) == 2:
            back.set()

    engine = Engine(stub(tmp_path, 1.5), on_state, settled_seconds=0.0, backoff_seconds=0.01)
    await engine.start()
    address = engine.base_url
    await asyncio.wait_for(back.wait(), 60)
    await engine.wait_ready()
    await engine.stop()
    assert engine.base_url == address
    assert engine.restarts == 1
    assert states[:5] == ["starting", "ready", "restarting", "starting", "ready"]


async def test_quick_deaths_end_the_attempts_with_the_end_of_the_log(tmp_path: Path) -> None:
    states: list[EngineState] = []
    engine = Engine(stub(tmp_path, 0), states.append, backoff_seconds=0.01, max_quick_deaths=3)
    await engine.start()
    with pytest.raises(EngineFailed, match="died 3 times in a row") as caught:
        await engine.wait_ready()
    assert "engine says: no memory" in str(caught.value)
    assert engine.state is EngineState.FAILED
    assert engine.restarts == 2
    await engine.stop()


async def test_a_start_that_takes_too_long_counts_as_a_death(tmp_path: Path) -> None:
    config = stub(tmp_path, 60, answers="ill")
    engine = Engine(
        EngineConfig(model=config.model, log=config.log, command=config.command, ready_seconds=1.0),
        max_quick_deaths=1,
    )
    await engine.start()
    with pytest.raises(EngineFailed):
        await engine.wait_ready()
    await engine.stop()


async def test_stopping_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    engine = Engine(stub(tmp_path, 60, answers="ill"))
    await engine.start()
    await asyncio.sleep(1)
    await engine.stop()
    assert engine.state is EngineState.STOPPED


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        engine = Engine(stub(tmp_path, 60, port=taken.getsockname()[1]))
        with pytest.raises(EngineError, match="is taken") as caught:
            await engine.start()
    assert "port 0" in caught.value.fix


async def test_a_missing_model_is_named(tmp_path: Path) -> None:
    engine = Engine(EngineConfig(model=tmp_path / "nowhere", log=tmp_path / "log"))
    with pytest.raises(EngineError, match="No model in"):
        await engine.start()


def test_missing_and_unfit_adapters_are_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")

    def check(folder: Path, rank: int = 16) -> None:
        EngineConfig(model=tmp_path, log=tmp_path / "log", adapters={"deep_dive@1": folder}, max_lora_rank=rank).check()

    with pytest.raises(EngineError, match="deep_dive@1 has no weights"):
        check(tmp_path / "nowhere")
    wide = make_adapter(tmp_path / "wide", rank=64)
    with pytest.raises(EngineError, match="has rank 64"):
        check(wide)
    with pytest.raises(EngineError, match="Rank 7"):
        check(wide, rank=7)
    (wide / "adapter_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(EngineError, match="no readable"):
        check(wide)


def test_the_command_names_every_adapter_once_and_only_their_projections(tmp_path: Path) -> None:
    adapters = {
        "a@1": make_adapter(tmp_path / "a", modules=["q_proj", "v_proj"]),
        "b@2": make_adapter(tmp_path / "b", modules=["q_proj", "o_proj"]),
    }
    argv = EngineConfig(model=tmp_path, log=tmp_path / "log", adapters=adapters).argv(4000)
    assert argv[argv.index("--lora-target-modules") + 1 : argv.index("--lora-modules")] == [
        "o_proj",
        "q_proj",
        "v_proj",
    ]
    assert argv[argv.index("--lora-modules") + 1 :] == [f"a@1={tmp_path / 'a'}", f"b@2={tmp_path / 'b'}"]
    assert {"--port=4000", "--served-model-name=base", "--enable-lora"} <= set(argv)


def test_a_pattern_of_projections_is_left_to_the_engine(tmp_path: Path) -> None:
    adapters = {"a@1": make_adapter(tmp_path / "a", modules="all-linear")}
    argv = EngineConfig(model=tmp_path, log=tmp_path / "log", adapters=adapters).argv(4000)
    assert "--lora-target-modules" not in argv


def test_without_adapters_the_engine_runs_without_lora(tmp_path: Path) -> None:
    argv = EngineConfig(model=tmp_path, log=tmp_path / "log").argv(4000)
    assert not [part for part in argv if "lora" in part]


def test_the_operator_may_override_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert EngineConfig(model=tmp_path, log=tmp_path / "log").environment()["OMP_NUM_THREADS"] == "3"


def test_the_end_of_a_missing_log_is_empty(tmp_path: Path) -> None:
    assert log_tail(tmp_path / "nowhere") == ""
