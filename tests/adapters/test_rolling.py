"""Versions rolled in and out of a running engine: a small one in a process of its own, that loads, answers and dies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from openai import AsyncOpenAI
from safetensors.numpy import save_file

from interviewer.adapters.backend import EmbeddedBackend
from interviewer.adapters.openai_model import make_client
from interviewer.adapters.roster import NotProven, Roster
from interviewer.service.errors import Refused
from serving.engine import EngineConfig
from serving.engine_config import free_port
from serving.versions import Version, VersionStore
from tests.service.kit import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENGINE = """
import http.server, json, os, struct, sys
port, folder = int(sys.argv[1]), sys.argv[2]
served = {}
for line in open(os.path.join(folder, "serve.txt")):
    name, path = line.strip().split("=", 1)
    served[name] = path
open(os.path.join(folder, "pid"), "w").write(str(os.getpid()))

def logprobs(name):
    if name == "base":
        return {"I": -1.0, "You": -2.0}
    data = open(os.path.join(served[name], "adapter_model.safetensors"), "rb").read()
    value = round(struct.unpack("<f", data[-4:])[0], 4)
    return {"I": -1.0 + value, "You": -2.0 - value}

class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def do_GET(self):
        names = [{"id": n, "object": "model", "created": 1, "owned_by": "x"} for n in ("base", *served)]
        self.reply(200, {"object": "list", "data": names})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/load_lora_adapter"):
            if "broken" in body["lora_path"]:
                return self.reply(500, {"error": {"message": "weights do not fit"}})
            served[body["lora_name"]] = body["lora_path"]
            return self.reply(200, "ok")
        if self.path.endswith("/unload_lora_adapter"):
            served.pop(body["lora_name"])
            return self.reply(200, "ok")
        if body["model"] != "base" and body["model"] not in served:
            return self.reply(404, {"error": {"message": "no such model"}})
        choice = {"index": 0, "text": "", "finish_reason": "length",
                  "logprobs": {"top_logprobs": [logprobs(body["model"])]}}
        self.reply(200, {"id": "1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]})
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
"""Serves what ``serve.txt`` lists; the last number of an adapter is what it moves the base's log-probabilities by."""

KEY = "base_model.model.model.layers.0.self_attn.q_proj.lora_{}.weight"
WIDTH = 4
CONFIG = {
    "hidden_size": WIDTH,
    "intermediate_size": 8,
    "num_attention_heads": 1,
    "num_hidden_layers": 1,
    "vocab_size": 10,
}
"""What the engine's base looks like."""


def adapter(folder: Path, moves_by: float, canary: dict[str, float] | None = None, rank: int = 8) -> Path:
    """Write an adapter in the shape that training leaves."""
    (folder / "adapter").mkdir(parents=True)
    halves = {"A": np.ones((rank, WIDTH)), "B": np.full((WIDTH, rank), moves_by)}
    weights = {KEY.format(side): half.astype(np.float32) for side, half in halves.items()}
    save_file(weights, folder / "adapter" / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": rank, "target_modules": ["q_proj"]}
    (folder / "adapter" / "adapter_config.json").write_text(json.dumps(settings), encoding="utf-8")
    if canary is not None:
        (folder / "canary.json").write_text(json.dumps(canary), encoding="utf-8")
    return folder


@dataclass
class World:
    """A backend with its engine."""

    backend: EmbeddedBackend
    client: AsyncOpenAI
    roster: Roster
    store: VersionStore
    folder: Path
    switched: list[tuple[str, str | None]] = field(default_factory=list)

    async def served(self) -> set[str]:
        return {model.id async for model in self.client.models.list()} - {"base"}

    async def serves(self, *names: str) -> None:
        """Wait until the engine serves exactly these adapters."""
        async with asyncio.timeout(20):
            while await self.served() != set(names):  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.01)

    def active(self) -> str:
        found = self.store.active("deep_dive")
        assert found is not None
        return found.name

    async def ready(self) -> None:
        await eventually(lambda: self.backend.checks()["engine"].ok)

    def kill_engine(self) -> None:
        os.kill(int((self.folder / "pid").read_text(encoding="utf-8")), signal.SIGKILL)


async def start(folder: Path, moves_by: float = 0.5, canary: dict[str, float] | None = None) -> World:
    ships = adapter(folder / "ships", moves_by, canary)
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    store = VersionStore(folder / "data", {"deep_dive": ships / "adapter"})
    version = store.active("deep_dive")
    assert version is not None
    (folder / "serve.txt").write_text(f"{version.name}={version.folder}\n", encoding="utf-8")
    config = EngineConfig(
        model=folder,
        log=folder / "engine.log",
        port=free_port("127.0.0.1"),
        adapters={version.name: version.folder},
        command=(sys.executable, "-c", ENGINE, "{port}", str(folder)),
    )
    client = make_client(f"http://127.0.0.1:{config.port}/v1", "")
    roster = Roster()
    switched: list[tuple[str, str | None]] = []

    def switch(adapter: str, version: Version | None) -> None:
        switched.append((adapter, version.name if version else None))

    backend = EmbeddedBackend(
        config,
        client,
        prepare=lambda: None,
        store=store,
        active={"deep_dive": version},
        roster=roster,
        switch=switch,
        progress=lambda _line: None,
    )
    world = World(backend, client, roster, store, folder, switched)
    await backend.start()
    await world.ready()
    return world


@pytest_asyncio.fixture(loop_scope="module")
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = await start(tmp_path)
    yield made
    await made.backend.stop()
    await made.client.close()


async def test_a_version_is_rolled_in_and_the_old_one_leaves_when_idle(world: World) -> None:
    old = world.active()
    new = world.store.install("deep_dive", adapter(world.folder / "new", 0.7))
    with world.roster.use(old):
        await world.backend.activate("deep_dive", new.digest)
        assert await world.served() == {old, new.name}, "a turn still runs on the old one"
        assert world.switched[-1] == ("deep_dive", new.name), "new turns use the new one"
    await world.serves(new.name)
    assert world.active() == new.name
    assert new.golden() == {"I": -0.3, "You": -2.7}, "what it said the first time is what it has to say later"
    listed = {(v.version, v.active) for v in world.backend.versions()}
    assert listed == {(old.rpartition("@")[2], False), (new.digest, True)}


async def test_one_call_goes_back(world: World) -> None:
    old = world.active()
    new = world.store.install("deep_dive", adapter(world.folder / "new", 0.7))
    await world.backend.activate("deep_dive", new.digest)
    await world.backend.rollback("deep_dive")
    assert world.active() == old
    assert world.switched[-1] == ("deep_dive", old)
    with pytest.raises(Refused, match="no earlier version"):
        await world.backend.rollback("deep_dive")


async def test_going_back_at_once_keeps_the_old_one_loaded(world: World) -> None:
    old = world.active()
    new = world.store.install("deep_dive", adapter(world.folder / "new", 0.7))
    with world.roster.use(old):
        await world.backend.activate("deep_dive", new.digest)
        going_back = asyncio.create_task(world.backend.rollback("deep_dive"))
        await asyncio.sleep(0)
    await going_back  # meanwhile the last turn on the old one has ended
    await world.serves(old)


async def test_a_version_that_is_the_base_in_disguise_never_serves(world: World) -> None:
    old = world.active()
    silent = world.store.install("deep_dive", adapter(world.folder / "silent", 0.0))
    before = list(world.switched)
    with pytest.raises(Refused, match=f"match no module. {old} serves on") as refused:
        await world.backend.activate("deep_dive", silent.digest)
    assert refused.value.code == "adapter_refused"
    assert (world.active(), world.switched) == (old, before)
    assert await world.served() == {old}
    with pytest.raises(NotProven), world.roster.use(silent.name):
        pytest.fail("it serves")


async def test_a_version_that_differs_from_its_canary_never_serves(world: World) -> None:
    wrong = world.store.install("deep_dive", adapter(world.folder / "wrong", 0.7, canary={"I": -3.0}))
    with pytest.raises(Refused, match=r"log-probability -0\.30, golden -3\.00"):
        await world.backend.activate("deep_dive", wrong.digest)


async def test_a_version_that_the_engine_cannot_load_is_refused(world: World) -> None:
    broken = world.store.install("deep_dive", adapter(world.folder / "x", 0.9))
    version = Version("deep_dive", "deep_dive@broken00", world.folder / "broken" / "adapter", False)
    adapter(world.folder / "broken", 0.9)
    with pytest.raises(Refused, match="weights do not fit"):
        await world.backend._roll(version)
    assert broken.name not in await world.served()


async def test_a_rank_that_does_not_fit_is_refused_before_it_is_loaded(world: World) -> None:
    wide = world.store.install("deep_dive", adapter(world.folder / "wide", 0.7, rank=64))
    with pytest.raises(Refused, match="rank 64"):
        await world.backend.activate("deep_dive", wide.digest)


async def test_damaged_weights_are_refused_before_they_are_loaded(world: World) -> None:
    folder = adapter(world.folder / "damaged", 0.7)
    (folder / "adapter" / "adapter_model.safetensors").write_bytes(b"no tensors at all")
    damaged = world.store.install("deep_dive", folder)
    with pytest.raises(Refused, match=r"adapter_model\.safetensors is damaged"):
        await world.backend.activate("deep_dive", damaged.digest)
    assert damaged.name not in await world.served()


@pytest.mark.parametrize(("name", "digest"), [("deep_dive", "00000000"), ("nobody", "00000000")])
async def test_unknown_versions_are_named(world: World, name: str, digest: str) -> None:
    with pytest.raises(Refused, match="there are: deep_dive") as refused:
        await world.backend.activate(name, digest)
    assert refused.value.code == "unknown_version"


async def test_an_engine_that_was_killed_comes_back_and_proves_itself_again(world: World) -> None:
    name = world.active()
    assert not await world.backend.recovered(), "it never left"
    world.kill_engine()
    assert await world.backend.recovered()
    with world.roster.use(name):
        pass


async def test_while_it_is_away_nothing_serves_and_nothing_is_rolled(world: World) -> None:
    name = world.active()
    new = world.store.install("deep_dive", adapter(world.folder / "new", 0.7))
    world.kill_engine()
    await eventually(lambda: not world.backend.checks()["engine"].ok)
    with pytest.raises(NotProven), world.roster.use(name):
        pytest.fail("it serves")
    with pytest.raises(Refused) as refused:
        await world.backend.activate("deep_dive", new.digest)
    assert (refused.value.code, refused.value.retryable) == ("engine_not_ready", True)


@pytest.mark.parametrize(("moves_by", "canary"), [(0.0, None), (0.5, {"I": -4.0})])
async def test_a_failed_canary_at_the_start_keeps_the_adapter_out(
    tmp_path: Path, moves_by: float, canary: dict[str, float] | None
) -> None:
    world = await start(tmp_path, moves_by, canary)
    try:
        check = world.backend.checks()["adapter:deep_dive"]
        assert not check.ok and "interviewer adapters rollback deep_dive" in check.detail
        assert world.switched == [("deep_dive", None)], "new turns run on the prompt alone"
        with pytest.raises(NotProven), world.roster.use(world.active()):
            pytest.fail("it serves")
    finally:
        await world.backend.stop()
        await world.client.close()
