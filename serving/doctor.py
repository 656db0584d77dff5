"""What this installation and this machine have, and what to do about what is missing; ``interviewer doctor`` shows it.

Every check looks and nothing is changed, started or fetched.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path

from serving.cpu import best_dtype, cpu_flags, usable_cores
from serving.cpu_lora import SWITCH, TESTED_VERSIONS, engine_version
from serving.engine_config import EngineError, adapter_settings, port_is_free
from serving.fetch import base_folder, default_cache
from serving.install import BROWSERS, MISMATCHED, TORCH
from serving.manifest import broken_files
from serving.memory import available_memory

GIB = 1 << 30
NEEDED_MEMORY = 4 * GIB
"""Bytes for the embedded model: engine core 2.6 GB with 1 GiB of key-value cache and three adapters in float32, its
HTTP server 0.75 GB, and the service."""

NEEDED_DISK = 1 * GIB
"""Bytes of disk that fetching and converting the base takes at its peak, rounded up."""

SET_UP = "Run `python3 serving/install.py run` again."


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    """What, in two or three words."""
    ok: bool
    """Whether it is as it should be."""
    detail: str
    """What was found."""
    fix: str = ""
    """What to do; empty when nothing has to be done."""
    needed: bool = True
    """False for things whose lack only takes something away."""


def checks(
    cache: Path | None = None,
    adapters: Mapping[str, Path] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> list[Check]:
    """Look at everything; takes about a second, most of it for the hash of the base model.

    Args:
        cache: model cache; None for the default one.
        adapters: adapter folders by persona.
        host: address that the service is to listen on.
        port: its port; 0 for any.
    """
    folder = cache or default_cache()
    looks: list[Callable[[], Check]] = [
        _python,
        _torch,
        _engine,
        _mismatched,
        _plugin,
        lambda: _base(folder),
        *(lambda name=name, path=path: _adapter(name, path) for name, path in (adapters or {}).items()),
        _memory,
        lambda: _disk(folder),
        lambda: _port(host, port),
        _browser,
        _processor,
    ]
    return [look() for look in looks]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _python() -> Check:
    found = ".".join(str(part) for part in sys.version_info[:3])
    ok = sys.version_info[:2] == (3, 11)
    return Check("Python", ok, found, "" if ok else "Use Python 3.11: the engine's wheels are for it.")


def _torch() -> Check:
    found, wanted = _version("torch"), TORCH.partition("==")[2]
    ok = found is not None and found.partition("+")[0] == wanted.partition("+")[0]
    return Check("torch", ok, found or "not installed", "" if ok else SET_UP)


def _engine() -> Check:
    found = engine_version()
    if found is None:
        return Check("vLLM", False, "not installed", f"{SET_UP} Or name another endpoint in the settings.")
    tested = found in TESTED_VERSIONS
    fix = (
        "" if tested else f"Adapters run on slow stock operators on CPU; tested: {', '.join(sorted(TESTED_VERSIONS))}."
    )
    return Check("vLLM", tested, found, fix)


def _mismatched() -> Check:
    found = [name for name in MISMATCHED if _version(name) is not None]
    fix = f"Run `python -m pip uninstall -y {' '.join(found)}`: they are built for another torch." if found else ""
    return Check("no mismatched packages", not found, ", ".join(found) or "none", fix)


def _plugin() -> Check:
    if os.environ.get(SWITCH) == "0":
        return Check("CPU LoRA plugin", False, f"switched off by {SWITCH}=0", f"Unset {SWITCH}.", needed=False)
    found = [
        point.value for point in entry_points(group="vllm.general_plugins") if point.name == "interviewer_cpu_lora"
    ]
    fix = "" if found else "Install the project itself (`pip install -e .`), its entry point is missing."
    return Check("CPU LoRA plugin", bool(found), found[0] if found else "not registered", fix)


def _base(cache: Path) -> Check:
    folder = base_folder(cache)
    if not folder.exists():
        return Check("base model", False, f"not in {folder}", "It is fetched at the first start (89 MB), a minute.")
    bad = broken_files(folder)
    detail = f"damaged: {', '.join(bad)}" if bad else f"intact in {folder}"
    return Check("base model", not bad, detail, "It is made again at the next start." if bad else "")


def _adapter(name: str, folder: Path) -> Check:
    try:
        settings = adapter_settings(name, folder)
    except EngineError as error:
        return Check(f"adapter {name}", False, str(error), error.fix)
    size = (folder / "adapter_model.safetensors").stat().st_size
    return Check(f"adapter {name}", True, f"rank {settings.get('r')}, {size / 1e6:.1f} MB")


def _memory() -> Check:
    free = available_memory()
    if free is None:
        return Check("memory", True, "unknown on this system", needed=False)
    ok = free >= NEEDED_MEMORY
    fix = (
        ""
        if ok
        else f"The embedded model takes about {NEEDED_MEMORY / GIB:.0f} GiB: end something, or use a small endpoint."
    )
    return Check("memory", ok, f"{free / GIB:.1f} GiB available", fix)


def _disk(cache: Path) -> Check:
    there = next(folder for folder in (cache, *cache.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    ok = free >= NEEDED_DISK
    return Check("disk", ok, f"{free / GIB:.1f} GiB free for {cache}", "" if ok else "Free 1 GiB there.")


def _port(host: str, port: int) -> Check:
    ok = port == 0 or port_is_free(host, port)
    where = "any" if port == 0 else f"{host}:{port}"
    return Check(
        "port", ok, where if ok else f"{where} is taken", "" if ok else "Stop what listens there, or use --port."
    )


def _browser() -> Check:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    fix = "" if found else "Only the browser tests need it."
    return Check("Chromium", found is not None, found or "not installed", fix, needed=False)


def _processor() -> Check:
    flags = cpu_flags()
    told = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "bf16") if name in flags]
    cores = usable_cores()
    ok = cores >= 2 and bool(flags & {"avx2", "asimd"})
    detail = f"{cores} cores, {' '.join(told) or 'no known vector unit'}: the engine computes in {best_dtype(flags)}"
    fix = "" if ok else "Expect slow turns; the engine wants AVX2 and two cores."
    return Check("processor", ok, detail, fix, needed=False)
