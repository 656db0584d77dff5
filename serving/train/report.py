"""Writes ``eval/reports/adapters.md`` and ``.json``: what each adapter gains, and that they differ from each other.

Run it with ``python -m serving.train.report``; it takes some minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from interviewer.adapters.documents import load_library
from serving.train import PERSONAS, PROJECT, TrainError
from serving.train.config import PersonaSettings, load_settings
from serving.train.output import machine, versions
from serving.train.persona import Material, material, mean_loss
from serving.train.speak import Spoke, speak
from serving.train.tower import Tower, load_tokenizer, new_tower, read_adapter

COMMAND = "python -m serving.train.report"


def measure(
    base: Path, personas: Path, progress: Callable[[str], None], *, turns: bool = True, threads: int = 2
) -> dict[str, Any]:
    """Measure the saved adapters on each other's held-out examples.

    Args:
        base: Checkpoint folder of the base model.
        personas: Folder with one folder per adapter.
        progress: Takes one line at a time.
        turns: Also let them speak and check the turns; most of the time goes there.
        threads: Of the computation; one is faster than two while others use the machine.

    Raises:
        TrainError: adapters of different shapes, which one engine slot size could not hold.
    """
    start = time.monotonic()
    settings = {n: load_settings(personas / n / "lora.yaml", PersonaSettings, {}) for n in PERSONAS}
    shapes = {(s.rank, s.alpha, s.targets, s.first_layer) for s in settings.values()}
    if len(shapes) > 1:
        raise TrainError(f"the personas' adapters have different shapes: {sorted(map(str, shapes))}")
    torch.set_num_threads(threads)
    tokenizer = load_tokenizer(base)
    data = {n: material(n, tokenizer, settings[n]) for n in PERSONAS}
    tower = new_tower(base, settings[PERSONAS[0]])
    losses: dict[str, Any] = {}
    with tower.plain():
        for name in PERSONAS:
            losses[name] = {
                "base": round(mean_loss(tower, data[name].held_bare), 4),
                "base_with_prompt": round(mean_loss(tower, data[name].held), 4),
                "adapters": {},
            }
    spoken: dict[str, Any] = {n: {} for n in PERSONAS}
    if turns:
        with tower.plain():
            for name in PERSONAS:
                spoken[name]["base_with_prompt"] = _spoken(tower, tokenizer, name, data[name])
                progress(f"{name}: base {spoken[name]['base_with_prompt']}")
    for adapter in PERSONAS:
        tower.load(read_adapter(personas / adapter / "adapter"))
        for name in PERSONAS:
            losses[name]["adapters"][adapter] = round(mean_loss(tower, data[name].held), 4)
        progress(f"adapter {adapter}: {[losses[n]['adapters'][adapter] for n in PERSONAS]}")
        if turns:
            spoken[adapter]["adapter"] = _spoken(tower, tokenizer, adapter, data[adapter])
            progress(f"{adapter}: adapter {spoken[adapter]['adapter']}")
    return {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "command": COMMAND if turns else f"{COMMAND} --no-turns",
        "seconds": round(time.monotonic() - start),
        "held_out": {
            n: {"examples": len(data[n].held_examples), "questions": sorted(data[n].held_questions)} for n in PERSONAS
        },
        "loss": losses,
        "turns": spoken,
        "evaluator": evaluator_result(personas),
    }


def evaluator_result(personas: Path) -> dict[str, Any] | None:
    """Return the ``test`` part of the evaluator's result; ``None`` when it was not trained yet."""
    path = personas / "evaluator" / "result.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["test"]
    return found


def _spoken(tower: Tower, tokenizer: Any, name: str, data: Material) -> dict[str, Any]:
    library = load_library(PROJECT / "rubrics", PROJECT / "personas")
    persona = library.personas[name]
    found: Spoke = speak(tower, tokenizer, persona, library.rubrics[persona.rubric], data.held_examples)
    return {"n": len(found.turns), "passed": found.passed, "problems": found.problems, "examples": found.turns[:3]}


