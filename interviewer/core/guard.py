"""What an interviewer may say: one question, on the probe, tied to the answer, with nothing given away or judged.

A turn is ``lead`` (a short tie-in sentence, may be empty) followed by ``question``. The lead is checked and sent first,
the question is checked as a whole before any of it is sent: what was streamed is not taken back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from interviewer.core.assessment import Frozen
from interviewer.core.text import content_words, plain, sentences, words
from interviewer.core.wording import shared

_VERDICT = re.compile(
    r"(?i)\b(?:great(?! (?:deal|many)\b)|excellent|good (?:point|answer|question|job|thinking|call)|nice|"
    r"impressive|perfect|well done|awesome|fantastic|exactly right|that'?s (?:right|correct|wrong|true)|"
    r"you(?:'re| are) (?:right|correct|wrong)|correct answer|"
    r"not quite|i (?:love|like) (?:that|your|how)|solid answer|strong answer|weak answer|congratulations|wonderful|"
    r"(?:that|this|it)(?:'s| is| was) (?:a |not )?(?:bad|poor)(?: answer)?|incorrect|you(?:'re| are| were) mistaken|"
    r"fair enough)\b"
    r"|(?:^|[.!?,]\s+)(?:(?:that |this |it )?(?:all )?makes (?:perfect |good )?sense\b"
    r"|(?:good|right|correct|interesting|sounds good|fair)\s*[.!])"
)
_OUT_OF_ROLE = re.compile(
    r"(?i)\bas an ai\b|language model, i|<\||\|>|\b(?:user|assistant|system|candidate|interviewer):|```|^#|\bprobe\b"
)
_SECOND = re.compile(r"(?i)[,;]?\s+(?:and|or|also)\s+(?:then\s+)?(?:what|why|how|which|when|where|who)\b[^?]{12,}\?")
_ALSO = re.compile(
    r"(?i)[,;]?\s+(?:and|but)\s+(?:also\s+)?(?:did|do|does|is|are|was|were|can|could|would|will|have|has|had|should)\s+"
    r"(?:you|it|they|that|this|we|he|she|the|your|there|those|these|anyone|anybody)\b[^?]{8,}\?"
)
"""A second question without a question word; after "or" it is the other half of the first."""
_BIDS = re.compile(
    r"(?i)(?:^|[.!;:,]\s+|\b(?:so|and|then|now|please|just)\s+)(?:please\s+)?"
    r"(?:(?:walk|talk|take|tell|give|show|run|guide) (?:me|us)\b|(?:explain|describe|elaborate|spell out|say more)\b)"
)
"""A question put as a request."""
_ASKS = re.compile(
    r"(?i)(?:^|[,;:]\s+|\bso\s+)(?:(?:and|but)\s+)?(?:(?:at|by|for|from|in|of|on|to|under|with)\s+)?"
    r"(?:what|why|how|which|where|who|whose|do|does|did|is|are|was|were|would|will|could|can|have|has|had|should)\b"
)
REPEAT = 0.8
ON_PROBE = 0.12
"""Share of concepts that a reworded question has in common with its probe."""
LEAD_WORDS = 22
ECHO = 0.8
"""Share of a tie-in's words from which it only repeats the question that follows."""


class Context(Frozen):
    """What a turn is checked against."""

    probe: str
    """Authored wording that the turn pursues."""
    said: str
    """The candidate's last answer; empty at the opening."""
    follow_up: bool
    asked: tuple[str, ...] = ()
    """Earlier questions of the session, as the candidate saw them."""
    giveaways: tuple[str, ...] = ()
    """Terms of the question's known facts."""
    max_words: int = 45


def split_turn(text: str) -> tuple[str, str]:
    """Split a turn into its tie-in and its question; either may be empty."""
    spans = sentences(text)
    if not spans:
        return "", ""
    last = spans[-1]
    return text[: last.start].strip(), text[last.start :].strip()


def check_lead(lead: str, context: Context) -> tuple[str, ...]:
    """Return the problems of a tie-in, as codes; an empty lead has none."""
    problems = _common(lead, context)
    if lead and context.follow_up and _echoes(lead, context.probe):
        problems.append("echo")
    if "?" in lead or _BIDS.search(lead):
        problems.append("second_question")
    if len(words(lead)) > LEAD_WORDS:
        problems.append("too_long")
    said = tuple(words(lead))
    if lead and any(_lead_of(earlier) == said for earlier in context.asked):
        problems.append("repeat")
    return tuple(problems)


