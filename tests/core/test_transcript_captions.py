"""WebVTT and SRT, as Zoom, Teams and others write them."""

from __future__ import annotations

import pytest

from interviewer.core.cues import parse_captions
from interviewer.core.intake import read
from interviewer.core.speakers import SpeakersUnclear, fresh
from interviewer.core.transcript import Transcript, TranscriptError, Unplaced

Said = tuple[str, str]


def said(transcript: Transcript) -> list[Said]:
    return [(line.speaker, line.text) for line in transcript.lines]


def vtt(*cues: str) -> str:
    """Return a file in which cue n lasts from second 2n to 2n + 2."""
    return "WEBVTT\n\n" + "\n".join(
        f"00:00:{2 * n:02}.000 --> 00:00:{2 * n + 2:02}.000\n{cue}\n" for n, cue in enumerate(cues)
    )


ZOOM = vtt(
    "Henrik Aas: Why does paging help?",
    "Ana Lopez: Because blocks are small,",
    "Ana Lopez: little memory is lost.",
    "Henrik Aas: Mm-hmm.",
    "Ana Lopez: And it shares prefixes.",
    "Henrik Aas: What about p99?",
    "Ana Lopez: 800 ms.",
    "Henrik Aas: How did you measure it?",
    "Ana Lopez: With the bench tool.",
)
TEAMS = """WEBVTT

NOTE
recorded by Teams

STYLE
::cue { color: red }

a1b2-c3/12-0
00:01.000 --> 00:04.000 align:start position:0%
<v.loud Henrik Aas>Why does <i>paging</i> help?</v>

a1b2-c3/13-0
00:05.000 --> 00:09.000
<v Ana Lopez>Because blocks
are <c.x>small</c>, <00:00:05.500>x < y &amp; y > z.</v>
"""
SRT = """1
00:00:01,000 --> 00:00:04,000
Interviewer: Why?

2
00:00:05,000 --> 00:00:06,000
- Bo: Because.
3
00:00:07,000 --> 00:00:08,000
It is small.
"""


def test_zoom_names_in_front_of_the_words() -> None:
    found = read(ZOOM)
    assert said(found) == [
        ("interviewer", "Why does paging help?"),
        ("candidate", "Because blocks are small, little memory is lost. And it shares prefixes."),
        ("interviewer", "What about p99?"),
        ("candidate", "800 ms."),
        ("interviewer", "How did you measure it?"),
        ("candidate", "With the bench tool."),
    ]
    assert [line.start for line in found.lines] == [0.0, 2.0, 10.0, 12.0, 14.0, 16.0]
    assert [u.text for u in found.unplaced] == ["Henrik Aas: Mm-hmm."]
    assert [notice.split(",")[0] for notice in found.notices] == [
        "Ana Lopez was taken for the candidate",
        "Short nods while the other spoke: 1; they were left out and are listed.",
    ]


def test_a_nod_of_the_candidate_does_not_split_the_question() -> None:
    found = read(
        vtt(
            "<v Ada>So you served eight billion parameters</v>",
            "<v Me>Mm-hmm.</v>",
            "<v Ada>on one card, and my question is,</v>",
            "<v Me>Yeah.</v>",
            "<v Ada>which latency did you hold?</v>",
            "<v Me>Yes.</v>",
            "<v Ada>Yes to what?</v>",
            "<v Me>800 ms.</v>",
        )
    )
    assert said(found) == [
        (
            "interviewer",
            "So you served eight billion parameters on one card, and my question is, which latency did you hold?",
        ),
        ("candidate", "Yes."),
        ("interviewer", "Yes to what?"),
        ("candidate", "800 ms."),
    ], "after a question it is an answer"
    assert [u.text for u in found.unplaced] == ["Me: Mm-hmm.", "Me: Yeah."]


def test_teams_voice_tags_settings_and_blocks() -> None:
    found = read(TEAMS, candidate="Ana Lopez")
    assert said(found) == [
        ("interviewer", "Why does paging help?"),
        ("candidate", "Because blocks are small, x < y & y > z."),
    ]
    assert [line.start for line in found.lines] == [1.0, 5.0]
    assert found.unplaced == (Unplaced(line=4, text="recorded by Teams"),)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_srt_with_any_line_end_and_a_missing_blank_line(mark: str, end: str) -> None:
    found = read(mark + SRT.replace("\n", end))
    assert said(found) == [("interviewer", "Why?"), ("candidate", "Because. It is small.")]


def test_hours_may_be_many_or_absent() -> None:
    text = "WEBVTT\n\n59:58.5 --> 59:59\n<v me>Long.\n\n100:00:00.250 --> 100:00:01.000\n<v Ada>Why?\n"
    assert [line.start for line in read(text).lines] == [3598.5, 360000.25]


def test_two_speakers_in_one_cue() -> None:
    assert said(read(vtt("<v Ada>Why?</v> <v Me>Because.</v>"))) == [
        ("interviewer", "Why?"),
        ("candidate", "Because."),
    ]
    assert said(read(vtt("- Host: Why?\n- Me: Because."))) == [("interviewer", "Why?"), ("candidate", "Because.")]


def test_rolling_captions_say_each_word_once() -> None:
    found = read(
        vtt("Q: Why?", "Me: we held", "Me: we held p99 at", "Me: we held p99 at 800", "Me: p99 at 800 ms. Yes.")
    )
    assert said(found)[1] == ("candidate", "we held p99 at 800 ms. Yes.")


