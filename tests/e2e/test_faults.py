"""`eval faults`, a few kills of it, on real processes; and that it would notice what it looks for."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from eval.faults import measure, to_markdown
from eval.faults_client import Candidate, violations
from interviewer.core import events as ev
from interviewer.core.assessment import UnscoredReason

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
ANSWER = "We held p99 latency at 800 ms at batch 8."


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_few_kills_break_nothing(database: str) -> None:
    found = measure((database,), 4, 11, lambda _: None)
    assert found["violations"] == []
    assert found["kills"] == 4
    assert found["counts"]["answers in the logs"] == found["counts"]["answers sent"] > 0  # type: ignore[index]
    assert "**Invariants broken: 0.**" in to_markdown(found)


def test_a_stop_in_the_middle_leaves_no_process(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "interviewer", "eval", "faults", "--kills", "50", "--database", "sqlite"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        # A job in the background of a shell ignores Ctrl-C, and so would every process that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    process.stderr.readline()  # the first kill is done: everything runs
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2, "service and engine"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    psutil.wait_procs(children, timeout=30)
    # By folder and not only by process id: one that was started meanwhile counts, too.
    assert not [p for p in psutil.process_iter() if str(tmp_path) in _environment(p)]


def _environment(process: psutil.Process) -> str:
    try:
        return " ".join(process.environ().values())
    except psutil.Error:
        return ""


def log(*events: ev.Event, skip: int = 0) -> list[ev.Recorded]:
    return [
        ev.Recorded(session_id="s", seq=n + (skip if n > 1 else 0), at=NOON + timedelta(seconds=n), event=e)
        for n, e in enumerate(events, 1)
    ]


STARTED = ev.SessionStarted(
    persona="deep_dive",
    rubric="deep_dive",
    level="mid",
    mode="practice",
    minutes=20,
    seed=1,
    versions=ev.Versions(rubric="", persona="", prompt="1", model="base", adapter=None, judge="scripted"),
)
CHOSEN = ev.ProbeChosen(turn=1, question_id="q", probe="What did you hold?", reason="first", elapsed=0.0)
ASKED = ev.QuestionAsked(turn=1, text="What did you hold?", source="authored", persona="deep_dive")
GIVEN = ev.AnswerGiven(turn=1, msg_id="m1", text=ANSWER)
READ = ev.AnswerUnscored(turn=1, reason=UnscoredReason.NOT_ENGLISH, detail="")
ENDED = ev.SessionEnded(reason="candidate")
WHOLE = (STARTED, CHOSEN, ASKED, GIVEN, READ, ENDED)


def saw(records: list[ev.Recorded]) -> Candidate:
    who = Candidate("http://nowhere", 1, random.Random(1), lambda: None, id="s")
    who.sent, who.acknowledged = {"m1": ANSWER}, {"m1"}
    who.seen = {r.seq: r.event.type for r in records}
    return who


def test_a_whole_session_breaks_nothing() -> None:
    assert violations(log(*WHOLE), saw(log(*WHOLE))) == []


@pytest.mark.parametrize(
    ("events", "skip", "said"),
    [
        ((STARTED, CHOSEN, ASKED, ENDED), 0, "accepted answer m1 was lost"),
        ((STARTED, CHOSEN, ASKED, GIVEN, READ, GIVEN, ENDED), 0, "answer m1 was applied 2 times"),
        (WHOLE, 1, "the log has a gap"),
        ((STARTED, CHOSEN, ASKED, GIVEN, READ), 0, "the session did not come to its end"),
        ((STARTED, CHOSEN, ASKED, GIVEN, ENDED), 0, "the answer of turn 1 was read 0 times"),
        ((STARTED, CHOSEN, ASKED, ASKED, GIVEN, READ, ENDED), 0, "turn 1 has 2 QuestionAsked"),
    ],
)
def test_what_is_broken_is_noticed(events: tuple[ev.Event, ...], skip: int, said: str) -> None:
    records = log(*events, skip=skip)
    assert said in violations(records, saw(records))


def test_a_client_that_saw_something_else_is_noticed() -> None:
    who = saw(log(*WHOLE))
    who.seen[5] = "answer_assessed"
    assert violations(log(*WHOLE), who) == ["what the client saw is not what the log says"]
    who = saw(log(*WHOLE))
    who.sent["m1"] = "something else"
    assert violations(log(*WHOLE), who) == ["answer m1 is not what was sent"]
