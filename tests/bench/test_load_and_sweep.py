from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval import bench_load, bench_sweep
from eval.bench_load import Load, chats
from eval.bench_sweep import Sweep, to_csv, to_svg
from eval.vllm_bench import BenchError
from interviewer.adapters.documents import load_library
from tests.bench.kit import TARGET, tool

MODELS = ["base", "deep_dive@1a2b", "recruiter@3c4d"]


def calls(path: Path) -> list[list[str]]:
    found: list[list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_each_model_gets_its_own_persona_and_only_the_system_prompt_is_shared() -> None:
    library = load_library()
    prompts = chats(library, MODELS, 9, "run1")
    systems = [chat[0]["content"] for chat in prompts]
    assert len(prompts) == 9
    assert systems[2] == systems[5] == systems[8]
    assert library.personas["recruiter"].name in systems[2]
    assert library.personas["deep_dive"].name in systems[0]
    assert systems[0] == systems[1]
    heads = [chat[1]["content"][:24] for chat in prompts]
    assert len(set(heads)) == 9
    assert not {chat[1]["content"][:24] for chat in chats(library, MODELS, 9, "run2")} & set(heads)
    assert all(250 <= len(" ".join(m["content"] for m in chat).split()) <= 450 for chat in prompts)


def test_load_runs_every_rate_and_throws_the_first_run_away(tmp_path: Path) -> None:
    load = Load((2.0, 8.0), requests=6, repeats=3, random_tokens=500)
    found = bench_load.measure(TARGET, MODELS, load, lambda _: None, command=tool(tmp_path / "calls"))
    made = calls(tmp_path / "calls")
    assert len(made) == 7
    assert [[a for a in argv if "request-rate" in a] for argv in made] == [
        [],
        *[["--request-rate=2"]] * 3,
        *[["--request-rate=8"]] * 3,
    ]
    assert len({next(a for a in argv if a.startswith("--seed")) for argv in made}) == 7
    assert all(argv[argv.index("--lora-modules") + 1 :] == MODELS for argv in made)
    assert all(["ttft:500", "tpot:30"] == argv[argv.index("--goodput") + 1 :][:2] for argv in made)
    # 490 ms a request; the tool's goodput is number / 490 ms / 4, and the median of runs 1 to 3 is that of run 2.
    text = bench_load.to_markdown(found)
    assert "| 2 | 6 (6-6) | 0 (0-0) | 2.041 (2.041-2.041) | 1.02 (0.51-1.531) | 81.63" in text
    assert "| 8 | TTFT | 100 (100-100) |" in text
    assert "The p99 of 6 requests" in text
    assert found["load"]["prompt_tokens"] == 500


def test_sweep_holds_each_batch_and_explains_the_bend(tmp_path: Path) -> None:
    sweep = Sweep(batches=(1, 2, 4, 8), repeats=2, waves=3, dtype="float32", memory_gbs=20.0)
    target = replace(TARGET, tokenizer=str(tmp_path))
    found = bench_sweep.measure(target, ["base"], sweep, lambda _: None, command=tool(tmp_path / "calls"))
    made = calls(tmp_path / "calls")
    held = [next(a for a in argv if a.startswith("--max-concurrency")).split("=")[1] for argv in made]
    assert held == ["8", "1", "2", "4", "8", "1", "2", "4", "8"]
    assert "--num-prompts=24" in made[0]
    # 490 ms a request at batch 1, 295, 197.5 and 148.75: gains of 1.66, 1.49 and 1.33.
    text = bench_sweep.to_markdown(found, "sweep.svg")
    assert "| 8 | 450 (450-450) | 10 (10-10) |" in text
    assert "between batch 4 and 8: 2 times the batch gave 1.33 times" in text
    assert "Prefill is 67% of it" in text
    assert "](sweep.svg)" in text
    rows = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [row["batch"] for row in rows] == ["1", "1", "2", "2", "4", "4", "8", "8"]
    assert rows[0]["ttft_ms"] == "100.0"
    assert to_svg(found).count("<polyline") == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"batches": (2, 4)}, "rise from 1"),
        ({"batches": (1,)}, "rise from 1"),
        ({"batches": (1, 4, 2)}, "rise from 1"),
        ({"batches": (1, 2, 2)}, "rise from 1"),
        ({"output_tokens": 1}, "two output tokens"),
        ({"dtype": "int3"}, "No size is known for 'int3'"),
        ({"input_tokens": 4000}, "do not fit"),
    ],
)
def test_a_sweep_that_cannot_be_made_is_refused_before_it_starts(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BenchError, match=message):
        bench_sweep.measure(TARGET, ["base"], Sweep(**given), lambda _: None, command=("/no/such/tool",))
