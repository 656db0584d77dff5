"""Bytes to text, text to a format, and who is who."""

from __future__ import annotations

import codecs
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.intake import FORMATS, decode, detect, read
from interviewer.core.labelled import to_text
from interviewer.core.speakers import SpeakersUnclear
from interviewer.core.transcript import Line, Transcript, TranscriptError, last_words

TALK = "Interviewer: Why?\nCandidate: Because, né.\n"


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(line.speaker, line.text) for line in transcript.lines]


@pytest.mark.parametrize(
    "data",
    [
        TALK.encode(),
        TALK.encode("utf-8-sig"),
        TALK.replace("\n", "\r\n").encode(),
        TALK.encode("utf-16"),
        codecs.BOM_UTF16_BE + TALK.encode("utf-16-be"),
        TALK.encode("utf-32"),
    ],
)
def test_files_in_unicode_are_decoded(data: bytes) -> None:
    assert said(read(decode(data))) == [("interviewer", "Why?"), ("candidate", "Because, né.")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \r\n", "the file is empty"),
        (TALK.encode("latin-1"), "byte 39 is not UTF-8.*iconv -f latin1"),
        (codecs.BOM_UTF16_LE + b"abc", "is not UTF-16"),
        (TALK.encode("utf-16-le"), "binary file.*byte order mark"),
        (b"PK\x03\x04\x14\x00", "this is a zip archive"),
        (b"\x1f\x8b\x08", "this is a gzip archive"),
        (b"%PDF-1.7", "this is a PDF"),
        (b"\x00\x01", "binary file"),
    ],
)
def test_files_that_are_no_text_say_what_they_are(data: bytes, message: str) -> None:
    with pytest.raises(TranscriptError, match=message):
        decode(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\ufeff \n", "is empty"),
        ("PK\x03\x04 and so on", "this is a zip archive"),
        ("Me: a\x00b", "binary file"),
        ("Me: \ud800", "binary file"),
    ],
)
def test_text_that_is_no_transcript_says_so(text: str, message: str) -> None:
    with pytest.raises(TranscriptError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("WEBVTT\n", "captions"),
        ("\n\n1\n00:00:01,000 --> 00:00:02,000\nhi", "captions"),
        ('{"messages": []}', "json"),
        ('[\n {"role": "user"}]', "json"),
        ("[]", "json"),
        ("[00:01] Me: hi", "text"),
        (TALK, "text"),
    ],
)
def test_a_format_is_told_by_its_looks(text: str, kind: str) -> None:
    assert detect(text) == kind


def test_what_decoding_lost_is_told() -> None:
    assert read(TALK.replace("é", "\ufffd")).notices == (
        "Characters that could not be decoded when the file was read: 1; it may not have been UTF-8.",
    )


PARTS = (
    *("Ada: ", "Me: ", "**Bo:** ", "Jane Doe  0:12", "00:01.0 --> 00:02.0", "<v Ada>", "</v>", "WEBVTT", "NOTE"),
    *("\n", "\n\n", "\r", "0:12", "7", "?", "{", '"', "[", "# ", "```", "word ", "&lt;", "\\", "：", "- ", "PK"),
)
anything = st.text() | st.lists(st.sampled_from(PARTS)).map("".join)


@given(anything, st.sampled_from(["auto", *FORMATS]), st.none() | st.sampled_from(["Ada", " me", "", "."]))
def test_any_text_is_a_transcript_or_a_clear_refusal(text: str, kind: str, candidate: str | None) -> None:
    try:
        found = read(text, kind, candidate)
    except TranscriptError as error:
        assert str(error)
        assert error.code in ("bad_transcript", "speakers_unclear")
    else:
        assert all(line.text.strip() for line in found.lines)


@given(st.binary())
def test_any_bytes_are_text_or_a_clear_refusal(data: bytes) -> None:
    try:
        assert isinstance(decode(data), str)
    except TranscriptError as error:
        assert str(error)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["lines", "messages", "speaker", "role", "text", "content", "start", "turn", "tool_calls"]
                ),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_any_json_is_a_transcript_or_a_clear_refusal(data: object) -> None:
    try:
        read(json.dumps(data), "json")
    except TranscriptError as error:
        assert str(error)


