"""The training loop: gradient accumulation, a cosine schedule, the best epoch kept, and a checkpoint to resume from.

Everything that is random derives from the seed and the epoch, or is part of the checkpoint; an interrupted run that is
resumed does the steps that the uninterrupted one would have done.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch

from serving.train.config import LoraSettings
from serving.train.tower import Tower

T = TypeVar("T")
SAVE_SECONDS = 60.0


@dataclass
class Record:
    """What happened so far; part of the checkpoint and of ``result.json``."""

    held_out: list[float] = field(default_factory=list)
    """Measure on the held-out material before training and after each epoch; lower is better."""
    train: list[float] = field(default_factory=list)
    """Mean training loss of each epoch."""
    best_epoch: int = 0
    seconds: float = 0.0
    """Time spent training and checking, over all resumed parts."""


@dataclass
class _Place:
    """Where the run is."""

    epoch: int = 0
    item: int = 0
    total: float = 0.0


def fit(
    tower: Tower,
    settings: LoraSettings,
    items: Callable[[int], Sequence[T]],
    loss: Callable[[Tower, T], torch.Tensor],
    check: Callable[[Tower], float],
    *,
    checkpoint: Path,
    identity: str,
    resume: bool,
    progress: Callable[[str], None],
    save_seconds: float = SAVE_SECONDS,
) -> Record:
    """Train ``tower`` and leave the weights of its best epoch in it.

    Args:
        tower: Model with a fresh adapter.
        settings: Rate, epochs, batch, seed.
        items: Gives the packed sequences of an epoch; every epoch has the same number.
        loss: Mean loss of one sequence.
        check: Held-out measure, lower is better; called before training and after each epoch.
        checkpoint: File to resume from and to write.
        identity: Hash of configuration and data; a checkpoint with another one is ignored.
        resume: Whether to look for a checkpoint.
        progress: Takes one line at a time.
        save_seconds: Longest work that an interruption can cost.
    """
    optimiser = torch.optim.AdamW(tower.trainable(), lr=settings.lr, weight_decay=settings.weight_decay)
    per_epoch = len(items(0))
    steps = settings.epochs * math.ceil(per_epoch / settings.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, steps, settings.warmup))
    record, place, best = Record(), _Place(), tower.state()
    saved = _read(checkpoint, identity) if resume else None
    if saved is not None:
        tower.load(saved["weights"])
        optimiser.load_state_dict(saved["optimiser"])
        schedule.load_state_dict(saved["schedule"])
        record, place, best = Record(**saved["record"]), _Place(**saved["place"]), saved["best"]
        torch.set_rng_state(saved["random"])
        if saved.get("random_gpu") and tower.device.type == "cuda":
            torch.cuda.set_rng_state_all(saved["random_gpu"])
        progress(f"resuming in epoch {place.epoch + 1}, sequence {place.item + 1} of {per_epoch}")

    def keep() -> None:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "identity": identity,
            "weights": tower.state(),
            "optimiser": optimiser.state_dict(),
            "schedule": schedule.state_dict(),
            "record": asdict(record),
            "place": asdict(place),
            "best": best,
            "random": torch.get_rng_state(),
            "random_gpu": torch.cuda.get_rng_state_all() if tower.device.type == "cuda" else [],
        }
        partial = checkpoint.with_suffix(".partial")
        torch.save(content, partial)
        partial.replace(checkpoint)

    if not record.held_out:
        record.held_out.append(_checked(tower, check))
        progress(f"before training: held-out {record.held_out[0]:.4f}")
    clock = _Clock(record, settings.epochs * per_epoch, place.epoch * per_epoch + place.item)
    weights = tower.trainable()
    # Whole sequences side by side, one thread each: twice as fast on two cores as one sequence on both, whose matrices
    # are too small to share. Gradients are added in the order of the sequences, so the sum does not depend on timing.
    pool = ThreadPoolExecutor(settings.threads)

    def learn_from(item: T) -> tuple[float, tuple[torch.Tensor, ...]]:
        value = loss(tower, item)
        return value.item(), torch.autograd.grad(value, weights)

    while place.epoch < settings.epochs:
        chosen = items(place.epoch)
        order = torch.randperm(
            per_epoch, generator=torch.Generator().manual_seed(settings.seed * 1000 + place.epoch)
        ).tolist()
        tower.model.train()
        while place.item < per_epoch:
            group = order[place.item : place.item + settings.batch]
            for found, gradients in pool.map(learn_from, [chosen[index] for index in group]):
                place.total += found
                for weight, gradient in zip(weights, gradients, strict=True):
                    share = gradient / len(group)
                    weight.grad = share if weight.grad is None else weight.grad + share
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad(set_to_none=True)
            place.item += len(group)
            done = place.epoch * per_epoch + place.item
            progress(
                f"epoch {place.epoch + 1}/{settings.epochs}  {place.item}/{per_epoch}  "
                f"loss {place.total / place.item:.4f}  {clock.left(done)} left"
            )
            if clock.due(save_seconds):
                keep()
        record.train.append(place.total / per_epoch)
        record.held_out.append(_checked(tower, check))
        if record.held_out[-1] < min(record.held_out[:-1]):
            record.best_epoch, best = place.epoch + 1, tower.state()
        progress(f"epoch {place.epoch + 1}: train {record.train[-1]:.4f}, held-out {record.held_out[-1]:.4f}")
        place = _Place(epoch=place.epoch + 1)
        clock.note()
        keep()
    pool.shutdown()
    tower.load(best)
    tower.model.eval()
    return record


class _Clock:
    """Measures the time of this part of the run and says when a checkpoint is due."""

    def __init__(self, record: Record, total: int, done: int) -> None:
        self._record, self._total, self._first = record, total, done
        self._start = self._noted = self._saved = time.monotonic()

    def note(self) -> None:
        now = time.monotonic()
        self._record.seconds += now - self._noted
        self._noted = now

    def due(self, seconds: float) -> bool:
        if time.monotonic() - self._saved < seconds:
            return False
        self.note()
        self._saved = time.monotonic()
        return True

    def left(self, done: int) -> str:
        pace = (time.monotonic() - self._start) / max(1, done - self._first)
        minutes, seconds = divmod(round(pace * (self._total - done)), 60)
        return f"{minutes}:{seconds:02d}"


def _rate(step: int, steps: int, warmup: float) -> float:
    ramp = max(1, round(steps * warmup))
    if step < ramp:
        return (step + 1) / ramp
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (step - ramp) / max(1, steps - ramp)))


def _checked(tower: Tower, check: Callable[[Tower], float]) -> float:
    tower.model.eval()
    with torch.no_grad():
        return check(tower)


def _read(checkpoint: Path, identity: str) -> dict[str, Any] | None:
    if not checkpoint.exists():
        return None
    saved: dict[str, Any] = torch.load(checkpoint, weights_only=True, map_location="cpu")
    return saved if saved.get("identity") == identity else None
