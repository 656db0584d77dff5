"""Tell, before the engine is given an adapter, whether it can serve it; only the header of the weights is read.

The engine refuses some of this itself, in a traceback; some it takes and serves wrongly or as the plain base.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from serving.catalogue import Entry, fits
from serving.checkpoint import text_config
from serving.errors import FixableError

WEIGHTS = "adapter_model.safetensors"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
OUTSIDE = ("embed_tokens", "lm_head")
"""Modules outside the layers that the engine can change too."""
TYPES = ("BF16", "F16", "F32")

ABSENT: Mapping[str, str] = {
    "use_dora": "DoRA",
    "use_qalora": "QALoRA",
    "use_bdlora": "block-diagonal LoRA",
    "lora_bias": "a bias in LoRA's matrices",
    "modules_to_save": "whole modules beside LoRA (modules_to_save)",
    "layer_replication": "replicated layers",
    "alora_invocation_tokens": "activated LoRA",
    "trainable_token_indices": "changed embeddings of single tokens",
    "target_parameters": "LoRA on bare parameters",
    "kasa_config": "KaSA",
    "velora_config": "VeLoRA",
    "monteclora_config": "MonteCLoRA",
    "arrow_config": "Arrow",
}
"""Options of PEFT's LoRA that must be off, with their names."""

PLAIN_STARTS = ("gaussian", "eva", "orthogonal", "mica", "lora_ga")
"""Named ways to start LoRA's matrices that leave the base's weights as they are; the others change them."""

_KEY = re.compile(
    r"base_model\.model\.(?:model\.(?:language_model\.)?layers\.(?P<layer>\d+)\.(?:self_attn|mlp)\.(?P<inner>\w+)"
    r"|(?:model\.)?(?P<outer>embed_tokens|lm_head))\.lora_(?:embedding_)?(?P<side>[AB])(?:\.weight)?"
)


class AdapterError(FixableError):
    """An adapter cannot be served."""


@dataclass(frozen=True)
class _Pair:
    """Shapes of one module's two matrices; None while one is missing."""

    a: tuple[int, ...] | None = None
    b: tuple[int, ...] | None = None


def check_adapter(folder: Path, entry: Entry | None, max_rank: int, base: Path | None = None) -> None:
    """Raise unless the engine can serve the adapter in ``folder``.

    Args:
        folder: with ``adapter_config.json`` and ``adapter_model.safetensors``.
        entry: the base that is served; None leaves the base's name unchecked.
        max_rank: largest rank that the engine's slots hold.
        base: checkpoint folder of the base, to compare layers and widths; None leaves them unchecked.

    Raises:
        AdapterError: with what is wrong and what to do about it.
    """
    config = _config(folder)
    rank = _check_config(folder, config, max_rank)
    reason = fits(folder, entry) if entry is not None else None
    if entry is not None and reason is not None:
        raise AdapterError(
            f"{folder}: {reason}.", f"Serve the other base, or train the adapter for this one (--base {entry.name})."
        )
    pairs = _pairs(folder)
    targets = config.get("target_modules")
    for (layer, module), pair in pairs.items():
        where = f"{folder}: {module}" + (f" of layer {layer}" if layer >= 0 else "")
        _check_pair(where, module, pair, rank, max_rank, config)
        if isinstance(targets, list) and module not in targets:
            raise AdapterError(
                f"{where} has weights, but target_modules lists {', '.join(map(str, targets))}.",
                "The two files do not belong together: copy both again from the same training run.",
            )
    if base is not None:
        _check_shapes(folder, pairs, _widths(folder, base), base)


def _config(folder: Path) -> dict[str, Any]:
    fix = "Name the folder that training wrote; it holds adapter_config.json and adapter_model.safetensors."
    try:
        found = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AdapterError(f"{folder} has no readable adapter_config.json: {error}.", fix) from error
    if not isinstance(found, dict):
        raise AdapterError(f"{folder}: adapter_config.json is not an object.", fix)
    if not (folder / WEIGHTS).is_file():
        raise AdapterError(f"{folder} has no {WEIGHTS}.", fix)
    return found


def _check_config(folder: Path, config: dict[str, Any], max_rank: int) -> int:
    """Check the options and return the rank."""
    again = "Train a plain LoRA adapter: no DoRA, no bias, no modules_to_save."
    if config.get("peft_type") != "LORA":
        raise AdapterError(f"{folder} is of PEFT type {config.get('peft_type')!r}; only LORA can be served.", again)
    for key, name in ABSENT.items():
        if config.get(key):
            raise AdapterError(f"{folder} uses {name}, which the engine cannot serve.", again)
    if config.get("bias", "none") != "none":
        raise AdapterError(f"{folder} trains biases (bias={config['bias']!r}), which the engine cannot serve.", again)
    start = config.get("init_lora_weights", True)
    if isinstance(start, str) and start.lower() not in PLAIN_STARTS:
        raise AdapterError(
            f"{folder} was started with {start!r}, which changes the base's own weights.",
            "Save it once more with PEFT's path_initial_model_for_weight_conversion, which makes it a plain adapter.",
        )
    rank = config.get("r")
    if not isinstance(rank, int) or isinstance(rank, bool) or rank < 1:
        raise AdapterError(f"{folder}: the rank r is {rank!r}, not a positive number.", again)
    pattern = config.get("rank_pattern") or {}
    largest = max([rank, *(value for value in pattern.values() if isinstance(value, int))])
    if largest > max_rank:
        raise AdapterError(
            f"{folder} has rank {largest}, the engine's slots hold {max_rank}.",
            "Train it with a smaller rank, or start the engine with a larger max_lora_rank.",
        )
    return rank


