"""A flag of a round is earned on one question; the rest of the round can take it away."""

from __future__ import annotations

import pytest

from interviewer.core.assessment import Probabilities
from interviewer.core.coverage import coverage
from interviewer.core.flags import RAISED, read_flags
from interviewer.core.round_flags import round_flags

from .builders import HONEST, IMPACT, MEASURE, TRADE, Log, assessed, question, rubric, target

LISTED = (
    "There is vLLM, TensorRT-LLM, SGLang, TGI and Ollama, and then LoRA, QLoRA, AWQ and GPTQ. Any of them will do, "
    "they are all good."
)
ROUND = rubric(
    *(
        question(name, target(TRADE, name), target(MEASURE, name), target(IMPACT, name))
        for name in ("cache", "batch", "rank")
    )
)
FLAG = "knows_tools_not_tradeoffs"


def raised(log: Log) -> dict[str, float]:
    state = log.state
    return {f.flag: f.probability for f in round_flags(state, coverage(state, ROUND)) if f.probability >= RAISED}


def test_one_answer_earns_it_and_its_turn_is_quoted() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 0}), "We tried it on Tuesday.")
    log.turn_on("batch", assessed(**{TRADE: 0}), LISTED)
    (found,) = [f for f in round_flags(log.state, coverage(log.state, ROUND)) if f.flag == FLAG]
    assert found.probability >= RAISED
    assert [q.turn for q in found.evidence] == [2]
    assert LISTED[found.evidence[0].start : found.evidence[0].end] == found.evidence[0].text


def test_words_on_one_question_and_a_low_level_on_another_do_not_make_one() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 3}), LISTED)
    log.turn_on("batch", assessed(**{TRADE: 0}), "We tried it on Tuesday and looked at what came out.")
    assert FLAG not in raised(log)


def test_a_round_that_went_well_takes_it_away() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 0}), LISTED)
    assert FLAG in raised(log)
    log.turn_on("batch", assessed(**{TRADE: 3}), "We tried it on Tuesday.")
    log.turn_on("rank", assessed(**{TRADE: 3}), "We tried it on Friday.")
    assert FLAG not in raised(log)


def test_an_answer_that_could_not_be_read_earns_nothing() -> None:
    log = Log().choose("cache").ask().answer(LISTED)
    assert raised(log) == {}


ADMITS = "I haven't run that, so I can't tell you the number. Until then I would expect about half, and I'd check it."


@pytest.mark.parametrize(("read", "stands"), [((0.26, 0.4, 0.3, 0.04), False), ((0.05, 0.2, 0.6, 0.15), True)])
def test_a_strength_is_reasoned_more_likely_than_not(read: Probabilities, stands: bool) -> None:
    honest = rubric(
        *(question(n, target(HONEST, n), target(MEASURE, n), target(IMPACT, n)) for n in ("cache", "batch", "rank"))
    )
    log = Log().turn_on("cache", assessed(**{HONEST: read}), ADMITS)
    alone = {f.flag: f.probability for f in read_flags({HONEST: read}, ADMITS)}
    assert alone["honest_about_limits"] >= RAISED, "the words and one answer would do"
    flags = {f.flag for f in round_flags(log.state, coverage(log.state, honest)) if f.probability >= RAISED}
    assert ("honest_about_limits" in flags) is stands
