from __future__ import annotations

from interviewer.core.lexical import WordModel
from serving.train.answers import Answer
from serving.train.lexical import evidence_found, fit_linear, fit_words
from serving.train.metrics import spearman

GOOD = "we measured the tail under load on the held out set"
BAD = "everything was simply much faster and very robust"


def answer(n: int, text: str, level: int, criterion: str = "measurement", evidence: str | None = None) -> Answer:
    return Answer.model_validate(
        {
            "id": f"a{n}",
            "question_id": "q",
            "round": "r",
            "question": "Why?",
            "answer": text,
            "labels": {criterion: level},
            "evidence": {criterion: evidence},
        }
    )


def variants(text: str) -> list[str]:
    """Different texts with the same words, as only those that differ count as uses of a word."""
    return [f"{text} nr{n}" for n in range(6)]


def test_it_learns_which_words_go_with_a_level_of_each_criterion() -> None:
    rows = [(t, "measurement", 3.0) for t in variants(GOOD)] + [(t, "measurement", 0.0) for t in variants(BAD)]
    rows += [(t, "role_fit", 0.0) for t in variants(GOOD)] + [(t, "role_fit", 3.0) for t in variants(BAD)]
    fitted = fit_linear(rows)
    new = "the tail was measured under load"
    measured, fit, unknown = (fitted.score(c, new) for c in ("measurement", "role_fit", "never_seen"))
    assert measured > 1.8 > 1.2 > fit
    assert fit < unknown < measured
    assert spearman([y for *_, y in rows], [fitted.score(c, t) for t, c, _ in rows]) > 0.8
    assert "nr1" not in fitted.shared, "a word of too few texts is not known"


def test_it_points_at_the_sentence_like_those_that_carried_a_level() -> None:
    many = [
        answer(n, f"We tried it in week {n}. The p99 fell by half under load.", 2, evidence="The p99 fell by half")
        for n in range(6)
    ]
    model = fit_words(many)
    assert model.point("measurement", ["Under load the p99 doubled.", "We tried it."]) == 0
    assert evidence_found(model, many) == 1.0
    assert evidence_found(WordModel(version="none"), many) == 0.0, "without words the first sentence is taken"
    assert evidence_found(model, [answer(9, "One sentence only.", 1, evidence="One sentence only.")]) == 0.0


def test_the_version_is_that_of_the_weights() -> None:
    first, second = [answer(n, t, 3) for n, t in enumerate(variants(GOOD))], [answer(9, BAD, 0)]
    assert fit_words(first).version == fit_words(first).version != fit_words(first + second).version
