"""Numbers and sizes as candidates write them: "16 GB", "half a gigabyte", "thirty-two", "4,000"."""

from __future__ import annotations

import re

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_WORDS = {word: value for value, word in enumerate(_ONES)} | _TENS
_DIGITS = r"(?<![A-WYZa-wyz0-9.])\d{1,12}(?:,\d{3}){0,3}(?:\.\d{1,6})?(?!\d)"
_SPOKEN = (
    rf"(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_ONES[1:10])}))?|{'|'.join(sorted(_ONES[1:], key=len, reverse=True))}"
)
NUMBER = rf"(?:{_DIGITS}|\b(?:{_SPOKEN})\b)"
"""Pattern of a number in digits or words; matched without regard to case."""
SIZE = (
    rf"(?P<size>(?P<amount>{NUMBER}|half an?|a quarter of a)[ -]?"
    r"(?P<prefix>k|m|g|t|kilo|mega|giga|tera)(?:(?<=[kmgt])i?b|bytes?|(?<=g)igs?)\b)(?! ?(?:/ ?s|(?:per|a) second)\b)"
)
"""Pattern of a size in bytes; a rate of bytes a second is not one."""
SPEED = rf"(?P<speed>{NUMBER}) ?(?P<scale2>tb|gb|terabytes?|gigabytes?) ?(?:/ ?s|(?:per|a) second)\b"
TIME = rf"(?P<ms>{NUMBER}) ?(?:ms|milliseconds?)\b"
_POWER = {"k": 1, "m": 2, "g": 3, "t": 4}


def number(text: str) -> float:
    """Return the value of a text that :data:`NUMBER` matches."""
    low = text.lower()
    if low[0].isdigit():
        return float(low.replace(",", ""))
    return float(sum(_WORDS[part] for part in low.split("-")))


def size_bytes(match: re.Match[str]) -> float:
    """Return the bytes of a :data:`SIZE` match, decimal prefixes unless it says KiB, MiB or GiB."""
    amount = match["amount"].lower()
    value = 0.5 if amount.startswith("half") else 0.25 if amount.startswith("a ") else number(amount)
    base = 1024 if match["size"].lower().endswith("ib") else 1000
    return float(value * base ** _POWER[match["prefix"].lower()[0]])


def bytes_of(dtype: str) -> float:
    """Return the bytes of one number in a format that is named by its bits or bytes."""
    low = dtype.lower()
    for mark, width in (("32", 4.0), ("16", 2.0), ("8", 1.0), ("4", 0.5), ("two", 2.0), ("2", 2.0)):
        if mark in low:
            return width
    return 1.0


def close(claimed: float, right: float, low: float = 0.88, high: float = 1.13) -> bool:
    """Whether a claim is right within rounding; GB against GiB is 7 per cent."""
    return low * right <= claimed <= high * right


def readable(count: float, unit: str = "B", *, binary: bool = False) -> str:
    """Write a number with the prefix that keeps it short: 16 GB, 128 KiB, 8 billion."""
    base = 1024 if binary else 1000
    names = ("", " million", " billion") if not unit else ("K", "M", "G", "T")
    if not unit:
        power = 2 if count >= 1e9 else 1
        return f"{count / 1000 ** (power + 1):.4g}{names[power]}"
    power = max(p for p in range(5) if p == 0 or count >= base**p)
    prefix = (names[power - 1] + ("i" if binary else "")) if power else ""
    return f"{count / base**power:.4g} {prefix}{unit}"


def plain(text: str) -> str:
    """Return ``text`` with single spaces, for showing it inside a computation."""
    return " ".join(text.split())
