"""A stand-in for the adapters' library: low-rank updates on the tiny model, and a log of what a script did."""

from __future__ import annotations

import types
from typing import Any

import torch
from torch import nn

from interviewer.adapters.sandboxed.child import Misused
from interviewer.adapters.sandboxed.tiny import TinyLM

_LORA_CONFIG = frozenset(
    "r target_modules exclude_modules lora_alpha lora_dropout fan_in_fan_out bias use_rslora modules_to_save "
    "init_lora_weights layers_to_transform layers_pattern rank_pattern alpha_pattern megatron_config "
    "megatron_core trainable_token_indices loftq_config eva_config corda_config use_dora use_qalora "
    "qalora_group_size layer_replication runtime_config lora_bias target_parameters arrow_config "
    "ensure_weight_tying task_type peft_type inference_mode revision base_model_name_or_path auto_mapping "
    "peft_version alora_invocation_tokens lora_ga_config use_bdlora".split()
)
"""Fields that the real configuration has."""


class TinyLog:
    """What a script did with the stand-ins."""

    def __init__(self) -> None:
        self.models: list[TinyLM] = []
        self.adapted: list[TinyPeft] = []
        self.saved = False
        self.losses: list[float] = []

    def clear(self) -> None:
        """Forget all of it."""
        self.__init__()  # type: ignore[misc]


log = TinyLog()


def model(*_: Any, **__: Any) -> TinyLM:
    """Return a fresh model, as every checkpoint."""
    made = TinyLM()
    log.models.append(made)
    return made


class TinyLora(nn.Module):  # type: ignore[misc]
    """A linear layer with an update of low rank."""

    def __init__(self, base: Any, rank: int, alpha: float) -> None:
        super().__init__()
        self.base_layer, self.scale = base, alpha / rank
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features) * 0.1)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: torch.Tensor) -> Any:
        """Add the update."""
        return self.base_layer(x) + x @ self.lora_A.T @ self.lora_B.T * self.scale


def lora_config(*given: Any, **fields: Any) -> types.SimpleNamespace:
    """Return a configuration.

    Raises:
        Misused: a field that the real one does not have.
    """
    for name in fields:
        if name not in _LORA_CONFIG:
            raise Misused(f"LoraConfig.__init__() got an unexpected keyword argument '{name}'")
    if int(fields.get("r", 8)) <= 0:
        raise Misused(f"`r` should be a positive integer value but the value passed is {fields['r']}")
    return types.SimpleNamespace(**{"r": 8, "lora_alpha": 8, "target_modules": None} | fields)


class TinyPeft(nn.Module):  # type: ignore[misc]
    """A model with an adapter on it; its base is frozen."""

    def __init__(self, model: Any, config: Any) -> None:
        super().__init__()
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        wanted = config.target_modules or ["q_proj", "v_proj"]
        every = wanted == "all-linear"
        names = [n for n, m in model.named_modules() if isinstance(m, nn.Linear) and n != "lm_head"]
        chosen = [n for n in names if every or n.rpartition(".")[2] in wanted]
        if not chosen:
            raise ValueError(f"TinyLM has no modules called {wanted}")
        for name in chosen:
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, TinyLora(model.get_submodule(name), config.r, config.lora_alpha))
        self.base_model, self.peft_config = model, {"default": config}
        log.adapted.append(self)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("base_model"), name)

    def forward(self, *args: Any, **more: Any) -> Any:
        """Run the model."""
        return self.base_model(*args, **more)

    def print_trainable_parameters(self) -> None:
        """Print nothing: nobody reads it."""

    def get_nb_trainable_parameters(self) -> tuple[int, int]:
        """Return how many weights are trained, and all."""
        sizes = [(p.numel(), p.requires_grad) for p in self.parameters()]
        return sum(n for n, trained in sizes if trained), sum(n for n, _ in sizes)

    def save_pretrained(self, *_: Any, **__: Any) -> None:
        """Note that it was saved."""
        log.saved = True

    def merge_and_unload(self, *_: Any, **__: Any) -> Any:
        """Return the model."""
        return self.base_model
