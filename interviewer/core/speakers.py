"""Who is who in a transcript, and what each of them said in one go.

Invariant: a speaker is never guessed. Labels decide, or a name that was given, or questions that only one side asks;
otherwise :class:`SpeakersUnclear` lists the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from interviewer.core.transcript import Line, Speaker, TranscriptError, Unplaced

INTERVIEWER = frozenset(
    {"interviewer", "assistant", "q", "question", "recruiter", "hiring manager", "host", "ai", "面试官"}
)
CANDIDATE = frozenset({"candidate", "user", "a", "answer", "interviewee", "applicant", "me", "候选人"})
LABELS = INTERVIEWER | CANDIDATE
LEAST_QUESTIONS = 3
"""Questions that one side has to ask before that alone says who interviews."""
MOST_RETURNED = 1 / 3
"""Questions of the candidate, as a share of those of the others, up to which it is still clear who asks."""
_NODS = frozenset(
    """mm mhm mmm hmm hm uh huh uhhuh yeah yes yep ok okay right sure great good nice cool i see got it thanks thank
    you""".split()
)
_WORD = re.compile(r"\w+")
_LONGEST_NOD = 4
"""Words."""
_REPEAT = 3
"""Words at the end of a caption that have to come again before they are taken for one rolling caption."""
_LOOK_BACK = 60
"""Words of the caption before that are compared."""


class SpeakersUnclear(TranscriptError):
    """Nobody knows which speaker is the candidate; ``names`` are those that were found, as written."""

    code = "speakers_unclear"

    def __init__(self, problem: str, names: Sequence[str]) -> None:
        """Say what is unclear, who was found and what to do."""
        self.names = tuple(names)
        super().__init__(
            f'{problem} Found: {", ".join(names)}. Name the candidate: candidate="..." (--candidate NAME).'
        )


class Piece(NamedTuple):
    """Words of one speaker as they stand in the file."""

    speaker: str
    """As written."""
    text: str
    line: int
    """Line of the file, or number of the entry; from 1."""
    start: float | None = None
    """Seconds into the recording."""
    turn: int | None = None


def key(name: str) -> str:
    """Return a name in the form in which names are compared."""
    return " ".join(name.split()).casefold()


def roles(pieces: Sequence[Piece], candidate: str | None) -> tuple[dict[str, Speaker], tuple[str, ...]]:
    """Return the part of each speaker by :func:`key`, and what the reader should be told about it.

    Args:
        pieces: At least one.
        candidate: The candidate's name when known; a part of the name will do if only one speaker has it.

    Raises:
        SpeakersUnclear: it is not clear who the candidate is, or nobody has that name.
    """
    names: dict[str, str] = {}
    for piece in pieces:
        names.setdefault(key(piece.speaker), piece.speaker)
    notices: tuple[str, ...] = ()
    if candidate and key(candidate):
        candidates = _named(names, candidate)
    else:
        candidates = {name for name in names if name in CANDIDATE}
        others = set(names) - INTERVIEWER
        if not candidates and len(names) > 1 and len(others) == 1:
            candidates = others
        elif not candidates and (found := _by_questions(pieces)):
            candidates = {found}
            notices = (
                f"{names[found]} was taken for the candidate, because the others ask the questions; "
                "give the candidate's name if that is wrong.",
            )
    if not candidates:
        raise SpeakersUnclear("Which speaker is the candidate?", list(names.values()))
    return {name: "candidate" if name in candidates else "interviewer" for name in names}, notices


def _named(names: Mapping[str, str], candidate: str) -> set[str]:
    wanted = _spaced(candidate)
    found = [name for name in names if name == key(candidate)] or [name for name in names if wanted in _spaced(name)]
    if len(found) != 1:
        problem = (
            f"No speaker is called {candidate.strip()!r}." if not found else f"{candidate!r} fits several speakers."
        )
        raise SpeakersUnclear(problem, list(names.values()))
    return set(found)


def _spaced(name: str) -> str:
    """Return the words of a name with a space around each, so that one name can be looked for in another."""
    return f" {' '.join(_WORD.findall(key(name)))} "


def _by_questions(pieces: Sequence[Piece]) -> str | None:
    """Return the speaker who answers while the others ask; among three or more it has to talk most, too."""
    asked: dict[str, int] = {}
    words: dict[str, int] = {}
    for piece in pieces:
        name = key(piece.speaker)
        asked[name] = asked.get(name, 0) + ("?" in piece.text or "？" in piece.text)
        words[name] = words.get(name, 0) + len(piece.text)
    total = sum(asked.values())
    clear = [n for n in asked if (by := total - asked[n]) >= LEAST_QUESTIONS and asked[n] <= by * MOST_RETURNED]
    if len(asked) > 2:
        clear = [n for n in clear if words[n] * 2 >= sum(words.values())]
    return clear[0] if len(clear) == 1 else None


class _Open:
    """A line that is still growing."""

    def __init__(self, piece: Piece, speaker: Speaker) -> None:
        self.piece = piece
        self.speaker = speaker
        self.parts = [piece.text]

    def line(self, join: str) -> Line:
        return Line(speaker=self.speaker, text=join.join(self.parts), turn=self.piece.turn, start=self.piece.start)


def together(
    pieces: Iterable[Piece], parts: Mapping[str, Speaker], *, captions: bool
) -> tuple[tuple[Line, ...], tuple[Unplaced, ...]]:
    """Join what each side says in a row.

    Args:
        pieces: In order.
        parts: From :func:`roles`.
        captions: Pieces are captions: cut anywhere, perhaps rolling (each repeats the last words of the one before),
            with nods ("mm-hmm") of the interviewer inside an answer and of the candidate inside a question. Repeats
            are taken out; nods are returned.
    """
    lines: list[_Open] = []
    before: Piece | None = None
    nods: list[Unplaced] = []
    for piece in pieces:
        if not piece.text.strip():
            continue
        speaker = parts[key(piece.speaker)]
        text = piece.text
        if captions and before is not None and key(before.speaker) == key(piece.speaker):
            text = fresh(before.text, text)
        before = piece
        if captions and len(lines) > 1 and speaker == lines[-2].speaker and _nod(lines[-1], lines[-2]):
            nod = lines.pop()
            nods.append(Unplaced(line=nod.piece.line, text=f"{nod.piece.speaker}: {' '.join(nod.parts)}"))
        if lines and lines[-1].speaker == speaker and lines[-1].piece.turn == piece.turn:
            lines[-1].parts += [text] if text else []
        else:
            lines.append(_Open(piece, speaker))
    return tuple(line.line(" " if captions else "\n") for line in lines), tuple(nods)


def _nod(line: _Open, before: _Open) -> bool:
    """Return whether a line only shows that its speaker listens; after a question "yes" is an answer."""
    asked = line.speaker == "candidate" and before.parts[-1].rstrip().endswith(("?", "\uff1f"))
    if asked or line.speaker == before.speaker or len(line.parts) > _LONGEST_NOD or "?" in "".join(line.parts):
        return False
    words = _WORD.findall(" ".join(line.parts).lower())
    return 0 < len(words) <= _LONGEST_NOD and all(word in _NODS for word in words)


def fresh(before: str, text: str) -> str:
    """Return what ``text`` adds to the caption ``before``: rolling captions repeat their last words.

    A repeat is at least three words, or all of a caption that then goes on; "Yes." said twice is no repeat.
    """
    old = [_bare(word) for word in before.split()[-_LOOK_BACK:]]
    words = text.split()
    new = [_bare(word) for word in words[:_LOOK_BACK]]
    whole = len(old) if len(old) < _LOOK_BACK else 0
    for size in range(min(len(old), len(new)), 0, -1):
        if old[-size] == new[0] and (size >= _REPEAT or size == whole < len(words)) and old[-size:] == new[:size]:
            return " ".join(words[size:])
    return text


def _bare(word: str) -> str:
    return word.strip(".,;:!?\"'").lower() or word
