"""The process in which a candidate's code runs: get ready, lock down, read the code, run it, say what happened.

Anything the code does can at most spoil this process and its own report; nobody else reads memory or files from here.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import re
import sys
import traceback
import types
import typing

MEMORY = 512 << 20
"""Bytes that the code may use on top of what the process has when it is ready."""
ALIVE_SECONDS = 3600
"""A process that waits longer than this for code is not needed any more."""
READY = b"ready\n"
MAX_CODE = 100_000
FILE = "<code>"
_USEFUL = (
    "argparse collections copy dataclasses datetime enum functools gc inspect itertools json logging math operator"
    " pathlib random"
    " re statistics string time typing warnings numpy torch torch.nn torch.nn.functional torch.optim torch.utils.data"
    " torch.utils.checkpoint torch.optim.lr_scheduler"
).split()
_SURE = (
    TypeError, ValueError, IndexError, KeyError, AttributeError, RuntimeError, MemoryError, RecursionError,
    UnboundLocalError, ZeroDivisionError, AssertionError,
)  # fmt: skip
"""Of all others the sandbox may be the cause, or a piece that the candidate left out on purpose."""
_OURS = re.compile(r"Tiny|CUDA|cuda|thread|mps|flash|encoding")
"""Words of messages about what stands in for the real thing here, or is not there at all."""
_lines: list[str] = []


class Check(typing.NamedTuple):
    """A check as it is sent; the fields of ``CodeCheck`` without ``how``."""

    check: str
    ok: bool | None
    says: str
    sure: bool = False


class Stopped(Exception):
    """The code raised; ``check`` says what and where."""

    def __init__(self, check: Check) -> None:
        """Keep what is to be said."""
        super().__init__(check.says)
        self.check = check


def explain(error: BaseException) -> Check:
    """Say what went wrong and on which line; sure only where neither the sandbox nor a stand-in can be the cause."""
    frames = traceback.extract_tb(error.__traceback__, limit=64)
    own = [i for i, frame in enumerate(frames) if frame.filename == FILE]
    kind = "TypeError" if isinstance(error, Misused) else type(error).__name__
    what = f"{kind}: {str(error)[:200]}".rstrip(": .")
    if not own:
        return Check("runs", None, f"It was not run: it could not be called ({what}).")
    says = f"It stops on line {frames[own[-1]].lineno} with {what}."
    here = os.path.dirname(__file__)
    ours = any(frame.filename.startswith(here) for frame in frames[own[-1] + 1 :])
    line = _lines[(frames[own[-1]].lineno or 1) - 1 :][:1]
    raised = own[-1] == len(frames) - 1 and bool(line) and "raise" in line[0]  # on purpose, over data that are ours
    sure = isinstance(error, _SURE) and not (
        isinstance(error, NotImplementedError) or ours or raised or _OURS.search(what)
    )
    sure = sure or isinstance(error, Misused)
    return Check("runs", False if sure else None, says, sure=sure)


class Misused(TypeError):
    """A call that the real library refuses too."""


def run_code(code: str, names: dict[str, object]) -> dict[str, object]:
    """Execute a module's code with ``names`` given, and return all names it has then.

    Raises:
        Stopped: it raised.
    """
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__.update(names)
    _lines[:] = code.splitlines()
    try:
        exec(compile(code, FILE, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        raise Stopped(explain(error)) from None
    return module.__dict__


def _ready() -> dict[str, typing.Callable[[str], list[Check]]]:
    """Import and warm up all that is used later: nothing can be opened once the process is locked."""
    import torch

    torch.set_num_threads(1)
    dynamo = types.ModuleType("torch._dynamo")  # importing it takes seconds, and optimizers only ask it to stay away
    dynamo.disable = lambda fn=None, recursive=True, **_: fn  # type: ignore[attr-defined]
    dynamo.graph_break = lambda *_, **__: None  # type: ignore[attr-defined]
    sys.modules["torch._dynamo"] = torch._dynamo = dynamo
    for name in _USEFUL:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from interviewer.adapters.sandboxed import decoder, lora

    decoder.warm_up()
    lora.warm_up()
    return {"greedy_decoder": decoder.check, "lora_script": lora.check}


def main() -> None:
    """Do the one job of this process."""
    from interviewer.adapters.sandboxed.lockdown import CPU_SECONDS, NoLockdown, lock

    result = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    try:
        tasks = _ready()
        gc.collect()
        lock(MEMORY, CPU_SECONDS, ALIVE_SECONDS)
    except NoLockdown as error:
        os.write(result, f"no lockdown: {error}\n".encode())
        os._exit(3)
    os.write(result, READY)
    sent = b""
    while len(sent) <= MAX_CODE and (piece := os.read(0, 65536)):
        sent += piece
    if not sent:
        os._exit(0)
    order = json.loads(sent)
    try:
        found = tasks[order["task"]](order["code"])
    except Stopped as stopped:
        found = [stopped.check]
    except BaseException as error:  # of the harness: says nothing about the code
        found = [Check("runs", None, f"It could not be tried ({type(error).__name__}: {str(error)[:200]}).")]
    os.write(result, json.dumps([check._asdict() for check in found]).encode())
    os._exit(0)
