"""The command line as a user types it, against a real service on a real port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interviewer import __version__
from interviewer.cli import app
from interviewer.client import Client
from interviewer.tools import bench
from tests.site import Site

GOOD = "We held p99 latency at 800 ms at batch 8. The price was 15 percent of peak throughput."
runner = CliRunner()


def run(*arguments: str, **options: str) -> tuple[int, str]:
    result = runner.invoke(app, list(arguments), input=options.get("stdin"))
    return result.exit_code, result.output


def test_version() -> None:
    assert run("--version") == (0, f"{__version__}\n")


@pytest.mark.parametrize("command", [("turn",), ("score", "--engine-url", "http://127.0.0.1:9/v1")])
def test_a_benchmark_without_a_service_says_what_to_start(command: tuple[str, ...]) -> None:
    result = runner.invoke(bench, [*command, "--url", "http://127.0.0.1:9"])
    said = "error: No service at http://127.0.0.1:9; start it with: interviewer serve\n"
    assert (result.exit_code, result.output) == (2, said)


def test_score_prints_json_with_exact_quotes(site: Site, tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text(GOOD, encoding="utf-8")
    code, out = run("score", str(answer), "--id", "dd-paged-kv", "--url", site.url, "--json")
    assert code == 0
    scores = json.loads(out)["scores"]
    assert {s["level"] for s in scores} == {3}
    assert scores[0]["evidence"][0]["text"] == "We held p99 latency at 800 ms at batch 8."


def test_score_reads_standard_input_and_shows_a_table(site: Site) -> None:
    code, out = run("score", "-", "--id", "dd-paged-kv", "--url", site.url, stdin=GOOD)
    assert code == 0
    assert "llm_serving_depth" in out


def test_score_says_which_claims_are_right_and_why_a_level_is_held_down(site: Site) -> None:
    said = "An 8B in bf16 is 16 GB of weights. FlashAttention makes attention linear in the length, p99 was 80 ms."
    code, out = run("score", "-", "--id", "dd-paged-kv", "--url", site.url, stdin=said)
    lines = " ".join(out.split())
    assert code == 0
    assert 'claim right: "8B in bf16 is 16 GB of weights" - 8 billion parameters x 2 bytes (bf16) = 16 GB' in lines
    assert 'claim not right: "FlashAttention makes attention linear in the length"' in lines
    assert "LLM serving depth is held at level 1, as one claim is wrong" in lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "/no/such/file", "--id", "dd-paged-kv"), "cannot read /no/such/file"),
        (("score", "-", "--id", "nothing"), "no question 'nothing'"),
        (("report", "nothing"), "no session with that id"),
        (("replay", "nothing", "--persona", "recruiter"), "no session with that id"),
        (("replay", "nothing", "--play"), "no session with that id"),
        (("replay", "nothing", "--play", "--judge-again"), "leave out --persona"),
        (("replay", "nothing", "--answer", "file"), "needs --from-turn"),
        (("chat", "--persona", "nobody"), "no persona 'nobody'"),
        (("chat", "--question", "nothing"), "no question 'nothing'"),
    ],
)
def test_a_mistake_is_one_clear_line_and_exit_code_2(site: Site, arguments: tuple[str, ...], message: str) -> None:
    code, out = run(*arguments, "--url", site.url, stdin="x y z")
    assert code == 2
    assert message in " ".join(out.split())


def test_no_service_says_how_to_start_one() -> None:
    code, out = run("history", "--url", "http://127.0.0.1:9")
    assert code == 2
    assert "interviewer serve" in " ".join(out.split())


def test_a_file_that_is_not_utf8_is_named(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Kandidat: schön".encode("latin-1"))
    code, out = run("score", str(path), "--id", "dd-paged-kv", "--url", site.url)
    assert code == 2
    assert "not UTF-8" in out


def test_import_report_replay_and_history(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(
        f"Interviewer: Why does a paged KV cache let more users fit?\nCandidate: {GOOD}\n", encoding="utf-8"
    )
    code, out = run("import", str(path), "--rubric", "deep_dive", "--url", site.url, "--json")
    assert code == 0
    session = json.loads(out[out.index("{") :])["id"]
    code, out = run("report", session, "--url", site.url)
    assert code == 0
    assert "We held p99 latency at 800 ms at batch 8." in out
    code, out = run("replay", session, "--persona", "recruiter", "--url", site.url, "--json")
    assert code == 0
    assert json.loads(out)["diff"]["parent"] == session
    code, out = run("replay", session, "--play", "--speed", "0", "--url", site.url)
    assert code == 0
    assert "Why does a paged KV cache let more users fit?" in " ".join(out.split())
    assert out.index("(read: ") > out.index("candidate: We held p99"), "levels stand behind the answer"
    code, out = run("replay", session, "--judge-again", "--url", site.url)
    assert code == 0
    assert "Levels, flags and verdict are the same." in " ".join(out.split())
    code, out = run("history", "--url", site.url, "--json")
    assert session in [row["id"] for row in json.loads(out)]


def test_captions_are_imported_once_and_the_candidate_is_asked_for(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "talk.vtt"
    cues = f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ada>Why?\n\n00:03.000 --> 00:04.000\n<v Bo>{GOOD}\n"
    path.write_bytes(cues.encode("utf-16"))
    arguments = ("import", str(path), "--rubric", "deep_dive", "--url", site.url)
    code, out = run(*arguments)
    assert code == 2
    assert "Found: Ada, Bo. Name the candidate" in " ".join(out.split())
    code, out = run(*arguments, "--candidate", "Bo")
    assert code == 0 and "1 answers" in out
    code, out = run(*arguments, "--candidate", "Bo")
    assert code == 0 and "imported before, 1 answers" in out


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04", "this is a zip archive"),
        (b"", "the file is empty"),
        ("Kandidat: schön".encode("latin-1"), "iconv -f latin1"),
        (b"Me: " + b"x" * 2**21, "at most 2097152 are taken"),
    ],
)
def test_files_that_cannot_be_imported_say_why(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "talk.txt"
    path.write_bytes(data)
    code, out = run("import", str(path), "--rubric", "deep_dive")
    assert code == 2
    assert message in " ".join(out.split())


def chat(site: Site, *arguments: str) -> str:
    """Hold an interview of one answer in the terminal; returns what was printed."""
    done = subprocess.run(
        [sys.executable, "-m", "interviewer", "chat", *arguments, "--url", site.url],
        input=f"{GOOD}\n\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_chat_streams_the_question_takes_an_answer_and_ends(site: Site) -> None:
    said = chat(site, "--persona", "deep_dive")
    assert "Interviewer:" in said
    assert "the session has ended (candidate)" in said
    with Client(site.url) as client:
        newest = client.get("/v1/sessions")["sessions"][0]["id"]
        lines = client.get(f"/v1/sessions/{newest}/transcript")["lines"]
    assert [line["text"] for line in lines if line["speaker"] == "candidate"] == [GOOD]


def test_chat_opens_with_the_question_that_was_chosen(site: Site) -> None:
    chat(site, "--question", "bh-say-no")
    with Client(site.url) as client:
        newest = client.get("/v1/sessions")["sessions"][0]
        first = client.get(f"/v1/sessions/{newest['id']}/transcript")["lines"][0]["text"]
        wanted = client.get("/v1/questions/bh-say-no")["text"]
    assert (newest["rubric"], newest["persona"]) == ("behavioral", "behavioral")
    assert first.endswith(wanted)


def test_a_taken_port_is_said_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        code, out = run("serve", "--port", port)
    assert code == 2
    assert "choose another with --port" in " ".join(out.split())


def test_serve_with_a_broken_document_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text("version: 1\ncriteria: {}\nflags: {}\nsurprise: yes\n", encoding="utf-8")
    environment = {
        **os.environ,
        "INTERVIEWER_RUBRICS": str(tmp_path),
        "INTERVIEWER_DATA_DIR": str(tmp_path),
        "INTERVIEWER_ENGINE_URL": "http://127.0.0.1:9/v1",
    }
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "interviewer", "serve", "--port", "0"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0
    assert "criteria.yaml:4: surprise" in done.stderr, f"{time.monotonic() - began:.0f} s: {done.stderr[-2000:]}"
