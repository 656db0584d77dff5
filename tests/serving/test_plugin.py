"""The plugin's operators in the engine's own wrapper class, against one row at a time in float64."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serving.cpu_lora import obstacle

torch = pytest.importorskip("torch")

INPUTS, MAX_RANK, SLOTS, ROWS = 24, 32, 4, 14
SLICES = {1: (20,), 2: (16, 16), 3: (20, 6, 6)}
"""Output widths of a plain projection, of gate and up in one, and of q, k and v in one."""

MIXES = st.lists(st.integers(-1, SLOTS - 1), min_size=1, max_size=ROWS)
RANKS = st.lists(st.lists(st.sampled_from([0, 8, 16, 32]), min_size=3, max_size=3), min_size=SLOTS, max_size=SLOTS)
"""Rank in use by slot and slice, in slots of rank 32; 0 leaves the slice empty."""
DTYPES = st.sampled_from([torch.float32, torch.bfloat16])
SEEDS = st.integers(0, 10_000)


@pytest.fixture(scope="module")
def punica() -> Iterator[ModuleType]:
    """Return the engine's module of CPU operators; importing it takes seconds, so only these tests do."""
    pytest.importorskip("vllm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from vllm.lora.layers import utils  # noqa: F401  the tests import from it, and then it is loaded
        from vllm.lora.punica_wrapper import punica_cpu

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the matrices are tiny
    yield punica_cpu
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def stock(punica: ModuleType) -> Any:
    """Return the stock wrapper, also where an earlier test let the engine load the plugin into this process."""
    return next(cls for cls in punica.PunicaWrapperCPU.__mro__ if "interviewer" not in vars(cls))


@pytest.fixture(scope="module")
def grouped(stock: Any) -> Any:
    """Return the plugin's subclass of the stock wrapper."""
    from serving.cpu_lora import _grouped

    return _grouped(stock)


def wrapper_for(cls: Any, tokens: list[int], samples: list[int] | None = None) -> Any:
    """Return a wrapper told, as the engine tells it, which slot each token and each sampled row uses."""
    from vllm.lora.layers.utils import LoRAMapping

    wrapper = cls(64, 16, "cpu")
    tell(wrapper, LoRAMapping, tokens, tokens if samples is None else samples)
    return wrapper


def tell(wrapper: Any, mapping: Any, tokens: list[int], samples: list[int]) -> None:
    # The engine names adapters by ids from 1, and 0 for none; slots are what it looks up for them.
    ids = [[slot + 1 for slot in rows] for rows in (tokens, samples)]
    wrapper.update_metadata(mapping(*ids, is_prefill=True), list(range(1, SLOTS + 1)), SLOTS + 1, 100)


class Layer:
    """One layer's stacked weights, as the engine lays them out: ``[slots, 1, r, I]`` and ``[slots, 1, O, r]``."""

    def __init__(self, widths: tuple[int, ...], ranks: list[list[int]], dtype: Any, seed: int) -> None:
        self.widths, self.dtype = widths, dtype
        self.generator = torch.Generator().manual_seed(seed)
        self.a = tuple(torch.zeros(SLOTS, 1, MAX_RANK, INPUTS, dtype=dtype) for _ in widths)
        self.b = tuple(torch.zeros(SLOTS, 1, width, MAX_RANK, dtype=dtype) for width in widths)
        for slot, used in enumerate(ranks):
            self.load(slot, used)

    def random(self, *shape: int) -> Any:
        return torch.randn(*shape, generator=self.generator, dtype=torch.float32).to(self.dtype)

    def load(self, slot: int, ranks: list[int]) -> None:
        """Write an adapter into a slot in place, with zeros where its rank ends, as the engine does."""
        for part, width in enumerate(self.widths):
            self.a[part][slot], self.b[part][slot] = 0, 0
            self.a[part][slot, 0, : ranks[part]] = self.random(ranks[part], INPUTS)
            self.b[part][slot, 0, :, : ranks[part]] = self.random(width, ranks[part])

    def check(self, y: Any, before: Any, x: Any, slots: list[int]) -> None:
        """Compare with one row at a time in float64.

        The bound is that of rounding: each of the I + r products and sums in an output, and each intermediate result
        that is stored (three), is off by at most one unit in the last place of the sum of absolute values.
        """
        unit = torch.finfo(self.dtype).eps
        # bfloat16 products are summed in float32; only what is stored is rounded to 8 bits.
        steps = 4 if self.dtype == torch.bfloat16 else INPUTS + MAX_RANK + 4
        for row, slot in enumerate(slots):
            if slot < 0:
                assert torch.equal(y[row], before[row]), f"row {row} has no adapter and changed"
                continue
            halves = [(a[slot, 0].double(), b[slot, 0].double()) for a, b in zip(self.a, self.b, strict=True)]
            wanted = before[row].double() + torch.cat([b @ (a @ x[row].double()) for a, b in halves])
            size = before[row].double().abs() + torch.cat(
                [b.abs() @ (a.abs() @ x[row].double().abs()) for a, b in halves]
            )
            assert bool(((y[row].double() - wanted).abs() <= steps * unit * size).all()), f"row {row}, slot {slot}"


@pytest.mark.parametrize("slices", [1, 2, 3])
@settings(deadline=None, max_examples=25)
@given(tokens=MIXES, ranks=RANKS, dtype=DTYPES, seed=SEEDS)
def test_linear_layers(grouped: Any, slices: int, tokens: list[int], ranks: Any, dtype: Any, seed: int) -> None:
    layer = Layer(SLICES[slices], ranks, dtype, seed)
    x, y = layer.random(len(tokens), INPUTS), layer.random(len(tokens), sum(layer.widths))
    before = y.clone()
    wrapper = wrapper_for(grouped, tokens)
    wrapper.add_lora_linear(y, x, layer.a, layer.b, 1.0, layer.widths)
    layer.check(y, before, x, tokens)

    # The two halves on their own, the way sharded adapters call them, give the same sum.
    halves = tuple(torch.zeros(len(tokens), MAX_RANK) for _ in layer.widths)
    y = before.clone()
    wrapper.add_shrink(halves, x, layer.a, 1.0)
    wrapper.add_expand(y, halves, layer.b, layer.widths)
    layer.check(y, before, x, tokens)


@settings(deadline=None, max_examples=25)
@given(tokens=MIXES, samples=MIXES, ranks=RANKS, dtype=DTYPES, wide=st.booleans(), seed=SEEDS)
def test_the_output_head_goes_by_sampled_row(
    grouped: Any, tokens: list[int], samples: list[int], ranks: Any, dtype: Any, wide: bool, seed: int
) -> None:
    layer = Layer((50,), ranks, dtype, seed)
    x, y = layer.random(len(samples), INPUTS), layer.random(len(samples), 50)
    y = y.float() if wide else y  # a head in float32 above a model in bfloat16
    before = y.clone()
    wrapper_for(grouped, tokens, samples).add_lora_logits(y, x, layer.a[0], layer.b[0], 1.0)
    layer.check(y, before, x, samples)


@settings(deadline=None, max_examples=25)
@given(tokens=MIXES, ranks=RANKS, dtype=DTYPES, seed=SEEDS)
def test_embeddings(grouped: Any, tokens: list[int], ranks: Any, dtype: Any, seed: int) -> None:
    layer = Layer((18,), ranks, dtype, seed)
    ids = torch.randint(0, INPUTS, (len(tokens),), generator=layer.generator)
    # The engine looks rows of A up, like a product with one-hot inputs; rows without an adapter get those of slot 0.
    looked_up = torch.stack([layer.a[0][max(slot, 0), 0, :, i] for slot, i in zip(tokens, ids.tolist(), strict=True)])
    y = layer.random(len(tokens), 18)
    before = y.clone()
    wrapper_for(grouped, tokens).add_lora_embedding(y, looked_up, layer.b[0], add_input=True)
    layer.check(y, before, torch.nn.functional.one_hot(ids, INPUTS).to(dtype), tokens)


def test_a_slot_with_other_weights_is_read_again_and_an_emptied_one_left_alone(grouped: Any) -> None:
    from vllm.lora.layers.utils import LoRAMapping

    from serving.cpu_lora import _forget_on_activation

    layer = Layer(SLICES[3], [[8, 8, 8], [16, 0, 16], [32, 8, 0], [0, 0, 0]], torch.float32, 1)
    tokens = [0, -1, 1, 2, 1]
    wrapper = wrapper_for(grouped, tokens)

    class Manager:
        """What the plugin knows of the engine's manager: it writes a slot and says whether it did."""

        punica_wrapper_mapping = {"language_model": wrapper}  # noqa: RUF012

        def activate_adapter(self, lora_id: int) -> bool:
            if lora_id == 9:
                return False
            layer.load(lora_id - 1, [16, 16, 8])
            return True

    _forget_on_activation(Manager)
    x = layer.random(5, INPUTS)

    def run() -> Any:
        y = torch.zeros(5, sum(layer.widths))
        wrapper.add_lora_linear(y, x, layer.a, layer.b, 1.0, layer.widths)
        layer.check(y, torch.zeros_like(y), x, tokens)
        return y

    first = run()
    assert Manager().activate_adapter(9) is False
    assert torch.equal(run(), first)
    assert Manager().activate_adapter(2) is True
    assert not torch.equal(run()[2], first[2])

    tokens = [-1, -1, -1, 2, -1]  # slots 0 and 1 are not in use any more
    tell(wrapper, LoRAMapping, tokens, tokens)
    last = run()
    assert torch.equal(last[3], first[3])
    assert not bool(last[[0, 1, 2, 4]].any())


def test_the_stock_operators_give_a_row_without_adapter_the_last_slot(stock: Any) -> None:
    """The reason for the plugin; when this fails, the engine was repaired and the plugin is for speed only."""
    layer = Layer(SLICES[1], [[8], [8], [8], [16]], torch.float32, 2)
    x, y = layer.random(2, INPUTS), torch.zeros(2, 20)
    wrapper_for(stock, [0, -1]).add_lora_linear(y, x, layer.a, layer.b, 1.0, layer.widths)
    last = layer.b[0][SLOTS - 1, 0] @ (layer.a[0][SLOTS - 1, 0] @ x[1])
    torch.testing.assert_close(y[1], last, rtol=1e-4, atol=1e-4)


def test_what_cannot_be_right_is_refused(grouped: Any) -> None:
    layer = Layer((20,), [[8]] * SLOTS, torch.float32, 3)
    x, y = layer.random(3, INPUTS), torch.zeros(3, 20)
    with pytest.raises(NotImplementedError, match=r"scale 0\.5"):
        wrapper_for(grouped, [0, 0, 0]).add_lora_linear(y, x, layer.a, layer.b, 0.5, layer.widths)
    with pytest.raises(NotImplementedError, match="prompt log-probabilities"):
        wrapper_for(grouped, [0, 0, 0], [0, 1]).add_lora_logits(y, x, layer.a[0], layer.b[0], 1.0)
    assert not bool(y.any())


@pytest.mark.parametrize(
    ("on_cpu", "found", "switch", "part"),
    [
        (True, "0.32.0", "0", "INTERVIEWER_CPU_LORA=0"),
        (False, "0.32.0", None, "not CPU"),
        (True, "0.33.1", None, "0.33.1"),
        (True, None, None, "None"),
    ],
)
def test_the_plugin_leaves_other_engines_alone_and_says_why(
    on_cpu: bool, found: str | None, switch: str | None, part: str
) -> None:
    reason = obstacle(on_cpu, found, switch)
    assert reason is not None
    assert part in reason


@pytest.mark.parametrize("switch", [None, "", "1"])
def test_the_plugin_works_on_the_tested_engine(switch: str | None) -> None:
    assert obstacle(True, "0.32.0", switch) is None
