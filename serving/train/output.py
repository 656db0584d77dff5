"""What a trained folder says about itself: ``result.json`` and the model card."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from serving.catalogue import Entry

LICENCE = "Apache-2.0"
EMBEDDED: dict[str, Any] = {"embedded": True, "device": "cpu", "licence": LICENCE}
"""What results from before bases could be chosen do not say."""


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {"python": platform.python_version()}
    for package in ("torch", "transformers", "peft", "safetensors"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # pragma: no cover - a source tree on the path has no metadata
            found[package] = "unknown"
    return found


def command(name: str, overrides: dict[str, str], base: Entry | None = None) -> str:
    """Return the command that repeats a run; ``base`` is named unless it is the embedded one."""
    chosen = []
    if base is not None and not base.embedded:
        chosen = [f"--base {base.name}" if base.origin == "hub" else f"--base path/to/{base.base}"]
    settings = [f"--set {key}={value}" for key, value in overrides.items()]
    return " ".join(["interviewer train", name, *chosen, *settings])


def machine() -> str:
    """Return the kind of machine in one line, without its name."""
    model = ""
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
        flags = next((line for line in lines if line.startswith("flags")), "")
        cores = sum(line.startswith("processor") for line in lines)
        width = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
        return f"{model or platform.machine()}, {cores} cores, {width}, no GPU"
    return f"{platform.system()} {platform.machine()}"


def write_result(out: Path, result: dict[str, Any]) -> None:
    """Write ``result.json``."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def _adapter_lines(settings: dict[str, Any]) -> str:
    return (
        f"LoRA rank {settings['rank']} (alpha {settings['alpha']:g}) on {', '.join(settings['targets'])}\n"
        f"of layers {settings['first_layer']} and up; no bias, no DoRA, no extra modules. Stored in bfloat16."
    )


def _where(result: dict[str, Any]) -> str:
    device = result.get("base", EMBEDDED)["device"]
    return "2 shared CPU cores" if device == "cpu" else str(device)


def _licence(result: dict[str, Any]) -> str:
    theirs = result.get("base", EMBEDDED)["licence"]
    return f"{LICENCE}, as is the base." if theirs == LICENCE else f"{LICENCE}; the base's: {theirs}."


def _size(result: dict[str, Any]) -> str:
    return "a very small base" if result.get("base", EMBEDDED)["embedded"] else "this base"


def persona_card(result: dict[str, Any]) -> str:
    """Return the model card of a persona's adapter."""
    loss, data, settings = result["loss"], result["data"], result["settings"]
    return f"""---
base_model: {settings["base"]}
library_name: peft
license: {LICENCE.lower()}
---

# Adapter `{result["name"]}`

Makes {settings["base"]} speak as the persona of `persona.yaml`: one short tie-in to what the candidate said, then one
question that pursues the probe it was given.

{_adapter_lines(settings)}

| loss on held-out questions (nats per token) | |
|---|---|
| base, without the persona's prompt | {loss["base"]:.3f} |
| base with the persona's prompt | {loss["base_with_prompt"]:.3f} |
| with this adapter | **{loss["adapter"]:.3f}** |

- **Data:** {data["examples"]["train"]} examples in `data/` for training,
  {data["examples"]["held_out"]} held out by question ({", ".join(data["held_out_questions"])}).
  Written for this project.
- **Limits:** English only, the prompt format of `interviewer/core/prompts.py` only, and {_size(result)}: what it says
  is checked before it is shown, and the rubric's own wording is asked where the check fails. The epoch was chosen on
  the same held-out questions that the table reports, so the last row is slightly flattering.
- **Repeat it:** `{result["command"]}` ({result["seconds"] // 60} min on {_where(result)}). Numbers: `result.json`.
- **Licence:** {_licence(result)}
"""


def evaluator_card(result: dict[str, Any]) -> str:
    """Return the model card of the evaluator."""
    test, settings, counts = result["test"], result["settings"], result["data"]["answers"]
    mine = test["evaluator"]
    rows = [
        f"| **what ships** | **{mine['kappa']:.2f}** | {mine['spearman']:.2f} | {mine['mean_signed_error']:+.2f} | "
        f"{mine['recall_0_1']:.2f} | {mine['recall_3']:.2f} | |"
    ]
    for name, found in test["baselines"].items():
        low, high = found["kappa_difference_95"]
        rows.append(
            f"| {name.replace('_', ' ')} | {found['kappa']:.2f} | {found['spearman']:.2f} | "
            f"{found['mean_signed_error']:+.2f} | {found['recall_0_1']:.2f} | {found['recall_3']:.2f} | "
            f"{low:+.2f} to {high:+.2f} |"
        )
    criteria = [
        f"| {name.replace('_', ' ')} | {found['n']} | {found['kappa']:.2f} | {found['spearman']:.2f} | "
        f"{found['mean_signed_error']:+.2f} |"
        for name, found in test["by_criterion"].items()
    ]
    altered = "; ".join(
        f"{name}: expected level {found['mean_change_of_expected_level']:+.2f}, same level {found['same_level']:.0%}"
        for name, found in test["alterations"].items()
    )
    low, high = mine["kappa_95"]
    note = f" The run was {result['loss']['note']}." if result["loss"].get("note") else ""
    return f"""---
base_model: {settings["base"]}
library_name: peft
license: {LICENCE.lower()}
---

# Adapter `evaluator`

Reads one token after `level=` as a distribution over levels 0 to 3 of one criterion. `words.json` holds linear
models over words and pairs of words, fitted on the same training answers: how high the whole answer and its best
sentence stand, and which sentence carries a level. `calibration.json` weighs the two into the reported distribution and
was fitted on its own questions.

{_adapter_lines(settings)}

{test["answers"]} answers to {test["questions"]} test questions that were used for neither training nor calibration; the
intervals are 95% bootstrap intervals over questions, kappa is quadratically weighted:

| | kappa | Spearman | mean signed error | recall of 0-1 | recall of 3 | kappa gained over it |
|---|---|---|---|---|---|---|
{chr(10).join(rows)}

The first row is what ships; `adapter alone` and `words alone` are its halves, fitted on the same questions. Its kappa
is {low:.2f} to {high:.2f}. The labelled evidence was pointed at in {mine["evidence_found"]:.0%} of the cases. With
harmless alterations of the same answers, {altered}.

| criterion | labels | kappa | Spearman | mean signed error |
|---|---|---|---|---|
{chr(10).join(criteria)}

- **Data:** {counts["train"]} labelled answers for training, {counts["calibration"]} for calibration,
  {counts["test"]} for the test, split by question in `{result["data"]["split"]}`. Written for this project.
- **Limits:** English only; the criteria of `rubrics/criteria.yaml` (on others only the order of answers means
  something, and no more than a reference's words say: `eval/reports/outside.md`); {_size(result)} that does not know
  whether a technical claim is true. Levels of single answers are noisy: use the distribution, and a bigger judge
  where a decision hangs on one answer. A criterion with few labels above has a kappa with a wide interval.{note}
- **Repeat it:** `{result["command"]}` ({result["seconds"] // 60} min on {_where(result)}). Numbers: `result.json`.
- **Licence:** {_licence(result)}
"""
