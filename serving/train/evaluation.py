"""Measures the evaluator on the test questions, beside what any judge has to beat and under harmless alterations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log1p
from statistics import fmean, pstdev
from typing import Any, TypeAlias

from interviewer.core.assessment import expected_level
from interviewer.core.calibration import Calibration
from interviewer.core.lexical import NO_WORDS, WordModel
from interviewer.core.rubric import Criterion, Vocabulary, anchor
from interviewer.core.text import content_words, words
from serving.train.answers import Answer, Item, Reader
from serving.train.augment import padded, shuffled
from serving.train.fit_calibration import Reading, fit_calibration, fit_cuts, steps
from serving.train.lexical import evidence_found
from serving.train.metrics import agreement, bootstrap, quadratic_kappa
from serving.train.tower import Tower

Score: TypeAlias = Callable[[Sequence[tuple[Answer, str]]], list[float]]
"""Scores answers on criteria by something simpler than a judge; higher is better."""
Levels: TypeAlias = tuple[list[int], list[float]]
"""Reported levels, and what orders the answers more finely."""
Read: TypeAlias = Callable[[Tower, Sequence[Item], WordModel], list[Reading]]
ROUNDS = 1000
UNSEEN_SEED = 990_001
"""Seed of the alterations in the test; training uses another one and other fillers."""


def measure(
    tower: Tower,
    read: Read,
    reader: Reader,
    vocabulary: Vocabulary,
    calibration: Calibration,
    word_model: WordModel,
    calibration_items: Sequence[Item],
    calibration_readings: Sequence[Reading],
    test_answers: Sequence[Answer],
) -> dict[str, Any]:
    """Return the ``test`` part of ``result.json``: what ships, its two halves alone, and what any judge has to beat."""
    items = reader.items(test_answers)
    readings = read(tower, items, word_model)
    alone = fit_calibration(_without_words(calibration_readings), "alone")
    others = {"adapter_alone": applied(alone, _without_words(readings))}
    with tower.plain():
        plain_calibration = fit_calibration(read(tower, calibration_items, NO_WORDS), "base")
        others["base_zero_shot"] = applied(plain_calibration, read(tower, items, NO_WORDS))
    scores: dict[str, Score] = {
        "answer_length": lambda pairs: [log1p(len(words(a.answer))) for a, _ in pairs],
        "keyword_recall": lambda pairs: [_keywords(a, vocabulary.criteria[c]) for a, c in pairs],
        "words_alone": lambda pairs: [word_model.height(c, a.sentences) for a, c in pairs],
    }
    for name, score in scores.items():
        others[name] = baseline(score, calibration_items, items)
    reported = applied(calibration, readings)
    found = compare(readings, reported, others)
    found["evaluator"]["evidence_found"] = round(evidence_found(word_model, test_answers), 4)
    levels, expected = reported
    truth = [r.label for r in readings]
    return {
        "answers": len(items),
        "questions": len({r.question_id for r in readings}),
        **found,
        "by_criterion": _grouped([r.criterion for r in readings], truth, levels, expected),
        "by_kind": _grouped([r.kind for r in readings], truth, levels, expected),
        "alterations": _alterations(tower, read, reader, calibration, word_model, test_answers, readings),
    }


def compare(readings: Sequence[Reading], reported: Levels, others: Mapping[str, Levels]) -> dict[str, Any]:
    """Return how well what was ``reported`` of ``readings`` agrees with the labels, and each of ``others`` as well."""
    levels, expected = reported
    truth = [r.label for r in readings]
    questions = [r.question_id for r in readings]
    return {
        "evaluator": agreement(truth, levels, expected) | {"kappa_95": _interval(questions, truth, levels)},
        "baselines": {
            name: agreement(truth, lv, ex) | {"kappa_difference_95": _difference(questions, truth, levels, lv)}
            for name, (lv, ex) in others.items()
        },
    }


def _without_words(readings: Sequence[Reading]) -> list[Reading]:
    return [replace(r, lean=0.0) for r in readings]


def applied(calibration: Calibration, readings: Sequence[Reading]) -> Levels:
    """Return what is reported of ``readings``."""
    applied = [calibration.apply(r.criterion, r.raw, r.lean) for r in readings]
    return [level for _, level in applied], [expected_level(p) for p, _ in applied]


def _grouped(
    keys: Sequence[str], truth: Sequence[int], levels: Sequence[int], expected: Sequence[float]
) -> dict[str, Any]:
    places = defaultdict(list)
    for index, key in enumerate(keys):
        places[key].append(index)
    return {
        key: agreement([truth[i] for i in at], [levels[i] for i in at], [expected[i] for i in at])
        for key, at in sorted(places.items())
    }


def _by_question(questions: Sequence[str], rows: Sequence[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    groups: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for question, row in zip(questions, rows, strict=True):
        groups[question].append(row)
    return list(groups.values())


def _interval(questions: Sequence[str], truth: Sequence[int], levels: Sequence[int]) -> tuple[float, float]:
    groups = _by_question(questions, list(zip(truth, levels, strict=True)))
    return bootstrap(groups, lambda rows: quadratic_kappa([r[0] for r in rows], [r[1] for r in rows]), ROUNDS, 7)


def _difference(
    questions: Sequence[str], truth: Sequence[int], levels: Sequence[int], other: Sequence[int]
) -> tuple[float, float]:
    groups = _by_question(questions, list(zip(truth, levels, other, strict=True)))

    def gain(rows: list[tuple[int, ...]]) -> float:
        labels = [r[0] for r in rows]
        return quadratic_kappa(labels, [r[1] for r in rows]) - quadratic_kappa(labels, [r[2] for r in rows])

    return bootstrap(groups, gain, ROUNDS, 7)


def _keywords(answer: Answer, criterion: Criterion) -> float:
    wanted = content_words(anchor(criterion, 2)) | content_words(anchor(criterion, 3))
    return len(wanted & content_words(answer.answer)) / max(1, len(wanted))


def baseline(score: Score, calibration_items: Sequence[Item], items: Sequence[Item]) -> Levels:
    """Bring a score to the scale of levels and fit its cuts on the calibration questions, like the evaluator's."""
    labels = [level for i in calibration_items for level in i.levels]
    known = score([(i.answer, c) for i in calibration_items for c in i.criteria])
    middle, height = fmean(known), fmean(labels)
    # The spread of the labels, not a regression's slope: that would draw everything to the middle before the cuts.
    slope = pstdev(labels) / (pstdev(known) or 1.0)
    cuts = fit_cuts([_level(height + slope * (x - middle)) for x in known], labels)
    raw = score([(i.answer, c) for i in items for c in i.criteria])
    return steps([_level(height + slope * (x - middle)) for x in raw], cuts), raw


def _level(value: float) -> float:
    return min(3.0, max(0.0, value))


def _alterations(
    tower: Tower,
    read: Read,
    reader: Reader,
    calibration: Calibration,
    word_model: WordModel,
    answers: Sequence[Answer],
    readings: Sequence[Reading],
) -> dict[str, Any]:
    before = {(r.answer_id, r.criterion): r for r in readings}
    found: dict[str, Any] = {}
    for name, alter in {"padded": padded, "shuffled": shuffled}.items():
        items = reader.items(alter(a, UNSEEN_SEED, unseen=True) for a in answers)
        pairs = [(before[(r.answer_id, r.criterion)], r) for r in read(tower, items, word_model)]
        old, new = applied(calibration, [p[0] for p in pairs]), applied(calibration, [p[1] for p in pairs])
        found[name] = {
            "mean_change_of_expected_level": round(fmean(b - a for a, b in zip(old[1], new[1], strict=True)), 4),
            "same_level": round(fmean(a == b for a, b in zip(old[0], new[0], strict=True)), 4),
        }
    return found
