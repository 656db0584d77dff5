"""Memory: what is free, and what an engine takes beside its model."""

from __future__ import annotations

from pathlib import Path

RUNTIME_BYTES = 2_800_000_000
"""Memory of an engine on a CPU beside weights, cache and adapters: Python, torch, the libraries, activations of a step.

Measured: 3.9 GB in all with the embedded model in float32, 1 GiB of cache and six adapters; the rest is headroom.
"""


def available_memory(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the bytes that new processes can use, or None where the system does not tell.

    That is what the machine has free, or what a container still allows when that is less.
    """
    try:
        lines = meminfo.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
    try:
        allowed, used = (int((cgroup / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # no container, or no limit ("max")
        return free
    return allowed - used if free is None else min(free, allowed - used)
