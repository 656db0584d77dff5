"""Transcripts: what was said, by whom, and what of it are questions with answers.

Invariant: nothing that was said is dropped. What cannot be placed is returned in ``unplaced`` with its line number.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from interviewer.core.assessment import Frozen
from interviewer.core.session import SessionState

Speaker: TypeAlias = Literal["interviewer", "candidate"]


class TranscriptError(ValueError):
    """The text cannot be read as a transcript; the message says what to change."""

    code = "bad_transcript"
    """For machines."""


class Line(Frozen):
    """One stretch of speech."""

    speaker: Speaker
    text: str
    turn: int | None = None
    start: float | None = None
    """Seconds into the recording, when the file told."""


class Unplaced(Frozen):
    """Text that belongs to nobody known, or is no speech."""

    line: int
    """Line of the file, or number of the entry in JSON; from 1."""
    text: str


class Transcript(Frozen):
    """What was said in order."""

    lines: tuple[Line, ...]
    unplaced: tuple[Unplaced, ...] = ()
    notices: tuple[str, ...] = ()
    """What the reader of the file took for granted or put right."""


class Exchange(Frozen):
    """A question with the answer that followed it."""

    question: str
    answer: str
    asked_at: float | None = None
    """Seconds into the recording."""
    answered_at: float | None = None


def of_session(state: SessionState) -> Transcript:
    """Return what was said in a session, as it was seen."""
    lines: list[Line] = []
    for turn in state.turns:
        if turn.question and turn.question.text:
            lines.append(
                Line(speaker="interviewer", text=turn.question.text, turn=turn.number, start=turn.question.start)
            )
        if turn.answer:
            lines.append(Line(speaker="candidate", text=turn.answer.text, turn=turn.number, start=turn.answer.start))
    if state.ended and state.ended.farewell:
        lines.append(Line(speaker="interviewer", text=state.ended.farewell))
    return Transcript(lines=tuple(lines))


def to_markdown(transcript: Transcript, title: str) -> str:
    """Write Markdown for people."""
    body = "\n\n".join(f"**{line.speaker.capitalize()}:** {line.text}" for line in transcript.lines)
    return f"# {title}\n\n{body}\n"


def exchanges(transcript: Transcript) -> tuple[Exchange, ...]:
    """Pair each answer with the question before it; an interviewer's last words without an answer are no pair."""
    pairs: list[Exchange] = []
    asked: list[Line] = []
    for line in transcript.lines:
        if line.speaker == "interviewer":
            asked.append(line)
        else:
            question, at = "\n".join(a.text for a in asked), asked[0].start if asked else None
            pairs.append(Exchange(question=question, answer=line.text, asked_at=at, answered_at=line.start))
            asked = []
    return tuple(pairs)


def last_words(transcript: Transcript) -> tuple[Line, ...]:
    """Return what the interviewer said after the last answer."""
    lines = transcript.lines
    answered = max((i for i, line in enumerate(lines) if line.speaker == "candidate"), default=-1)
    return lines[answered + 1 :]
