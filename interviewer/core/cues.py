"""Captions with times: WebVTT as Zoom and Teams write it, and SRT; one reader, because the files mix freely.

Invariant: one pass over the lines, one over the cues. Text outside a cue is returned, not dropped.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from interviewer.core.labelled import is_name
from interviewer.core.labelled import label as label_of
from interviewer.core.lines import numbered, seconds
from interviewer.core.speakers import LABELS, Piece, key, roles, together
from interviewer.core.transcript import Transcript, TranscriptError, Unplaced

_STAMP = r"((?:\d{1,4}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?)"
TIMING = re.compile(rf"\s*{_STAMP}\s*-->\s*{_STAMP}(?:\s.*)?$")
"""``00:00:01.000 --> 00:00:02.500 align:start``: hours and fractions may be absent."""
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,80})?[ \t]([^<>]{1,200})>")
_TAG = re.compile(r"</?(?:c|i|b|u|v|lang|ruby|rt|font)(?:[.\s][^<>]{0,200})?>|<[\d:.]{5,16}>", re.IGNORECASE)
_MARK = re.compile(r"\s*(?:>>+|[-–])\s*")
_BLOCKS = ("NOTE", "STYLE", "REGION")
_RESTART = 60.0
"""Seconds by which a cue may lie before an earlier one and still be sorted; more is a second recording."""


class Cue(NamedTuple):
    """One caption: its lines as they stand in the file."""

    line: int
    start: float
    end: float
    lines: list[str]


class Captions(NamedTuple):
    """The cues of a file in order, and what lay between them."""

    cues: list[Cue]
    unplaced: list[Unplaced]
    notices: list[str]


def parse_captions(text: str, candidate: str | None = None) -> Transcript:
    """Read WebVTT or SRT; speakers are voice tags (``<v Name>``) or names in front of the words (``Name: words``).

    Raises:
        SpeakersUnclear: it is unclear which speaker is the candidate.
        TranscriptError: there are no cues, or no cue says who speaks.
    """
    found = read(numbered(text))
    if not found.cues:
        raise TranscriptError("no cues found: a cue starts with a line like 00:00:01.000 --> 00:00:04.000")
    pieces, silent = _pieces(found.cues, candidate)
    if not pieces:
        raise TranscriptError("no cue says who speaks: write <v Name> or Name: in front of the words")
    parts, taken = roles(pieces, candidate)
    lines, nods = together(pieces, parts, captions=True)
    notices = [*found.notices, *taken]
    if nods:
        notices.append(f"Short nods while the other spoke: {len(nods)}; they were left out and are listed.")
    unplaced = sorted([*found.unplaced, *silent, *nods], key=lambda u: u.line)
    return Transcript(lines=lines, unplaced=tuple(unplaced), notices=tuple(notices))


def read(lines: Iterable[tuple[int, str]]) -> Captions:
    """Read the cues of a file; a blank line ends a cue, and a timing line starts the next one even without it."""
    cues: list[Cue] = []
    unplaced: list[Unplaced] = []
    loose: list[tuple[int, str]] = []
    open_: Cue | None = None
    block = ""
    for number, line in lines:
        if timing := TIMING.match(line):
            if open_ is not None and open_.lines and open_.lines[-1].strip() == str(len(cues) + 1):
                open_.lines.pop()  # the next cue's number: the blank line before it is missing
            elif loose and not block and " " not in loose[-1][1]:
                loose.pop()  # the cue's identifier
            unplaced += _stray(loose)
            loose, block = [], ""
            open_ = Cue(number, seconds(timing.group(1)), seconds(timing.group(2)), [])
            cues.append(open_)
        elif not line.strip():
            unplaced += _stray(loose)
            open_, loose, block = None, [], ""
        elif open_ is not None:
            open_.lines.append(line)
        elif not cues and line.startswith("WEBVTT"):
            block = "WEBVTT"
        elif not block and not loose and line.split()[0] in _BLOCKS:
            block = line.split()[0]
            loose += [(number, line.strip())] if line.strip() != "NOTE" and block == "NOTE" else []
        elif block in ("", "NOTE"):
            loose.append((number, line.strip()))
    unplaced += _stray(loose)
    return _ordered(Captions(cues, unplaced, []))


def _stray(loose: Sequence[tuple[int, str]]) -> list[Unplaced]:
    return [Unplaced(line=number, text=text) for number, text in loose]


def _ordered(found: Captions) -> Captions:
    """Sort cues that are a little out of order; say what is odd about the times."""
    cues, notices = found.cues, found.notices
    reversed_ = sum(cue.end < cue.start for cue in cues)
    if reversed_:
        notices.append(f"Cues that end before they start: {reversed_}; only their start was used.")
    latest, back, furthest, overlapping = 0.0, 0, 0.0, 0
    until = 0.0
    for cue in cues:
        back += cue.start < latest
        furthest = max(furthest, latest - cue.start)
        overlapping += cue.start < until
        latest, until = max(latest, cue.start), max(until, cue.end)
    if furthest > _RESTART:
        notices.append("The times start again or jump back; the order of the file was kept.")
    elif back:
        notices.append(f"Cues out of order: {back}; they were sorted by their start.")
        cues.sort(key=lambda cue: cue.start)
    elif overlapping:
        notices.append(f"Cues that overlap an earlier one: {overlapping}; the order of the file was kept.")
    return found


def _pieces(cues: Sequence[Cue], candidate: str | None) -> tuple[list[Piece], list[Unplaced]]:
    """Say who speaks in each cue; a cue without a name goes on with the speaker before, except beside voice tags."""
    voiced = any(_VOICE.search(line) for cue in cues for line in cue.lines)
    names: frozenset[str] = frozenset() if voiced else _names(cues, candidate)
    pieces: list[Piece] = []
    silent: list[Unplaced] = []
    speaker = ""
    for cue in cues:
        speaker = "" if voiced else speaker
        for who, words in _joined(_spoken(cue, names, voiced), speaker):
            speaker = who
            if who:
                pieces.append(Piece(who, words, cue.line, cue.start))
            elif words:
                silent.append(Unplaced(line=cue.line, text=words))
    return pieces, silent


def _spoken(cue: Cue, names: frozenset[str], voiced: bool) -> Iterator[tuple[str, str]]:
    """Yield the words of a cue with the speaker who is named there; no name: the speaker goes on."""
    for line in cue.lines:
        if voiced:
            before, *voices = _VOICE.split(line)
            yield "", _plain(before)
            for name, words in zip(voices[::2], voices[1::2], strict=True):
                yield html.unescape(name).strip(), _plain(words)
        else:
            words = _plain(line)
            found = _label(words)
            yield found if found and key(found[0]) in names else ("", words)


def _joined(spoken: Iterable[tuple[str, str]], speaker: str) -> list[tuple[str, str]]:
    """Join what one speaker says within a cue."""
    joined: list[tuple[str, list[str]]] = []
    for name, words in spoken:
        if name or not joined:
            joined.append((name or speaker, []))
        joined[-1][1].extend([words] if words else [])
    return [(name, " ".join(words)) for name, words in joined]


def _names(cues: Sequence[Cue], candidate: str | None) -> frozenset[str]:
    """Return the labels that name speakers: known ones, those that come again, or all when most cues have one."""
    found = [label for cue in cues for line in cue.lines if (label := _label(_plain(line)))]
    people = [key(name) for name, _ in found if key(name) in LABELS or is_name(name)]
    most = len(people) * 2 >= len(cues)
    named = {name for name, n in Counter(people).items() if n > 1 or most or name in LABELS}
    return frozenset(named | ({key(candidate)} if candidate else set()))


def _label(words: str) -> tuple[str, str] | None:
    mark = _MARK.match(words)
    found = label_of(words[mark.end() :] if mark else words)
    return (found.name, found.rest.strip()) if found and not words.startswith("#") else None


def _plain(line: str) -> str:
    return html.unescape(_TAG.sub("", line)).strip()
