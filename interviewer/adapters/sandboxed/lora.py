"""Runs a candidate's LoRA script with the stand-ins: what was trained, on which labels, and was it saved."""

from __future__ import annotations

import ast
import math

import torch
from torch.nn import functional

from interviewer.adapters.sandboxed import library
from interviewer.adapters.sandboxed.adapted import TinyPeft, log
from interviewer.adapters.sandboxed.child import Check, Stopped, run_code
from interviewer.adapters.sandboxed.tiny import TinyLM, stay_on_cpu


def check(code: str) -> list[Check]:
    """Run the script and say what it did.

    Raises:
        Stopped: it raised.
    """
    stay_on_cpu()
    library.install()
    log.clear()
    torch.manual_seed(0)
    names = {"torch": torch, "F": functional, "nn": torch.nn}
    run_code(_called(code), names)
    if not log.models:
        raise Stopped(Check("runs", None, "It runs, and loads no model, so there is nothing to look at."))
    if not log.adapted:
        return [Check("wrapped", False, "It runs, and no adapter was put on the model.")]
    found = [Check("runs", True, "It runs to its end on a tiny model."), *_trained(log.adapted[-1], log.losses)]
    labels = [pair for model in log.models for pair in model.labels]
    if labels:
        found += _labels(labels)
    found.append(Check("saved", log.saved, "The adapter is saved." if log.saved else "The adapter was not saved."))
    return found


def _called(code: str) -> str:
    """Add the call of the function that has it all, when the script only defines it."""
    tree = ast.parse(code)
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    alone = all(
        isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign)) for n in tree.body
    )
    if functions and alone:
        last = functions[-1]
        if len(last.args.args) == len(last.args.defaults):
            return f"{code}\n{last.name}()\n"
    return code


def _trained(adapted: TinyPeft, losses: list[float]) -> list[Check]:
    fresh = {name: p for name, p in TinyLM().state_dict().items()}
    now = {name.replace("base_layer.", ""): p for name, p in adapted.base_model.state_dict().items()}
    moved = [name for name, before in fresh.items() if name in now and not torch.equal(before, now[name])]
    updates = [p for name, p in adapted.base_model.named_parameters() if name.endswith("lora_B")]
    learnt = any(bool((p != 0).any()) for p in updates)
    finite = all(bool(torch.isfinite(p).all()) for p in updates) and all(math.isfinite(x) for x in losses)
    found = []
    if not learnt:
        found.append(Check("trained", False, "It runs, and the adapter is as it was: nothing was trained."))
    elif not finite:
        found.append(Check("trained", False, "The loss or the weights are no numbers any more."))
    else:
        found.append(Check("trained", True, "The adapter's weights were trained."))
    says = "Weights of the base were changed too." if moved else "The weights of the base stay as they were."
    return [*found, Check("base_frozen", not moved, says)]


def _labels(labels: list[tuple[torch.Tensor, torch.Tensor | None]]) -> list[Check]:
    real = [(lab, torch.ones_like(lab) if mask is None else mask) for lab, mask in labels]
    masked = sum(int(((lab == -100) & mask.bool()).sum()) for lab, mask in real)
    trained = sum(int(((lab != -100) & mask.bool()).sum()) for lab, mask in real)
    padded = sum(int(((lab != -100) & ~mask.bool()).sum()) for lab, mask in real)
    whole = f"{masked} of {masked + trained} real positions are masked"
    found = [Check("prompt_masked", masked > 0, f"{whole}{'.' if masked else ': it trains on the prompt too.'}")]
    if trained == 0:
        return [Check("prompt_masked", False, f"{whole}: there is nothing to learn from.", sure=True)]
    says = f"{padded} positions of padding are trained on." if padded else "No position of padding is trained on."
    return [*found, Check("padding_masked", padded == 0, says)]


_GOOD = """
from transformers import AutoModelForCausalLM, AutoTokenizer
from peft import LoraConfig, get_peft_model
import torch
model = get_peft_model(AutoModelForCausalLM.from_pretrained("x"), LoraConfig(r=2, lora_alpha=4))
ids = AutoTokenizer.from_pretrained("x")("one two three", return_tensors="pt")["input_ids"]
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
for batch in torch.utils.data.DataLoader([ids[0], ids[0]], batch_size=2):
    model(input_ids=batch, labels=batch).loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    plan.step()
    optimizer.zero_grad()
"""


def warm_up() -> None:
    """Train once, so that all that is loaded late is there."""
    check(_GOOD)
