from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interviewer.core.chat import parse_json
from interviewer.core.labelled import parse_text, to_text
from interviewer.core.transcript import (
    Exchange,
    Line,
    Speaker,
    Transcript,
    TranscriptError,
    Unplaced,
    exchanges,
    of_session,
    to_markdown,
)
from tests.core.builders import TRADE, Log, assessed

Said = tuple[str, str]


def said(transcript: Transcript) -> list[Said]:
    return [(line.speaker, line.text) for line in transcript.lines]


def lines(*pairs: tuple[Speaker, str]) -> Transcript:
    return Transcript(lines=tuple(Line(speaker=who, text=text) for who, text in pairs))


TALK = [("interviewer", "Why?"), ("candidate", "Because.")]


def test_a_session_as_it_was_seen() -> None:
    log = Log().turn_on("cache", assessed(**{TRADE: 1}), "Mine.").choose("batch").ask("Half a que").end("Bye.")
    found = of_session(log.state)
    assert [(line.speaker, line.text, line.turn) for line in found.lines] == [
        ("interviewer", "Question 1?", 1),
        ("candidate", "Mine.", 1),
        ("interviewer", "Half a que", 2),
        ("interviewer", "Bye.", None),
    ]


def test_what_was_not_seen_is_not_in_the_transcript() -> None:
    assert of_session(Log().state).lines == ()
    imported = Log(origin="imported").choose("cache").ask(" ").answer("Only an answer.").end()
    asked = imported.state.turns[0].question
    assert asked is not None
    silent = imported.state.turns[0].model_copy(update={"question": asked.model_copy(update={"text": ""})})
    state = imported.state.model_copy(update={"turns": (silent,)})
    assert said(of_session(state)) == [("candidate", "Only an answer.")]


def test_text_and_markdown_for_people() -> None:
    talk = lines(("interviewer", "Why?"), ("candidate", "Because.\nOf cost."))
    assert to_text(talk) == "Interviewer: Why?\n\nCandidate: Because.\nOf cost.\n"
    assert to_markdown(talk, "Round") == "# Round\n\n**Interviewer:** Why?\n\n**Candidate:** Because.\nOf cost.\n"


words = st.text(st.sampled_from("abZ19 .:?*_#-[]\t\né"), max_size=60).map(str.strip).filter(bool)


@given(st.lists(words, min_size=2, max_size=6))
def test_text_is_read_back_to_the_same_lines(texts: list[str]) -> None:
    speakers: tuple[Speaker, Speaker] = ("interviewer", "candidate")
    talk = lines(*((speakers[n % 2], text) for n, text in enumerate(texts)))
    assert said(parse_text(to_text(talk))) == said(talk)
    assert parse_json(talk.model_dump_json()) == talk


@pytest.mark.parametrize(
    "answer",
    [
        "Each row looks like this:\nuser: hello\nassistant: hi\nQ: why\nA: so",
        "Note: p99 first.",
        "The log said\nCandidate: build 7 is out\ninterviewer: no such build",
        "It ends in\n\\Candidate: x\n\\\\ twice",
        "**Bold** first, then __init__.",
        "__init__ is where it starts",
        "10:30 is when it began",
        "Question: is it p50?\nAnswer: p99.",
        "A cost: 12",
        "# not a title",
    ],
)
def test_speech_that_looks_like_labels_stays_speech(answer: str) -> None:
    talk = lines(("interviewer", "Why?"), ("candidate", answer), ("interviewer", "And then?"))
    assert said(parse_text(to_text(talk))) == said(talk)


@pytest.mark.parametrize(
    "text",
    [
        "Interviewer: Why?\nCandidate: Because.",
        "\ufeffInterviewer: Why?\r\n\r\nCandidate: Because.\r\n",
        "**Interviewer:** Why?\n\n**Candidate:** Because.",
        "**Interviewer**: Why?\n**Candidate**: Because.",
        "__Q:__ Why?\n__A:__ Because.",
        "- Q: Why?\n- A: Because.",
        "[00:01:02] Recruiter: Why?\n[00:01:10.5] Me: Because.",
        "00:01 - Hiring manager: Why?\n00:02 - Applicant: Because.",
        "# A title\n\nASSISTANT: Why?\nUser: Because.",
        "Interviewer:\nWhy?\nCandidate:\nBecause.",
    ],
)
def test_labels_as_people_write_them(text: str) -> None:
    assert said(parse_text(text)) == TALK
    assert parse_text(text).unplaced == ()


