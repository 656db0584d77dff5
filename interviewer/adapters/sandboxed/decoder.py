"""Tries a candidate's greedy decoder on the tiny model, against tokens that are known."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from interviewer.adapters.sandboxed import library
from interviewer.adapters.sandboxed.child import Check, Stopped, explain, run_code
from interviewer.adapters.sandboxed.tiny import TinyLM, stay_on_cpu
from interviewer.adapters.sandboxed.tokens import TinyTokenizer

PROMPT = (7, 21, 5, 33, 12, 40)
SHORT = (9, 30, 17)
STEPS = 8
NOWHERE = 2
"""A token that the model does not come to from the prompts within :data:`STEPS`: stands for an end that never comes."""

_NAMES: dict[str, str] = {
    "model": "model lm net llm",
    "tokenizer": "tokenizer tok tokeniser",
    "ids": "input_ids ids prompt_ids tokens prompt_tokens inputs x idx context input token_ids",
    "mask": "attention_mask mask attn_mask",
    "steps": "max_new_tokens max_tokens n num_tokens max_steps steps n_tokens max_new num_new_tokens n_new n_steps"
    " num_steps",
    "length": "max_length max_len",
    "eos": "eos_token_id eos_id eos eos_token stop_id stop_token stop_token_id end_id eot_id",
    "pad": "pad_token_id pad_id pad",
    "device": "device",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}


def reference(prompt: tuple[int, ...], steps: int) -> list[int]:
    """Return the greedy tokens after ``prompt``, the slow way: no cache, no end."""
    model, row = TinyLM().eval(), list(prompt)
    with torch.no_grad():
        for _ in range(steps):
            row.append(int(model(torch.tensor([row])).logits[0, -1].argmax()))
    return row[len(prompt) :]


def check(code: str) -> list[Check]:
    """Run ``code`` and try the decoder in it.

    Raises:
        Stopped: it raised, or cannot be called.
    """
    stay_on_cpu()
    library.install()
    names = run_code(code, {"torch": torch, "nn": torch.nn, "F": functional, "device": "cpu", **_typing()})
    decoder = _Decoder(names[_entry(code)])
    want = reference(PROMPT, STEPS)
    row, model = decoder.run(PROMPT, NOWHERE)
    got = row.tokens
    found = [_tokens(row, want, decoder.bounded)]
    if found[0].ok is not True:
        return found
    found.append(Check("no_grad", not model.recorded, _recorded(model.recorded)))
    most = len(PROMPT) + STEPS + 1
    spent = f"{model.positions} token positions went through the model for {len(PROMPT)} given and {len(got)} new ones"
    cached = model.positions <= most
    found.append(Check("cache", cached, f"{spent}{'.' if cached else ': it computes the past again at each step.'}"))
    if decoder.bounded:
        right = len(got) == STEPS
        found.append(Check("limit", right, f"Asked for {STEPS} new tokens it gives {len(got)}."))
    at = next(i for i in range(2, STEPS) if want.index(want[i]) == i)
    stopped, _ = decoder.run(PROMPT, want[at])
    ends = len(stopped.tokens) <= at and not stopped.goes_on
    found.append(Check("end_token", ends, "It stops at the end token." if ends else "It goes on after the end token."))
    found.append(_batch(decoder))
    return found


def _typing() -> dict[str, Any]:
    import typing

    return {name: getattr(typing, name) for name in ("Any", "List", "Optional", "Tuple", "Union")}


def _entry(code: str) -> str:
    """Return the name of the function that decodes: the last one at the top that loops.

    Raises:
        Stopped: there is none.
    """
    functions = [n for n in ast.parse(code).body if isinstance(n, ast.FunctionDef)]
    looping = [f for f in functions if any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(f))]
    if not looping:
        raise Stopped(Check("runs", None, "It was not run: no function at the top of the code has the loop."))
    return looping[-1].name


class _Row(NamedTuple):
    """What a decoder gave back for one prompt."""

    tokens: list[int]
    """The new ones, without the end token."""
    led: bool
    """Whether the prompt stood before them."""
    goes_on: bool
    """Whether anything but padding came after the end token."""


class _Decoder:
    """A candidate's function, called by the names of its parameters."""

    def __init__(self, function: Any) -> None:
        self.function: Callable[..., Any] = function
        self.roles: dict[str, str] = {}
        given = inspect.signature(inspect.unwrap(function)).parameters.values()
        texts = any(_ROLES.get(p.name.lower()) == "tokenizer" for p in given)
        for p in given:
            role = _ROLES.get(p.name.lower())
            if p.name.lower() in ("prompt", "text", "prompt_text", "prompts", "texts"):
                role = "text" if texts or "str" in str(p.annotation) else "ids"
                role += "s" if role == "text" and p.name.endswith("s") else ""
            if role is not None:
                self.roles[p.name] = "list" if role == "ids" and "ist" in str(p.annotation) else role
            elif p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
                raise Stopped(Check("runs", None, f"It was not run: it is not clear what {p.name!r} takes."))
        self.bounded = bool({"steps", "length"} & set(self.roles.values()))
        if not {"model"} <= set(self.roles.values()):
            raise Stopped(Check("runs", None, "It was not run: the function does not take the model."))

    def run(self, prompt: tuple[int, ...], eos: int) -> tuple[_Row, TinyLM]:
        """Return what it gave back, and the model with its counts.

        Raises:
            Stopped: it raised.
        """
        ids = torch.tensor([prompt])
        value, model = self.call(ids, torch.ones_like(ids), eos)
        return _row(value, 0, prompt, eos), model

    def call(self, ids: torch.Tensor, mask: torch.Tensor, eos: int) -> tuple[Any, TinyLM]:
        """Call it.

        Raises:
            Stopped: it raised.
        """
        model, tokenizer = TinyLM().eval(), TinyTokenizer()
        model.config.eos_token_id = tokenizer.eos_token_id = eos
        tokenizer.pad_token = "<pad>"
        text = tokenizer.decode(ids[0])
        values = {
            "model": model, "tokenizer": tokenizer, "ids": ids, "list": ids[0].tolist(), "mask": mask, "steps": STEPS,
            "length": ids.shape[1] + STEPS, "eos": eos, "pad": 0, "device": "cpu", "text": text, "texts": [text],
        }  # fmt: skip
        arguments = {name: values[role] for name, role in self.roles.items()}
        names = self.function.__globals__ if hasattr(self.function, "__globals__") else {}
        names.setdefault("tokenizer", tokenizer)
        try:
            value = self.function(**arguments)
            return (list(value) if inspect.isgenerator(value) else value), model
        except BaseException as error:
            raise Stopped(explain(error)) from None


