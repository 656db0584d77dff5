"""A session in the terminal: what is shown, in which order, and how long is waited."""

from __future__ import annotations

import json
from typing import Any

from interviewer.core import events as ev
from interviewer.playback import PACE, PAUSE, play
from tests.core.builders import TRADE, Log, assessed, unscored


def lines(log: Log) -> list[dict[str, Any]]:
    return [json.loads(record.model_dump_json()) for record in log.records]


def test_everything_that_happened_is_shown_in_order() -> None:
    log = Log().choose("cache", reason="It is open.").ask("What cache?", interrupted=True).hint("cache", 1)
    log.answer("A KV cache.").read(assessed(**{TRADE: 2})).add(ev.PersonaChanged(persona="recruiter", adapter=None))
    log.add(ev.SessionNotice(code="slow", message="The model was slow.")).choose("cache").ask("And?").answer("No.")
    log.read(unscored()).end("Bye.")
    assert [text for _, text in play(lines(log))] == [
        "\n1. (It is open.)",
        "deep_dive [authored, stopped here]: What cache?",
        "(hint 1: Look there.)",
        "candidate: A KV cache.",
        f"(read: {TRADE} 2)",
        "(recruiter takes over)",
        "(notice: The model was slow.)",
        "\n2. (because)",
        "deep_dive [authored]: And?",
        "candidate: No.",
        f"(not assessed: {unscored().detail})",
        "\nBye.\n(ended: complete)",
    ]


def test_from_a_later_turn_nothing_of_the_earlier_ones_is_shown() -> None:
    log = Log().choose("cache").ask("What cache?").answer("A KV cache.").read(assessed(**{TRADE: 2}))
    log.add(ev.PersonaChanged(persona="recruiter", adapter=None)).add(ev.SessionNotice(code="slow", message="Slow."))
    log.choose("cache").ask("And?").answer("No.").end("Bye.")
    assert [text for _, text in play(lines(log), 2)] == [
        "\n2. (because)",
        "deep_dive [authored]: And?",
        "candidate: No.",
        "\nBye.\n(ended: complete)",
    ]


def test_real_pauses_are_kept_up_to_the_longest() -> None:
    log = Log().choose("cache").add(ev.QuestionAsked(turn=1, text="What?", source="authored", persona="p"), after=2.5)
    log.add(ev.AnswerGiven(turn=1, msg_id="m", text="That."), after=300.0)
    assert [wait for wait, _ in play(lines(log))] == [0.0, 2.5, PAUSE]


def test_an_import_is_played_by_its_cues_with_the_levels_behind_their_answers() -> None:
    def said(turn: int, at: float) -> list[ev.Event]:
        return [
            ev.ProbeChosen(turn=turn, question_id=f"imported-{turn}", probe="?", reason="Imported.", elapsed=0),
            ev.QuestionAsked(turn=turn, text="Why?", source="imported", persona="p", start=at),
            ev.AnswerGiven(turn=turn, msg_id=f"m{turn}", text="So.", start=at + 2),
        ]

    log = Log(origin="imported")
    for event in (*said(1, 10.0), *said(2, 15.0)):
        log.add(event, after=0)
    log.read(assessed(**{TRADE: 1}), turn=1).read(assessed(**{TRADE: 3}), turn=2)
    log.add(ev.SessionEnded(reason="imported"))
    played = list(play(lines(log)))
    spoken = [(wait, text) for wait, text in played if text.startswith(("p ", "candidate"))]
    assert [wait for wait, _ in spoken] == [0.0, 2.0, 3.0, 2.0]
    assert [text for _, text in played if text.startswith("(read")] == [f"(read: {TRADE} 1)", f"(read: {TRADE} 3)"]
    assert [text for _, text in played][3:5] == [f"(read: {TRADE} 1)", "\n2. (Imported.)"]


def test_what_was_stored_in_one_moment_is_played_at_the_pace_of_speech() -> None:
    log = Log().add(ev.ProbeChosen(turn=1, question_id="q", probe="?", reason="r", elapsed=0), after=0)
    log.add(ev.QuestionAsked(turn=1, text="one two three", source="authored", persona="p"), after=0)
    log.add(ev.ProbeChosen(turn=1, question_id="q", probe="Else?", reason="x", elapsed=0, counterfactual=True), after=0)
    waits = list(play(lines(log)))
    assert waits[2] == (3 / PACE, "(would have asked instead: Else? - x)")
    assert list(play([])) == []
