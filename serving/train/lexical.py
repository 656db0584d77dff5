"""Fits the models that only count words: kernel ridge regression in its dual form, written out as weights of features.

Each label is a row; two rows are alike as far as their words and pairs are, and more so when they are of one criterion.
That is the same as one set of weights for all criteria plus one for each, which is what :mod:`interviewer.core.lexical`
holds. How the parts are mixed is fitted on answers to questions that the parts were not fitted on.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import torch

from interviewer.core.lexical import Linear, Mix, WordModel, features
from serving.train.answers import Answer, folds
from serving.train.augment import fillers

Row: TypeAlias = tuple[str, str, float]
"""Text, criterion, target."""

COMMON = 3
"""A feature counts when at least so many training texts have it."""
RIDGE = 0.4
SHARED = 0.1
"""How much a row of another criterion says about this one."""
OFFSET = 0.5
"""How freely a criterion's own mean is fitted."""
TINY = 0.01
"""Weights of a criterion's own below this are left out of the file: a third of its size, nothing of its agreement."""
MIX_RIDGE = 0.1


def fit_words(answers: Sequence[Answer]) -> WordModel:
    """Fit all parts on every label of ``answers``."""
    parts = _parts(answers)
    mix = _mix(answers)
    content = "".join(part.model_dump_json() for part in (*parts, mix))
    version = hashlib.sha256(content.encode()).hexdigest()[:8]
    level, shown, evidence = parts
    return WordModel(version=version, level=level, shown=shown, evidence=evidence, mix=mix)


def _parts(answers: Sequence[Answer]) -> tuple[Linear, Linear, Linear]:
    return (
        fit_linear([(a.answer, c, float(level)) for a in answers for c, level in a.labels.items()]),
        fit_apart([row for a in answers for row in _shown(a)] + _nothing(answers)),
        fit_apart([row for a in answers for row in _pointed(a)]),
    )


def fit_linear(rows: Sequence[Row], shared: float = SHARED) -> Linear:
    """Fit weights to rows; those of all criteria help each other as far as ``shared`` says."""
    names = sorted({criterion for _, criterion, _ in rows})
    known, table = _table([text for text, _, _ in rows])
    criteria = torch.tensor([names.index(c) for _, c, _ in rows])
    targets = torch.tensor([y for _, _, y in rows], dtype=torch.float64)
    same = (criteria[:, None] == criteria[None, :]).double()
    kernel = table @ table.T * (shared + same) + OFFSET * same + RIDGE * torch.eye(len(rows), dtype=torch.float64)
    dual = torch.linalg.solve(kernel, targets - targets.mean())
    own, own_bias = {}, {}
    for index, name in enumerate(names):
        mine = criteria == index
        own[name] = _weights(known, table[mine].T @ dual[mine])
        own_bias[name] = round(float(OFFSET * dual[mine].sum()), 4)
    weights = (shared * table.T @ dual).tolist()
    return Linear(
        bias=round(float(targets.mean()), 4),
        shared={w: round(x, 4) for w, x in zip(known, weights, strict=True)},
        own=own,
        own_bias=own_bias,
    )


def fit_apart(rows: Sequence[Row]) -> Linear:
    """Fit weights to rows, each criterion by itself: a sentence that shows one may show nothing of another."""
    fitted = {
        name: fit_linear([row for row in rows if row[1] == name], shared=0.0)
        for name in sorted({criterion for _, criterion, _ in rows})
    }
    return Linear(
        shared=dict.fromkeys(sorted({w for part in fitted.values() for w in part.shared}), 0.0),
        own={name: part.own[name] for name, part in fitted.items()},
        own_bias={name: round(part.bias + part.own_bias[name], 4) for name, part in fitted.items()},
    )


def _table(texts: Sequence[str]) -> tuple[list[str], torch.Tensor]:
    """Return the known features, and which text has which, ``[text, feature]``, each row of length one."""
    found = {text: features(text) for text in texts}
    uses = Counter(feature for some in found.values() for feature in some)
    known = sorted(w for w, n in uses.items() if n >= COMMON)
    places = {w: i for i, w in enumerate(known)}
    table = torch.zeros(len(texts), len(known), dtype=torch.float64)
    for row, text in enumerate(texts):
        used = [places[w] for w in found[text] if w in places]
        table[row, used] = 1 / max(1, len(used)) ** 0.5
    return known, table


def _weights(known: Sequence[str], weights: torch.Tensor) -> dict[str, float]:
    return {w: round(x, 3) for w, x in zip(known, weights.tolist(), strict=True) if abs(x) >= TINY}


def _mix(answers: Sequence[Answer]) -> Mix:
    """Fit how the whole and the best sentence are mixed, each read by parts that never saw its question."""
    if not all(left := folds(answers)):
        return Mix()
    names = sorted({c for a in answers for c in a.labels})
    rows, targets = [], []
    for out in left:
        level, shown, _ = _parts([a for a in answers if a.question_id not in out])
        for a in (a for a in answers if a.question_id in out and a.sentences):
            for c, label in a.labels.items():
                best = max(shown.score(c, s) for s in a.sentences)
                rows.append([level.score(c, " ".join(a.sentences)), best, 1.0, *(float(c == n) for n in names)])
                targets.append(float(label))
    x, y = torch.tensor(rows, dtype=torch.float64), torch.tensor(targets, dtype=torch.float64)
    penalty = MIX_RIDGE * torch.eye(x.shape[1], dtype=torch.float64)
    found = [round(w, 4) for w in torch.linalg.solve(x.T @ x + penalty, x.T @ y).tolist()]
    return Mix(whole=found[0], best=found[1], bias=found[2], own_bias=dict(zip(names, found[3:], strict=True)))


def evidence_found(model: WordModel, answers: Sequence[Answer]) -> float:
    """Return the share of labelled evidence that is pointed at, among answers of two sentences and more."""
    hits = [model.point(c, a.sentences) in right for a in answers for c, right in _marked(a).items()]
    return sum(hits) / len(hits) if hits else 0.0


def _shown(answer: Answer) -> list[Row]:
    """Return one row per sentence and criterion: the level for the sentence that carries it, 0 for all others."""
    return [
        (part, criterion, float(level) if index in right else 0.0)
        for criterion, level in answer.labels.items()
        for right in [_carries(answer, criterion)]
        for index, part in enumerate(answer.sentences)
    ]


def _nothing(answers: Sequence[Answer]) -> list[Row]:
    """Return rows of sentences that could stand in any answer, terms of the trade among them, and show nothing."""
    return [(text, c, 0.0) for c in sorted({c for a in answers for c in a.labels}) for text in fillers()]


def _pointed(answer: Answer) -> list[Row]:
    """Return one row per sentence and criterion with evidence: 1 for the sentence that carries it."""
    return [
        (part, criterion, float(index in right))
        for criterion, right in _marked(answer).items()
        for index, part in enumerate(answer.sentences)
    ]


def _marked(answer: Answer) -> dict[str, set[int]]:
    """Return which sentences carry each criterion's evidence; nothing where there is one sentence to choose from."""
    if len(answer.sentences) < 2:
        return {}
    return {c: right for c in answer.evidence if (right := _carries(answer, c))}


def _carries(answer: Answer, criterion: str) -> set[int]:
    """Return the sentences that the evidence of a criterion lies in."""
    text = answer.evidence.get(criterion)
    if not text:
        return set()
    return {i for i, part in enumerate(answer.sentences) if text in part or (len(part) >= 8 and part in text)}
