"""Flags: patterns that a committee writes down, read from level distributions and from cues in the words.

Each flag is a logistic model (:mod:`interviewer.core.flag_weights`, fitted on labelled answers by
``python -m serving.train.flags``) over how its criteria were read, over cues (:mod:`interviewer.core.flag_cues`) and
over telling words. What counts most is the one sentence that shows it best: a flag is earned by a sentence, and that
sentence is its evidence. Two rules stand above the weights:

- a flag none of whose criteria was assessed is not raised;
- words alone raise nothing: one of its criteria must have been read low (for a strength, high) with some probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, sqrt
from typing import NamedTuple

from interviewer.core.assessment import FlagReading, Probabilities
from interviewer.core.flag_cues import CUES
from interviewer.core.flag_weights import WEIGHTS, FlagWeights
from interviewer.core.lexical import features
from interviewer.core.text import Quote, Span, plain, sentences

RAISED = 0.5
"""Probability from which a flag is shown as raised; where precision and recall balance on the training questions."""
SHOWN = 0.2
"""Probability below which a flag is not worth a line."""
SUREST = 0.99
"""Highest probability that is reported: two careful readers do not agree more often than that on any flag."""
SUPPORT = 0.25
"""Least probability that one of a flag's criteria is low, or high for a strength."""

STRENGTHS = frozenset({"decision_chain", "product_sense", "honest_about_limits"})
SERIOUS = frozenset(
    {
        "knows_tools_not_tradeoffs",
        "strong_generalist_lacks_llm_intuition",
        "recites_architecture",
        "bluffing",
        "deterministic_mindset",
        "blames_others",
    }
)
"""Flags that cap the verdict at lean no hire."""


def read_flags(
    levels: Mapping[str, Probabilities],
    said: str | Sequence[Quote],
    evidence: Mapping[str, tuple[Quote, ...]] | None = None,
) -> tuple[FlagReading, ...]:
    """Read all flags from level distributions and the candidate's words.

    Args:
        levels: Distribution per assessed criterion.
        said: The candidate's words: as quotes, so that a flag carries the sentence that shows it, or as one text.
        evidence: Quotes per criterion, for a flag that no sentence shows.

    Returns:
        Flags with a probability of at least 0.2, most probable first.
    """
    stretches = [said] if isinstance(said, str) else [q.text for q in said]
    spoken = [(at, span) for at, text in enumerate(stretches) for span in sentences(text)]
    parts = [heard(span.of(stretches[at])) for at, span in spoken]
    whole = strengths("\n".join(stretches))
    found = []
    for flag, weights in WEIGHTS.items():
        if not supported(flag, weights, levels):
            continue
        by_cues = max(((shown(weights, part), -n) for n, part in enumerate(parts)), default=(0.0, 0))
        by_words = max(((worded(weights.words, part), -n) for n, part in enumerate(parts)), default=(0.0, 0))
        probability = round(min(SUREST, logistic(leaning(weights, levels, whole) + by_cues[0] + by_words[0])), 3)
        if probability >= SHOWN:
            quotes: tuple[Quote, ...] = ()
            best, at = max(by_cues, by_words)
            if best > 0 and not isinstance(said, str):
                quotes = (_cut(said[spoken[-at][0]], spoken[-at][1]),)
            elif evidence:
                quotes = next((evidence[c] for c in weights.levels if evidence.get(c)), ())
            found.append(FlagReading(flag=flag, probability=probability, evidence=quotes))
    return tuple(sorted(found, key=lambda f: (-f.probability, f.flag)))


def supported(flag: str, weights: FlagWeights, levels: Mapping[str, Probabilities]) -> bool:
    """Return whether what was read on a flag's criteria leaves room for it, whatever the words say."""
    mine = [levels[c] for c in weights.levels if c in levels]
    return any((sum(p[2:]) if flag in STRENGTHS else sum(p[:2])) >= SUPPORT for p in mine)


class Heard(NamedTuple):
    """What a sentence gives away."""

    cues: Mapping[str, float]
    """Strength of every cue, 0 to 1."""
    words: tuple[str, ...]
    """Its distinct words and pairs of neighbours."""


def strengths(text: str) -> dict[str, float]:
    """Return the strength of every cue in ``text``."""
    said = plain(text)
    return {name: cue(said) for name, cue in CUES.items()}


def heard(sentence: str) -> Heard:
    """Return the strength of every cue in ``sentence``, and its words."""
    return Heard(strengths(sentence), features(plain(sentence)))


def shown(weights: FlagWeights, sentence: Heard) -> float:
    """Return how much the cues of one sentence speak for a flag, in log odds."""
    return sum(weight * sentence.cues[name] for name, weight in weights.sentence.items())


def worded(words: Mapping[str, float], sentence: Heard) -> float:
    """Return how much the wording of one sentence speaks for a flag, in log odds; a word counts less in a long one."""
    if not words:
        return 0.0
    return sum(words.get(word, 0.0) for word in sentence.words) / sqrt(max(1, len(sentence.words)))


def leaning(weights: FlagWeights, levels: Mapping[str, Probabilities], cues: Mapping[str, float]) -> float:
    """Return what the levels, and the ``cues`` of the whole answer, say for a flag, in log odds."""
    total = weights.bias + sum(weight * cues[name] for name, weight in weights.whole.items())
    for criterion, (assessed, zero, one, three) in weights.levels.items():
        p = levels.get(criterion)
        total += assessed + zero * p[0] + one * p[1] + three * p[3] if p else 0.0
    zero, three = weights.overall
    return total + zero * _mean(p[0] for p in levels.values()) + three * _mean(p[3] for p in levels.values())


def logistic(odds: float) -> float:
    """Return the probability of log odds."""
    return 1 / (1 + exp(-odds)) if odds > -700 else 0.0


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _cut(source: Quote, span: Span) -> Quote:
    """Cut a sentence out of a stretch of an answer; its offsets are those of the answer."""
    return Quote(
        start=source.start + span.start, end=source.start + span.end, text=span.of(source.text), turn=source.turn
    )
