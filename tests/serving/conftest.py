"""The real engine with random adapters, started once for all tests marked ``engine``."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from openai import AsyncOpenAI

from serving.canary import adapter_name
from serving.engine import Engine, EngineConfig
from serving.fetch import default_cache, ensure_base

ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
EVERY = [*ATTENTION, "gate_proj", "up_proj", "down_proj"]

KINDS = {
    "wide": (16, EVERY, 1.0),
    "small": (8, EVERY, 1.0),
    "narrow": (8, ATTENTION, 1.0),
    "silent": (8, ATTENTION, 0.0),
    "broad": (32, EVERY, 1.0),
    "words": (8, ["q_proj", "embed_tokens"], 0.3),
    "head": (8, ["q_proj", "lm_head"], 0.3),
}
"""Rank, projections and strength of each random adapter; ``silent`` changes nothing, as one that matches no module.

``words`` and ``head`` change embeddings and output head too, which the shipped adapters leave alone.
"""


@dataclass(frozen=True)
class Live:
    """A running engine and what it serves."""

    engine: Engine
    client: AsyncOpenAI
    names: dict[str, str]
    """Served name by kind."""
    log: Path


@pytest.fixture(scope="session")
def base() -> Path:
    """Return the embedded base model, fetched when it is not there."""
    return ensure_base(default_cache(), lambda _line: None)


def make_adapters(base: Path, folder: Path) -> dict[str, Path]:
    """Save one random PEFT adapter per kind, in bfloat16."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    made = {}
    for number, (kind, (rank, targets, strength)) in enumerate(KINDS.items()):
        torch.manual_seed(number)
        model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        settings = LoraConfig(r=rank, lora_alpha=rank, target_modules=targets, init_lora_weights=False)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*tie.*")  # embeddings and head share weights in the base
            tuned = get_peft_model(model, settings)
        with torch.no_grad():
            for name, weight in tuned.named_parameters():
                if "lora_B" in name or "embedding_B" in name:
                    weight.mul_(strength)
        # "auto" would look the base up on a hub, and store its embeddings when they are adapted.
        tuned.bfloat16().save_pretrained(folder / kind, save_embedding_layers=False)
        made[kind] = folder / kind
    return made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def live(base: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Live]:
    """Start the engine once; every test that uses it runs in the session's event loop."""
    folder = tmp_path_factory.mktemp("engine")
    adapters = await asyncio.to_thread(make_adapters, base, folder)
    names = {kind: adapter_name(kind, path) for kind, path in adapters.items()}
    engine = Engine(
        EngineConfig(
            model=base,
            log=folder / "engine.log",
            adapters={names[kind]: path for kind, path in adapters.items()},
            kv_cache_bytes=1 << 28,
            max_lora_rank=32,
            dtype="float32",  # the same on every machine, and exact enough to ask for equal texts
            ready_seconds=900,
        ),
        max_quick_deaths=1,
    )
    await engine.start()
    try:
        await engine.wait_ready()
        async with AsyncOpenAI(base_url=engine.base_url, api_key="none", max_retries=0, timeout=300) as client:
            yield Live(engine, client, names, folder / "engine.log")
    finally:
        await engine.stop()
