"""Text in which each turn starts with a name: ``Interviewer: ...``, Markdown, and the exports of Otter, Meet and Rev.

Invariant: :func:`parse_text` reads what :func:`to_text` wrote back to the same lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from interviewer.core.lines import numbered, seconds
from interviewer.core.speakers import CANDIDATE, INTERVIEWER, LABELS, Piece, key, roles, together
from interviewer.core.transcript import Transcript, TranscriptError, Unplaced

_HEAD = 200
"""Characters of a line in which a label is looked for."""
_NAME = r"([^\W_][\w .,'’()/@&-]{0,59}?)"
_TIME = r"(\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?)"
_GAP = r"[ \t\u00a0]{0,8}"
"""Bounded, like all of a label: a line of spaces must not take long."""
_BEFORE = re.compile(rf"\s*[\[(]?{_TIME}[\])]?\s*[-–|]?\s*")
_COLON = re.compile(
    rf"{_GAP}(?:[-*][ \t]{{1,8}})?"
    rf"(?:(\*\*|__){_NAME}(?:\1{_GAP}[:：]|[:：]{_GAP}\1)|(?:\*\*|__)?{_NAME}{_GAP}(?:[\[(]{_TIME}[\])]{_GAP})?[:：])\s*"
)
_HEADING = re.compile(rf"#{{1,6}}[ \t]{{1,8}}(?:\*\*)?{_NAME}{_GAP}[:：]?(?:\*\*)?$")
_HEADER = re.compile(rf"(?:\*\*|__)?{_NAME}(?:\*\*|__)?{_GAP}[|,]?{_GAP}[\[(]?{_TIME}[\])]?{_GAP}[:：]?$")
_GENERIC = frozenset({"assistant", "q", "question", "ai", "user", "a", "answer", "me"})
"""Labels that also stand inside speech, as in an example of training data."""
_NO_NAMES = frozenset(
    """attendees conclusion cons date duration edit example fact hint http https location note participants pros ps
    result results step steps subject summary time title todo topic update warning""".split()
)
_MOST_WORDS = 5
"""Words of a name."""
_MOST_NAMES = 12


class Label(NamedTuple):
    """A name at the start of a line."""

    name: str
    rest: str
    """What follows it on the line."""
    start: float | None = None
    """Seconds into the recording."""
    bold: bool = False


def label(line: str) -> Label | None:
    """Return the name at the start of ``Name: words``, perhaps with a time, or of a heading that is a name."""
    head = line[:_HEAD]
    if ":" not in head and "：" not in head and not head.startswith("#"):
        return None
    time = _BEFORE.match(head)
    skip = time.end() if time else 0
    if match := _COLON.match(head, skip):
        bold, name, plain, after = match.groups()
        stamp = time.group(1) if time else after
        name = (name or plain).strip()
        return Label(name, line[match.end() :], seconds(stamp) if stamp else None, bold is not None)
    if len(line) <= _HEAD and (match := _HEADING.match(head.rstrip())):
        return Label(match.group(1).strip(), "", bold=True)
    return None


def to_text(transcript: Transcript) -> str:
    """Write labelled text that :func:`parse_text` reads back to the same lines.

    A later line of somebody's words that would read as a label gets a backslash in front, which reading takes away.
    """
    return "\n\n".join(f"{line.speaker.capitalize()}: {_escaped(line.text)}" for line in transcript.lines) + "\n"


def _escaped(text: str) -> str:
    first, *later = text.split("\n")
    return "\n".join([first, *(f"\\{x}" if x[:1] == "\\" or _is_ours(x) else x for x in later)])


def _is_ours(line: str) -> bool:
    found = label(line)
    return found is not None and key(found.name) in LABELS


def parse_text(text: str, candidate: str | None = None) -> Transcript:
    """Read speaker-labelled text or Markdown, with or without times.

    Args:
        text: The file's text.
        candidate: Name of the candidate's label when it is a person's name; everybody else is an interviewer.

    Raises:
        SpeakersUnclear: it is unclear which label is the candidate's.
        TranscriptError: there are no labels.
    """
    lines = [line for _, line in numbered(text)]
    headed = _headers(lines)
    labels = headed or _labels(lines, candidate)
    sections = headed is not None or any(found.bold for found in labels.values())
    said: list[tuple[Label, int, list[str]]] = []
    unplaced: list[Unplaced] = []
    fenced = blank = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith("```")
        if found := labels.get(number):
            said.append((found, number, [found.rest]))
            fenced = False
        elif sections and blank and not fenced and (line.startswith("#") or _BEFORE.fullmatch(line[:_HEAD])):
            unplaced.append(Unplaced(line=number, text=line.strip()))
        elif said:
            said[-1][2].append(line[1:] if line[:1] == "\\" else line)
        elif line.strip() and not line.startswith("#"):
            unplaced.append(Unplaced(line=number, text=line.strip()))
        blank = not line.strip()
    if not said:
        raise TranscriptError('no speaker labels found: start each turn with "Interviewer:" or "Candidate:"')
    pieces = [Piece(found.name, "\n".join(words).strip(), number, found.start) for found, number, words in said]
    parts, notices = roles(pieces, candidate)
    merged, _ = together(pieces, parts, captions=False)
    return Transcript(lines=merged, unplaced=tuple(unplaced), notices=notices)


def _headers(lines: Sequence[str]) -> dict[int, Label] | None:
    """Return lines like ``Jane Doe  0:12`` by number when the file is made of them: two or more, after a gap."""
    found: dict[int, Label] = {}
    before = ""
    for number, line in enumerate(lines, 1):
        match = _HEADER.match(line.strip()) if ":" in line and len(line) <= _HEAD and not before.strip() else None
        if match and is_name(match.group(1)):
            found[number] = Label(match.group(1).strip(), "", seconds(match.group(2)))
        elif (other := label(line)) and key(other.name) in LABELS:
            return None
        before = line
    return found if len(found) > 1 else None


def _labels(lines: Sequence[str], candidate: str | None) -> dict[int, Label]:
    """Return the lines that start with a speaker's label; "Note:" inside an answer is none."""
    found = {number: it for number, line in enumerate(lines, 1) if (it := label(line))}
    counts = Counter(key(it.name) for it in found.values())
    known = LABELS & set(counts)
    if {"interviewer", "candidate"} <= known:
        names = set(LABELS - _GENERIC)
    elif known & INTERVIEWER and known & CANDIDATE:
        names = set(LABELS)
    else:
        people = [key(it.name) for it in found.values() if key(it.name) not in known and is_name(it.name)]
        repeated = [name for name, n in Counter(people).most_common(_MOST_NAMES) if n > 1]
        if len(repeated) > 1:
            known = frozenset(name for name in known if name not in _GENERIC or counts[name] > 1)
        names = {*known, *repeated}
        for name in people if not known else ():
            if len(names) < 2:
                names.add(name)
    if candidate:
        names |= {key(candidate)}
    return {number: it for number, it in found.items() if key(it.name) in names}


def is_name(text: str) -> bool:
    """Return whether a label may be a person's name: few words, none that starts in lower case."""
    words = text.split()
    return (
        len(words) <= _MOST_WORDS
        and any(c.isalpha() for c in text)
        and key(words[0]) not in _NO_NAMES
        and not any(word.lstrip("(")[:1].islower() and not word.startswith("(") for word in words)
    )
