"""Transcripts: what was said, by whom; written from a session and read from other people's files.

Invariant: reading never drops text. A line that cannot be placed is returned in ``unplaced`` with its line number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from interviewer.core.assessment import Frozen
from interviewer.core.session import SessionState

Speaker: TypeAlias = Literal["interviewer", "candidate"]

_INTERVIEWER = frozenset({"interviewer", "assistant", "q", "question", "recruiter", "hiring manager", "host", "ai"})
_CANDIDATE = frozenset({"candidate", "user", "a", "answer", "interviewee", "applicant", "me"})
_GENERIC = frozenset({"assistant", "q", "question", "ai", "user", "a", "answer", "me"})
"""Labels that also stand inside speech, as in an example of training data."""
_NAME = r"([A-Za-z][\w .'-]{0,39}?)"
_LABEL = re.compile(rf"^\s*(?:[-*]\s+)?(?:(\*\*|__){_NAME}(?:\1\s*:|\s*:\s*\1)|(?:\*\*|__)?{_NAME}\s*:)\s*(.*)$")
_TIME = re.compile(r"^\s*[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?\s*[-–]?\s*")


class TranscriptError(ValueError):
    """The text cannot be read as a transcript; the message says what to change."""


class Line(Frozen):
    """One stretch of speech."""

    speaker: Speaker
    text: str
    turn: int | None = None


class Unplaced(Frozen):
    """Text that belongs to nobody known."""

    line: int
    text: str


class Transcript(Frozen):
    """What was said in order."""

    lines: tuple[Line, ...]
    unplaced: tuple[Unplaced, ...] = ()


class Exchange(Frozen):
    """A question with the answer that followed it."""

    question: str
    answer: str


def of_session(state: SessionState) -> Transcript:
    """Return what was said in a session, as it was seen."""
    lines: list[Line] = []
    for turn in state.turns:
        if turn.question and turn.question.text:
            lines.append(Line(speaker="interviewer", text=turn.question.text, turn=turn.number))
        if turn.answer:
            lines.append(Line(speaker="candidate", text=turn.answer.text, turn=turn.number))
    if state.ended and state.ended.farewell:
        lines.append(Line(speaker="interviewer", text=state.ended.farewell))
    return Transcript(lines=tuple(lines))


def to_text(transcript: Transcript) -> str:
    """Write labelled text that :func:`parse_text` reads back to the same lines.

    A later line of somebody's words that would read as a label gets a backslash in front, which reading takes away.
    """
    return "\n\n".join(f"{line.speaker.capitalize()}: {_escaped(line.text)}" for line in transcript.lines) + "\n"


def _escaped(text: str) -> str:
    first, *later = text.split("\n")
    labels = _INTERVIEWER | _CANDIDATE
    return "\n".join([first, *(f"\\{x}" if x[:1] == "\\" or _label(x)[0] in labels else x for x in later)])


def to_markdown(transcript: Transcript, title: str) -> str:
    """Write Markdown for people."""
    body = "\n\n".join(f"**{line.speaker.capitalize()}:** {line.text}" for line in transcript.lines)
    return f"# {title}\n\n{body}\n"


def parse_text(text: str, candidate: str | None = None) -> Transcript:
    """Read speaker-labelled text or Markdown (``Interviewer: ...``, ``**Ana:** ...``, times allowed in front).

    Args:
        text: The file's text; a byte order mark and CRLF are accepted.
        candidate: Name of the candidate's label when it is a person's name; everybody else is an interviewer.

    Raises:
        TranscriptError: there are no labels, or it is unclear which label is the candidate's.
    """
    raw: list[tuple[str, list[str]]] = []
    unplaced: list[Unplaced] = []
    known: set[str] = set()
    numbered = [(line, *_label(line)) for line in text.lstrip("\ufeff").splitlines()]
    ours = {"interviewer", "candidate"} <= {label for _, label, _ in numbered}
    for number, (line, label, rest) in enumerate(numbered, 1):
        if label and not (ours and label in _GENERIC) and _is_label(label, candidate, known, raw):
            known.add(label)
            raw.append((label, [rest]))
        elif raw:
            raw[-1][1].append(line[1:] if line[:1] == "\\" else line)
        elif line.strip() and not line.startswith("#"):
            unplaced.append(Unplaced(line=number, text=line.strip()))
    if not raw:
        raise TranscriptError('no speaker labels found: start each turn with "Interviewer:" or "Candidate:"')
    roles = _roles({label for label, _ in raw}, candidate)
    lines = [(roles[label], "\n".join(parts).strip()) for label, parts in raw]
    return Transcript(lines=_merge(lines), unplaced=tuple(unplaced))


def parse_json(text: str, candidate: str | None = None) -> Transcript:
    """Read JSON: this project's transcript, ``{"messages": [...]}`` or a list of OpenAI chat messages.

    Raises:
        TranscriptError: not JSON, or not one of those shapes; the message names the place.
    """
    try:
        data = json.loads(text.lstrip("\ufeff"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise TranscriptError(f"not valid JSON: {error}") from error
    entries = data
    if isinstance(data, dict):
        entries = data.get("lines", data.get("messages"))
    if not isinstance(entries, list):
        raise TranscriptError('expected a list of messages, or an object with "lines" or "messages"')
    said: list[tuple[str, str]] = []
    for i, entry in enumerate(entries):
        who = (entry.get("speaker") or entry.get("role")) if isinstance(entry, dict) else None
        words = (entry.get("text") or entry.get("content")) if isinstance(entry, dict) else None
        if not isinstance(who, str) or not isinstance(words, str):
            raise TranscriptError(f'entry {i}: expected "speaker" (or "role") and "text" (or "content") as strings')
        if who.lower() not in ("system", "developer", "tool"):
            said.append((who.strip().lower(), words))
    if not said:
        raise TranscriptError("the transcript holds no speech")
    roles = _roles({label for label, _ in said}, candidate)
    return Transcript(lines=_merge((roles[label], words.strip()) for label, words in said))


def exchanges(transcript: Transcript) -> tuple[Exchange, ...]:
    """Pair each answer with the question before it; an interviewer's last words without an answer are no pair."""
    pairs: list[Exchange] = []
    question = ""
    for line in transcript.lines:
        if line.speaker == "interviewer":
            question = line.text
        else:
            pairs.append(Exchange(question=question, answer=line.text))
            question = ""
    return tuple(pairs)


