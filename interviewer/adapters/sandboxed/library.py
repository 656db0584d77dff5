"""Small stand-ins for the libraries of a training script, under the names that scripts import.

They are lenient: arguments that they do not know are ignored. Only what the real library surely refuses is refused, as
``Misused``.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from interviewer.adapters.sandboxed.adapted import TinyPeft, lora_config, model
from interviewer.adapters.sandboxed.rows import TinyData, load_dataset
from interviewer.adapters.sandboxed.tiny import TinyCache, TinyLM
from interviewer.adapters.sandboxed.tokens import TinyTokenizer
from interviewer.adapters.sandboxed.trainers import (
    TinySft,
    TinyTrainer,
    masking_collator,
    padding_collator,
    stack,
)


def _settings(*_: Any, **fields: Any) -> types.SimpleNamespace:
    return types.SimpleNamespace(**fields)


def _identity(first: Any = None, *_: Any, **__: Any) -> Any:
    return first


def _schedule(optimizer: Any = None, *_: Any, **more: Any) -> Any:
    return torch.optim.lr_scheduler.LambdaLR(more.get("optimizer", optimizer), lambda _: 1.0)


def _loads(made: Callable[..., Any]) -> types.SimpleNamespace:
    return types.SimpleNamespace(from_pretrained=made)


def install() -> None:
    """Put the stand-ins in the place of the libraries."""
    peft_model = _loads(lambda base, *_, **__: TinyPeft(base, lora_config()))
    modules: dict[str, dict[str, Any]] = {
        "transformers": {
            "AutoModelForCausalLM": _loads(model), "AutoTokenizer": _loads(lambda *_, **__: TinyTokenizer()),
            "TrainingArguments": _settings, "BitsAndBytesConfig": _settings, "Trainer": TinyTrainer,
            "DataCollatorForLanguageModeling": masking_collator, "DataCollatorForSeq2Seq": padding_collator,
            "DataCollatorWithPadding": padding_collator, "default_data_collator": stack, "DynamicCache": TinyCache,
            "set_seed": lambda *_: None, "get_scheduler": lambda _name, *a, **k: _schedule(*a, **k),
            "get_cosine_schedule_with_warmup": _schedule, "get_linear_schedule_with_warmup": _schedule,
            "PreTrainedModel": TinyLM, "PreTrainedTokenizerBase": TinyTokenizer, "PreTrainedTokenizer": TinyTokenizer,
        },
        "peft": {
            "LoraConfig": lora_config, "get_peft_model": TinyPeft, "PeftModel": peft_model,
            "prepare_model_for_kbit_training": _identity, "TaskType": types.SimpleNamespace(CAUSAL_LM="CAUSAL_LM"),
        },
        "datasets": {
            "load_dataset": load_dataset, "Dataset": TinyData, "load_from_disk": lambda *_: load_dataset(split="train"),
        },
        "trl": {"SFTTrainer": TinySft, "SFTConfig": _settings},
        "tqdm": {"tqdm": _identity}, "tqdm.auto": {"tqdm": _identity},
    }  # fmt: skip
    for name, content in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        sys.modules[name] = module
