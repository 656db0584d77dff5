"""The words that tell a flag: a linear model over the words of the one sentence that is worded most like it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from interviewer.core.flags import Heard, heard, strengths, worded
from interviewer.core.text import sentences
from serving.train.answers import Answer, folds

WORD_RIDGE = 0.1
STEPS = 250
COMMON = 4
"""Sentences that have a word at least, for it to count."""
TELLING = 100
"""Words that a flag keeps."""
NOTHING = heard("")
BY_WORDING = (
    *("knows_tools_not_tradeoffs", "recites_architecture", "deterministic_mindset", "more_is_better"),
    *("bluffing", "blames_others", "product_sense", "honest_about_limits"),
)
"""Flags that are things said, and that words tell better on held-out questions. The others are mostly something that an
answer lacks, which no sentence words."""
SOFT = 0.3
"""How sharply the best sentence is picked while fitting; it is the maximum when a flag is read."""


@dataclass(frozen=True)
class Cued:
    """An answer with the cues of its sentences and of the whole, found once."""

    answer: Answer
    sentences: tuple[Heard, ...]
    whole: Mapping[str, float]


def cued(answer: Answer) -> Cued:
    """Find the cues of an answer."""
    parts = [span.of(answer.answer) for span in sentences(answer.answer)]
    return Cued(answer, tuple(heard(part) for part in parts), strengths(answer.answer))


def fit_words(rows: Sequence[Cued], telling: int = TELLING) -> dict[str, dict[str, float]]:
    """Fit the words of the one sentence that is worded most like each flag of :data:`BY_WORDING`; nothing else is seen.

    Fitted twice: with every common word, and with those that then told most.
    """
    uses = Counter(word for row in rows for part in row.sentences for word in part.words)
    common = sorted(word for word, n in uses.items() if n >= COMMON)
    parts = [part for row in rows for part in row.sentences or (NOTHING,)]
    owner = torch.tensor([n for n, row in enumerate(rows) for _ in row.sentences or (NOTHING,)])
    said = _words(parts, common)
    truth = torch.tensor([[float(flag in row.answer.flags) for flag in BY_WORDING] for row in rows])
    weights = _fit_words(said, owner, truth, torch.ones(len(common), len(BY_WORDING)))
    least = weights.abs().topk(min(telling, len(common)), dim=0).values[-1]
    weights = _fit_words(said, owner, truth, (weights.abs() >= least).float())
    return {
        flag: {common[i]: float(weights[i, n]) for i in weights[:, n].nonzero()[:, 0].tolist()}
        for n, flag in enumerate(BY_WORDING)
    }


def _fit_words(said: torch.Tensor, owner: torch.Tensor, truth: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    weights = torch.zeros(allowed.shape, requires_grad=True)
    bias = torch.full((truth.shape[1],), -3.0, requires_grad=True)
    optimiser = torch.optim.Adam([weights, bias], lr=0.05)
    for _ in range(STEPS):
        optimiser.zero_grad()
        odds = best_of(torch.sparse.mm(said, weights * allowed), owner, len(truth)) + bias
        loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, truth, reduction="sum")
        (loss + WORD_RIDGE / 2 * (weights**2).sum()).backward()
        optimiser.step()
    return (weights * allowed).detach()


def _words(parts: Sequence[Heard], words: Sequence[str]) -> torch.Tensor:
    """Return how much each sentence has of each word, ``[sentence, word]``, sparse; as ``worded`` weighs them."""
    place = {word: n for n, word in enumerate(words)}
    found = [(n, place[w], len(part.words) ** -0.5) for n, part in enumerate(parts) for w in part.words if w in place]
    at = torch.tensor([[n for n, _, _ in found], [w for _, w, _ in found]], dtype=torch.long)
    size = (len(parts), len(words))
    return torch.sparse_coo_tensor(at, torch.tensor([x for _, _, x in found]), size, check_invariants=True).coalesce()


def wording(words: Mapping[str, float], row: Cued) -> float:
    """Return how much the words of an answer's most telling sentence say for a flag."""
    return max((worded(words, part) for part in row.sentences), default=0.0)


def unseen_wording(rows: Sequence[Cued]) -> list[dict[str, float]]:
    """Return what the words of each answer say for each flag, by models that never saw its question."""
    found: list[dict[str, float]] = [{} for _ in rows]
    for out in folds(row.answer for row in rows):
        words = fit_words([row for row in rows if row.answer.question_id not in out])
        for n, row in enumerate(rows):
            if row.answer.question_id in out:
                found[n] = {flag: wording(words[flag], row) for flag in BY_WORDING}
    return found


def best_of(scores: torch.Tensor, owner: torch.Tensor, count: int) -> torch.Tensor:
    """Return a smooth maximum of the scores of each answer's sentences: ``[sentence, any]`` to ``[count, any]``."""
    size = (count, scores.shape[1])
    low = torch.full(size, -torch.inf, dtype=scores.dtype)
    top = low.scatter_reduce(0, owner[:, None].expand_as(scores), scores.detach(), "amax")
    total = torch.zeros(size, dtype=scores.dtype).index_add(0, owner, ((scores - top[owner]) / SOFT).exp())
    return top + SOFT * total.log()
