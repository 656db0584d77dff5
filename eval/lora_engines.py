"""The engines that the LoRA benchmark compares: without adapters, with the stock operators, with the plugin."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from openai import AsyncOpenAI

from interviewer.adapters.openai_model import make_client
from serving.cpu_lora import SWITCH
from serving.engine import Engine
from serving.engine_config import EngineConfig, EngineError
from serving.memory import available_memory

RANK = 16
CONTEXT = 2304
"""Room for a prompt of 2048 tokens and its answer."""
SEQUENCES = 16


@dataclass(frozen=True)
class Served:
    """One running engine."""

    client: AsyncOpenAI
    config: EngineConfig


@asynccontextmanager
async def started(
    model: Path, full: Mapping[str, Path], shipped: Mapping[str, Path], logs: Path, progress: Callable[[str], None]
) -> AsyncIterator[dict[str, Served]]:
    """Run the three engines side by side, so that rounds can alternate between them; an idle one computes nothing.

    The engines have exactly as many slots as adapters. The service gives one more, and with the stock operators that
    spare one is what keeps requests without an adapter right.

    Args:
        model: folder of the base model.
        full: adapters of all layers by name, loaded by both engines with LoRA.
        shipped: further adapters by name, for the plugin's engine.
        logs: folder for the engines' logs.
        progress: told about each start.

    Yields:
        The engines ``base``, ``stock`` and ``plugin``.

    Raises:
        EngineError: not enough memory, or an engine that does not start.
    """
    plain = EngineConfig(
        model=model,
        log=logs / "base.log",
        max_model_len=CONTEXT,
        max_num_seqs=SEQUENCES,
        kv_cache_bytes=1 << 29,
        ready_seconds=900,
    )
    configs = {
        "base": plain,
        "stock": replace(plain, log=logs / "stock.log", adapters=full),
        "plugin": replace(plain, log=logs / "plugin.log", adapters={**full, **shipped}),
    }
    needed, free = sum(config.memory_bytes() for config in configs.values()), available_memory()
    if free is not None and needed > free:
        raise EngineError(
            f"The three engines need up to {needed / 1e9:.1f} GB of memory together, {free / 1e9:.1f} GB are free.",
            "Stop other programs, or measure on a machine with more memory.",
        )
    async with AsyncExitStack() as stack:
        found = {}
        for name, config in configs.items():
            config.check()
            progress(f"starting the engine: {name}")
            engine = Engine(replace(config, command=command(config, stock=name == "stock")), max_quick_deaths=1)
            stack.push_async_callback(engine.stop)
            await engine.start(progress)
            await engine.wait_ready()
            client = make_client(engine.base_url, "none", seconds=600.0)
            stack.push_async_callback(client.close)
            found[name] = Served(client, config)
        yield found


def command(config: EngineConfig, *, stock: bool) -> tuple[str, ...]:
    """Return the service's own command line for ``config``, with the operators chosen and no spare slot."""
    argv = ["--port={port}" if part == "--port=0" else part for part in config.argv(0)]
    slots = ("--max-loras=", "--max-cpu-loras=")
    argv = [next((f"{flag}{len(config.adapters)}" for flag in slots if part.startswith(flag)), part) for part in argv]
    setting = f"import os, sys; os.environ[{SWITCH!r}] = {'01'[not stock]!r}; os.execv(sys.argv[1], sys.argv[1:])"
    return (sys.executable, "-c", setting, *argv)


def random_adapters(model: Path, folder: Path, count: int) -> dict[str, Path]:
    """Write adapters of rank 16 on all seven projections of all layers, random and small enough to keep sense.

    They cost the most that an adapter of this rank can; what they say does not matter here.

    Returns:
        Folders by served name.
    """
    import torch
    from safetensors.torch import save_file

    shape = json.loads((model / "config.json").read_text(encoding="utf-8"))
    hidden, inner = shape["hidden_size"], shape["intermediate_size"]
    heads = shape["num_attention_heads"]
    narrow = hidden // heads * shape["num_key_value_heads"]
    sizes = {
        **{f"self_attn.{name}_proj": (hidden, narrow if name in "kv" else hidden) for name in "qkvo"},
        "mlp.gate_proj": (hidden, inner),
        "mlp.up_proj": (hidden, inner),
        "mlp.down_proj": (inner, hidden),
    }
    made = {}
    for number in range(count):
        generator = torch.Generator().manual_seed(number)
        weights = {}
        for layer in range(shape["num_hidden_layers"]):
            for name, (inputs, outputs) in sizes.items():
                path = f"base_model.model.model.layers.{layer}.{name}"
                weights[f"{path}.lora_A.weight"] = torch.randn(RANK, inputs, generator=generator) / inputs**0.5
                weights[f"{path}.lora_B.weight"] = torch.randn(outputs, RANK, generator=generator) * 0.05
        target = folder / f"full{number}"
        target.mkdir(parents=True)
        save_file(weights, target / "adapter_model.safetensors")
        settings = {"peft_type": "LORA", "r": RANK, "lora_alpha": RANK, "bias": "none"}
        settings["target_modules"] = [name.partition(".")[2] for name in sizes]
        (target / "adapter_config.json").write_text(json.dumps(settings), encoding="utf-8")
        made[target.name] = target
    return made