def _label(line: str) -> tuple[str, str]:
    """Split ``Name: words`` into the label in lower case and the words; the label is empty when there is none."""
    match = _LABEL.match(_TIME.sub("", line))
    return ((match.group(2) or match.group(3)).strip().lower(), match.group(4)) if match else ("", "")


def _is_label(label: str, candidate: str | None, known: set[str], raw: list[tuple[str, list[str]]]) -> bool:
    """Decide whether ``label:`` names a speaker; "Note:" inside an answer does not."""
    if label in _INTERVIEWER | _CANDIDATE or label in known or (candidate and label == candidate.strip().lower()):
        return True
    named = not known & (_INTERVIEWER | _CANDIDATE)
    return named and len(label.split()) <= 3 and len(known) < 8 and (bool(candidate) or not raw or len(known) < 2)


def _roles(labels: set[str], candidate: str | None) -> dict[str, Speaker]:
    wanted = candidate.strip().lower() if candidate else None
    if wanted and wanted not in labels:
        raise TranscriptError(f"no speaker is called {candidate!r}; found: {', '.join(sorted(labels))}")
    candidates = {wanted} if wanted else labels & _CANDIDATE
    if not candidates:
        raise TranscriptError(
            f"which speaker is the candidate? Found: {', '.join(sorted(labels))}; name one with candidate=..."
        )
    return {label: "candidate" if label in candidates else "interviewer" for label in labels}


def _merge(lines: Iterable[tuple[Speaker, str]]) -> tuple[Line, ...]:
    merged: list[Line] = []
    for speaker, text in lines:
        if not text:
            continue
        if merged and merged[-1].speaker == speaker:
            merged[-1] = Line(speaker=speaker, text=f"{merged[-1].text}\n{text}")
        else:
            merged.append(Line(speaker=speaker, text=text))
    return tuple(merged)
