"""What lies in ``personas/``: every adapter can be served, is what its configuration says, and is light."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file

from interviewer.core.calibration import Calibration
from serving.train import NAMES, PERSONAS, PROJECT, TrainError, run
from serving.train.config import PLACE, EvaluatorSettings, LoraSettings, PersonaSettings, data_files, load_settings
from serving.train.data import sha256
from serving.train.output import command, machine, versions
from serving.train.tower import WEIGHTS, Tower, lora_config, read_adapter, save_adapter
from tests.train.conftest import tiny_llama

LAYERS = 30


def folder(name: str) -> Path:
    return PROJECT / "personas" / name


def of(name: str) -> LoraSettings:
    kind: type[LoraSettings] = EvaluatorSettings if name == "evaluator" else PersonaSettings
    return load_settings(folder(name) / "lora.yaml", kind, {})


def result(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder(name) / "result.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_weights_fit_the_configuration(name: str) -> None:
    settings = of(name)
    weights = load_file(folder(name) / "adapter" / WEIGHTS)
    block = {"q_proj": "self_attn", "k_proj": "self_attn", "v_proj": "self_attn", "o_proj": "self_attn"}
    expected = {
        f"base_model.model.model.layers.{layer}.{block.get(target, 'mlp')}.{target}.lora_{side}.weight"
        for layer in range(settings.first_layer, LAYERS)
        for target in settings.targets
        for side in "AB"
    }
    assert set(weights) == expected
    for key, value in weights.items():
        assert value.dtype is torch.bfloat16, key
        assert value.isfinite().all(), key
        assert settings.rank in value.shape, key
    assert all(value.any() for key, value in weights.items() if "lora_B" in key), (
        "a trained adapter changes every module"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_engine_accepts_the_configuration(name: str) -> None:
    settings = of(name)
    text = (folder(name) / "adapter" / "adapter_config.json").read_text(encoding="utf-8")
    config = json.loads(text)
    assert config["base_model_name_or_path"] == settings.base == "SmolLM2-135M-Instruct"
    assert (config["peft_type"], config["task_type"], config["bias"]) == ("LORA", "CAUSAL_LM", "none")
    assert config["r"] == settings.rank <= 16
    assert config["lora_alpha"] == settings.alpha
    assert set(config["target_modules"]) == set(settings.targets)
    assert not config["use_dora"] and not config["use_rslora"] and not config["modules_to_save"]
    assert config["init_lora_weights"] is True
    assert not re.search(r"/(?:home|root|tmp|work|Users)/", text)


@pytest.mark.parametrize("name", NAMES)
def test_the_result_belongs_to_the_configuration_and_the_data(name: str) -> None:
    settings, found = of(name), result(name)
    same = {k: v for k, v in settings.model_dump(mode="json").items() if k not in (*PLACE, "start")}
    assert {k: v for k, v in found["settings"].items() if k in same} == same
    assert found["data"]["sha256"] == sha256(data_files(settings))
    card = (folder(name) / "README.md").read_text(encoding="utf-8")
    assert f"interviewer train {name}" in card
    assert found["command"].startswith(f"interviewer train {name}")


def test_adapters_are_light_and_of_one_shape() -> None:
    shapes = {(of(n).rank, of(n).alpha, of(n).targets, of(n).first_layer) for n in PERSONAS}
    assert len(shapes) == 1
    for name in NAMES:
        size = (folder(name) / "adapter" / WEIGHTS).stat().st_size
        assert size <= (10 if name == "evaluator" else 5) * 1024 * 1024


@pytest.mark.parametrize("name", PERSONAS)
def test_each_persona_gained_from_training(name: str) -> None:
    loss = result(name)["loss"]
    assert loss["adapter"] < loss["base_with_prompt"]


def test_the_calibration_is_the_one_of_the_adapter() -> None:
    calibration = Calibration.model_validate_json((folder("evaluator") / "calibration.json").read_text())
    assert calibration.version.split("-")[0] == sha256([folder("evaluator") / "adapter" / WEIGHTS])[:8]
    assert list(calibration.default.cuts) == sorted(calibration.default.cuts)


def test_a_saved_adapter_can_be_loaded_again(tower: Tower, settings: PersonaSettings, tmp_path: Path) -> None:
    with torch.no_grad():
        for weight in tower.trainable():
            weight.add_(torch.randn_like(weight) * 0.1)
    save_adapter(tower.state(), lora_config(settings, 3), tmp_path, settings.base)
    loaded = PeftModel.from_pretrained(tiny_llama(), tmp_path)
    ids = torch.arange(5, 25)[None]
    tower.load(read_adapter(tmp_path))
    with torch.no_grad():
        torch.testing.assert_close(loaded(input_ids=ids).logits, tower.model(input_ids=ids).logits)


def test_unknown_names_and_settings_are_refused(tmp_path: Path) -> None:
    def go(name: str, **overrides: str) -> None:
        run(name, base=tmp_path, out=tmp_path, progress=lambda line: None, overrides=overrides)

    with pytest.raises(TrainError, match="deep_dive"):
        go("nobody")
    with pytest.raises(TrainError, match="colour"):
        go("deep_dive", colour="red")
    with pytest.raises(TrainError, match="rank"):
        go("deep_dive", rank="64")
    with pytest.raises(TrainError, match="no file matches"):
        go("deep_dive", data="[nothing/*.jsonl]")


def test_overrides_are_read_as_yaml() -> None:
    found = load_settings(
        folder("deep_dive") / "lora.yaml", PersonaSettings, {"lr": "0.002", "targets": "[q_proj, v_proj]"}
    )
    assert (found.lr, found.targets) == (0.002, ("q_proj", "v_proj"))
    assert command("deep_dive", {"lr": "0.002"}) == "interviewer train deep_dive --set lr=0.002"


def test_the_machine_is_described_without_its_name() -> None:
    assert "cores" in machine() or machine()
    assert {"torch", "peft", "transformers"} <= set(versions())
