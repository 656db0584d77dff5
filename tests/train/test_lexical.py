from __future__ import annotations

from serving.train.answers import Answer
from serving.train.lexical import WordRidge
from serving.train.metrics import spearman


def answer(n: int, text: str, level: int, criterion: str = "measurement") -> Answer:
    return Answer.model_validate(
        {
            "id": f"a{n}",
            "question_id": "q",
            "round": "r",
            "question": "Why?",
            "answer": text,
            "labels": {criterion: level},
        }
    )


def test_it_learns_which_words_go_with_a_level_of_each_criterion() -> None:
    good = "we measured the tail under load on the held out set"
    bad = "everything was simply much faster and very robust"
    known = [answer(n, good, 3) for n in range(6)] + [answer(n + 6, bad, 0) for n in range(6)]
    known += [answer(n + 12, good, 0, "role_fit") for n in range(6)] + [
        answer(n + 18, bad, 3, "role_fit") for n in range(6)
    ]
    judge = WordRidge(known)
    new = answer(99, "the tail was measured under load", 3)
    measured, fit, unknown = judge.scores([(new, "measurement"), (new, "role_fit"), (new, "never_seen")])
    assert measured > 1.8 > 1.2 > fit
    assert fit < unknown < measured
    scores = judge.scores([(a, next(iter(a.labels))) for a in known])
    assert spearman([float(next(iter(a.labels.values()))) for a in known], scores) > 0.8
