"""Fits the models that only count words: kernel ridge regression in its dual form, written out as weights of words.

Each label is a row; two rows are alike as far as their words are, and more so when they are of one criterion. That is
the same as one set of weights for all criteria plus one for each, which is what :mod:`interviewer.core.lexical` holds.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import torch

from interviewer.core.lexical import Linear, WordModel
from interviewer.core.text import words
from serving.train.answers import Answer

COMMON = 4
"""A word counts when at least so many training texts use it."""
RIDGE = 1.0
SHARED = 0.3
"""How much a row of another criterion says about this one."""
OFFSET = 0.5
"""How freely a criterion's own mean is fitted."""
TINY = 0.002
"""Weights of a criterion's own below this are left out of the file."""


def fit_words(answers: Sequence[Answer]) -> WordModel:
    """Fit both models on every label of ``answers``."""
    levels = [(a.answer, c, float(level)) for a in answers for c, level in a.labels.items()]
    pointed = [row for a in answers for row in _pointed(a)]
    level, evidence = fit_linear(levels), fit_linear(pointed)
    content = f"{level.model_dump_json()}{evidence.model_dump_json()}"
    return WordModel(version=hashlib.sha256(content.encode()).hexdigest()[:8], level=level, evidence=evidence)


def fit_linear(rows: Sequence[tuple[str, str, float]]) -> Linear:
    """Fit weights to rows of text, criterion and target."""
    uses = Counter(word for text in {text for text, _, _ in rows} for word in set(words(text)))
    known = sorted(w for w, n in uses.items() if n >= COMMON)
    places = {w: i for i, w in enumerate(known)}
    names = sorted({criterion for _, criterion, _ in rows})
    table = torch.zeros(len(rows), len(known), dtype=torch.float64)
    for row, (text, _, _) in enumerate(rows):
        used = [places[w] for w in set(words(text)) if w in places]
        table[row, used] = 1 / max(1, len(used)) ** 0.5
    criteria = torch.tensor([names.index(c) for _, c, _ in rows])
    targets = torch.tensor([y for _, _, y in rows], dtype=torch.float64)
    same = (criteria[:, None] == criteria[None, :]).double()
    kernel = table @ table.T * (SHARED + same) + OFFSET * same + RIDGE * torch.eye(len(rows), dtype=torch.float64)
    dual = torch.linalg.solve(kernel, targets - targets.mean())
    own, own_bias = {}, {}
    for index, name in enumerate(names):
        mine = criteria == index
        weights = (table[mine].T @ dual[mine]).tolist()
        own[name] = {w: round(x, 4) for w, x in zip(known, weights, strict=True) if abs(x) >= TINY}
        own_bias[name] = round(float(OFFSET * dual[mine].sum()), 4)
    shared = (SHARED * table.T @ dual).tolist()
    return Linear(
        bias=round(float(targets.mean()), 4),
        shared={w: round(x, 4) for w, x in zip(known, shared, strict=True)},
        own=own,
        own_bias=own_bias,
    )


def evidence_found(model: WordModel, answers: Sequence[Answer]) -> float:
    """Return the share of labelled evidence that is pointed at, among answers of two sentences and more."""
    hits = [model.point(c, a.sentences) in right for a in answers for c, right in _marked(a).items()]
    return sum(hits) / len(hits) if hits else 0.0


def _pointed(answer: Answer) -> list[tuple[str, str, float]]:
    """Return one row per sentence and criterion with evidence: 1 for the sentence that carries it."""
    return [
        (part, criterion, float(index in right))
        for criterion, right in _marked(answer).items()
        for index, part in enumerate(answer.sentences)
    ]


def _marked(answer: Answer) -> dict[str, set[int]]:
    """Return which sentences carry each criterion's evidence; nothing where there is one sentence to choose from."""
    parts = answer.sentences
    if len(parts) < 2:
        return {}
    marked = {
        criterion: {i for i, part in enumerate(parts) if text in part or (len(part) >= 8 and part in text)}
        for criterion, text in answer.evidence.items()
        if text
    }
    return {criterion: right for criterion, right in marked.items() if right}
