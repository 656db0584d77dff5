from __future__ import annotations

import pytest

from eval.shape import Shape, read_shape

EMBEDDED = {
    "num_hidden_layers": 30,
    "hidden_size": 576,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "head_dim": 64,
    "intermediate_size": 1536,
    "vocab_size": 49152,
    "tie_word_embeddings": True,
    "hidden_act": "silu",
}
LLAMA_8B = {
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "hidden_act": "silu",
}


def shape_of(config: dict[str, object], element: int) -> Shape:
    shape = read_shape(config, element)
    assert shape is not None
    return shape


def test_the_embedded_model_has_the_parameters_that_its_card_names() -> None:
    shape = shape_of(EMBEDDED, 4)
    norms = (2 * 30 + 1) * 576
    assert shape.parameters + norms == 134_515_008
    assert shape.weight_bytes == 134_479_872 * 4
    assert shape.kv_bytes == 2 * 30 * 3 * 64 * 4 == 46_080


def test_an_8b_model_has_the_parameters_that_its_card_names() -> None:
    shape = shape_of(LLAMA_8B, 2)
    norms = (2 * 32 + 1) * 4096
    assert shape.parameters + norms == 8_030_261_248
    assert shape.kv_bytes == 131_072
    # The input embedding is looked up, not read through: a step reads 15.0 of 16.1 GB.
    assert shape.weight_bytes == pytest.approx(15.0e9, rel=0.01)


def test_arithmetic_of_a_model_small_enough_to_do_by_hand() -> None:
    # One layer, hidden 2, one head of 2: q, k, v, o are 2x2 each, the MLP 3 of 2x4, the head 2x5.
    shape = Shape(layers=1, hidden=2, heads=1, kv_heads=1, head=2, mlp=4, vocabulary=5, tied=False, element=2)
    assert shape.layer_weights == 4 * 4 + 3 * 8
    assert shape.weights == 40 + 10
    assert shape.parameters == 60
    # 50 multiply-adds, then 3 scores and 3 sums over a width of 2: 12 multiply-adds.
    assert shape.decode_flop(3) == 2 * 50 + 2 * 12
    # Four tokens through the layer, 16 of 32 multiply-adds of attention are under the mask, one output row.
    assert shape.prefill_flop(4) == 2 * 40 * 4 + 2 * 2 * 16 + 2 * 10


@pytest.mark.parametrize(
    "config",
    [
        {},
        {**LLAMA_8B, "num_local_experts": 8},
        {**LLAMA_8B, "hidden_act": "gelu"},
        {**LLAMA_8B, "intermediate_size": "wide"},
    ],
)
def test_other_kinds_of_model_are_not_guessed(config: dict[str, object]) -> None:
    assert read_shape(config, 2) is None
