"""A tiny Llama and a tokenizer of single characters: every test trains or runs them in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
peft = pytest.importorskip("peft")

from serving.train.config import ATTENTION, MLP, PersonaSettings  # noqa: E402
from serving.train.tower import Tower, lora_config  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute in one thread: for models this small a second one only waits, and long while others use the machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class CharTokenizer:
    """One token per character, ``<|im_end|>`` and ``<|im_start|>`` excepted; speaks ChatML as the base does."""

    eos_token_id = 1
    _special = ("<|im_start|>", "<|im_end|>")

    def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
        ids: list[int] = []
        while text:
            special = next((s for s in self._special if text.startswith(s)), None)
            ids.append(self._special.index(special) if special else 2 + ord(text[0]) % 250)
            text = text[len(special) if special else 1 :]
        return {"input_ids": ids}

    def apply_chat_template(
        self, messages: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool, enable_thinking: bool
    ) -> str:
        text = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
        return f"{text}<|im_start|>assistant\n" if add_generation_prompt else text

    def text(self, ids: tuple[int, ...]) -> str:
        """Spell plain characters out again; only for texts in ASCII."""
        return "".join(self._special[i] if i < 2 else chr(i - 2) for i in ids)


@pytest.fixture
def tokenizer() -> CharTokenizer:
    return CharTokenizer()


@pytest.fixture
def settings() -> PersonaSettings:
    return PersonaSettings(
        version=1,
        base="tiny",
        data=("none.jsonl",),
        rank=4,
        alpha=8,
        dropout=0.0,
        targets=(*ATTENTION, *MLP),
        first_layer=1,
        lr=0.01,
        epochs=3,
        batch=2,
        max_len=4000,
        group=3,
        history=0.0,
    )


def tiny_llama(seed: int = 3) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=252,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
    )
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture
def tower(settings: PersonaSettings) -> Tower:
    model = tiny_llama()
    model.name_or_path = settings.base
    torch.manual_seed(settings.seed)
    return Tower(peft.get_peft_model(model, lora_config(settings, 3)), settings.first_layer)
