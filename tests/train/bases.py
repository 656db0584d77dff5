"""Checkpoint folders of tiny random models with a small tokenizer that speaks ChatML; made in a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from interviewer.adapters.documents import packaged

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SILENT = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
THINKING = TEMPLATE.replace("assistant\n{% endif %}", f"assistant\n{SILENT}{{% endif %}}")
"""As Qwen3's: thinking is on unless it is turned off."""

VOCABULARY = 1200
SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "llama": (transformers.LlamaConfig, {}),
    "qwen2": (transformers.Qwen2Config, {}),
    "qwen3": (transformers.Qwen3Config, {}),
    "granite": (transformers.GraniteConfig, {"embedding_multiplier": 12.0, "logits_scaling": 8.0}),
    "phi3": (transformers.Phi3Config, {"pad_token_id": 0}),
}


def small_tokenizer(template: str | None = TEMPLATE) -> Any:
    """Return a byte-level tokenizer with the most frequent pieces of the personas' documents."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY - 10, initial_alphabet=letters, show_progress=False)
    tokenizer.train([str(path) for path in sorted(packaged("personas").glob("*/persona.yaml"))], trainer)
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>")
    fast.chat_template = template
    return fast


def make_base(folder: Path, kind: str, template: str | None = TEMPLATE, **changes: Any) -> Path:
    """Write a checkpoint in ``folder`` and return it; ``changes`` go over :data:`SHAPE`."""
    config, more = KINDS[kind]
    torch.manual_seed(11)
    model = transformers.AutoModelForCausalLM.from_config(config(**{**SHAPE, **more, **changes}))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.normal_(std=0.05)
    model.to(torch.bfloat16).save_pretrained(folder)
    small_tokenizer(template).save_pretrained(folder)
    return folder
