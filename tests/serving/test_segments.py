from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from serving.lora_segments import Packed, add_update, group_rows, pack  # noqa: E402

INPUTS, WIDTHS, RANK, SLOTS = 12, (8, 3, 3), 4, 3


def adapters(used: list[list[int]], seed: int) -> tuple[list[Any], list[Any]]:
    """Random stacked weights; ``used[slot][slice]`` is the rank in use, the rest is zero as in the engine."""
    generator = torch.Generator().manual_seed(seed)
    a = [torch.zeros(SLOTS, RANK, INPUTS, dtype=torch.float64) for _ in WIDTHS]
    b = [torch.zeros(SLOTS, width, RANK, dtype=torch.float64) for width in WIDTHS]
    for slot, ranks in enumerate(used):
        for part, rank in enumerate(ranks):
            a[part][slot, :rank] = torch.randn(rank, INPUTS, generator=generator, dtype=torch.float64)
            b[part][slot, :, :rank] = torch.randn(WIDTHS[part], rank, generator=generator, dtype=torch.float64)
    return a, b


@settings(deadline=None, max_examples=60)
@given(
    slots=st.lists(st.integers(-1, SLOTS - 1), min_size=1, max_size=20),
    used=st.lists(st.lists(st.integers(0, RANK), min_size=3, max_size=3), min_size=SLOTS, max_size=SLOTS),
    seed=st.integers(0, 1000),
)
def test_grouped_updates_equal_one_token_at_a_time(slots: list[int], used: list[list[int]], seed: int) -> None:
    a, b = adapters(used, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    x = torch.randn(len(slots), INPUTS, generator=generator, dtype=torch.float64)
    y = torch.randn(len(slots), sum(WIDTHS), generator=generator, dtype=torch.float64)
    wanted = y.clone()
    for row, slot in enumerate(slots):
        if slot >= 0:
            wanted[row] += torch.cat([b[s][slot] @ (a[s][slot] @ x[row]) for s in range(len(WIDTHS))])
    before = y.clone()

    def packed_for(slot: int) -> Packed | None:
        return pack([t[slot] for t in a], [t[slot] for t in b], WIDTHS)

    add_update(y, x, group_rows(slots), packed_for)

    torch.testing.assert_close(y, wanted)
    bare = [row for row, slot in enumerate(slots) if slot < 0]
    assert torch.equal(y[bare], before[bare])


def test_rows_of_one_request_are_a_view_and_scattered_rows_an_index() -> None:
    together, apart = group_rows([-1, 2, 2, 0, 1, 0])[0], group_rows([-1, 2, 2, 0, 1, 0])[1]
    assert (together.slot, together.rows, together.whole) == (2, slice(1, 3), False)
    assert apart.slot == 0
    assert torch.equal(torch.as_tensor(apart.rows), torch.tensor([3, 5]))


def test_a_batch_of_one_adapter_is_taken_whole_and_one_without_any_is_empty() -> None:
    assert group_rows([1, 1, 1])[0].whole
    assert group_rows([-1, -1]) == ()
    assert group_rows([]) == ()


def test_what_is_zero_is_not_computed() -> None:
    a, b = adapters([[0, 0, 0], [2, 0, 1], [0, 3, 0]], seed=7)

    def of(slot: int) -> Packed | None:
        return pack([t[slot] for t in a], [t[slot] for t in b], WIDTHS)

    assert of(0) is None
    first, second = of(1), of(2)
    assert first is not None
    assert second is not None
    assert (tuple(first.a.shape), first.start, first.stop) == ((INPUTS, 3), 0, 14)
    assert (tuple(second.a.shape), second.start, second.stop) == ((INPUTS, 3), 8, 11)


def test_output_columns_beyond_the_layer_are_ignored() -> None:
    a, b = torch.ones(1, 4), torch.ones(6, 1)
    y = torch.zeros(2, 5)
    add_update(y, torch.ones(2, 4), group_rows([0, -1]), lambda _: pack([a], [b], [5]))
    assert y.tolist() == [[4.0] * 5, [0.0] * 5]
