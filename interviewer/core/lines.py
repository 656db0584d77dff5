"""Lines and times of a text file."""

from __future__ import annotations

import io
from collections.abc import Iterator


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, from 1, without line ends; LF, CRLF and CR end a line.

    A byte order mark is not part of the first one.
    """
    for number, line in enumerate(io.StringIO(text.removeprefix("\ufeff"), newline=None), 1):
        yield number, line.rstrip("\n")


def seconds(stamp: str) -> float:
    """Return ``[hours:]minutes:seconds[.,fraction]`` in seconds."""
    total = 0.0
    for part in stamp.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return round(total, 3)
