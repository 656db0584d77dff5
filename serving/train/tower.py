"""The base model with a LoRA adapter on its upper layers, run on packed prompts.

The layers below ``first_layer`` carry no adapter. Their output for a packed sequence never changes while training, so
it is computed once, without gradients, and kept; on a CPU that is most of an epoch's cost saved.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from serving.train import TrainError
from serving.train.config import LoraSettings
from serving.train.packing import Packed, attention_mask, pack, positions

WEIGHTS = "adapter_model.safetensors"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
PROBE = tuple(range(5, 21))
"""Tokens on which a split model is compared with the whole."""


class Tower:
    """A model split at ``first_layer``. Not safe for use from two threads."""

    def __init__(self, model: Any, first_layer: int) -> None:
        """Wrap a PEFT model, or a plain one for causal language modelling, of the shape that Llama and Qwen share."""
        self.model = model
        causal = model.base_model.model if isinstance(model, PeftModel) else model
        self._body = causal.model
        self._head = causal.lm_head
        self.first_layer = first_layer
        weight = self._body.embed_tokens.weight
        self.device: torch.device = weight.device
        self._dtype: torch.dtype = weight.dtype
        self._kept: dict[int, tuple[Packed, torch.Tensor]] = {}

    def hidden(self, packed: Packed, *, keep: bool = True) -> torch.Tensor:
        """Return the final hidden states, shape ``[nodes, width]``; differentiable in the adapter's weights.

        Args:
            packed: The prompts.
            keep: Remember the lower half for the next call with the same object.
        """
        mask, at = attention_mask(packed, self._dtype).to(self.device), positions(packed).to(self.device)
        found = self._kept.get(id(packed))
        if found is None:
            with torch.no_grad():
                states = self._body.embed_tokens(torch.tensor([packed.ids], device=self.device))
                states = self._layers(states, 0, self.first_layer, mask, at)
            if keep:
                # The sequence itself is kept as well: its id stays taken for as long as the entry lives.
                self._kept[id(packed)] = (packed, states)
        else:
            states = found[1]
        states = self._layers(states, self.first_layer, len(self._body.layers), mask, at)
        final: torch.Tensor = self._body.norm(states)[0]
        return final

    def logits(self, hidden: torch.Tensor, nodes: Sequence[int]) -> torch.Tensor:
        """Return the next-token logits after ``nodes``, shape ``[len(nodes), vocabulary]``, float32."""
        found: torch.Tensor = self._head(hidden[list(nodes)]).float()
        return found

    def _layers(self, states: torch.Tensor, start: int, end: int, mask: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        turn = self._body.rotary_emb(states, position_ids=at)
        for layer in self._body.layers[start:end]:
            states = layer(states, attention_mask=mask, position_ids=at, position_embeddings=turn, use_cache=False)
        return states

    def trainable(self) -> list[torch.Tensor]:
        """Return the adapter's weights."""
        return [p for p in self.model.parameters() if p.requires_grad]

    def state(self) -> dict[str, torch.Tensor]:
        """Return a copy of the adapter's weights, in memory of the CPU."""
        # "auto" would look the base's configuration up on a hub by its name.
        found = get_peft_model_state_dict(self.model, save_embedding_layers=False)
        return {key: value.detach().to("cpu", copy=True) for key, value in found.items()}

    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Replace the adapter's weights."""
        set_peft_model_state_dict(self.model, state)

    @contextmanager
    def plain(self) -> Iterator[None]:
        """Run as the base model, without the adapter."""
        with self.model.disable_adapter():
            yield


def lora_config(settings: LoraSettings, layers: int) -> LoraConfig:
    """Return the PEFT configuration; only options that vLLM accepts."""
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(settings.targets),
        layers_to_transform=list(range(settings.first_layer, layers)),
        layers_pattern="layers",
        bias="none",
        task_type="CAUSAL_LM",
        base_model_name_or_path=settings.base,
    )


def load_base(base: Path, dtype: str = "float32") -> Any:
    """Load the base; float32 is the precision in which CPUs without bf16 units serve.

    Raises:
        TrainError: the checkpoint is damaged, of an unknown architecture, or too big.
    """
    transformers_logging.disable_progress_bar()
    try:
        return AutoModelForCausalLM.from_pretrained(base, dtype=DTYPES[dtype], attn_implementation="sdpa")
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise TrainError(f"the base in {base} cannot be loaded: {error}") from error