def _row(value: Any, row: int, prompt: tuple[int, ...], eos: int) -> _Row:
    """Find one prompt's tokens in what a decoder gave back, be it text, a list or a tensor.

    Raises:
        Stopped: they cannot be found in it.
    """
    if isinstance(value, tuple) and value and not isinstance(value[0], int):
        value = value[0]
    try:
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], str):
            value = value[row]
        if isinstance(value, str):
            flat = TinyTokenizer().tokens(value)
        elif isinstance(value, list) and value and isinstance(value[0], list):
            flat = [int(v) for v in value[row]]
        elif isinstance(value, list):
            flat = [int(v) for v in value]
        else:
            flat = [int(v) for v in (value[row] if value.dim() > 1 else value).tolist()]
    except (TypeError, ValueError, AttributeError, IndexError, RuntimeError):
        what = type(value).__name__
        raise Stopped(Check("runs", None, f"It ran, and no tokens were found in the {what} it returns.")) from None
    led = tuple(flat[: len(prompt)]) == prompt
    if led:
        flat = flat[len(prompt) :]
    end = flat.index(eos) if eos in flat else len(flat)
    return _Row(flat[:end], led, any(token not in (0, eos) for token in flat[end:]))


def _tokens(row: _Row, want: list[int], bounded: bool) -> Check:
    got = row.tokens
    same = next((i for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), min(len(got), len(want)))
    if got and same == len(got):
        return Check("tokens", True, f"The {same} tokens are the greedy ones.")
    if got and len(got) > len(want) and same == len(want):
        return Check("tokens", True, f"The first {same} tokens are the greedy ones.")
    if same:
        says = f"Greedy up to token {same}, and the next one is not: what the model is given then is not right."
        return Check("tokens", False, says, sure=bounded)
    if row.led and len(got) >= len(want):
        return Check("tokens", False, "It runs, and already the first token is not the greedy one.", sure=True)
    return Check("tokens", None, "It runs; the tokens it returns are not the greedy ones from the first on.")


def _recorded(recorded: bool) -> str:
    return "Gradients are recorded while it decodes." if recorded else "No gradient is recorded."


def _batch(decoder: _Decoder) -> Check:
    if not {"ids", "mask"} <= set(decoder.roles.values()):
        return Check("batch", None, "It takes no attention mask, so prompts of unequal length were not tried.")
    gap = len(PROMPT) - len(SHORT)
    ids = torch.tensor([PROMPT, (0,) * gap + SHORT])
    mask = torch.tensor([[1] * len(PROMPT), [0] * gap + [1] * len(SHORT)])
    try:
        value, _ = decoder.call(ids, mask, NOWHERE)
        rows = [_row(value, 0, PROMPT, NOWHERE).tokens, _row(value, 1, (0,) * gap + SHORT, NOWHERE).tokens]
    except Stopped as stopped:
        return Check("batch", None, f"A batch of two prompts was not tried to the end. {stopped.check.says}")
    right = rows[0][:3] == reference(PROMPT, 3) and rows[1][:3] == reference(SHORT, 3)
    says = "gives" if right else "does not give"
    return Check("batch", right, f"A batch of two unequal prompts, padded on the left, {says} what each gives alone.")


_GOOD = """
def greedy(model, input_ids, max_new_tokens, eos_token_id):
    past, out = None, input_ids
    with torch.no_grad():
        for _ in range(max_new_tokens):
            got = model(out if past is None else out[:, -1:], past_key_values=past, use_cache=True)
            past = got.past_key_values
            out = torch.cat([out, got.logits[:, -1].argmax(-1, keepdim=True)], 1)
            if (out[:, -1] == eos_token_id).all():
                break
    return out
"""


def warm_up() -> None:
    """Decode once, so that all that is loaded late is there."""
    decoder = _Decoder(run_code(_GOOD, {"torch": torch})["greedy"])
    decoder.run(PROMPT, NOWHERE)
    reference(SHORT, 2)