def _pairs(folder: Path) -> dict[tuple[int, str], _Pair]:
    """Return the shapes by layer (-1 outside the layers) and module."""
    found: dict[tuple[int, str], _Pair] = {}
    try:
        with safe_open(folder / WEIGHTS, framework="np") as file:
            for key in file.keys():
                part = file.get_slice(key)
                if part.get_dtype() not in TYPES:
                    raise AdapterError(
                        f"{folder}: {key} is stored as {part.get_dtype()}, not as one of {', '.join(TYPES)}.",
                        "Save the adapter in bfloat16; quantised adapters cannot be served.",
                    )
                match = _KEY.fullmatch(key)
                module = match and (match["inner"] or match["outer"])
                if match is None or module not in (*PROJECTIONS, *OUTSIDE):
                    raise AdapterError(
                        f"{folder}: {key} belongs to no module that the engine can change.",
                        f"Train on some of {', '.join(PROJECTIONS)}.",
                    )
                at = (int(match["layer"] or -1), str(module))
                old, shape = found.get(at, _Pair()), tuple(int(n) for n in part.get_shape())
                found[at] = _Pair(shape, old.b) if match["side"] == "A" else _Pair(old.a, shape)
    except (SafetensorError, OSError) as error:
        raise AdapterError(
            f"{folder}: {WEIGHTS} is damaged ({error}).", "Copy it again from where it was trained, or train it again."
        ) from error
    if not found:
        raise AdapterError(f"{folder}: {WEIGHTS} is empty.", "Copy it again from where it was trained.")
    return found


def _check_pair(where: str, module: str, pair: _Pair, rank: int, max_rank: int, config: dict[str, Any]) -> None:
    fix = "The files do not belong together or are damaged: copy both again from the same training run."
    if pair.a is None or pair.b is None:
        raise AdapterError(f"{where} has only one of LoRA's two matrices.", fix)
    shapes = f"{list(pair.a)} and {list(pair.b)}"
    if len(pair.a) != 2 or len(pair.b) != 2 or pair.a[0] != pair.b[1]:
        raise AdapterError(f"{where} has matrices of shapes {shapes}, which cannot be multiplied.", fix)
    patterned = bool(config.get("rank_pattern"))  # then single modules have ranks of their own
    if (pair.a[0] != rank and not patterned) or pair.a[0] > max_rank:
        raise AdapterError(f"{where} has matrices of shapes {shapes}, the configuration says rank {rank}.", fix)


def _widths(folder: Path, base: Path) -> tuple[int, dict[str, tuple[int, int]]]:
    """Return the base's layers, and what goes into and comes out of each of its modules."""
    try:
        config = text_config(base)
        hidden, inner = int(config["hidden_size"]), int(config["intermediate_size"])
        heads = int(config["num_attention_heads"])
        head = int(config.get("head_dim") or hidden // heads)
        query, keys = heads * head, int(config.get("num_key_value_heads") or heads) * head
        words, layers = int(config["vocab_size"]), int(config["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AdapterError(
            f"{folder} cannot be compared with the base in {base}: {error!r}.", "Fetch the base model again."
        ) from error
    attention = {"q_proj": (hidden, query), "k_proj": (hidden, keys), "v_proj": (hidden, keys)}
    mlp = {"gate_proj": (hidden, inner), "up_proj": (hidden, inner), "down_proj": (inner, hidden)}
    outside = {"embed_tokens": (words, hidden), "lm_head": (hidden, words)}
    return layers, {**attention, "o_proj": (query, hidden), **mlp, **outside}


def _check_shapes(
    folder: Path, pairs: Mapping[tuple[int, str], _Pair], base: tuple[int, dict[str, tuple[int, int]]], of: Path
) -> None:
    layers, widths = base
    for (layer, module), pair in pairs.items():
        assert pair.a is not None and pair.b is not None  # checked before
        found = (pair.a[1], pair.b[0])
        if layer >= layers or found != widths[module]:
            raise AdapterError(
                f"{folder}: {module} of layer {layer} maps {found[0]} to {found[1]} numbers; the base in {of} has "
                f"{layers} layers and maps {widths[module][0]} to {widths[module][1]} there.",
                "It was trained for another base: serve that one, or train the adapter for this one.",
            )
