"""Fits the committee's flags: ``python -m serving.train.flags`` rewrites ``interviewer/core/flag_weights.py``.

A flag is a logistic model over the levels of its criteria, cues of the whole answer, and cues and words of its best
sentence, fitted on the training and calibration questions with levels as a judge reads them: each label is replaced by
a distribution drawn from :data:`CONFUSION`, so that the weights do not rest on levels that are always right, and so
that they fit any judge. What cannot be seen in 1,800 answers is given: which criteria and cues a flag may use. The cut
that becomes probability 0.5 is chosen on predictions for questions that the weights were not fitted on.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from math import log
from textwrap import wrap
from typing import NamedTuple

import torch

from interviewer.core.assessment import Probabilities, normalise
from interviewer.core.flag_weights import FlagWeights
from interviewer.core.flags import STRENGTHS, leaning, logistic, shown, strengths, supported
from serving.train import PROJECT
from serving.train.answers import Answer, folds, load_answers, update_split
from serving.train.flag_wording import Cued, best_of, cued, fit_words, unseen_wording, wording

CONFUSION = ((0.6, 0.3, 0.1, 0.0), (0.25, 0.45, 0.25, 0.05), (0.05, 0.25, 0.45, 0.25), (0.0, 0.1, 0.35, 0.55))
"""Which level is read where another one is right, row by row: quadratic kappa 0.70."""
JITTER = 0.3
DRAWS = 3
"""Readings that are drawn for each answer."""
RIDGE = 0.3
RARE = 30
"""Labelled answers below which F1 says little."""
NEAR = 0.04
"""F1 by which their cuts may differ and still be equal."""
CUTS = tuple(n / 100 for n in range(5, 91))
BOTH_WAYS = frozenset({"knows_tools_not_tradeoffs", "strong_generalist_lacks_llm_intuition"})
"""Flags that decide most: to miss one is as bad as to raise it wrongly."""
LOW = (0.7, 0.2, 0.1, 0.0)
"""A criterion that clearly was not shown."""
SOME = (0.2, 0.6, 0.2, 0.0)
"""A criterion that was named."""
QUIET = 0.5
"""By how much, in log odds, levels alone stay short of a flag: the words have to say it, and more than by chance."""
BY_LEVELS = STRENGTHS | {"bluffing"}
"""Flags that levels alone may raise: strengths are not read from low ones, and a bluff is a level by itself."""


class Shape(NamedTuple):
    """What a flag may be read from."""

    criteria: tuple[str, ...]
    sentence: tuple[str, ...]
    """Cues of the best sentence."""
    whole: tuple[str, ...] = ()
    """Cues of the answer as a whole: what speaks against the flag, or what has to come more than once."""


SHAPES: Mapping[str, Shape] = {
    "knows_tools_not_tradeoffs": Shape(
        (
            *("tradeoff_reasoning", "finetuning_judgement", "llm_serving_depth", "problem_framing"),
            *("managing_uncertainty", "hands_on_specificity", "measurement", "constraint_adaptation"),
        ),
        ("listed", "any_will_do", "there_is", "generic_virtue"),
        ("stock_design", "parts", "theory"),
    ),
    "strong_generalist_lacks_llm_intuition": Shape(
        (
            *("llm_serving_depth", "experience_transfer", "constraint_adaptation"),
            *("managing_uncertainty", "intellectual_honesty", "problem_framing"),
        ),
        ("generic_ops", "like_any_service"),
        ("llm_mechanics", "generic_ops", "hedge", "hard_claim", "parts"),
    ),
    "recites_architecture": Shape(
        ("problem_framing", "tradeoff_reasoning", "llm_serving_depth"), ("parts", "stock_design", "listed"), ("parts",)
    ),
    "deterministic_mindset": Shape(
        ("managing_uncertainty", "intellectual_honesty", "experience_transfer"),
        ("temperature_zero", "cannot_happen", "tests"),
        ("temperature_zero",),
    ),
    "theory_without_constraint": Shape(
        ("tradeoff_reasoning", "measurement", "llm_serving_depth", "experience_transfer"), ("theory",), ("theory",)
    ),
    "no_business_narrative": Shape(
        ("business_impact", "measurement"), ("technical_pride",), ("people_money", "technical_pride")
    ),
    "throughput_tunnel_vision": Shape(
        ("measurement", "llm_serving_depth", "constraint_adaptation", "tradeoff_reasoning"),
        ("throughput", "only_metric"),
        ("tail", "throughput"),
    ),
    "more_is_better": Shape(("finetuning_judgement", "data_intuition", "tradeoff_reasoning"), ("bigger",), ("bigger",)),
    "api_tourist": Shape(
        ("hands_on_specificity", "implementation_correctness", "llm_serving_depth"),
        ("chat_only", "not_mine"),
        ("chat_only",),
    ),
    "bluffing": Shape(
        ("intellectual_honesty", "llm_serving_depth", "measurement"), ("hard_claim",), ("hedge", "hard_claim")
    ),
    "blames_others": Shape(("failure_reflection", "stakeholder_decision"), ("blame",), ("own_cause", "blame")),
    "decision_chain": Shape(
        (
            *("tradeoff_reasoning", "finetuning_judgement", "llm_serving_depth"),
            *("constraint_adaptation", "managing_uncertainty"),
        ),
        ("condition", "link"),
        ("condition", "link"),
    ),
    "product_sense": Shape(
        ("business_impact", "tradeoff_reasoning", "experience_transfer"),
        ("second_order", "loser_accepted", "people_money"),
        ("second_order", "loser_accepted"),
    ),
    "honest_about_limits": Shape(("intellectual_honesty",), ("hedge", "settle"), ("hedge",)),
}


class Found(NamedTuple):
    """How well a flag is told on questions that its weights were not fitted on."""

    support: int
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def drawn(labels: Mapping[str, int], seed: str) -> dict[str, Probabilities]:
    """Return distributions as a judge might have read them, where ``labels`` are right; the same for the same seed."""
    chance = random.Random(seed)
    found = {}
    for criterion, label in sorted(labels.items()):
        read = chance.choices(range(4), CONFUSION[label])[0]
        weights = [CONFUSION[level][read] * chance.lognormvariate(0, JITTER) for level in range(4)]
        found[criterion] = normalise(tuple(weights))
    return found


def fit_flag(flag: str, rows: Sequence[Cued], said: Sequence[float], words: Mapping[str, float]) -> FlagWeights:
    """Fit the weights of one flag; 0.5 is not yet where it is raised.

    Args:
        flag: Its id.
        rows: Answers.
        said: What the words of each answer say for the flag, by a model that never saw its question.
        words: The words by a model that saw all; what the others are worth is fitted and weighs them.
    """
    shape = SHAPES[flag]
    owners, parts = [], []
    for n, row in enumerate(rows):
        owners += [n] * max(1, len(row.sentences))
        parts += [[s.cues[c] for c in shape.sentence] for s in row.sentences] or [[0.0] * len(shape.sentence)]
    owner, sentence = torch.tensor(owners), torch.tensor(parts, dtype=torch.float64)
    draws = [
        [[*_features(shape, row, _reading(row, draw)), x] for row, x in zip(rows, said, strict=True)]
        for draw in range(DRAWS)
    ]
    table = torch.tensor([line for draw in draws for line in draw], dtype=torch.float64)
    truth = torch.tensor([float(flag in row.answer.flags) for row in rows] * DRAWS, dtype=torch.float64)
    spoken = torch.ones(len(shape.sentence), dtype=torch.float64, requires_grad=True)
    rest = torch.zeros(table.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.tensor(-2.0, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([spoken, rest, bias], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        best = best_of((sentence @ spoken)[:, None], owner, len(rows))[:, 0]
        odds = best.repeat(DRAWS) + table @ rest + bias
        loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, truth, reduction="sum") / DRAWS
        loss = loss + RIDGE / 2 * ((spoken**2).sum() + (rest**2).sum())
        loss.backward()
        return loss

    optimiser.step(closure)
    *values, factor = (round(x, 3) for x in rest.tolist())
    count = 4 * len(shape.criteria)
    return FlagWeights(
        bias=round(bias.item(), 3),
        levels={c: _four(values[4 * i : 4 * i + 4]) for i, c in enumerate(shape.criteria)},
        overall=(values[count], values[count + 1]),
        sentence=dict(zip(shape.sentence, (round(x, 3) for x in spoken.tolist()), strict=True)),
        words={word: weight for word, x in words.items() if (weight := round(max(0.0, factor) * x, 2))},
        whole=dict(zip(shape.whole, values[count + 2 :], strict=True)),
    )


def _features(shape: Shape, row: Cued, levels: Mapping[str, Probabilities]) -> list[float]:
    found: list[float] = []
    for criterion in shape.criteria:
        p = levels.get(criterion)
        found += [1.0, p[0], p[1], p[3]] if p else [0.0] * 4
    read = list(levels.values())
    found += [sum(p[level] for p in read) / len(read) for level in (0, 3)] if read else [0.0, 0.0]
    return found + [row.whole[c] for c in shape.whole]


def _four(values: Sequence[float]) -> tuple[float, float, float, float]:
    a, b, c, d = values
    return (a, b, c, d)


def _reading(row: Cued, draw: int, seen: str = "fit") -> dict[str, Probabilities]:
    return drawn(row.answer.labels, f"{seen}:{draw}:{row.answer.id}")


def probability(flag: str, weights: FlagWeights, row: Cued, levels: Mapping[str, Probabilities]) -> float:
    """Return the probability of a flag, as :func:`interviewer.core.flags.read_flags` would."""
    if not supported(flag, weights, levels):
        return 0.0
    best = max((shown(weights, part) for part in row.sentences), default=0.0)
    return logistic(leaning(weights, levels, row.whole) + best + wording(weights.words, row))


def held_out(rows: Sequence[Cued], progress: Callable[[str], None]) -> dict[str, list[tuple[float, bool]]]:
    """Return probability and label of every answer for each flag, several readings each, by unseen weights."""
    found: dict[str, list[tuple[float, bool]]] = {flag: [] for flag in SHAPES}
    for out in folds(row.answer for row in rows):
        seen = [row for row in rows if row.answer.question_id not in out]
        said, words = unseen_wording(seen), fit_words(seen)
        for flag in SHAPES:
            weights = fit_flag(flag, seen, [by.get(flag, 0.0) for by in said], words.get(flag, {}))
            for row in (row for row in rows if row.answer.question_id in out):
                for draw in range(DRAWS):
                    levels = _reading(row, draw, "test")
                    found[flag].append((probability(flag, weights, row, levels), flag in row.answer.flags))
        progress(f"held out {len(out)} questions")
    return found


def measured(predictions: Sequence[tuple[float, bool]], cut: float) -> Found:
    """Return how well a flag is told when it is raised from ``cut`` on."""
    right = sum(p >= cut and truth for p, truth in predictions)
    raised, wanted = sum(p >= cut for p, _ in predictions), sum(truth for _, truth in predictions)
    return Found(wanted // DRAWS, right / max(1, raised), right / max(1, wanted))


def best_cut(predictions: Sequence[tuple[float, bool]], *, balanced: bool, strength: bool) -> float:
    """Return the cut with the best F1, ``balanced`` also by the worse of precision and recall; the middle of equals.

    Where few answers earned a weakness, cuts that are nearly as good are equal and it is the lowest: who reads the
    report can dismiss a flag by its sentence, but not see one that is missing. A strength is not given away like that.
    """

    def worth(cut: float) -> float:
        found = measured(predictions, cut)
        return round(found.f1 + (min(found.precision, found.recall) if balanced else 0.0), 6)

    rare = not strength and measured(predictions, 0.0).support < RARE
    top = max(worth(cut) for cut in CUTS)
    equal = [cut for cut in CUTS if worth(cut) >= top - (NEAR if rare else 0.0)]
    return equal[0] if rare else equal[len(equal) // 2]


def quiet_bias(weights: FlagWeights) -> float:
    """Return the highest bias with which low levels do not raise a flag as long as nothing was said."""
    low = dict.fromkeys(weights.levels, LOW)
    choices = [low, *({one: LOW, other: SOME} for one, other in permutations(low, 2))]
    alone = max(leaning(weights, levels, strengths("")) for levels in choices)
    return weights.bias - alone - QUIET


def fit_flags(
    answers: Sequence[Answer], progress: Callable[[str], None]
) -> tuple[dict[str, FlagWeights], dict[str, Found]]:
    """Fit every flag, with 0.5 where it is best raised, and say how well each is told on held-out questions."""
    rows = [cued(a) for a in answers]
    weights, told = {}, {}
    predictions = held_out(rows, progress)
    said, words = unseen_wording(rows), fit_words(rows)
    for flag in SHAPES:
        cut = best_cut(predictions[flag], balanced=flag in BOTH_WAYS, strength=flag in STRENGTHS)
        fitted = fit_flag(flag, rows, [by.get(flag, 0.0) for by in said], words.get(flag, {}))
        bias = fitted.bias - log(cut / (1 - cut))
        if flag not in BY_LEVELS:
            bias = min(bias, quiet_bias(fitted))
        weights[flag] = fitted.model_copy(update={"bias": round(bias, 3)})
        told[flag] = found = measured(predictions[flag], cut)
        progress(f"{flag}: n {found.support}, precision {found.precision:.2f}, recall {found.recall:.2f}")
    macro = sum(found.f1 for found in told.values()) / len(told)
    progress(f"macro F1 on held-out questions {macro:.3f}")
    return weights, told


def to_module(weights: Mapping[str, FlagWeights]) -> str:
    """Return the source of ``interviewer/core/flag_weights.py`` with these weights."""
    source = (PROJECT / "interviewer" / "core" / "flag_weights.py").read_text(encoding="utf-8")
    head, _, _ = source.partition("VERSION = ")
    version = hashlib.sha256("".join(w.model_dump_json() for w in weights.values()).encode()).hexdigest()[:8]
    lines = [f'VERSION = "{version}"', "", "WEIGHTS: Mapping[str, FlagWeights] = {"]
    for flag, w in weights.items():
        lines += [f'    "{flag}": FlagWeights(', f"        bias={w.bias!r},", "        levels={"]
        lines += [f'            "{c}": {four!r},' for c, four in w.levels.items()]
        lines += ["        },", f"        overall={w.overall!r},"]
        if w.words:
            told = "; ".join(f"{word} {x!r}" for word, x in sorted(w.words.items(), key=lambda item: -item[1]))
            lines += ["        words=listed(", *(f'            "{part} "' for part in wrap(told, 104)), "        ),"]
        for name in ("sentence", "whole"):
            cues: Mapping[str, float] = getattr(w, name)
            if cues:
                lines += [f"        {name}={{", *(f'            "{c}": {x!r},' for c, x in cues.items()), "        },"]
        lines += ["    ),"]
    return head + "\n".join([*lines, "}", ""])


def main() -> None:
    """Fit and write."""
    torch.set_num_threads(1)  # what one thread adds up is the same everywhere
    data = PROJECT / "eval" / "data"
    answers = load_answers(sorted((data / "answers").glob("set_*.jsonl")))
    split = update_split(data / "split.json", answers, write=False)
    seen = [a for a in answers if split[a.question_id] != "test"]
    weights, _ = fit_flags(seen, lambda line: print(line, file=sys.stderr))  # noqa: T201
    (PROJECT / "interviewer" / "core" / "flag_weights.py").write_text(to_module(weights), encoding="utf-8")


if __name__ == "__main__":
    main()
