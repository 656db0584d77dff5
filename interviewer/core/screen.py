"""What of an answer the judge may read: an answer is data, and form must not move its level.

Instructions to the judge, praise of oneself, the question or rubric pasted back and repeated sentences are set aside
before any model sees them, each with a notice. Offsets stay those of the candidate's own text, so quotes are exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from interviewer.core.assessment import Frozen, Notice
from interviewer.core.text import Span, content_words, function_word_share, sentences, words

_TOKEN = re.compile(r"<\|[^|<>]{0,40}\|>|<\|?/?(?:im_start|im_end|endoftext|system|s)\|?>|\[/?INST\]")
_CONTROL = re.compile(rf"{_TOKEN.pattern}|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MENTIONED = re.compile(
    r"(?i)(?:[\"'`(]|\b(?:the|an?|our|its|with|on|at|to|after|before|and|or|of|like|token|is|append|add|emit|predict)\s)[\"'`(]*"
    r"(?:<\|(?:im_end|endoftext|eot_id)\|>|</?s>)(?=[\"'`),;.\s]|$)"
)
"""A stop token that is talked about, as an answer on training data has to."""
_GRADER = r"(?:grader|judge|evaluator|interviewer|examiner|assessor|scorer)"
_INJECTION = re.compile(
    rf"""(?ix)
    (?:(?<!model\s)(?<!models\s)(?<!it\s)(?<!they\s)(?<!would\s)(?<!to\s)|(?<=you\sto\s))
        \b(?:ignore|disregard|override)\b.{{0,40}}\b(?:previous|prior|above|earlier|all|your|the)\b
        .{{0,30}}\b(?:instruction|prompt|rule|rubric|criteri|guideline)
    | \bforget\s+(?:about\s+)?(?:(?:all|any|your|the|these|those|my|of)\s+)*
        (?:previous|prior|above|earlier|all|your|the)\s+(?:[\w-]+\s+){{0,2}}(?:instruction|prompt|rule|rubric|criteri|guideline)
    | \b(?:give|award|assign|grant|mark|rate|grade|score)\b.{{0,40}}
        \b(?:full\s+(?:marks?|points?|credit)|level\s*[:=]?\s*3|level\s+three|3\s*(?:/|out\s+of)\s*3|10\s*/\s*10
        |(?:maximum|highest|perfect|top)\s+(?:possible\s+)?(?:scores?|marks?|grades?|levels?|ratings?|points?))\b
    | ^\W*(?:from\s+now\s+on,?\s+)?you\s+are\s+(?:now|no\s+longer)\s+
        (?:(?:an?|my|the)\s+(?!factor|order|bit|little|step|few|lot|point|limit|bottleneck)|dan\b|free\b|in\s+\w+\s+mode)
    | ^\W*from\s+now\s+on,?\s+you\b
    | ^\W*(?:(?:please|now|just)\W+)?(?:you\s+are\s+(?:an?|my)|(?:act\s+as|play|pretend\s+to\s+be)\s+(?:an?|my|the))
        \s+(?:\w+\s+){{0,3}}{_GRADER}\b
    | \b(?:pretend|imagine|let'?s\s+play)\b.{{0,40}}\byou\s+are\b.{{0,30}}\b{_GRADER}\b
    | ^\s*["'{{\[]*\s*(?:system|assistant|grader|evaluator|judge|rubric)\s*["']?\s*[:>]
    | \b(?:level|score|grade|rating)["']?\s*[:=]\s*["']?(?:[23]\b(?!\.\d|\s*[%*]|\s+if\b)|full|max\b(?!\())
    | \bverdict["']?\s*[:=]\s*["']?(?:strong_?\s?hire|hire)\b
    | \b(?:the|your)\s+(?:rubric|criteria|instructions)\s+(?:has|have)\s+been\s+(?:updated|changed|replaced)\b
    | \bnew\s+(?:rubric|instruction|scoring|grading)\b.{{0,30}}[:=]
    | ^\W*(?:note|message|dear|attention|instructions?|hey|hello|to)\s+(?:(?:to|for)\s+)?
        (?:(?:the|my|ai|llm)\s+)*{_GRADER}\b
    | \b(?:as|for)\s+the\s+{_GRADER}\b,?\s+you\b
    """
)
_TOP = (
    r"(?:(?<!gzip\s)(?<!zstd\s)(?<!log\s)(?<!compression\s)(?<!optimi[sz]ation\s)"
    r"level\s?[:=]?\s?(?:3|three)\b|(?:top|highest|best|maximum)\s+(?:possible\s+)?(?:level|grade|marks?)\b(?!\s+(?:of|in)\b)|"
    r"full\s+marks\b)"
)
"""The best that a judge can give. Scores and ratings are not among it: answers speak of those of a reward model."""
_RUBRIC = (
    r"(?:rubric|criteri(?:on|a)|(?:grading|marking|scoring|assessment|evaluation)\s+"
    r"(?:guide(?:lines?)?|scheme|rules?|key|instructions?))"
)
_VOID = r"(?:no\s+longer\s+(?:appl|count|matter|valid)|(?:void|outdated|obsolete|cancell?ed|suspended)\b)"
_PERSON = r"(?:teacher|mentor|friend|coach|professor|parent|mother|father|uncle|aunt|fan|reviewer|recruiter|\w*bot)"
_ORDER = r"(?:^|[.!?:;)\]}\"'`]\s)\W{0,4}(?:(?:please|now|just|so|and)\W{1,3}){0,2}"
"""Where an order begins; code before it may have no full stop. Bounded, so that no text makes it slow."""
_ABOUT_GRADE = re.compile(
    rf"""(?ix)
    ^(?=.*\b{_TOP})(?=.*\b(?:{_RUBRIC}|candidate|applicant|this\s+answer|(?:any|every|all|an)\s+answers?
        |scoring\s+key|(?:assessment|evaluation)(?=\s?:))\b)
    | ^(?=.*\b{_TOP})(?=.*\b(?:you|me|whoever|anything|anybody)\b)
        (?=.*\b(?:give|award|assign|output|return|rates?|mark|hand|put|choose|pick|reward|encourage|reach|reaches|means|gets|deserves?)\b)
    | \b(?:pass|approve|hire|recommend)\s+this\s+(?:candidate|applicant)\b(?!\s+(?:to|through|into|on|set|list|token))
    | {_ORDER}(?:(?:stop|quit)\s+(?:following|using|applying)|skip|drop
        |(?:do\s+not|don't|no\s+need\s+to)\s+(?:use|apply|follow))\s+(?:the|your|any)\s+(?:\w+\s+)?{_RUBRIC}
        (?=\W*$|,|\s+and\b|\s+(?:for|to|on)\s+this\b)
    | \b(?:updated|revised|new|changed|amended|corrected)\s+{_RUBRIC}\s*[:=]
    | \b{_RUBRIC}\s+(?:change|update|correction)\s*[:=]
    | \byou(?:'ve|\s+(?:were|have|had))?\s+(?:been\s+)?(?:told|given|instructed|asked|received|got)\b.{{0,30}}\b{_VOID}
    | \byour\s+(?:\w+\s+){{0,2}}(?:instructions?|guidance|prompt|rules?|orders?)\s+(?:is|are|was|were)\s+{_VOID}
    | \bset\s+aside\b.{{0,20}}\byou(?:'ve|\s+have|\s+were)\b
    | ^\W*output\W{{1,3}}[0-3]\W*$
    | <\s*/?\s*(?:score|level|grade|verdict|rating)\s*>
    | {_ORDER}you\s+(?:are|will|must|should)\s+now\s+(?:act|behave|be)\b
    | \byou(?:\s+are|'re)\s+(?:now|no\s+longer)\s+(?:an?|my|the)\s+(?:\w+\s+){{0,3}}(?:{_PERSON}|{_GRADER})\b
        .*\b(?:me|grade|grades|mark|marks|pass|passed|hires?|everybody|answers?|never|always)\b
    | {_ORDER}(?:speak|act|behave|respond|reply|judge|grade|think)\s+(?:as|like)\s+(?:an?|my|the)\s+
        (?:\w+\s+){{0,3}}(?:{_PERSON}|{_GRADER})\b
    | \b(?:let'?s|let\s+us)\s+(?:play\s+an?|pretend|do\s+a\s+role)\b.*\byou\b
    | {_ORDER}(?:pretend|imagine)\b.*\byou(?:\s+are|'re)\b.*\b(?:me|pass|hires?|grades?|marks?)\b
    """
)
"""Orders and reports on the grade of this very answer, whatever the wording: the best level beside the rubric, the
candidate or the reader; the rubric declared changed or void; the reader put in a part."""
_ANSWER = r"(?:answer|response|reply|explanation)"
_BEST = (
    r"(?:excellent|outstanding|perfect|exceptional|flawless|world[- ]class|complete and correct|level\s*3|strong hire|"
    r"expert[- ]level|full marks|best possible)"
)
_SELF_PRAISE = re.compile(
    rf"(?i)\b(?:this|my|the above)\s+{_ANSWER}\b(?:(?!\bnot\b|n't\b|\bnever\b|\bfar\sfrom\b).){{0,50}}"
    rf"\b{_BEST}\b|"
    rf"\bthis is\s+(?:(?:an?|the|clearly|truly|really|simply)\s+)*{_BEST}\s+(?:\w+[- ]){{0,2}}{_ANSWER}\b|"
    r"\bthis is\s+(?:(?:an?|the|clearly|truly|really|simply)\s+)*(?:level\s*3|strong hire)\b"
)
MIN_WORDS = 3
"""An answer with fewer words left shows nothing on any criterion."""
COPIED = 0.85
"""Share of a sentence's content words found in the question or rubric from which it counts as copied."""
MERGED = 0.5
"""Share of a sentence's neighbouring words that are neighbours in the question too, from which a sentence made of
words from all over the question counts as pasted: who decides about "the wrong orders" and "three months of fees" has
to use the question's words, in an order of their own."""


class Screened(Frozen):
    """The sentences that the judge may read, with offsets in the candidate's own text."""

    spans: tuple[tuple[int, int], ...]
    notices: tuple[Notice, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is left to judge."""
        return not self.spans


def neutralise(text: str) -> str:
    """Return ``text`` without control tokens of chat templates and without control characters; length may change."""
    return _CONTROL.sub(" ", text)


def addresses_reader(text: str) -> bool:
    """Return whether ``text`` gives orders to whoever reads or judges it, or carries a chat template's tokens."""
    flat = " ".join(text.split())
    return bool(_INJECTION.search(text) or _ABOUT_GRADE.search(flat) or _TOKEN.search(_MENTIONED.sub(" ", text)))


def screen(answer: str, question: str, rubric_texts: Sequence[str] = ()) -> Screened:
    """Set aside what must not move a level.

    Args:
        answer: The candidate's words, unchanged.
        question: What they were asked.
        rubric_texts: Criterion questions and anchors that the judge will use.
    """
    kept: list[Span] = []
    found: dict[str, int] = {}
    seen: list[_Read] = []
    asked = [content_words(s.of(question)) for s in sentences(question)]
    whole = content_words(question)
    pairs = _pairs(question)
    rubric = [content_words(text) for text in rubric_texts]
    for span in sentences(answer):
        sentence = _Read(span.of(answer))
        merged = _share(sentence.meaning, whole) >= COPIED and _share(_pairs(sentence.text), pairs) >= MERGED
        code = _why_not(sentence, asked, rubric, seen, merged=merged)
        if code is None:
            kept.append(span)
            seen.append(sentence)
        else:
            found[code] = found.get(code, 0) + 1
    left = sum(len(sentence.words) for sentence in seen)
    if left < MIN_WORDS and not found.get("too_short"):
        found["too_short"] = 1
        kept = []
    notices = tuple(Notice(code=code, message=_MESSAGES[code].format(n=n)) for code, n in found.items())
    return Screened(spans=tuple((s.start, s.end) for s in kept), notices=notices)


_MESSAGES = {
    "prompt_injection": "{n} sentence(s) addressed the judge instead of the question; they were not read.",
    "self_praise": "{n} sentence(s) praised the answer itself; they were not read.",
    "copied_question": "{n} sentence(s) repeated the question; they were not read.",
    "copied_rubric": "{n} sentence(s) repeated the wording of the rubric; they were not read.",
    "repetition": "{n} sentence(s) repeated an earlier one; they were read once.",
    "keyword_list": "{n} passage(s) were lists of terms without a statement; they were not read.",
    "too_short": "Too little was said to show anything on the criteria.",
}


class _Read:
    """A sentence with its words, which many comparisons need and which are found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)
        self.meaning = content_words(text)

    def repeats(self, other: _Read) -> bool:
        """Return whether both say the same; near copies differ by two words at most."""
        if abs(len(self.words) - len(other.words)) > 2:
            return False
        smaller = min(len(self.meaning), len(other.meaning))
        return self.words == other.words or len(self.meaning & other.meaning) >= 0.98 * smaller > 0


def _why_not(
    sentence: _Read, asked: Sequence[set[str]], rubric: Sequence[set[str]], seen: Sequence[_Read], *, merged: bool
) -> str | None:
    text, meaning = sentence.text, sentence.meaning
    if addresses_reader(text):
        return "prompt_injection"
    if _SELF_PRAISE.search(text):
        return "self_praise"
    if len(meaning) >= 4:
        if merged or any(_share(meaning, other) >= COPIED for other in asked):
            return "copied_question"
        if len(meaning) >= 5 and any(_share(meaning, other) >= COPIED for other in rubric):
            return "copied_rubric"
        # A program may say the same thing twice.
        if not re.search(r"[={};]|\w\.\w+\(", text) and any(sentence.repeats(other) for other in seen):
            return "repetition"
    if len(sentence.words) >= 12 and function_word_share(text) < 0.06 and not _says_more(text):
        return "keyword_list"
    return None


def _share(mine: AbstractSet[object], other: AbstractSet[object]) -> float:
    return len(mine & other) / len(mine) if mine else 0.0


def _pairs(text: str) -> set[tuple[str, str]]:
    """Return which words that carry meaning stand next to each other: what a paste keeps, and own words do not."""
    carrying = [word for word in words(text) if content_words(word)]
    return set(pairwise(carrying))


def _says_more(text: str) -> bool:
    """Return whether few function words are no sign of an empty list: code has none, and figures few."""
    return bool(_CODE.search(text)) or len(_FIGURE.findall(text)) >= 3


_CODE = re.compile(r"[={}\[\]]|\w\(|;\s*$", re.MULTILINE)
_FIGURE = re.compile(r"(?<![\w.])\d")
"""The beginning of a number; those in names such as INT8 do not count."""
