"""Training: one LoRA adapter per persona and one for the evaluator, on the CPU, from the project's own data.

Each trained thing is a folder ``personas/<name>`` with its configuration (``lora.yaml``), its weights (``adapter/``),
its result (``result.json``) and its model card. Importing this package loads neither torch nor any model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PERSONAS = ("recruiter", "hiring_manager", "coding_design", "deep_dive", "behavioral")
NAMES = (*PERSONAS, "evaluator")
"""Everything that can be trained."""
PROJECT = Path(__file__).resolve().parents[2]
"""Folder that holds ``personas``, ``rubrics`` and ``eval``; data paths in ``lora.yaml`` start here."""


class TrainError(Exception):
    """Training cannot start or go on; the message says what to do about it."""


def check_name(name: str) -> None:
    """Raise :class:`TrainError` unless there is something to train under this name."""
    if name not in NAMES:
        raise TrainError(f"nothing called {name!r} can be trained; there are: {', '.join(NAMES)}")


def run(
    name: str,
    *,
    base: Path,
    out: Path,
    resume: bool = True,
    progress: Callable[[str], None],
    overrides: dict[str, str],
) -> Path:
    """Train one adapter and write its folder.

    Interrupting is safe: the same call goes on from the last checkpoint, which lies in ``checkpoints/<name>`` under the
    working directory. A checkpoint of another configuration or other data is not resumed.

    Args:
        name: One of :data:`NAMES`.
        base: Checkpoint folder of the base model. Which base it is, its manifest or its name says: see
            :meth:`serving.catalogue.Catalogue.get`.
        out: Folder to write; an existing ``adapter`` in it is replaced only after training has ended.
        resume: Go on from a checkpoint when there is one.
        progress: Takes one line at a time, with the time that is left.
        overrides: Settings that replace those of ``personas/<name>/lora.yaml``, as text.

    Returns:
        ``out``.

    Raises:
        TrainError: unknown name or setting, data or packages missing, a base that cannot be trained, no such device, or
            too little memory on it.
    """
    check_name(name)
    try:
        if name == "evaluator":
            from serving.train.evaluator import train_evaluator as train
        else:
            from serving.train.persona import train_persona as train
    except ImportError as error:
        raise TrainError(f"package {error.name!r} is missing: pip install '.[engine,train]'") from error
    import torch

    try:
        return train(name, base=base, out=out, resume=resume, progress=progress, overrides=overrides)
    except torch.OutOfMemoryError as error:
        raise TrainError(
            "the GPU has too little memory: lower max_len or batch, raise first_layer (--set KEY=VALUE), or choose a "
            f"smaller base ({str(error).splitlines()[0]})"
        ) from error