def load_tokenizer(base: Path) -> Any:
    """Load the base's tokenizer, chat template included.

    Raises:
        TrainError: it is missing or damaged.
    """
    try:
        return AutoTokenizer.from_pretrained(base)
    except (OSError, ValueError, KeyError) as error:
        raise TrainError(f"the tokenizer in {base} cannot be loaded: {error}") from error


def new_tower(base: Path, settings: LoraSettings, dtype: str = "float32", device: str = "cpu") -> Tower:
    """Return the base with a fresh adapter; the seed decides its first weights, whatever the device.

    PEFT holds the adapter's own weights in float32 also where the base's are in bfloat16.

    Raises:
        TrainError: the base cannot be loaded, or is not of a shape that can be trained here.
    """
    torch.manual_seed(settings.seed)
    model = load_base(base, dtype)
    _check_shape(model, settings)
    # PEFT copies the folder's path into the adapter's configuration unless the model says its public name.
    model.name_or_path = settings.base
    config = lora_config(settings, len(model.model.layers))
    tower = Tower(get_peft_model(model, config).to(device), settings.first_layer)
    _check_split(tower)
    return tower


def _check_shape(model: Any, settings: LoraSettings) -> None:
    """Raise unless the model has the parts that a tower runs one by one, and the projections to train."""
    kind = type(model).__name__
    body: Any = getattr(model, "model", None)
    missing = [part for part in ("embed_tokens", "layers", "rotary_emb", "norm") if not hasattr(body, part)]
    if missing or not hasattr(model, "lm_head"):
        raise TrainError(
            f"{kind} cannot be trained here: it is not built like Llama or Qwen (no {', '.join(missing) or 'lm_head'})"
        )
    there = {name.rpartition(".")[2] for name, _ in body.layers.named_modules()}
    absent = [target for target in settings.targets if target not in there]
    if absent:
        raise TrainError(f"{kind} has no {', '.join(absent)}; choose other targets (--set targets=[...])")
    window = getattr(model.config, "sliding_window", None)
    if window and window < settings.max_len and "sliding_attention" in (model.config.layer_types or ()):
        raise TrainError(f"{kind} attends to {window} tokens at a time; set max_len to as many at most")


def _check_split(tower: Tower) -> None:
    """Raise when running the parts one by one gives other logits than the model: it does something in between."""
    tower.model.eval()
    with torch.no_grad():
        whole = tower.model(input_ids=torch.tensor([PROBE], device=tower.device)).logits[0].float()
        split = tower.logits(tower.hidden(pack([PROBE]), keep=False), range(len(PROBE)))
    # A wrong model is off by the logits' own spread; the order of sums in bfloat16 by a few percent of it.
    if not (whole - split).abs().mean() <= 0.05 * whole.std():
        kind = type(tower.model.base_model.model).__name__
        raise TrainError(f"{kind} cannot be trained here: it computes more than its embeddings, layers and norm")


def save_adapter(state: dict[str, torch.Tensor], config: LoraConfig, folder: Path, base_name: str) -> None:
    """Write ``adapter_model.safetensors`` (bfloat16) and ``adapter_config.json``, free of local paths."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({key: value.to(torch.bfloat16).contiguous() for key, value in state.items()}, folder / WEIGHTS)
    # safetensors writes for the owner only; an installed adapter has to be readable by the service's user.
    (folder / WEIGHTS).chmod(0o644)
    data = {key: sorted(value) if isinstance(value, set) else value for key, value in config.to_dict().items()}
    data |= {"base_model_name_or_path": base_name, "inference_mode": True, "revision": None}
    (folder / "adapter_config.json").write_text(json.dumps(data, indent=2, sort_keys=True, default=str) + "\n")


def read_adapter(folder: Path) -> dict[str, torch.Tensor]:
    """Return the weights of a saved adapter as float32."""
    return {key: value.float() for key, value in load_file(folder / WEIGHTS).items()}
