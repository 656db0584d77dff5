"""The sandbox: hostile code does no harm, and right and wrong code of candidates is told apart. Real processes."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator

import psutil
import pytest
import pytest_asyncio

from interviewer.adapters.sandbox import Sandbox, unavailable
from interviewer.adapters.sandboxed import lockdown
from interviewer.adapters.sandboxed.child import Stopped, run_code
from interviewer.core.code import CodeCheck
from interviewer.core.rubric import CodeTask
from interviewer.service.ports import NotRun

from . import coding

pytestmark = pytest.mark.skipif(bool(unavailable()), reason=f"no sandbox here: {unavailable()}")


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    made = Sandbox(seconds=30.0)
    yield made
    await made.close()
    assert not [p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]
    assert not [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("interviewer-code-")]


async def one(sandbox: Sandbox, code: str) -> CodeCheck:
    """Run hostile code and return the one thing that is said of it."""
    found = await sandbox.run("greedy_decoder", code)
    assert len(found) == 1 and found[0].check == "runs"
    return found[0]


DENIED = """\
import _socket, ctypes, os, resource, shutil, subprocess
acts = {
    "fork": os.fork,
    "read a file": lambda: open("/etc/passwd"),
    "read what it was started with": lambda: open("/proc/self/environ"),
    "read another process": lambda: open(f"/proc/{os.getppid()}/maps"),
    "write a file": lambda: open("here.txt", "w"),
    "list a folder": lambda: os.listdir("/"),
    "follow a symlink": lambda: os.symlink("/etc/passwd", "link"),
    "leave its folder": lambda: os.chdir("/"),
    "remove a folder": lambda: os.rmdir("/tmp"),
    "kill its parent": lambda: os.kill(os.getppid(), 9),
    "kill its group": lambda: os.killpg(0, 9),
    "become another program": lambda: os.execv("/bin/sh", ["sh", "-c", "id"]),
    "start another program": lambda: subprocess.run(["id"]),
    "open a socket": _socket.socket,
    "become somebody": lambda: os.setuid(0),
    "leave its group": os.setsid,
    "make a pipe": os.pipe,
}
done = []
for name, act in acts.items():
    try:
        act()
        done.append(name)
    except PermissionError:
        pass
try:
    resource.setrlimit(resource.RLIMIT_CPU, (99, 99))
    done.append("limits")
except ValueError:
    pass
libc = ctypes.CDLL(None, use_errno=True)
calls = [libc.open(b"/etc/passwd", 0), libc.socket(2, 1, 0), libc.fork(), libc.kill(1, 0), libc.ptrace(16, 1, 0, 0)]
raise Exception(f"done: {done}, {calls}")
"""


async def test_nothing_but_computing_is_allowed_in_python_or_in_machine_code(sandbox: Sandbox) -> None:
    assert "Exception: done: [], [-1, -1, -1, -1, -1]" in (await one(sandbox, DENIED)).says


async def test_a_fork_bomb_starts_nothing(sandbox: Sandbox) -> None:
    said = await one(sandbox, "import os\nwhile True:\n    os.fork()")
    assert said.ok is None and "Operation not permitted" in said.says


async def test_no_connection_arrives(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        await one(sandbox, f"import socket\nsocket.socket().connect(('127.0.0.1', {port}))")
        with pytest.raises(BlockingIOError):
            server.accept()


DEAF = """\
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    print("x" * 10000)
"""


@pytest.mark.parametrize("code", ["while True: pass", DEAF])
async def test_a_loop_without_end_is_ended_and_surely_wrong(sandbox: Sandbox, code: str) -> None:
    said = await one(sandbox, code)
    assert said.ok is False and said.sure and "processor time" in said.says


async def test_code_that_waits_is_ended_and_not_held_against_anybody() -> None:
    impatient = Sandbox(seconds=0.2)
    said = await one(impatient, "import time\ntime.sleep(1000)")
    assert said.ok is None and "was stopped" in said.says


@pytest.mark.parametrize(
    "code", ["x = []\nwhile True: x.append(bytearray(1 << 26))", "x = [torch.ones(1 << 26) for _ in range(99)]"]
)
async def test_memory_is_bounded(sandbox: Sandbox, code: str) -> None:
    said = await one(sandbox, code)
    assert said.ok is False and ("MemoryError" in said.says or "can't allocate memory" in said.says)


FLOOD = """\
import os
for fd in range(3, 16):
    try:
        while True:
            os.write(fd, b"x" * 65536)
    except OSError:
        pass
