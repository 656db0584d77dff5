"""Exact token counts from the served model's own merge table, by tiktoken; no network.

``tokenizer.json`` of a byte-level BPE is turned into a tiktoken encoding once. Ranks are the order of the merges, which
is what decides how text is cut; ids differ from the model's, counts do not (a test compares both tokenizers).
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import tiktoken

_GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+|%s| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
_DIGITS = _GPT2 % r"\p{N}|\s+(?=\p{N})"
"""GPT-2's pattern with digits cut one by one, as the embedded model's tokenizer does."""
_PLAIN = _GPT2 % r" ?\p{N}+"


class TokenizerError(ValueError):
    """The tokenizer file is not a byte-level BPE that can be counted exactly."""


def load_encoding(tokenizer_json: Path) -> tiktoken.Encoding:
    """Build an encoding from a Hugging Face ``tokenizer.json``.

    Raises:
        TokenizerError: not a byte-level BPE with a merge table.
    """
    try:
        data = json.loads(tokenizer_json.read_text(encoding="utf-8"))
        merges = data["model"]["merges"]
        kind = data["model"]["type"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TokenizerError(f"{tokenizer_json} is not a readable tokenizer: {error}") from error
    if kind != "BPE":
        raise TokenizerError(f"{tokenizer_json}: expected BPE, found {kind}")
    to_byte = {char: byte for byte, char in _byte_chars().items()}
    ranks: dict[bytes, int] = {bytes([byte]): byte for byte in range(256)}
    for merge in merges:
        left, right = merge if isinstance(merge, list) else merge.split(" ")
        joined = bytes(to_byte[c] for c in left + right)
        ranks.setdefault(joined, len(ranks))
    digits = "Digits" in json.dumps(data.get("pre_tokenizer") or {})
    return tiktoken.Encoding(
        name=f"{tokenizer_json.parent.name}",
        pat_str=_DIGITS if digits else _PLAIN,
        mergeable_ranks=ranks,
        special_tokens={},
    )


class TokenCounter:
    """Callable that counts the tokens of a text; remembers recent texts."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        """Count with ``encoding``."""
        self._count = lru_cache(maxsize=4096)(lambda text: len(encoding.encode_ordinary(text)))

    def __call__(self, text: str) -> int:
        """Return the number of tokens of ``text``."""
        return self._count(text)


def rough_count(text: str) -> int:
    """Return an upper-side estimate for endpoints whose tokenizer is not known.

    One token per three letters and spaces, and one per byte of everything else: many tokenizers cut numbers digit by
    digit and other scripts byte by byte.
    """
    plain = sum(c.isascii() and (c.isalpha() or c == " ") for c in text)
    return plain // 3 + len(text.encode(errors="surrogatepass")) - plain + 1


def _byte_chars() -> dict[int, str]:
    """Return GPT-2's printable stand-in for each byte."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in table:
            table[byte] = chr(256 + len(table) - len(printable))
    return table