@pytest.mark.parametrize(
    ("before", "text", "new"),
    [
        ("we held p99", "we held p99", ""),
        ("we held p99.", "held p99 low", "held p99 low"),  # two words may be chance
        ("so we held p99.", "We held p99 low", "low"),
        ("Yes.", "Yes.", "Yes."),  # said twice
        ("We", "We held", "held"),
        ("", "We", "We"),
        ("?!", "?! no", "no"),
        ("w " * 100, "w " * 100 + "x", "w " * 40 + "x"),
    ],
)
def test_what_a_caption_adds(before: str, text: str, new: str) -> None:
    assert fresh(before, text).split() == new.split()


def test_text_outside_a_cue_and_without_a_speaker_is_listed() -> None:
    text = TEAMS + "\nstray words\nmore of them\n00:10.000 --> 00:11.000\nnobody says this\n\n12\nlast words\n"
    assert [(u.line, u.text) for u in read(text, candidate="ana").unplaced] == [
        (4, "recorded by Teams"),
        (18, "stray words"),
        (19, "more of them"),
        (20, "nobody says this"),
        (23, "12"),
        (24, "last words"),
    ]
    found = read(
        "1\n00:01.0 --> 00:02.0\nwho is this\n\n00:03.0 --> 00:04.0\nQ: Why?\nA: So.\n\n00:05.0 --> 00:06.0\n\n"
    )
    assert [(u.line, u.text) for u in found.unplaced] == [(2, "who is this")]


def test_the_headers_of_a_file_are_no_speech() -> None:
    text = (
        "WEBVTT - Call\nKind: captions\nLanguage: en\n\nREGION\nid:x\n\nNOTE one line\n\n"
        + vtt("Q: Why?", "A: So.")[8:]
    )
    assert [u.text for u in read(text).unplaced] == ["NOTE one line"]


def test_cues_a_little_out_of_order_are_sorted_and_told() -> None:
    text = "00:05.0 --> 00:06.0\nMe: Because.\n\n00:01.0 --> 00:02.0\nHost: Why?\n"
    found = read(text)
    assert said(found) == [("interviewer", "Why?"), ("candidate", "Because.")]
    assert found.notices == ("Cues out of order: 1; they were sorted by their start.",)


def test_a_second_recording_in_the_file_keeps_its_place() -> None:
    text = "05:00.0 --> 05:01.0\nHost: Why?\n\n00:01.0 --> 00:02.0\nMe: Because.\n"
    found = read(text)
    assert said(found) == [("interviewer", "Why?"), ("candidate", "Because.")]
    assert found.notices == ("The times start again or jump back; the order of the file was kept.",)


def test_overlapping_and_reversed_times_are_taken_and_told() -> None:
    found = read("00:01.0 --> 00:09.0\nHost: Why?\n\n00:02.0 --> 00:03.0\nMe: So.\n\n00:20.0 --> 00:10.0\nHost: And?\n")
    assert [speaker for speaker, _ in said(found)] == ["interviewer", "candidate", "interviewer"]
    assert found.notices == (
        "Cues that end before they start: 1; only their start was used.",
        "Cues that overlap an earlier one: 1; the order of the file was kept.",
    )


def test_html_in_a_name_is_text() -> None:
    found = read(vtt("<v &lt;img src=x onerror=alert(1)&gt;>Why?", "<v Bo>So."), candidate="Bo")
    assert said(found) == [("interviewer", "Why?"), ("candidate", "So.")]
    with pytest.raises(SpeakersUnclear) as caught:
        read(vtt("<v &lt;b&gt;Ada&lt;/b&gt;>Why?", "<v Bo>So."))
    assert caught.value.names == ("<b>Ada</b>", "Bo")


def test_one_giant_cue_is_one_line() -> None:
    words = "word " * 100_000
    assert said(read(vtt(f"Me: {words}"))) == [("candidate", words.strip())]


def test_ten_thousand_cues_are_read_in_one_pass() -> None:
    cues = [
        f"{n // 3600}:{n // 60 % 60:02}:{n % 60:02}.000 --> {n // 3600}:{n // 60 % 60:02}:{n % 60:02}.900\n"
        f"{'Host' if n % 10 == 0 else 'Me'}: caption number {n}\n"
        for n in range(10_000)
    ]
    found = read("WEBVTT\n\n" + "\n".join(cues))
    assert len(found.lines) == 2_000
    assert found.lines[-1].text.endswith("caption number 9999")
    one = read("WEBVTT\n\n" + "\n".join(cue.replace("Host", "Me") for cue in cues))
    assert len(one.lines) == 1
    assert len(one.lines[0].text.split()) == 30_000


@pytest.mark.parametrize(
    "text",
    [
        "WEBVTT\n\n00:01.0 --> 00:02.0\n" + "<v " * 300_000,
        "WEBVTT\n\n00:01.0 --> 00:02.0\n<v Me>" + "<c." * 300_000,
        ("a" + " " * 198 + ":\n\n") * 2_000,
        ("#" + " a" * 80 + " " * 30 + "\n\n") * 2_000,
        ("a" * 60 + " " * 30 + "0:1\n\n") * 2_000,
    ],
    ids=["voices", "tags", "labels", "headings", "headers"],
)
def test_text_made_to_take_long_does_not(text: str) -> None:
    try:
        read(text)
    except TranscriptError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("WEBVTT\n", "no cues found"),
        ("WEBVTT\n\n00:01 --> soon\nMe: hi\n", "no cues found"),
        (vtt("who is this", "and this"), "no cue says who speaks"),
        (vtt("# Ada: hm", "- and"), "no cue says who speaks"),
    ],
)
def test_captions_that_cannot_be_read_say_why(text: str, message: str) -> None:
    with pytest.raises(TranscriptError, match=message):
        parse_captions(text)
