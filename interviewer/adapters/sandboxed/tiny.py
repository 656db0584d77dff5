"""A random causal language model of a few thousand weights, with the calls that candidates know.

They stand in for the real ones: what they lack says so under a name that starts with ``Tiny``, and is never held
against anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 48
WIDTH, HEADS, LAYERS = 32, 2, 2
SEED = 11


class TinyOutput(dict[str, Any]):
    """Named values that can also be reached by attribute and by position, as a model's output can."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"'TinyOutput' object has no attribute {name!r}") from None

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, slice)):
            return tuple(self.values())[key]
        return super().__getitem__(key)

    def to(self, *_: Any, **__: Any) -> TinyOutput:
        """Return itself: there is one device."""
        return self


class TinyCache:
    """Keys and values by layer; a pass through the model adds to it in place."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.layers: list[tuple[torch.Tensor, torch.Tensor]] = []

    @classmethod
    def of(cls, past: Any) -> TinyCache:
        """Return ``past`` as a cache: one already, the older tuple of pairs, or nothing."""
        if isinstance(past, TinyCache):
            return past
        made = cls()
        made.layers = [(pair[0], pair[1]) for pair in past or ()]
        return made

    def add(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Append along time; shapes (batch, heads, time, width of a head)."""
        if layer < len(self.layers):
            before = self.layers[layer]
            key, value = torch.cat([before[0], key], 2), torch.cat([before[1], value], 2)
            self.layers[layer] = (key, value)
        else:
            self.layers.append((key, value))
        return key, value

    def get_seq_length(self, *_: Any) -> int:
        """Return how many positions are kept."""
        return self.layers[0][0].shape[2] if self.layers else 0

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        return iter(self.layers)

    def __getitem__(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.layers[layer]


class TinyBlock(nn.Module):  # type: ignore[misc]
    """One layer, with the usual names of its matrices."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"):
            setattr(self, name, nn.Linear(WIDTH, WIDTH, bias=False))

    def forward(self, x: torch.Tensor, cache: TinyCache, layer: int, seen: torch.Tensor, at: torch.Tensor) -> Any:
        """Attend and mix; ``seen`` is (batch, 1, new, all), ``at`` the positions of what is new."""
        batch, new, _ = x.shape
        q, k, v = (m(x).view(batch, new, HEADS, -1).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        k, v = cache.add(layer, _turn(k, at), v)
        scores = _turn(q, at) @ k.transpose(2, 3) / (WIDTH / HEADS) ** 0.5
        mixed = scores.masked_fill(~seen, -1e9).softmax(-1) @ v
        x = x + self.o_proj(mixed.transpose(1, 2).reshape(batch, new, WIDTH))
        return x + self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


def _turn(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """Rotate by position, so that only distances count and padding on the left shifts nothing."""
    half = x.shape[-1] // 2
    angle = at[:, None, :, None] / 50.0 ** (torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


class TinyLM(nn.Module):  # type: ignore[misc]
    """The model. Counts what goes through it and whether gradients were recorded meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        state = torch.random.get_rng_state()
        torch.manual_seed(SEED)
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(TinyBlock() for _ in range(LAYERS))
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        for parameter in self.parameters():
            parameter.data.normal_(0.0, 0.45)
        torch.random.set_rng_state(state)
        self.config = SimpleNamespace(
            vocab_size=VOCABULARY, eos_token_id=1, pad_token_id=0, bos_token_id=2, hidden_size=WIDTH, use_cache=True,
            num_hidden_layers=LAYERS, num_attention_heads=HEADS, max_position_embeddings=512, is_encoder_decoder=False,
        )  # fmt: skip
        self.generation_config = self.config
        self.positions = 0
        self.recorded = False
        self.labels: list[tuple[torch.Tensor, torch.Tensor | None]] = []
        """Labels that came in, each with the attention mask."""

    @property
    def device(self) -> torch.device:
        """The only one."""
        return torch.device("cpu")

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        return self.lm_head.weight.dtype

    def forward(
        self,
        input_ids: Any = None,
        attention_mask: Any = None,
        position_ids: Any = None,
        past_key_values: Any = None,
        labels: Any = None,
        use_cache: Any = None,
        **_: Any,
    ) -> TinyOutput:
        """Return logits and the cache, and the loss when there are labels, shifted inside as in the real library."""
        batch, new = input_ids.shape
        self.positions += input_ids.numel()
        self.recorded |= torch.is_grad_enabled()
        cache = TinyCache.of(past_key_values)
        past = cache.get_seq_length()
        seen = torch.ones(new, past + new, dtype=torch.bool).tril(past)[None, None].expand(batch, 1, new, past + new)
        if attention_mask is not None and attention_mask.dim() == 2:
            seen = seen & attention_mask.bool()[:, None, None, :]
        at = torch.arange(past, past + new)[None].expand(batch, new) if position_ids is None else position_ids
        x = self.embed_tokens(input_ids)
        for number, layer in enumerate(self.layers):
            x = layer(x, cache, number, seen, at.float())
        logits = self.lm_head(x)
        if labels is None:
            return TinyOutput(logits=logits, past_key_values=cache)
        self.labels.append((labels.detach().clone(), attention_mask))
        loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        return TinyOutput(loss=loss, logits=logits, past_key_values=cache)

    def save_pretrained(self, *_: Any, **__: Any) -> None:
        """Save nothing."""

    def gradient_checkpointing_enable(self, *_: Any, **__: Any) -> None:
        """Change nothing."""

    def enable_input_require_grads(self) -> None:
        """Change nothing."""

    def resize_token_embeddings(self, *_: Any, **__: Any) -> None:
        """Change nothing: there is room for the special tokens."""

    def get_input_embeddings(self) -> Any:
        """Return the embedding."""
        return self.embed_tokens


def stay_on_cpu() -> None:
    """Let ``cuda`` mean the only device there is."""

    def here(method: Any) -> Any:
        def to(self: Any, *args: Any, **more: Any) -> Any:
            kept = [a for a in args if not str(a).startswith("cuda")]
            named = {k: v for k, v in more.items() if k not in ("device", "non_blocking")}
            return method(self, *kept, **named) if kept or named else self

        return to

    for kind in (torch.Tensor, nn.Module):
        kind.to, kind.cuda = here(kind.to), lambda self, *_, **__: self
