"""Token counts: exact for the embedded model's tokenizer, an upper bound where none is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

from interviewer.adapters.tokens import TokenCounter, TokenizerError, load_encoding, rough_count
from interviewer.core.persona import Persona
from interviewer.core.prompts import TurnRequest, persona_messages
from serving.fetch import base_folder, default_cache
from tests.service.kit import library

TEXTS = (
    "",
    " ",
    "   \n\n  ",
    "hello hello",
    "In 2026 we held p99 at 800.25 ms, 1234567 tokens.",
    "It's theirs; we'll see, don't you?",
    "naïve café, 日本語のテキスト, Привет, 🙂👍🏽, \u202e rtl",
    "a\u00a0b\tc\r\nd",
    "<|im_start|>user\nhi<|im_end|>",
    "def f(x):\n    return {'a': x ** 2}  # cost",
    "x" * 300,
)


def written(folder: Path, **changes: Any) -> Path:
    """Write a tokenizer with a handful of merges: h+e, l+l, he+ll, hell+o, space+hello."""
    letters = [chr(b) for b in range(ord("!"), ord("~") + 1)] + ["\u0120", "\u010a"]
    merges = ["h e", "l l", "he ll", "hell o", "\u0120 hello"]
    tokens = letters + [m.replace(" ", "") for m in merges]
    data: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges},
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({**data, **changes}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello", 1), ("hello hello", 2), ("hell", 1), ("help", 3), ("hel lo", 5), ("ll", 1), ("\u20ac", 3)],
)
def test_counts_by_hand(tmp_path: Path, text: str, tokens: int) -> None:
    assert TokenCounter(load_encoding(written(tmp_path)))(text) == tokens


def test_merges_may_be_pairs(tmp_path: Path) -> None:
    pairs = {"type": "BPE", "vocab": {}, "merges": [["h", "e"], ["l", "l"], ["he", "ll"]]}
    assert TokenCounter(load_encoding(written(tmp_path, model=pairs)))("hell") == 1


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"model": {}}', '{"model": {"type": "Unigram", "merges": []}}', '{"model": null}'],
)
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json"):
        load_encoding(path)


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"nowhere\.json"):
        load_encoding(tmp_path / "nowhere.json")


def test_without_a_tokenizer_the_estimate_grows_with_the_text() -> None:
    assert [rough_count("x" * n) for n in (0, 3, 30)] == [1, 2, 11]


EMBEDDED = base_folder(default_cache()) / "tokenizer.json"
cached = pytest.mark.skipif(not EMBEDDED.is_file(), reason="the embedded model is not cached here")


@pytest.fixture(scope="module")
def both() -> tuple[TokenCounter, Tokenizer]:
    return TokenCounter(load_encoding(EMBEDDED)), Tokenizer.from_file(str(EMBEDDED))


def reference(tokenizer: Tokenizer, text: str) -> int:
    """Count as the model's own tokenizer does."""
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def lost(tokenizer: Tokenizer, text: str) -> int:
    """Count the bytes that the model never learned; its tokenizer drops them."""
    stand_in = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    return sum(tokenizer.token_to_id(char) is None for piece, _ in stand_in for char in piece)


@cached
@pytest.mark.parametrize("text", [t for t in TEXTS if "<|" not in t])
def test_counts_are_those_of_the_embedded_model(both: tuple[TokenCounter, Tokenizer], text: str) -> None:
    count, tokenizer = both
    assert count(text) == reference(tokenizer, text)


@cached
@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60).filter(lambda text: "<" not in text))
def test_counts_are_exact_for_any_text(both: tuple[TokenCounter, Tokenizer], text: str) -> None:
    count, tokenizer = both
    if lost(tokenizer, text):
        assert count(text) > reference(tokenizer, text), "on the upper side"
    else:
        assert count(text) == reference(tokenizer, text)


@cached
def test_counts_are_exact_for_every_word_of_the_documents(both: tuple[TokenCounter, Tokenizer]) -> None:
    count, tokenizer = both
    texts = [q.text for r in library().rubrics.values() for q in r.questions]
    texts += [p.text for r in library().rubrics.values() for q in r.questions for t in q.targets for p in t.probes]
    texts += [_system(persona) for persona in library().personas.values()]
    assert [count(t) for t in texts] == [reference(tokenizer, t) for t in texts]


@cached
def test_the_estimate_for_unknown_tokenizers_is_on_the_upper_side(both: tuple[TokenCounter, Tokenizer]) -> None:
    count, _ = both
    for rubric in library().rubrics.values():
        for question in rubric.questions:
            assert rough_count(question.text) >= count(question.text)


def _system(persona: Persona) -> str:
    request = TurnRequest(level="mid", question="Why?", said="So.", probe="What for?", move=None)
    return "\n".join(m["content"] for m in persona_messages(persona, request))