def test_chat_messages_with_parts_calls_and_instructions() -> None:
    messages = [
        {"role": "system", "content": "Be strict."},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": [{"type": "text", "text": "Why"}, {"type": "text", "text": "so?"}]},
        {"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "Because."}]},
    ]
    found = read(json.dumps(messages))
    assert said(found) == [("interviewer", "Why\nso?"), ("candidate", "Because.")]
    assert [(u.line, u.text) for u in found.unplaced] == [(1, "system: Be strict."), (2, "assistant: (no words)")]


@pytest.mark.parametrize("content", ['"a\\u0000b"', '"\\ud800"', '[{"text": 1}]', "null", "7"])
def test_content_that_is_no_text_names_its_place(content: str) -> None:
    with pytest.raises(TranscriptError, match="entry 0: "):
        read(f'[{{"role": "user", "content": {content}}}]')


def test_numbers_too_long_for_json_are_refused() -> None:
    with pytest.raises(TranscriptError, match="not valid JSON"):
        read(f"[[{'1' * 5000}]]")


def test_an_export_is_read_back_line_for_line() -> None:
    talk = Transcript(
        lines=(
            Line(speaker="interviewer", text="Why? ", turn=1, start=0.5),
            Line(speaker="candidate", text=" So.", turn=1),
            Line(speaker="candidate", text="An answer without a question.", turn=2),
            Line(speaker="interviewer", text="And?", turn=3),
            Line(speaker="interviewer", text="Goodbye."),
        )
    )
    assert read(talk.model_dump_json()) == talk
    assert [line.text for line in last_words(talk)] == ["And?", "Goodbye."]
    odd = '{"lines": [{"speaker": "me", "text": "x", "turn": true, "start": 1e999}]}'
    assert read(odd).lines == (Line(speaker="candidate", text="x"),)


OTTER = """Interview with Ana
Tue, Dec 1, 2026 5:30PM • 45:10

Henrik Aas  0:12
Why does paging help?

Ana Lopez  0:20
Small blocks. Note: no waste.
Note: at 10:30

Henrik Aas (1:02:03):
And?
"""


def test_otter_and_rev_headers_with_times() -> None:
    found = read(OTTER, candidate="Ana Lopez")
    assert said(found) == [
        ("interviewer", "Why does paging help?"),
        ("candidate", "Small blocks. Note: no waste.\nNote: at 10:30"),
        ("interviewer", "And?"),
    ]
    assert [line.start for line in found.lines] == [12.0, 20.0, 3723.0]
    assert [u.line for u in found.unplaced] == [1, 2]


def test_meet_times_in_front_of_names_and_alone() -> None:
    text = "00:01:02\n\n**Jane Doe:** Why?\n\n**Bo (guest):** Because.\n\n00:05:00\n\n[00:05:02] Jane Doe: And?\n"
    found = read(text, candidate="bo")
    assert said(found) == [("interviewer", "Why?"), ("candidate", "Because."), ("interviewer", "And?")]
    assert [line.start for line in found.lines] == [None, None, 302.0]
    assert [(u.line, u.text) for u in found.unplaced] == [(1, "00:01:02"), (7, "00:05:00")]
    assert read("Host (0:07): Why?\nMe: So.").lines[0].start == 7.0


def test_markdown_headings_are_listed_and_code_is_kept() -> None:
    text = "**Q:** Why?\n\n## Part 2\n\n**Me:** See:\n\n```\n\n# a comment\n```\n\n# Part 3\n"
    found = read(text)
    assert said(found) == [("interviewer", "Why?"), ("candidate", "See:\n\n```\n\n# a comment\n```")]
    assert [u.text for u in found.unplaced] == ["## Part 2", "# Part 3"]


def test_headings_may_be_the_labels() -> None:
    assert said(read("### Assistant\nWhy?\n\n### User:\nBecause.")) == [
        ("interviewer", "Why?"),
        ("candidate", "Because."),
    ]


def test_words_that_look_like_labels_are_no_names() -> None:
    text = "Ada: Why?\nBo: Because.\nQuestion: is it p50?\nNote: a\nNote: b\nit is so: c\n12: d\nAda: And?\nBo: So."
    found = read(text, candidate="Bo")
    assert said(found)[1] == (
        "candidate",
        "Because.\nQuestion: is it p50?\nNote: a\nNote: b\nit is so: c\n12: d",
    )


def panel(*turns: str) -> str:
    return "\n".join(turns)


def test_among_several_the_one_who_answers_most_is_the_candidate() -> None:
    text = panel(
        "Ada: Why is that?", "Cy: It pages memory in small blocks.", "Bo: What about p99?", "Cy: It held at 800 ms.",
        "Bo: Sure?", "Cy: Yes, is that fine?", "Ada: And cost?", "Cy: Twelve cents for a thousand tokens.",
    )  # fmt: skip
    found = read(text)
    assert [line.text for line in found.lines if line.speaker == "candidate"][1] == "It held at 800 ms."
    assert found.notices[0].startswith("Cy was taken for the candidate")


@pytest.mark.parametrize(
    "text",
    [
        panel("Ada: Why?", "Bo: So.", "Ada: How?", "Bo: So."),  # two questions are few
        panel(*(f"{who}: Is it {n}?" for n in range(4) for who in ("Ada", "Bo"))),  # both ask
        panel(*(f"{who}: Is it {n}?" for n in range(4) for who in ("Ada", "Bo")), "Cy: No.", "Cy: No."),  # says little
        panel("Ada: Why?", "Ada: How?"),
    ],
)
def test_when_it_is_unclear_the_names_are_listed(text: str) -> None:
    with pytest.raises(
        SpeakersUnclear, match=r"Which speaker is the candidate\? Found: Ada.*--candidate NAME"
    ) as caught:
        read(text)
    assert caught.value.code == "speakers_unclear"


def test_the_other_beside_an_interviewer_is_the_candidate() -> None:
    assert said(read("Interviewer: Why?\nBo: So.\nInterviewer: And?\nBo: So."))[1] == ("candidate", "So.")


def test_a_part_of_a_name_will_do_when_one_has_it() -> None:
    text = "Ada Aas: Why?\nBo Aas: So.\nAda Aas: And?\nBo Aas: So."
    assert said(read(text, candidate="BO"))[1] == ("candidate", "So.")
    with pytest.raises(SpeakersUnclear, match="'Aas' fits several"):
        read(text, candidate="Aas")


def test_other_languages_go_through() -> None:
    assert said(read("面试官：为什么？\n候选人：因为块很小。")) == [
        ("interviewer", "为什么？"),
        ("candidate", "因为块很小。"),
    ]


@pytest.mark.parametrize("text", ["# Candidate\n# me", "Jane Doe  0:12", "0:12", "```\nCandidate：x", "12: x"])
def test_answers_with_odd_lines_come_back_as_they_were(text: str) -> None:
    answer = f"First.\n\n{text}\n\nLast."
    talk = Transcript(lines=(Line(speaker="interviewer", text="Why?"), Line(speaker="candidate", text=answer)))
    assert read(to_text(talk)) == talk
