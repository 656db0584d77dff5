from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from serving.train.packing import attention_mask, pack, positions
from serving.train.tower import Tower
from tests.train.conftest import tiny_llama

PROMPT = st.lists(st.integers(2, 5), min_size=1, max_size=12)


@given(st.lists(PROMPT, min_size=1, max_size=6))
def test_every_prompt_is_found_again_along_its_path(prompts: list[list[int]]) -> None:
    packed = pack(prompts)
    for prompt, path in zip(prompts, packed.paths, strict=True):
        assert [packed.ids[node] for node in path] == prompt
        assert [packed.depths[node] for node in path] == list(range(len(prompt)))
        assert [packed.parents[node] for node in path] == [-1, *path[:-1]]


@given(st.lists(PROMPT, min_size=1, max_size=6))
def test_a_token_sees_its_own_prompt_up_to_itself_and_nothing_else(prompts: list[list[int]]) -> None:
    packed = pack(prompts)
    seen = attention_mask(packed)[0, 0] == 0
    for path in packed.paths:
        for place, node in enumerate(path):
            assert seen[node].nonzero().flatten().tolist() == sorted(path[: place + 1])


def test_what_prompts_share_is_stored_once() -> None:
    packed = pack([[5, 6, 7, 8], [5, 6, 7, 9, 9], [5, 6, 2]])
    assert len(packed) == 7
    assert positions(packed).tolist() == [[0, 1, 2, 3, 3, 4, 2]]


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="without tokens"):
        pack([[3], []])


@pytest.mark.parametrize("first_layer", [0, 1, 3])
def test_packed_prompts_get_the_logits_that_they_get_alone(first_layer: int) -> None:
    chance = random.Random(1)
    shared = [chance.randrange(252) for _ in range(40)]
    prompts = [shared + [chance.randrange(252) for _ in range(chance.randrange(3, 25))] for _ in range(5)]
    prompts += [[*prompts[0], 7], prompts[1][:45]]
    packed = pack(prompts)
    model = tiny_llama()
    tower = Tower(model, first_layer)
    with torch.no_grad():
        hidden = tower.hidden(packed)
        for prompt, path in zip(prompts, packed.paths, strict=True):
            alone = model(input_ids=torch.tensor([prompt])).logits[0]
            torch.testing.assert_close(tower.logits(hidden, path), alone, atol=2e-5, rtol=1e-4)


def test_the_kept_lower_half_changes_nothing() -> None:
    packed = pack([[5, 6, 7, 8], [5, 6, 9]])
    tower = Tower(tiny_llama(), 2)
    with torch.no_grad():
        first, second = tower.hidden(packed), tower.hidden(packed)
        fresh = tower.hidden(pack([[5, 6, 7, 8], [5, 6, 9]]), keep=False)
    assert torch.equal(first, second)
    assert torch.equal(first, fresh)