def check_question(question: str, context: Context) -> tuple[str, ...]:
    """Return the problems of a question sentence, as codes."""
    problems = _common(question, context)
    if question.count("?") != 1 or not question.rstrip().endswith("?"):
        problems.append("not_one_question")
    elif _stacked(question) and not _stacked(split_turn(context.probe)[1]):
        problems.append("stacked")
    if len(words(question)) < 4:
        problems.append("too_short")
    if shared(question, context.probe) < ON_PROBE:
        problems.append("off_probe")
    meaning = content_words(question)
    if any(_same(meaning, earlier) for earlier in context.asked):
        problems.append("repeat")
    return tuple(problems)


def check_turn(text: str, context: Context) -> tuple[str, ...]:
    """Return the problems of a whole turn, as codes; used on authored and generated turns alike."""
    lead, question = split_turn(text)
    problems = [*check_lead(lead, context), *check_question(question, context)]
    if len(words(text)) > context.max_words:
        problems.append("too_long")
    if context.follow_up and not refers(text, context.said):
        problems.append("not_tied")
    return tuple(dict.fromkeys(problems))


def unfit(text: str) -> tuple[str, ...]:
    """Return the problems of the bare words of a tie-in, whatever the turn: a verdict, or out of role."""
    said = plain(text)
    return tuple(
        code for code, pattern in (("verdict", _VERDICT), ("out_of_role", _OUT_OF_ROLE)) if pattern.search(said)
    )


def unstack(question: str) -> str:
    """Return a question without the second one that is joined to it; as it is when there is none."""
    for second in (_SECOND, _ALSO):
        for match in second.finditer(question):
            first = question[: match.start()].rstrip(" ,;")
            if _ASKS.search(first):
                return f"{first}?"
    return question


def refers(text: str, said: str) -> bool:
    """Return whether ``text`` picks up at least one content word of what was said."""
    return bool(content_words(text) & content_words(said))


def _common(text: str, context: Context) -> list[str]:
    problems = [*unfit(text)]
    if any(_contains(text, term) and not _given(term, context) for term in context.giveaways):
        problems.append("leak")
    return problems


def _stacked(question: str) -> bool:
    """Return whether two questions are joined into one; a statement before "and what" is not a question."""
    return unstack(question) != question


def _echoes(lead: str, probe: str) -> bool:
    """Return whether a tie-in says what the authored question says itself; both would be said twice."""
    said = content_words(lead)
    return len(said) > 2 and len(said & content_words(probe)) >= ECHO * len(said)


def _given(term: str, context: Context) -> bool:
    return any(_contains(known, term) for known in (context.said, context.probe, *context.asked))


def _contains(text: str, term: str) -> bool:
    return _term(term).search(text.lower()) is not None


@lru_cache(maxsize=4096)  # more than the terms of all rounds: compiling them anew took most of a turn
def _term(term: str) -> re.Pattern[str]:
    *rest, last = re.split(r"[\s-]+", term.lower())
    parts = r"[\s-]+".join([*map(re.escape, rest), _any_number(last)])
    return re.compile(rf"(?<!\w){parts}(?!\w)")


def _any_number(word: str) -> str:
    """Return a pattern for one or several of a thing."""
    if len(word) < 4 or not word.isalpha():
        return re.escape(word)
    if word.endswith(("y", "ies")):
        return word.removesuffix("ies").removesuffix("y") + "(?:y|ies|ys)"
    return re.sub(r"(?<=ch|sh|ss)es$|(?<=x)es$|(?<!s)s$", "", word) + "(?:e?s)?"


def _same(left: set[str], earlier: str) -> bool:
    """Return whether a question of these content words is one that was put before."""
    right = _asks_of(earlier)
    union = left | right
    return bool(union) and len(left & right) / len(union) >= REPEAT


@lru_cache(maxsize=8192)  # every new turn is held against all earlier ones, in many sessions at once
def _lead_of(turn: str) -> tuple[str, ...]:
    return tuple(words(split_turn(turn)[0]))


@lru_cache(maxsize=8192)
def _asks_of(turn: str) -> frozenset[str]:
    return frozenset(content_words(split_turn(turn)[1] or turn))


def first_question(text: str) -> str:
    """Cut ``text`` after its first question mark; a model that goes on asking is stopped there."""
    at = text.find("?")
    return text if at < 0 else text[: at + 1]


def summary(counts: Sequence[tuple[str, ...]]) -> dict[str, int]:
    """Count how often each problem was found, over many turns."""
    totals: dict[str, int] = {}
    for problems in counts:
        for problem in problems:
            totals[problem] = totals.get(problem, 0) + 1
    return totals
