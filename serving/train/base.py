"""The base that is trained on: which one, where it computes and in what precision, and whether training knows it.

``lora.yaml`` is written for the embedded base. For another one the adapter carries that one's name, and ``first_layer``
moves to the same share of its depth unless it is set by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from serving.catalogue import Entry, load_catalogue, same_base
from serving.checkpoint import CatalogueError, text_config
from serving.cpu import best_dtype, cpu_flags
from serving.memory import available_memory
from serving.train import TrainError
from serving.train.config import LoraSettings

S = TypeVar("S", bound=LoraSettings)


@dataclass(frozen=True)
class Chosen:
    """A base that training will load."""

    entry: Entry
    folder: Path
    device: str
    """``cpu`` or ``cuda``."""
    dtype: str
    """``float32`` or ``bfloat16``: of the base's weights. The adapter's own are trained in float32 in either case."""

    def about(self) -> dict[str, Any]:
        """Return what a result file says about the base."""
        device = torch.cuda.get_device_name() if self.device == "cuda" else "cpu"
        return {
            "name": self.entry.base,
            "licence": self.entry.licence,
            "parameters": self.entry.parameters,
            "layers": self.entry.layers,
            "embedded": self.entry.embedded,
            "dtype": self.dtype,
            "device": device,
        }

    def slot(self, name: str) -> str:
        """Return the folder name of checkpoints: each base has its own."""
        return name if self.entry.embedded else f"{name}@{self.entry.name}"

    def identity(self) -> tuple[object, ...]:
        """Return what else a half-trained adapter depends on; nothing for the embedded base in float32."""
        if self.entry.embedded and self.dtype == "float32":
            return ()
        weights = {path.name: path.stat().st_size for path in sorted(self.folder.glob("*.safetensors"))}
        return (text_config(self.folder), weights, self.dtype)


def device_and_dtype(device: str, dtype: str, *, cuda: bool, cuda_bf16: bool, flags: frozenset[str]) -> tuple[str, str]:
    """Return where to compute and in which precision the base is held.

    Args:
        device: ``auto``, ``cpu`` or ``cuda``; ``auto`` takes a GPU when there is one.
        dtype: ``auto``, ``float32`` or ``bfloat16``; ``auto`` takes bfloat16 where the hardware multiplies it.
        cuda: whether there is a GPU that torch can use.
        cuda_bf16: whether it multiplies bfloat16.
        flags: the processor's features, see :func:`serving.cpu.cpu_flags`.

    Raises:
        TrainError: a GPU is asked for and there is none.
    """
    if device == "cuda" and not cuda:
        raise TrainError("device=cuda, but torch finds no GPU here; install torch for CUDA, or leave the device out")
    where = ("cuda" if cuda else "cpu") if device == "auto" else device
    if dtype != "auto":
        return where, dtype
    if where == "cuda":
        return where, "bfloat16" if cuda_bf16 else "float32"
    return where, best_dtype(flags)


def choose(
    folder: Path, settings: S, overrides: Mapping[str, str], memory: Callable[[], int | None] = available_memory
) -> tuple[Chosen, S]:
    """Return the base in ``folder``, and the settings as they are for it; ``memory`` tells how much is free, in bytes.

    Raises:
        TrainError: the folder holds no checkpoint, ``first_layer`` is beyond its depth, or there is no such device.
    """
    cuda = torch.cuda.is_available()
    bf16 = cuda and torch.cuda.is_bf16_supported(including_emulation=False)
    device, dtype = device_and_dtype(settings.device, settings.dtype, cuda=cuda, cuda_bf16=bf16, flags=cpu_flags())
    try:
        catalogue = load_catalogue()
        entry = catalogue.get(str(folder.resolve()))
    except CatalogueError as error:
        raise TrainError(str(error)) from error
    needed = entry.parameters * (4 if dtype == "float32" else 2)
    free = memory()
    if device == "cpu" and free is not None and needed > free:
        raise TrainError(
            f"{entry.base} in {dtype} takes {needed / 1e9:.0f} GB of memory for its weights alone and "
            f"{free / 1e9:.0f} GB are available; choose a smaller base, or train on a GPU"
        )
    changed: dict[str, Any] = {}
    if not same_base(entry.base, settings.base):
        changed["base"] = entry.base
        if "first_layer" not in overrides:
            changed["first_layer"] = round(settings.first_layer * entry.layers / catalogue.embedded.layers)
    if device == "cuda":
        changed["threads"] = 1  # one sequence fills a GPU
    found = settings.model_copy(update=changed)
    if found.first_layer >= entry.layers:
        raise TrainError(f"first_layer is {found.first_layer}, but {entry.base} has {entry.layers} layers only")
    return Chosen(entry, folder, device, dtype), found
