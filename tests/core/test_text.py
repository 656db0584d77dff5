from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.text import (
    Span,
    capital,
    clip_words,
    content_words,
    function_word_share,
    label,
    overlap,
    quote,
    sentences,
    words,
)

speech = st.text(st.sampled_from("aB1 .!?\n\"')(é\t,e.g`"), max_size=80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n ", []),
        ("One thing. Two things! Three?", ["One thing.", "Two things!", "Three?"]),
        ("First line\nsecond line", ["First line", "second line"]),
        ("Use a cache, e.g. Redis. Then measure.", ["Use a cache, e.g. Redis.", "Then measure."]),
        ("Ask Dr. Smith. J. Doe agrees.", ["Ask Dr. Smith.", "J. Doe agrees."]),
        ("p99 was 1.5 s. 3 of 4 passed.", ["p99 was 1.5 s.", "3 of 4 passed."]),
        ('He said "no." Then left.', ['He said "no."', "Then left."]),
        ("an abbreviation at the line end e.g.\nNext", ["an abbreviation at the line end e.g.", "Next"]),
        ("not. a new one", ["not. a new one"]),
        (
            "It stalls. vLLM preempts. eBPF shows it. so be it",
            ["It stalls.", "vLLM preempts.", "eBPF shows it. so be it"],
        ),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [span.of(text) for span in sentences(text)] == expected


@given(speech | st.text(max_size=60))
def test_sentences_cover_all_speech_without_overlap(text: str) -> None:
    spans = sentences(text)
    covered = [i for span in spans for i in range(span.start, span.end)]
    assert covered == sorted(set(covered))
    left_out = set(range(len(text))) - set(covered)
    assert all(text[i].isspace() for i in left_out)
    assert all(span.of(text) == span.of(text).strip() != "" for span in spans)


@given(speech, st.data())
def test_a_quote_is_an_exact_substring(text: str, data: st.DataObject) -> None:
    for span in sentences(text):
        start = data.draw(st.integers(span.start, span.end - 1))
        cut = quote(text, Span(start, span.end), turn=4)
        assert text[cut.start : cut.end] == cut.text
        assert cut.turn == 4


@pytest.mark.parametrize("span", [Span(-1, 2), Span(0, 0), Span(2, 1), Span(0, 4)])
def test_no_quote_outside_the_text(span: Span) -> None:
    with pytest.raises(ValueError, match="3 characters"):
        quote("abc", span)


def test_words_keep_numbers_and_identifiers() -> None:
    assert words("KV-cache at p99 = 1.5s, don't; q_proj/v_proj.") == [
        "kv-cache",
        "at",
        "p99",
        "1.5s",
        "don't",
        "q_proj/v_proj",
    ]


def test_content_words_drop_function_words_and_plurals() -> None:
    assert content_words("This does cost more tokens than the class has") == {"cost", "token", "class"}


@pytest.mark.parametrize("glue", ["this", "does", "his", "was", "This is because they were his"])
def test_function_words_carry_no_meaning(glue: str) -> None:
    assert content_words(glue) == set()


def test_function_word_share() -> None:
    assert function_word_share("the cache is cold") == 0.5
    assert function_word_share("vLLM LoRA Redis") == 0
    assert function_word_share("...") == 0


def test_overlap_is_measured_on_the_smaller_text() -> None:
    assert overlap("cold caches", "a cold cache slows the first token") == 1
    assert overlap("cold start", "a cold cache") == 0.5
    assert overlap("of the", "cold cache") == 0


def test_clip_words_keeps_head_and_tail() -> None:
    assert clip_words("a  b\nc", 3) == "a b c"
    assert clip_words("1 2 3 4 5 6 7 8 9 10", 6) == "1 2 [...] 7 8 9 10"


def test_ids_as_people_read_them() -> None:
    assert label("llm_serving_depth") == "LLM serving depth"
    assert capital("lLM here") == "LLM here"
    assert capital("") == ""
