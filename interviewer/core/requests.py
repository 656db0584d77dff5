"""What a candidate says in place of an answer: repeat it, I need a minute, I do not know. Sure cases only, no model.

Invariant: a message counts as a request only when all of it is one. The same words inside an answer are the answer's.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from interviewer.core.guard import split_turn
from interviewer.core.rubric import Question
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import plain

Aside: TypeAlias = Literal["repeat", "rephrase", "clarify", "think"]
"""Answered on the spot: no turn, no reading."""
GiveUp: TypeAlias = Literal["unsure", "skip"]
"""An answer, though an empty one: the interviewer takes an easier way in, or moves on."""
Request: TypeAlias = Aside | GiveUp

MAX_WORDS = 24
"""A longer message is an answer, whatever it asks for."""

_ASK = r"(?:(?:can|could|would|will|may) you(?: please| kindly)?|(?:can|could|may) (?:i|we)(?: please)?|please)"
_Q = r"(?: me)?(?: (?:the|that|your|this)(?: last)? (?:question|one)| that| it)?"
_AGAIN = r"(?: (?:again|once more|one more time|for me|to me))*"
_TABLE: tuple[tuple[Request, str], ...] = (
    ("repeat", rf"(?:{_ASK} )?(?:repeat|say|ask)(?: please)?{_Q}{_AGAIN}"),
    ("repeat", r"(?:say|come) again|once more|one more time|pardon(?: me)?|what was the question(?: again)?"),
    ("repeat", r"(?:i )?(?:did not|could not|have not) (?:catch|hear|get)(?: (?:that|it|you|(?:the|your) question))?"),
    ("repeat", r"(?:can|could) (?:i|you) (?:hear|have)(?: (?:the|that) question)? (?:again|once more)"),
    ("rephrase", rf"(?:{_ASK} )?(?:rephrase|reword|reformulate|simplify|clarify|explain){_Q}{_AGAIN}"),
    ("rephrase", rf"(?:{_ASK} )?(?:say|ask|put){_Q} (?:in other words|differently|(?:more )?simply|simpler)"),
    (
        "rephrase",
        r"i (?:do not|did not|cannot|am not able to) (?:quite |really |fully )?(?:understand|understood|follow|get)"
        r"(?: (?:the|your|this) question| it| you| what you (?:mean|ask|are asking))?",
    ),
    (
        "rephrase",
        r"(?:the|your) question is not clear(?: (?:to|for) me)?|what (?:do you mean|are you asking)(?: exactly)?",
    ),
    ("clarify", r"(?:can|could|may|should|shall) i (?:just |also )?(?:assume|suppose|take it)\b.*"),
    ("clarify", r"is it (?:ok|okay|fine|all right|alright) (?:if i|to) (?:assume|suppose)\b.*"),
    (
        "clarify",
        r"(?:what do you mean (?:by|with)|do you mean|did you mean)\b.+|(?:by|with) [\w -]{2,40} do you mean\b.*",
    ),
    (
        "think",
        r"(?:(?:i|let me) )?(?:just )?(?:need|want|would like|take|have|(?:can|may|could) i (?:have|take)|give me|"
        r"(?:please|can you|could you) give me)(?: (?:to take|to have))? (?:just )?"
        r"(?:a|one|some|few|a few|a couple of|two|another|a little|little)(?: (?:more|short|bit))?(?: of)?"
        r" (?:minutes?|moments?|seconds?|secs?|time|while)"
        r"(?: (?:for thinking|to think(?: about it| it through)?|to (?:organi[sz]e|collect) my thoughts))?",
    ),
    (
        "think",
        r"(?:let me|i (?:need|want|have) to) think"
        r"(?: (?:about (?:it|this|that)|it through|for a (?:moment|minute|second)))?",
    ),
    ("think", r"(?:one|just a|just one|a) (?:moment|second|minute|sec)|(?:i am|still) thinking|hold on|hang on|wait"),
    (
        "unsure",
        r"(?:honestly )?i (?:really |honestly |just |simply )?do not (?:really |honestly |actually )?know"
        r"(?: (?:(?:the|an) answer|(?:about )?(?:it|this|that)(?: one)?|how to answer(?: (?:this|that|it))?))?",
    ),
    (
        "unsure",
        r"(?:i have )?no idea|i have no (?:clue|answer|experience with (?:this|that|it))|(?:i am )?not sure|no clue",
    ),
    ("unsure", r"i (?:cannot|can not|am not able to) (?:answer|say)(?: (?:this|that|it|this question|the question))?"),
    (
        "unsure",
        r"i (?:have )?never (?:learned|learnt|studied|heard of|heard about|did|done|seen|worked with)"
        r"(?: (?:about )?(?:this|that|it))?|(?:that is|this is) (?:beyond|outside) (?:me|my knowledge|what i know)",
    ),
    (
        "skip",
        rf"(?:{_ASK} |let us |i would like to |i want to |i would rather )?(?:skip|pass(?: on)?)"
        r"(?: (?:(?:this|that|the)(?: (?:one|question))?|it))?",
    ),
    (
        "skip",
        rf"(?:{_ASK} |let us )?(?:move on(?: to (?:the )?(?:next|another)(?: (?:one|question))?)?|"
        r"(?:go(?: on)? to|take|have) (?:the next|another|a different) (?:one|question))|next(?: question)?",
    ),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _TABLE)
_FILLER = r"(?:sorry|excuse me|hm+|um+|uh+|er+|well|ok|okay|so|oh|ah|and|but|then|please|thanks|thank you|hi|sir|madam)"
_EDGES = re.compile(rf"^(?:{_FILLER} )+|(?: {_FILLER})+$")
_PARDON = re.compile(r"(?i)\W*(?:(?:oh|um+|uh+),? )?(?:sorry|excuse me)\s*\?[\s?!.]*")
"""Only as a question: as a statement it asks for nothing."""
_SHORT = {
    "don't": "do not", "dont": "do not", "didn't": "did not", "didnt": "did not", "couldn't": "could not",
    "haven't": "have not", "can't": "cannot", "i'm": "i am", "i've": "i have", "i'd": "i would", "let's": "let us",
    "lets": "let us", "that's": "that is", "isn't": "is not", "idk": "i do not know", "dunno": "i do not know",
    "what's": "what is",
}  # fmt: skip


def recognise(text: str) -> Request | None:
    """Return what a message asks for when all of it is a request; ``None`` for an answer.

    Several sentences count when each is a request; the last one decides ("Sorry, I did not hear. Please repeat it.").
    """
    if len(text.split()) > MAX_WORDS:
        return None
    if _PARDON.fullmatch(text):
        return "repeat"
    kind: Request | None = None
    for part in re.split(r"[.!?;\n]+", text):
        asked = _bare(part)
        if not asked:
            continue
        kind = next((k for k, pattern in _PATTERNS if pattern.fullmatch(asked)), None)
        if kind is None:
            return None
    return kind


def gave_up(turn: Turn) -> GiveUp | None:
    """Return how a turn's answer was none: not known, or to be skipped; ``None`` when something was said."""
    kind = recognise(turn.answer.text) if turn.answer else None
    return kind if kind == "unsure" or kind == "skip" else None


def reply(kind: Aside, state: SessionState, question: Question | None) -> str:
    """Return what the interviewer says to a request about the question that stands; never anything of the answer."""
    turn = state.turns[-1]
    asked = turn.question.text if turn.question else ""
    probe = turn.probe.probe if turn.probe else asked
    follow_up = turn.probe is not None and turn.probe.criterion is not None
    own = split_turn(asked)[1] if follow_up and turn.question and not turn.question.interrupted else ""
    match kind:
        case "think":
            return "Take the time you need; thinking costs nothing."
        case "clarify":
            return "Take it the way that you find most useful: state your assumption and go on from there."
        case "repeat":
            return own or probe
        case "rephrase":  # pragma: no branch
            if follow_up:
                return f"In other words: {probe}"
            return f"It is about {question.topic}. {split_turn(probe)[1]}" if question else probe


def _bare(sentence: str) -> str:
    words = re.sub(r"[^\w' -]+", " ", plain(sentence.lower())).split()
    bare = " ".join(_SHORT.get(word, word) for word in words)
    # An edge that is all there is stays: "pardon" says something, "well" does not.
    return _EDGES.sub("", bare) if not re.fullmatch(rf"(?:{_FILLER} ?)+", bare) else ""