def to_markdown(found: dict[str, Any]) -> str:
    """Render the report."""
    names = [n for n in PERSONAS if n in found["loss"]]
    lines = [
        "# Adapters: what they gain, and that they differ",
        "",
        f"Measured {found['measured']} on {found['machine']} with `{found['command']}` "
        f"({found['seconds'] // 60} min); torch {found['versions']['torch']}, peft {found['versions']['peft']}.",
        "",
        "Loss is nats per token of what the persona says, on questions that no adapter was trained on. "
        "Rows: whose held-out turns; columns: which weights, always with the row's own prompt.",
        "",
        "| turns of | n | base, no persona prompt | base + prompt | " + " | ".join(names) + " |",
        "|---|---|---|---|" + "---|" * len(names),
    ]
    for name in names:
        row = found["loss"][name]
        best = min(row["adapters"].values())
        cells = [
            f"**{row['adapters'][a]:.2f}**" if row["adapters"][a] == best else f"{row['adapters'][a]:.2f}"
            for a in names
        ]
        lines.append(
            f"| {name} | {found['held_out'][name]['examples']} | {row['base']:.2f} | {row['base_with_prompt']:.2f} | "
            + " | ".join(cells)
            + " |"
        )
    own = sum(min(r["adapters"], key=r["adapters"].get) == n for n, r in found["loss"].items())
    lines += ["", f"The persona's own adapter predicts its turns best for {own} of {len(names)} personas.", ""]
    if any(found["turns"].values()):
        lines += [
            "Greedy turns on the same examples, checked by the live guard (whole turn, one try, no fallback):",
            "",
            "| persona | base + prompt passed | adapter passed | what the guard found in the adapter's turns |",
            "|---|---|---|---|",
        ]
        for name in names:
            before, after = found["turns"][name]["base_with_prompt"], found["turns"][name]["adapter"]
            problems = ", ".join(f"{k} {v}" for k, v in sorted(after["problems"].items())) or "nothing"
            lines.append(
                f"| {name} | {before['passed']} of {before['n']} | {after['passed']} of {after['n']} | {problems} |"
            )
        lines.append("")
    if found["evaluator"]:
        lines += _evaluator_lines(found["evaluator"])
    return "\n".join(lines) + "\n"


def _evaluator_lines(test: dict[str, Any]) -> list[str]:
    mine = test["evaluator"]
    lines = [
        f"The evaluator on {test['answers']} answers to {test['questions']} test questions "
        f"({mine['n']} labels; interval over questions):",
        "",
        "| | kappa | Spearman | mean signed error | recall of 0-1 | recall of 3 |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in {"evaluator": mine, **test["baselines"]}.items():
        lines.append(
            f"| {name.replace('_', ' ')} | {row['kappa']:.2f} | {row['spearman']:.2f} | "
            f"{row['mean_signed_error']:+.2f} | {row['recall_0_1']:.2f} | {row['recall_3']:.2f} |"
        )
    low, high = mine["kappa_95"]
    return [*lines, "", f"Evaluator's kappa, 95%: {low:.2f} to {high:.2f}."]


def main() -> None:
    """Measure and write the report."""
    from serving.fetch import default_cache, ensure_base

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, help="checkpoint folder of the base; the embedded one by default")
    parser.add_argument("--out", type=Path, default=PROJECT / "eval" / "reports", help="folder to write to")
    parser.add_argument("--no-turns", action="store_true", help="losses only")
    parser.add_argument("--threads", type=int, default=2, help="of the computation")
    chosen = parser.parse_args()

    def say(line: str) -> None:
        parser._print_message(f"{line}\n")

    base = chosen.base or ensure_base(default_cache(), say)
    found = measure(base, PROJECT / "personas", say, turns=not chosen.no_turns, threads=chosen.threads)
    (chosen.out / "adapters.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    (chosen.out / "adapters.md").write_text(to_markdown(found), encoding="utf-8")


if __name__ == "__main__":
    main()