"""


async def test_a_report_without_end_is_not_read_to_its_end(sandbox: Sandbox) -> None:
    said = await one(sandbox, FLOOD)
    assert said.ok is None and "spoiled its report" in said.says


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._exit(0)",
        "import ctypes\nctypes.string_at(0)",
        "import os\nos.write(3, b'[]')\nos._exit(0)",
        "import os\nos.write(3, b'{\"check\": 1}')\nos._exit(0)",
        "import os\nos.closerange(0, 16)",
    ],
)
async def test_code_that_ends_or_forges_gains_nothing(sandbox: Sandbox, code: str) -> None:
    said = await one(sandbox, code)
    assert said.ok is None and not said.sure


@pytest.mark.parametrize("code", ["import threading\nthreading.Thread(target=print).start()", "import requests"])
async def test_what_only_the_sandbox_lacks_is_not_the_codes_fault(sandbox: Sandbox, code: str) -> None:
    said = await one(sandbox, code)
    assert said.ok is None and not said.sure


@pytest.mark.parametrize(
    ("code", "ok"),
    [
        ("raise SystemExit(0)", None),
        ("raise KeyboardInterrupt", None),
        ("helper(3)", None),
        ("raise ValueError('my own check')", None),
        ("raise NotImplementedError", None),
        ("class TinyLM: pass\nTinyLM().unheard_of", None),
        ("import re\nre.compile('(')", None),
        ("x = 3\nx.append(1)", False),
        ("def f(): return f()\nf()", False),
        ("def f():\n    y += 1\nf()", False),
        ("[][0]", False),
    ],
)
def test_only_what_is_surely_the_codes_own_fault_counts(code: str, ok: bool | None) -> None:
    main = sys.modules["__main__"]
    try:
        with pytest.raises(Stopped) as stopped:
            run_code(code, {})
    finally:
        sys.modules["__main__"] = main
    assert (stopped.value.check.ok, stopped.value.check.sure) == (ok, ok is False)


async def test_destructors_that_raise_change_nothing(sandbox: Sandbox) -> None:
    code = "class A:\n    def __del__(self): raise SystemExit\na = A()\ndel a\n"
    found = {c.check: c.ok for c in await sandbox.run("greedy_decoder", code + coding.CACHED)}
    assert found["tokens"] is True


async def tried(sandbox: Sandbox, task: CodeTask, code: str) -> dict[str, tuple[bool | None, bool]]:
    return {c.check: (c.ok, c.sure) for c in await sandbox.run(task, code)}


async def test_a_decoder_with_a_cache_is_right(sandbox: Sandbox) -> None:
    found = await tried(sandbox, "greedy_decoder", coding.CACHED)
    assert {name for name, (ok, _) in found.items() if ok} == {"tokens", "no_grad", "cache", "limit", "end_token"}
    assert found["batch"] == (None, False)


async def test_a_batched_decoder_gives_each_row_what_it_gets_alone(sandbox: Sandbox) -> None:
    found = await tried(sandbox, "greedy_decoder", coding.BATCHED)
    assert set(found.values()) == {(True, False)} and "batch" in found


async def test_a_decoder_without_a_cache_is_right_and_told_what_it_computes_again(sandbox: Sandbox) -> None:
    checks = {c.check: c for c in await sandbox.run("greedy_decoder", coding.UNCACHED)}
    assert checks["tokens"].ok and not checks["no_grad"].ok and not checks["end_token"].ok
    # 6 + 7 + ... + 13 positions, and no failure that would hold a level down
    assert checks["cache"].ok is False and checks["cache"].says.startswith("76 token positions")
    assert not any(c.sure for c in checks.values())


@pytest.mark.parametrize("code", [coding.FEEDS_ALL_AGAIN, coding.FIRST_POSITION])
async def test_a_decoder_with_wrong_tokens_is_surely_wrong(sandbox: Sandbox, code: str) -> None:
    assert await tried(sandbox, "greedy_decoder", code) == {"tokens": (False, True)}


async def test_a_decoder_that_raises_is_surely_wrong_and_the_line_is_named(sandbox: Sandbox) -> None:
    said = await one(sandbox, coding.WRONG_SHAPE)
    assert said.sure and "line 4" in said.says and "same number of dimensions" in said.says


@pytest.mark.parametrize(
    "code",
    [
        "def greedy(model, magic):\n    for _ in magic: pass",
        "def greedy(ids, n):\n    for _ in range(n): pass",
        "for _ in range(3): logits = 1",
        "def greedy(model, ids):\n    for _ in range(3): pass\n    return None",
        "def greedy(model, ids):\n    for _ in ids:\n        model.unheard_of()",
    ],
)
async def test_what_cannot_be_called_or_read_is_left_open(sandbox: Sandbox, code: str) -> None:
    said = await one(sandbox, code)
    assert said.ok is None and not said.sure


@pytest.mark.parametrize("code", [coding.TRAINER, coding.LOOP, coding.SFT])
async def test_a_right_script_trains_the_adapter_on_the_answers_and_saves_it(sandbox: Sandbox, code: str) -> None:
    found = await tried(sandbox, "lora_script", code)
    expected = {"runs", "trained", "base_frozen", "prompt_masked", "saved"}
    assert {name for name, (ok, _) in found.items() if ok} - {"padding_masked"} == expected
    # The loop masks the prompt and forgets the padding of the shorter row.
    assert found["padding_masked"] == (code is not coding.LOOP, False)


async def test_a_script_that_trains_on_the_prompt_and_does_not_save_is_told_both(sandbox: Sandbox) -> None:
    found = await tried(sandbox, "lora_script", coding.WHOLE_TEXT)
    assert found["runs"][0] and found["prompt_masked"] == (False, False) and found["saved"] == (False, False)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("r=16, lora_alpha=32", "rank=16, alpha=32", "unexpected keyword argument 'rank'"),
        ('"labels": ', '"label": ', "the batches have no labels"),
        ("padding=True)", "padding=True))", ""),
    ],
)
async def test_what_the_real_library_refuses_is_a_sure_failure(sandbox: Sandbox, old: str, new: str, says: str) -> None:
    checks = await sandbox.run("lora_script", coding.TRAINER.replace(old, new))
    assert says in checks[0].says and checks[0].sure == bool(says)


async def test_the_environment_has_no_secret_and_the_folder_is_gone(sandbox: Sandbox) -> None:
    os.environ["SECRET_KEY_FOR_TEST"] = "s3cret"
    try:
        said = await one(sandbox, "import os\nraise Exception(dict(os.environ))")
    finally:
        del os.environ["SECRET_KEY_FOR_TEST"]
    assert "OMP_NUM_THREADS" in said.says and "s3cret" not in said.says


async def test_a_process_that_is_ready_is_used_once(sandbox: Sandbox) -> None:
    sandbox.prepare()
    sandbox.prepare()
    first = await one(sandbox, "marked = True\nimport torch\ntorch.marked = 1\nraise Exception('first')")
    second = await one(sandbox, "raise Exception(hasattr(torch, 'marked'))")
    assert "first" in first.says and "False" in second.says


async def waiting(sandbox: Sandbox) -> psutil.Process:
    """Let a process get ready, and return it."""
    before = set(psutil.Process().children())
    sandbox.prepare()
    await next(task for task in asyncio.all_tasks() if task.get_name() == "sandbox")
    (child,) = set(psutil.Process().children()) - before
    return child


async def test_a_process_that_ended_while_it_waited_is_replaced(sandbox: Sandbox) -> None:
    child = await waiting(sandbox)
    child.kill()
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    said = await one(sandbox, "raise Exception('from a new process')")
    assert "from a new process" in said.says


async def test_what_the_machine_kills_is_not_held_against_the_code(sandbox: Sandbox) -> None:
    child = await waiting(sandbox)
    running = asyncio.create_task(sandbox.run("greedy_decoder", "import time\ntime.sleep(1000)"))
    await asyncio.sleep(0.5)
    child.kill()
    (said,) = await running
    assert (said.check, said.ok, said.sure) == ("runs", None, False) and "killed by the machine" in said.says


async def test_a_cancelled_run_leaves_no_process(sandbox: Sandbox) -> None:
    task = asyncio.create_task(sandbox.run("greedy_decoder", "while True: pass"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_child_that_cannot_get_ready_runs_nothing() -> None:
    slow = Sandbox(start_seconds=0.0)
    with pytest.raises(NotRun, match="not ready in time"):
        await slow.run("greedy_decoder", coding.CACHED)


def test_another_system_has_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert unavailable() == "it needs Linux, and this is darwin"
    with pytest.raises(lockdown.NoLockdown):
        lockdown.lock(1, 1, 1)
