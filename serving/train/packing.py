"""Several prompts in one sequence: what they have in common is computed once, and they do not see each other.

Prompts are merged into a prefix tree of tokens. A token attends to itself and its ancestors only, and its position is
its depth, so every prompt gets the logits that it would get alone (a test compares them). This is exact for any set of
prompts, because sharing follows the tokens and not the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Packed:
    """A prefix tree in depth-first order."""

    ids: tuple[int, ...]
    """Token of each node."""
    parents: tuple[int, ...]
    """Node before each node in its prompt; -1 at the start."""
    depths: tuple[int, ...]
    """Position of each node in its prompt."""
    paths: tuple[tuple[int, ...], ...]
    """Nodes of each prompt, in order."""

    def __len__(self) -> int:
        """Return the number of nodes, which is what a forward pass costs."""
        return len(self.ids)


def pack(prompts: Sequence[Sequence[int]]) -> Packed:
    """Merge tokenised prompts.

    Raises:
        ValueError: a prompt is empty.
    """
    if not all(prompts):
        raise ValueError("a prompt without tokens cannot be packed")
    children: list[dict[int, int]] = [{}]
    tokens: list[int] = [-1]
    walks: list[list[int]] = []
    for prompt in prompts:
        node, walk = 0, []
        for token in prompt:
            if token not in children[node]:
                children[node][token] = len(children)
                children.append({})
                tokens.append(token)
            node = children[node][token]
            walk.append(node)
        walks.append(walk)
    place: dict[int, int] = {0: -1}
    ids: list[int] = []
    parents: list[int] = []
    depths: list[int] = []
    # Depth first keeps each prompt's own tokens together, which keeps the attended region of the mask dense.
    stack = [(child, 0, 0) for child in reversed(children[0].values())]
    while stack:
        node, above, depth = stack.pop()
        place[node] = len(ids)
        ids.append(tokens[node])
        parents.append(place[above])
        depths.append(depth)
        stack += [(child, node, depth + 1) for child in reversed(children[node].values())]
    return Packed(tuple(ids), tuple(parents), tuple(depths), tuple(tuple(place[n] for n in walk) for walk in walks))


def attention_mask(packed: Packed, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return the additive mask of shape ``[1, 1, nodes, nodes]``: 0 for ancestors and self, else very low.

    Its type must be that of the attention's inputs.
    """
    size = len(packed)
    allowed = torch.zeros(size, size, dtype=torch.bool)
    for node, parent in enumerate(packed.parents):
        if parent >= 0:
            allowed[node] = allowed[parent]
        allowed[node, node] = True
    mask = torch.zeros(size, size, dtype=dtype)
    mask.masked_fill_(~allowed, torch.finfo(dtype).min)
    return mask[None, None]


def positions(packed: Packed) -> torch.Tensor:
    """Return the position ids, shape ``[1, nodes]``."""
    return torch.tensor([packed.depths])
