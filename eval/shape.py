"""What a decoder costs by its shape: parameters, bytes that a step reads, arithmetic. Dense Llama-like models only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "half": 2, "float": 4}
"""Per element, by the engine's name of the type."""
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder with grouped-query attention and a gated MLP."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head: int
    """Width of one head."""
    mlp: int
    """Width inside the MLP."""
    vocabulary: int
    tied: bool
    """Whether input embedding and output head are one matrix."""
    element: int
    """Bytes per weight and per cached value."""

    @property
    def layer_weights(self) -> int:
        """Return the weights of all layers' matrices; norms (some thousandths) are left out."""
        attention = 2 * self.hidden * self.head * (self.heads + self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.mlp)

    @property
    def weights(self) -> int:
        """Return the weights that every decoding step reads: the layers and the output head, not the input lookup."""
        return self.layer_weights + self.hidden * self.vocabulary

    @property
    def parameters(self) -> int:
        """Return all weights that take memory; norms are left out."""
        return self.weights + (0 if self.tied else self.hidden * self.vocabulary)

    @property
    def weight_bytes(self) -> int:
        """Return the bytes of weights that every decoding step reads, whatever the batch."""
        return self.weights * self.element

    @property
    def kv_bytes(self) -> int:
        """Return the bytes of keys and values of one token."""
        return 2 * self.layers * self.kv_heads * self.head * self.element

    def decode_flop(self, context: float) -> float:
        """Return the floating-point operations of one token that attends to ``context`` tokens."""
        return 2 * self.weights + 4 * self.layers * self.heads * self.head * context

    def prefill_flop(self, tokens: int) -> float:
        """Return the operations of a prompt: every layer for every token, half the attention square, one output row."""
        attention = 2 * self.layers * self.heads * self.head * tokens**2
        return 2 * self.layer_weights * tokens + attention + 2 * self.hidden * self.vocabulary


def read_shape(config: Mapping[str, object], element: int) -> Shape | None:
    """Return the shape in a ``config.json``, or ``None`` when it is not that of a dense Llama-like decoder."""
    if any(config.get(name) for name in _EXPERTS):
        return None
    names = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size")
    sizes = [value for name in names if isinstance(value := config.get(name), int)]
    if len(sizes) < len(names) or config.get("hidden_act") not in ("silu", "swiglu"):
        return None
    layers, hidden, heads, mlp, vocabulary = sizes
    kv_heads, head = config.get("num_key_value_heads"), config.get("head_dim")
    return Shape(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads if isinstance(kv_heads, int) else heads,
        head=head if isinstance(head, int) else hidden // heads,
        mlp=mlp,
        vocabulary=vocabulary,
        tied=bool(config.get("tie_word_embeddings")),
        element=element,
    )