def test_names_are_labels_when_the_candidate_is_named() -> None:
    text = "Ada Lovelace: Why?\nBo: Because.\nNote well: this counts.\nAda Lovelace: And?\nBo: So."
    found = parse_text(text, candidate=" bo ")
    assert said(found)[0] == ("interviewer", "Why?")
    assert {who for who, _ in said(found)} == {"interviewer", "candidate"}
    assert parse_text("Ada: Why?\nBo: Because.\nP.S. here: more", candidate="Bo").lines[0].speaker == "interviewer"


def test_a_name_beside_known_labels_is_the_candidates_when_told() -> None:
    assert said(parse_text("Interviewer: Why?\nBo: Because.", candidate="Bo")) == TALK
    # without being told, it is part of what the interviewer said
    with pytest.raises(TranscriptError, match="Which speaker is the candidate"):
        parse_text("Interviewer: Why?\nBo: Because.")


def test_one_speaker_in_a_row_is_one_line() -> None:
    assert said(parse_text("Q: Why?\nQ: Really?\nA:\nA: Because.")) == [
        ("interviewer", "Why?\nReally?"),
        ("candidate", "Because."),
    ]


def test_text_before_the_first_label_is_returned_and_not_dropped() -> None:
    found = parse_text("# Title\nrecorded on Monday\n\nInterviewer: Why?\nCandidate: Because.")
    assert found.unplaced == (Unplaced(line=2, text="recorded on Monday"),)


@pytest.mark.parametrize(
    ("text", "candidate", "message"),
    [
        ("", None, "no speaker labels found"),
        ("just prose, no labels", None, "no speaker labels found"),
        ("Ada: Why?\nBo: Because.", None, "Which speaker is the candidate. Found: Ada, Bo"),
        ("Ada: Why?\nBo: Because.", "Cy", "No speaker is called 'Cy'. Found: Ada, Bo"),
    ],
)
def test_what_cannot_be_read_says_what_to_change(text: str, candidate: str | None, message: str) -> None:
    with pytest.raises(TranscriptError, match=message):
        parse_text(text, candidate)


def test_many_names_are_not_all_labels() -> None:
    text = "\n".join(f"Name{chr(65 + n)}: word" for n in range(12))
    with pytest.raises(TranscriptError) as caught:
        parse_text(text)
    assert str(caught.value).count("name") <= 4  # two labels, and the advice


@pytest.mark.parametrize(
    "data",
    [
        [
            {"role": "system", "content": "Be nice."},
            {"role": "assistant", "content": "Why?"},
            {"role": "user", "content": "Because."},
        ],
        {"messages": [{"role": "Assistant", "content": " Why? "}, {"role": "USER", "content": "Because."}]},
        {
            "lines": [
                {"speaker": "interviewer", "text": "Why?", "turn": 1},
                {"speaker": "candidate", "text": "Because."},
            ]
        },
    ],
)
def test_json_in_three_shapes(data: object) -> None:
    assert said(parse_json("\ufeff" + json.dumps(data))) == TALK


def test_json_names_are_told_apart_by_the_candidates_name() -> None:
    data = json.dumps([{"speaker": "Ada", "text": "Why?"}, {"speaker": "Bo", "text": "Because."}])
    assert said(parse_json(data, candidate="BO")) == TALK


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('"text"', "expected a list of messages"),
        ('{"turns": []}', "expected a list of messages"),
        ("[1]", "entry 0: expected"),
        ('[{"role": "user", "content": "a"}, {"role": "user"}]', "entry 1: expected"),
        ('[{"content": "a"}]', "entry 0: expected"),
        ('[{"role": "user", "content": ["part"]}]', "entry 0: expected"),
        ("[]", "holds no speech"),
        ('[{"role": "system", "content": "x"}]', "holds no speech"),
        ('[{"speaker": "ada", "text": "x"}]', "Which speaker is the candidate"),
    ],
)
def test_bad_json_names_the_place(text: str, message: str) -> None:
    with pytest.raises(TranscriptError, match=message):
        parse_json(text)


def test_an_answer_is_paired_with_the_question_before_it() -> None:
    talk = lines(
        ("candidate", "Hello."), ("interviewer", "Why?"), ("candidate", "Because."), ("interviewer", "Goodbye.")
    )
    assert exchanges(talk) == (Exchange(question="", answer="Hello."), Exchange(question="Why?", answer="Because."))
