from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.bench_lora import Way, cases, fresh, per_token, ratios, to_markdown
from eval.lora_engines import command, random_adapters
from serving.engine_config import EngineConfig

SHAPE = {
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 3,
}


def test_time_per_token_counts_only_while_all_decode() -> None:
    # The second request starts at 3 s; from there to 5 s, when the first ends, tokens come every 0.5 s and every 1 s.
    first = [1.0, 2.0, 3.0, 3.5, 4.0, 4.5, 5.0]
    second = [3.0, 4.0, 5.0, 6.0, 7.0]
    assert per_token([first]) == pytest.approx(4000 / 6)
    assert per_token([first, second]) == pytest.approx(750)
    with pytest.raises(ValueError, match="together"):
        per_token([[1.0, 2.0], [3.0, 4.0]])


def test_ratios_are_taken_within_a_round() -> None:
    values: dict[str, dict[str, list[float | None]]] = {
        "decode": {"base": [100.0, 200.0, 100.0], "stock": [300.0, 500.0, None], "plugin": [110.0, 240.0, 100.0]}
    }
    assert ratios(values) == {
        "decode": {
            "stock": {"median": 2.75, "min": 2.5, "max": 3.0},
            "plugin": {"median": 1.1, "min": 1.0, "max": 1.2},
        }
    }


def test_rows_of_a_batch_take_turns_with_the_adapters_and_some_have_none() -> None:
    way = Way("plugin", "plugin", ("a", "b", "c"))
    assert way.rows(4, 1) == ["a"] * 4
    assert way.rows(5, 6, bare=2) == ["base", "base", "a", "b", "c"]
    assert Way("base", "base", ()).rows(3, 6, bare=1) == ["base"] * 3


def test_what_is_measured_is_named_once_and_quick_is_a_part_of_it() -> None:
    names = [case.name for case in cases(quick=False)]
    assert len(set(names)) == len(names)
    assert {case.name for case in cases(quick=True)} < set(names)
    assert [case.prefill for case in cases(quick=False)][:4] == [128, 512, 1024, 2048]
    assert fresh(40) != fresh(40)


def test_the_report_names_the_rows_that_miss_the_target() -> None:
    values: dict[str, dict[str, list[float | None]]] = {
        "prefill, 128 tokens": {"base": [100.0], "stock": [500.0], "plugin": [120.0]},
        "decode, batch 4, one adapter": {"base": [100.0], "stock": [200.0], "plugin": [140.0]},
    }
    machine = {
        "processor": "P",
        "vector": [],
        "cores": 2,
        "memory_gb": 8.0,
        "system": "S",
        "versions": {},
        "commit": "c",
    }
    found = {
        "machine": machine,
        "command": "interviewer bench lora",
        "dtype": "float32",
        "threads": "2",
        "waiting": "default",
        "shipped": [],
        "load_average": {"before": 0.1, "after": 2.0},
        "milliseconds": values,
        "ratio": ratios(values),
        "right": {"stock": {"asked": 3, "same": 0}, "plugin": {"asked": 3, "same": 3}},
    }
    text = to_markdown(found)
    assert "stock 0 of 3; plugin 3 of 3" in text
    assert "missed by plugin: decode, batch 4, one adapter 1.40." in text
    values["decode, batch 4, one adapter"]["plugin"] = [130.0]
    assert "met in every row" in to_markdown({**found, "ratio": ratios(values)})


def test_the_engines_differ_from_the_service_only_in_operators_and_slots(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "config.json").write_text(json.dumps(SHAPE), encoding="utf-8")
    adapters = random_adapters(tmp_path, tmp_path / "made", 2)
    config = EngineConfig(model=tmp_path, log=tmp_path / "log", adapters=adapters, dtype="float32")
    service = config.argv(7000)
    for stock, value in ((True, "'0'"), (False, "'1'")):
        argv = EngineConfig(model=tmp_path, log=tmp_path / "log", command=command(config, stock=stock)).argv(7000)
        assert f"os.environ['INTERVIEWER_CPU_LORA'] = {value};" in argv[2]
        changed = [(a, b) for a, b in zip(service, argv[3:], strict=True) if a != b]
        assert [b for _, b in changed] == ["--max-loras=2", "--max-cpu-loras=2"]


def test_random_adapters_have_the_shapes_of_the_model(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from safetensors.torch import load_file

    (tmp_path / "config.json").write_text(json.dumps(SHAPE), encoding="utf-8")
    (folder,) = random_adapters(tmp_path, tmp_path / "made", 1).values()
    weights = load_file(folder / "adapter_model.safetensors")
    found = {name.split("layers.")[1]: tuple(tensor.shape) for name, tensor in weights.items()}
    assert len(found) == 3 * 7 * 2
    assert found["2.self_attn.k_proj.lora_A.weight"] == (16, 8)
    assert found["2.self_attn.k_proj.lora_B.weight"] == (4, 16)
    assert found["0.mlp.down_proj.lora_A.weight"] == (16, 16)
    assert found["0.mlp.down_proj.lora_B.weight"] == (8, 16)
