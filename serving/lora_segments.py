"""Low-rank updates for batches that mix adapters: group the rows once, then two matrix products per adapter and layer.

The engine's own CPU operators copy A and B once per *token* and let index -1 ("no adapter") select the last adapter.
Here the rows of a batch are grouped by adapter slot when the batch changes, rows with index -1 are in no group and so
are not touched, and what one layer needs of one adapter is packed into one pair of matrices. This module knows torch
only; :mod:`serving.cpu_lora` ties it to the engine.

Shapes: ``T`` rows (tokens) of a batch, ``I`` inputs, ``O`` outputs, ``R`` the summed rank of the packed slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

Rows: TypeAlias = slice | torch.Tensor
"""Rows of a batch: a slice when they lie together, else a 1-D int64 tensor of row numbers."""


@dataclass(frozen=True)
class Group:
    """The rows of one batch that use one adapter."""

    slot: int
    """Adapter slot, from 0."""
    rows: Rows
    """Which rows."""
    whole: bool
    """Whether these are all rows of the batch."""


def group_rows(slots: Sequence[int]) -> tuple[Group, ...]:
    """Group row numbers by adapter slot, in order of first use; rows with a negative slot are left out."""
    members: dict[int, list[int]] = {}
    for row, slot in enumerate(slots):
        if slot >= 0:
            members.setdefault(slot, []).append(row)
    return tuple(Group(slot, _rows(rows), len(rows) == len(slots)) for slot, rows in members.items())


def _rows(rows: list[int]) -> Rows:
    first, last = rows[0], rows[-1]
    # A view costs nothing; a gather copies. Rows of one request always lie together.
    return slice(first, last + 1) if last - first + 1 == len(rows) else torch.tensor(rows, dtype=torch.int64)


@dataclass(frozen=True)
class Packed:
    """One adapter's update of one layer: ``y[:, start:stop] += (x @ a) @ b``."""

    a: Any
    """Tensor ``[I, R]``."""
    b: Any
    """Tensor ``[R, stop - start]``; block diagonal when the layer has several slices (q, k and v in one)."""
    start: int
    """First output column written."""
    stop: int
    """One past the last output column written."""


def pack(
    a_slices: Sequence[torch.Tensor], b_slices: Sequence[torch.Tensor], widths: Sequence[int], start: int = 0
) -> Packed | None:
    """Pack the slices of a layer into one pair of matrices.

    Ranks and slices that hold only zeros are dropped: adapters of a smaller rank than the engine's slots, and adapters
    that leave a projection alone, then cost what they need and no more.

    Args:
        a_slices: per slice, ``[r, I]``.
        b_slices: per slice, ``[O_s, r]``, the scale already in it.
        widths: per slice, the number of output columns it has; ``b`` may be padded beyond.
        start: first output column of the first slice.

    Returns:
        The pair, or None when the adapter does not change this layer.
    """
    parts: list[tuple[Any, Any, int]] = []
    column = start
    for a, b, width in zip(a_slices, b_slices, widths, strict=True):
        used = min(width, b.shape[0])
        ranks = (a != 0).any(dim=1) & (b[:used] != 0).any(dim=0)
        if bool(ranks.any()):
            parts.append((a[ranks], b[:used, ranks], column))
        column += width
    if not parts:
        return None
    first, stop = parts[0][2], max(at + b.shape[0] for _, b, at in parts)
    rank = sum(a.shape[0] for a, _, _ in parts)
    packed_b = parts[0][1].new_zeros((rank, stop - first))
    row = 0
    for a, b, at in parts:
        packed_b[row : row + a.shape[0], at - first : at - first + b.shape[0]] = b.t()
        row += a.shape[0]
    # Row by row in memory: x @ a is a little faster than with a transposed view, see design/0007.
    return Packed(torch.cat([a for a, _, _ in parts]).t().contiguous(), packed_b, first, stop)


def add_update(
    y: torch.Tensor, x: torch.Tensor, groups: Iterable[Group], packed_for: Callable[[int], Packed | None]
) -> None:
    """Add each group's update to its rows of ``y``, in place.

    Args:
        y: ``[T, O]``, changed in place; rows in no group keep every bit.
        x: ``[T, I]``, in the same element type as the packed matrices.
        groups: the rows by adapter.
        packed_for: returns the packed matrices of a slot for this layer.
    """
    for group in groups:
        packed = packed_for(group.slot)
        if packed is None:
            continue
        columns = y if packed.stop - packed.start == y.shape[1] else y[:, packed.start : packed.stop]
        if group.whole:
            columns.addmm_(x @ packed.a, packed.b)
        elif isinstance(group.rows, slice):
            columns[group.rows].addmm_(x[group.rows] @ packed.a, packed.b)
        else:
            columns.index_add_(0, group.rows, (x.index_select(0, group.rows) @ packed.a) @ packed.b)
