from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.vllm_bench import BenchError, arguments, find_target, run
from interviewer.tools import bench
from serving.engine_config import free_port
from tests.bench.kit import MODELS, TARGET, TOOL, engine, tool


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_an_engine_says_what_it_serves(suffix: str) -> None:
    with engine() as root:
        target = find_target(f"{root}{suffix}")
    assert target == replace(TARGET, root=root, version="unknown")


def test_nobody_listens() -> None:
    with pytest.raises(BenchError, match=r"No engine answers at http://127\.0\.0\.1.*interviewer serve"):
        find_target(f"http://127.0.0.1:{free_port('127.0.0.1')}/v1")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"<html>", 200, "does not list models"),
        (b"[]", 200, "does not list models"),
        (b'{"data": []}', 200, "does not list models"),
        (b"{}", 401, "answered 401"),
    ],
)
def test_something_else_listens(body: bytes, status: int, message: str) -> None:
    with engine(body, status) as root, pytest.raises(BenchError, match=message):
        find_target(root)


def test_a_model_folder_of_another_machine_needs_a_tokenizer(tmp_path: Path) -> None:
    rows = [{**MODELS["data"][0], "root": "/on/the/server"}]
    with engine(json.dumps({"data": rows}).encode()) as root:
        with pytest.raises(BenchError, match=r"/on/the/server is not on this machine.*--tokenizer"):
            find_target(root)
        assert find_target(root, str(tmp_path)).tokenizer == str(tmp_path)


def test_models_are_chosen_by_persona_or_served_name() -> None:
    assert TARGET.models() == ["base", "deep_dive@1a2b", "recruiter@3c4d"]
    assert TARGET.models(["recruiter", "base"]) == ["recruiter@3c4d", "base"]
    assert TARGET.models(["deep_dive@1a2b"]) == ["deep_dive@1a2b"]
    assert replace(TARGET, base="llama-8b").models(["base"]) == ["llama-8b"]
    with pytest.raises(BenchError, match=r"serves no 'critic'\. Choose among: base, deep_dive@1a2b"):
        TARGET.models(["critic"])


def test_requests_longer_than_the_context_are_refused() -> None:
    TARGET.check_lengths(2048)
    with pytest.raises(BenchError, match="2049 tokens do not fit into the engine's context of 2048"):
        TARGET.check_lengths(2049)
    replace(TARGET, max_model_len=None).check_lengths(9999)


def call(requests: int) -> list[str]:
    return arguments(TARGET, ["base"], requests=requests, output_tokens=40, seed=1, extra=[])


def test_all_runs_are_made_by_one_process_in_order(tmp_path: Path) -> None:
    said: list[str] = []
    results = run([call(3), call(5)], TARGET, said.append, tool(tmp_path / "calls"))
    assert [result["completed"] for result in results] == [3, 5]
    assert said == ["run 1", "run 2"]


def test_no_completed_request_is_an_error_with_its_reason(tmp_path: Path) -> None:
    code = TOOL.replace('"completed": n', '"completed": 0').replace(
        '[""] * n', '["", "Traceback\\nConnection refused"]'
    )
    with pytest.raises(BenchError, match=r"None of 2 requests was completed: Connection refused\."):
        run([call(2)], TARGET, lambda _: None, tool(tmp_path / "calls", code))


def test_a_tool_that_fails_is_quoted() -> None:
    for code in ("import sys; sys.exit('unknown argument --goodput')", "import sys; sys.stdin.read(); sys.exit(3)"):
        with pytest.raises(BenchError, match=r"code 1: unknown argument --goodput|code 3: it said nothing"):
            run([call(2)], TARGET, lambda _: None, (sys.executable, "-c", code))


@pytest.mark.parametrize("command", ["load", "sweep"])
def test_the_command_says_in_one_line_that_no_engine_answers(command: str) -> None:
    address = f"http://127.0.0.1:{free_port('127.0.0.1')}/v1"
    done = CliRunner().invoke(bench, [command, "--engine-url", address])
    assert done.exit_code == 2
    assert "No engine answers at" in " ".join(done.output.split())


def test_the_command_names_the_models_when_asked_for_another() -> None:
    with engine() as root:
        done = CliRunner().invoke(bench, ["load", "--engine-url", root, "--adapter", "[critic]"])
    assert done.exit_code == 2
    assert "serves no '[critic]'" in " ".join(done.output.split())
