"""What the engine is started with: checked before anything is spawned, turned into one command and environment."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from serving.cpu import best_dtype, cpu_flags, engine_on_cpu, usable_cores
from serving.cpu_lora import SWITCH, TESTED_VERSIONS, engine_version
from serving.errors import FixableError
from serving.memory import RUNTIME_BYTES, available_memory

RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Adapter ranks that the engine's slots can have."""


class EngineError(FixableError):
    """The engine cannot be started as configured."""


class EngineFailed(EngineError):
    """The engine died too often; carries the end of its log."""


@dataclass(frozen=True)
class EngineConfig:
    """Settings of one supervised engine."""

    model: Path
    """Checkpoint folder of the base model, served under the name ``base``."""
    log: Path
    """File that receives the engine's output; appended to."""
    adapters: Mapping[str, Path] = field(default_factory=dict)
    """Adapter folders by served name; use content-hashed names, the prefix cache is keyed by them."""
    host: str = "127.0.0.1"
    """Address to listen on. The engine has no access control worth the name: keep it on loopback."""
    port: int = 0
    """TCP port; 0 picks a free one."""
    api_key: str = field(default="", repr=False)
    """What requests to ``/v1`` have to carry; empty for none. Whoever else is on the machine could load adapters."""
    max_model_len: int = 2048
    """Longest prompt plus output, in tokens."""
    max_num_seqs: int = 16
    """Most requests decoded together."""
    block_size: int = 32
    """Tokens per prefix cache block; the CPU kernels want multiples of 32."""
    kv_cache_bytes: int = 1 << 30
    """Memory for keys and values on CPU; 1 GiB holds 23,000 tokens of the embedded model in float32."""
    max_lora_rank: int = 16
    """Largest rank among the adapters."""
    dtype: str | None = None
    """Element type; None chooses by the processor, see :mod:`serving.cpu`."""
    threads: int | None = None
    """Compute threads on CPU; None takes every core this process may use, at most 8."""
    ready_seconds: float = 300.0
    """How long a start may take before it counts as failed."""
    traces: str = ""
    """OTLP collector over HTTP, ``http://host:4318``, that the engine sends traces to; empty for none."""
    extra: tuple[str, ...] = ()
    """Further arguments, from the catalogue of models; of two of a kind the engine takes the last."""
    command: tuple[str, ...] | None = None
    """Replaces the engine's command, for tests; ``{port}`` in it is filled in."""

    def check(self) -> None:
        """Raise :class:`EngineError` when a folder is missing, a rank does not fit or the port is taken."""
        if not (self.model / "config.json").is_file():
            raise EngineError(f"No model in {self.model}.", "Run `interviewer model fetch`, or correct the path.")
        if self.max_lora_rank not in RANKS:
            raise EngineError(f"Rank {self.max_lora_rank} is not possible.", f"Use one of {RANKS}.")
        for name, folder in self.adapters.items():
            self.fits(name, folder)
        if self.command is None and engine_on_cpu():
            self._check_memory(available_memory())
        if self.port and not port_is_free(self.host, self.port):
            raise EngineError(
                f"Port {self.port} on {self.host} is taken.",
                "Stop what listens there, or choose port 0 or another one.",
            )

    def fits(self, name: str, folder: Path) -> None:
        """Raise :class:`EngineError` when an engine that was started like this cannot serve the adapter."""
        settings = adapter_settings(name, folder)
        rank = settings.get("r")
        if not isinstance(rank, int) or rank > self.max_lora_rank:
            raise EngineError(
                f"Adapter {name} has rank {rank}, the engine is set to {self.max_lora_rank}.",
                "Raise max_lora_rank to the largest rank.",
            )
        wrapped, modules = self._target_modules(), settings.get("target_modules")
        if wrapped and not set(modules if isinstance(modules, list) else ["a pattern"]) <= set(wrapped):
            raise EngineError(
                f"Adapter {name} changes {modules}, the engine was started for {wrapped}.",
                "Install it and start the service again.",
            )

    def memory_bytes(self) -> int:
        """Return what the engine needs on a CPU at most: weights, keys and values, adapter slots, and the runtime."""
        stored = sum(path.stat().st_size for path in self.model.glob("*.safetensors"))
        weights = stored * (2 if self.chosen_dtype() == "float32" else 1)  # stored in 16 bits
        slots = sum((folder / "adapter_model.safetensors").stat().st_size for folder in self.adapters.values()) * 4
        return weights + self.kv_cache_bytes + slots + RUNTIME_BYTES

    def _check_memory(self, available: int | None) -> None:
        needed = self.memory_bytes()
        if available is not None and needed > available:
            raise EngineError(
                f"The engine needs up to {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are available.",
                f"Free memory, or lower INTERVIEWER_KV_CACHE_MB ({self.kv_cache_bytes >> 20} now).",
            )

    def argv(self, port: int) -> list[str]:
        """Return the command that serves on ``port``."""
        if self.command is not None:
            return [part.replace("{port}", str(port)) for part in self.command]
        # `vllm serve` looks up the version of a distribution named vllm, which the CPU build is not; the module works.
        argv = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", f"--model={self.model}"]
        argv += ["--served-model-name=base", f"--host={self.host}", f"--port={port}", f"--dtype={self.chosen_dtype()}"]
        argv += [f"--max-model-len={self.max_model_len}", f"--max-num-seqs={self.max_num_seqs}", "--seed=0"]
        argv += [f"--block-size={self.block_size}", "--disable-uvicorn-access-log", "--disable-fastapi-docs"]
        if engine_on_cpu():
            # Scheduler and model in one process: a third one would import the engine once more, and the queue between
            # the two is polled on cores that compute. Eager: compiling took minutes there, and the engine does not
            # compile with LoRA anyway.
            argv += ["--distributed-executor-backend=uni", "--enforce-eager"]
        if self.traces:
            argv += [f"--otlp-traces-endpoint={traces_address(self.traces)}"]
        argv += self.extra
        if engine_on_cpu():
            argv += [f"--kv-cache-memory-bytes={self.kv_cache_bytes}"]
        return argv + self._lora_argv()

    def _lora_argv(self) -> list[str]:
        if not self.adapters:
            return []
        slots = len(self.adapters) + 1  # a new version is loaded beside the one that it replaces
        if engine_on_cpu() and (os.environ.get(SWITCH) == "0" or engine_version() not in TESTED_VERSIONS):
            # The stock CPU operators apply the last slot to rows without an adapter: keep that slot empty.
            slots += 1
        argv = ["--enable-lora", f"--max-loras={slots}", f"--max-cpu-loras={slots}"]
        argv += [f"--max-lora-rank={self.max_lora_rank}"]
        targets = self._target_modules()
        if targets:
            # Without the list, embeddings and output head are wrapped too and cost memory and time for nothing.
            argv += ["--lora-target-modules", *targets]
        return [*argv, "--lora-modules", *(f"{name}={folder}" for name, folder in self.adapters.items())]

    def _target_modules(self) -> list[str]:
        """Return the projections that some adapter changes; empty when one names them by a pattern."""
        found: set[str] = set()
        for name, folder in self.adapters.items():
            modules = adapter_settings(name, folder).get("target_modules")
            if not isinstance(modules, list):
                return []
            found.update(str(module) for module in modules)
        return sorted(found)

    def chosen_dtype(self) -> str:
        """Return the element type that the engine is started with."""
        if self.dtype is not None:
            return self.dtype
        return best_dtype(cpu_flags()) if engine_on_cpu() else "auto"

    def environment(self) -> dict[str, str]:
        """Return the environment of the engine process; what the operator set wins."""
        threads = self.threads or min(usable_cores(), 8)
        ours = {
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "HF_HUB_OFFLINE": "1",
            "VLLM_PLUGINS": "interviewer_cpu_lora,interviewer_cpu_start",
            # Lets versions of adapters be rolled in and out; whoever reaches the engine with its key may.
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
            "PYTHONUNBUFFERED": "1",
        }
        if self.traces:
            ours |= {"OTEL_SERVICE_NAME": "interviewer-engine", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}
        if self.api_key:
            ours["VLLM_API_KEY"] = self.api_key
        if engine_on_cpu():
            ours |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "OMP_NUM_THREADS": str(threads)}
        return ours | dict(os.environ)


def traces_address(endpoint: str) -> str:
    """Return where a collector takes traces: its path ``/v1/traces``, or the path that was given."""
    return endpoint if urlsplit(endpoint).path.strip("/") else f"{endpoint.rstrip('/')}/v1/traces"


def adapter_settings(name: str, folder: Path) -> dict[str, object]:
    """Return an adapter's ``adapter_config.json``.

    Raises:
        EngineError: the folder lacks the configuration or the weights, or the configuration cannot be read.
    """
    fix = "Train it with `interviewer train`, or take it out of the settings."
    if not (folder / "adapter_model.safetensors").is_file():
        raise EngineError(f"Adapter {name} has no weights in {folder}.", fix)
    try:
        settings = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EngineError(f"Adapter {name} has no readable adapter_config.json in {folder}: {error}.", fix) from error
    if not isinstance(settings, dict):
        raise EngineError(f"Adapter {name}: adapter_config.json in {folder} is not an object.", fix)
    return settings


def port_is_free(host: str, port: int) -> bool:
    """Return whether a server could listen on ``host:port`` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_port(host: str) -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
