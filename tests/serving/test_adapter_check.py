"""Adapters that the engine cannot serve are refused with one message each; those that it can are let through."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from interviewer.adapters.documents import packaged
from serving.adapter_check import ABSENT, WEIGHTS, AdapterError, check_adapter
from serving.catalogue import load_catalogue
from serving.train import NAMES

LAYER = "base_model.model.model.layers.{layer}.{block}.{module}.lora_{side}.weight"
BASE = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "vocab_size": 50,
}
WIDTHS = {"q_proj": (16, 16), "k_proj": (16, 8), "down_proj": (24, 16)}
"""What goes in and comes out: 4 heads of 16 / 4 numbers each, keys for 2 of them."""


def tensors(rank: int = 4, layers: int = 2, dtype: Any = np.float32) -> dict[str, Any]:
    found = {}
    for layer in range(layers):
        for module, (inner, outer) in WIDTHS.items():
            at = {"layer": layer, "module": module, "block": "mlp" if module == "down_proj" else "self_attn"}
            found[LAYER.format(**at, side="A")] = np.ones((rank, inner), dtype)
            found[LAYER.format(**at, side="B")] = np.ones((outer, rank), dtype)
    return found


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    folder.mkdir()
    save_file(tensors(), folder / WEIGHTS)
    configure(folder)
    return folder


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(BASE), encoding="utf-8")
    return tmp_path


def configure(folder: Path, **changes: object) -> None:
    plain: Mapping[str, object] = {
        "peft_type": "LORA",
        "r": 4,
        "bias": "none",
        "base_model_name_or_path": "SmolLM2-135M-Instruct",
        "target_modules": list(WIDTHS),
    }
    (folder / "adapter_config.json").write_text(json.dumps({**plain, **changes}), encoding="utf-8")


def refused(folder: Path, **more: Any) -> AdapterError:
    with pytest.raises(AdapterError) as caught:
        check_adapter(folder, more.get("entry"), more.get("max_rank", 16), more.get("base"))
    assert caught.value.fix and str(caught.value).endswith(caught.value.fix)
    return caught.value


def test_a_plain_adapter_passes(adapter: Path, base: Path) -> None:
    check_adapter(adapter, load_catalogue().embedded, 4, base)
    configure(adapter, use_rslora=True, init_lora_weights="gaussian", use_dora=False, modules_to_save=None)
    check_adapter(adapter, None, 16)


@pytest.mark.parametrize("name", NAMES)
def test_what_ships_passes(name: str) -> None:
    check_adapter(packaged("personas") / name / "adapter", load_catalogue().embedded, 16)


@pytest.mark.parametrize("length", [0, 4, 60, 3000])
def test_a_truncated_file_is_said_to_be_damaged(adapter: Path, length: int) -> None:
    content = (adapter / WEIGHTS).read_bytes()
    assert length < len(content)
    (adapter / WEIGHTS).write_bytes(content[:length])
    assert f"{WEIGHTS} is damaged" in str(refused(adapter))


def test_a_damaged_header_is_said(adapter: Path) -> None:
    content = bytearray((adapter / WEIGHTS).read_bytes())
    content[8:40] = b"#" * 32
    (adapter / WEIGHTS).write_bytes(bytes(content))
    assert "is damaged" in str(refused(adapter))


def test_missing_files_and_an_unreadable_configuration_are_said(adapter: Path, tmp_path: Path) -> None:
    assert "no readable adapter_config.json" in str(refused(tmp_path / "nothing"))
    (adapter / "adapter_config.json").write_text("[]", encoding="utf-8")
    assert "is not an object" in str(refused(adapter))
    configure(adapter)
    (adapter / WEIGHTS).unlink()
    assert f"has no {WEIGHTS}" in str(refused(adapter))


def test_an_adapter_of_another_base_is_said(adapter: Path) -> None:
    error = refused(adapter, entry=load_catalogue().get("qwen3-8b"))
    assert "trained for SmolLM2-135M-Instruct, not for Qwen/Qwen3-8B" in str(error)
    assert "--base qwen3-8b" in error.fix


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"r": 32}, "has rank 32, the engine's slots hold 16"), ({"rank_pattern": {"q_proj": 64}}, "has rank 64")],
)
def test_a_rank_too_high_is_said(changes: dict[str, object], words: str, adapter: Path) -> None:
    configure(adapter, **changes)
    error = refused(adapter)
    assert words in str(error)
    assert "max_lora_rank" in error.fix


@pytest.mark.parametrize("rank", [None, 0, "16", True])
def test_a_rank_that_is_none_is_said(rank: object, adapter: Path) -> None:
    configure(adapter, r=rank)
    assert "not a positive number" in str(refused(adapter))


@pytest.mark.parametrize("kind", ["IA3", "LOHA", "PROMPT_TUNING", None])
def test_another_peft_type_is_said(kind: str | None, adapter: Path) -> None:
    configure(adapter, peft_type=kind)
    assert f"of PEFT type {kind!r}" in str(refused(adapter))


@pytest.mark.parametrize("option", sorted(ABSENT))
def test_an_option_that_the_engine_does_not_know_is_named(option: str, adapter: Path) -> None:
    configure(adapter, **{option: ["lm_head"]})
    assert ABSENT[option] in str(refused(adapter))


def test_biases_and_changed_bases_are_said(adapter: Path) -> None:
    configure(adapter, bias="lora_only")
    assert "trains biases" in str(refused(adapter))
    configure(adapter, init_lora_weights="pissa_niter_4")
    assert "changes the base's own weights" in str(refused(adapter))


def test_weights_that_do_not_belong_to_the_configuration_are_said(adapter: Path) -> None:
    configure(adapter, target_modules=["q_proj"])
    assert "target_modules lists q_proj" in str(refused(adapter))
    configure(adapter, r=8)
    assert "the configuration says rank 8" in str(refused(adapter))


def spoil(adapter: Path, change: dict[str, Any]) -> AdapterError:
    """Save the weights with some replaced, or taken out where the value is None, and return what is said."""
    found = {key: value for key, value in {**tensors(), **change}.items() if value is not None}
    save_file(found, adapter / WEIGHTS)
    return refused(adapter)


Q_A = LAYER.format(layer=0, block="self_attn", module="q_proj", side="A")


def test_weights_that_are_not_loras_are_said(adapter: Path) -> None:
    assert "only one of LoRA's two matrices" in str(spoil(adapter, {Q_A: None}))
    assert "cannot be multiplied" in str(spoil(adapter, {Q_A: np.ones((3, 16), np.float32)}))
    assert "cannot be multiplied" in str(spoil(adapter, {Q_A: np.ones(4, np.float32)}))
    assert "stored as I8" in str(spoil(adapter, {Q_A: np.ones((4, 16), np.int8)}))
    extra = "base_model.model.model.layers.0.self_attn.q_norm.lora_A.weight"
    assert "no module that the engine can change" in str(spoil(adapter, {extra: np.ones((4, 4), np.float32)}))
    whole = "base_model.model.lm_head.weight"
    assert "no module that the engine can change" in str(spoil(adapter, {whole: np.ones((4, 4), np.float32)}))
    assert "is empty" in str(spoil(adapter, dict.fromkeys(tensors())))


def test_shapes_of_another_base_are_said(adapter: Path, base: Path) -> None:
    for change in ({"hidden_size": 32}, {"num_hidden_layers": 1}, {"head_dim": 8}):
        (base / "config.json").write_text(json.dumps({**BASE, **change}), encoding="utf-8")
        error = refused(adapter, base=base)
        assert "was trained for another base" in error.fix
    (base / "config.json").write_text("{}", encoding="utf-8")
    assert "cannot be compared with the base" in str(refused(adapter, base=base))


def test_embeddings_and_output_head_may_be_changed_too(adapter: Path, base: Path) -> None:
    outside = {
        "base_model.model.model.embed_tokens.lora_embedding_A": np.ones((4, 50), np.float32),
        "base_model.model.model.embed_tokens.lora_embedding_B": np.ones((16, 4), np.float32),
        "base_model.model.lm_head.lora_A.weight": np.ones((4, 16), np.float32),
        "base_model.model.lm_head.lora_B.weight": np.ones((50, 4), np.float32),
    }
    save_file({**tensors(), **outside}, adapter / WEIGHTS)
    configure(adapter, target_modules=[*WIDTHS, "embed_tokens", "lm_head"])
    check_adapter(adapter, None, 16, base)
