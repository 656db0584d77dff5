"""Set the project up in ``.venv`` and run it or its tests: ``python3 serving/install.py run`` or ``... test``.

Standard library only. Each finished stage is stamped with a hash of what it was made from, so that an interrupted
set-up goes on where it stopped, a finished one costs nothing, and a changed ``pyproject.toml`` is installed again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
PYTHON = (3, 11)
TORCH = "torch==2.13.0+cpu"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
"""Where PyTorch publishes its CPU builds. Used for this one package only, never beside the general index."""

MISMATCHED = ("torchvision", "torchaudio", "torchcodec")
"""The engine's wheel pulls these in, built for another torch; they break imports and a text service needs none."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

Runner = Callable[[Sequence[str], str], int]
"""Runs a command under a title that is shown meanwhile; returns its exit code."""


class InstallError(Exception):
    """A stage failed; the text says which and what to do."""


def digest(*parts: str | Path) -> str:
    """Return one hash over texts and the contents of files; a file that is not there counts as empty."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            total.update(part.read_bytes() if part.exists() else b"")
        else:
            total.update(part.encode())
        total.update(b"\0")
    return total.hexdigest()


class Installer:
    """The stages, their stamps and their order.

    Args:
        root: the checkout.
        run: runs one command.
        say: prints one line.
    """

    def __init__(self, root: Path, run: Runner, say: Callable[[str], None]) -> None:
        self.root = root
        self.venv = root / ".venv"
        self.python = self.venv / "bin" / "python"
        self.stamps = self.venv / "stamps"
        self._run = run
        self._say = say

    def install(self, extras: str) -> None:
        """Bring the environment up to date for ``extras``, for example ``engine,train,traces,dev``.

        Raises:
            InstallError: a stage failed.
        """
        self.stamps.mkdir(parents=True, exist_ok=True)
        inputs = (self.root / "pyproject.toml", self.root / "serving" / "constraints.txt", Path(__file__))
        python = ".".join(str(number) for number in sys.version_info[:3])
        stages: list[tuple[str, str, str, Callable[[], None]]] = [
            ("venv", digest(python), "virtual environment", self._make_venv),
            ("torch", digest(python, TORCH), f"{TORCH} (200 MB)", self._install_torch),
            (
                f"project-{extras.replace(',', '-')}",
                digest(python, extras, *inputs),
                f"the project and its libraries [{extras}] (about 3 GB, minutes)",
                lambda: self._install_project(extras),
            ),
        ]
        for number, (name, wanted, title, work) in enumerate(stages, start=1):
            # Asked only now: making the environment anew voids the stamps of the later stages.
            if self._done(name, wanted):
                continue
            self._say(f"[{number}/{len(stages)}] {title}")
            began = time.monotonic()
            work()
            (self.stamps / name).write_text(wanted, encoding="utf-8")
            self._say(f"[{number}/{len(stages)}] done in {time.monotonic() - began:.0f} s")

    def _done(self, name: str, wanted: str) -> bool:
        stamp = self.stamps / name
        return self.python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted

    def _make_venv(self) -> None:
        # An environment of another Python cannot be repaired; its stamps go with it, the lock that is held stays.
        working = self.python.exists() and self._run([str(self.python), "-c", _VERSION_TEST], "check") == 0
        if not working:
            for stamp in self.stamps.iterdir():
                if stamp.name != "lock":
                    stamp.unlink()
            for part in ("bin", "lib", "include"):
                shutil.rmtree(self.venv / part, ignore_errors=True)
        self._must([sys.executable, "-m", "venv", str(self.venv)], "python3.11-venv may have to be installed.")

    def _install_torch(self) -> None:
        if self._pip("install", TORCH) != 0:
            self._say("      not on the configured index; taking it from PyTorch's own CPU index")
            # No dependencies from there: the next stage takes them from the general index.
            self._must_pip("install", "--no-deps", "--index-url", TORCH_INDEX, TORCH)

    def _install_project(self, extras: str) -> None:
        constraints = self.root / "serving" / "constraints.txt"
        limits = ["-c", str(constraints)] if constraints.exists() else []
        self._must_pip("install", *limits, "--editable", f"{self.root}[{extras}]")
        self._must_pip("uninstall", "--yes", *MISMATCHED)

    def browser(self) -> None:
        """Install Chromium for the browser tests where that is possible; they are skipped without it."""
        if any(shutil.which(name) for name in BROWSERS) or (self.stamps / "no-browser").exists():
            return
        debian = Path("/etc/debian_version").exists() and shutil.which("apt-get") is not None
        if not debian or os.geteuid() != 0:
            self._say("No Chromium here: the browser tests are skipped. Install it to run them.")
            return
        self._say("Installing Chromium for the browser tests")
        apt = ["apt-get", "-o", "Acquire::Retries=1", "-o", "DPkg::Lock::Timeout=60"]
        update = self._run([*apt, "update"], "apt-get update")
        if update or self._run(
            [*apt, "install", "-y", "--no-install-recommends", "chromium"], "apt-get install chromium"
        ):
            (self.stamps / "no-browser").write_text("", encoding="utf-8")
            self._say(f"That failed: the browser tests are skipped. To try again, remove {self.stamps / 'no-browser'}.")

    def _pip(self, *arguments: str) -> int:
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
        return self._run(command, f"pip {arguments[0]}")

    def _must_pip(self, *arguments: str) -> None:
        if self._pip(*arguments) != 0:
            raise InstallError(
                f"pip {' '.join(arguments)} failed. Check the network and the disk, then run this again."
            )

    def _must(self, command: Sequence[str], hint: str) -> None:
        if self._run(command, command[-2]) != 0:
            raise InstallError(f"{' '.join(command)} failed. {hint}")


_VERSION_TEST = f"import sys; sys.exit(sys.version_info[:2] != {PYTHON})"


def logged(log: Path) -> Runner:
    """Return a runner that writes output to ``log`` and shows that time passes; the end of it when a command fails."""

    def run(command: Sequence[str], title: str) -> int:
        with log.open("a", encoding="utf-8") as out:
            out.write(f"\n$ {' '.join(command)}\n")
            out.flush()
            at = out.tell()
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            child = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment
            )
            try:
                _wait(child, title, log)
            except BaseException:
                child.terminate()
                child.wait()
                raise
        if child.returncode != 0:
            with log.open(encoding="utf-8", errors="replace") as written:
                written.seek(at)
                for line in written.read().splitlines()[-8:]:
                    print(f"      | {line[:160]}")
        return child.returncode

    return run


def _wait(child: subprocess.Popen[bytes], title: str, log: Path) -> None:
    """Wait for a child; every second on a terminal, every 15 s elsewhere, show how long it takes."""
    began, every = time.monotonic(), 1 if sys.stdout.isatty() else 15
    while True:
        try:
            child.wait(timeout=every)
            break
        except subprocess.TimeoutExpired:
            text = f"      {title}: {time.monotonic() - began:.0f} s (details: {log})"
            print(text, end="\r" if every == 1 else "\n", flush=True)


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Let one set-up at a time work in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up is running here; waiting for it.", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def become(venv: Path, program: Sequence[str]) -> NoReturn:
    """Replace this process by a program of ``venv``.

    The whole path goes into ``argv[0]`` too: Python finds its environment by that name, and a bare ``python`` would be
    looked up on the path, which is another Python with other packages.
    """
    whole = str(venv / "bin" / program[0])
    os.execv(whole, [whole, *program[1:]])


def main(arguments: list[str]) -> int:
    """Set up, then become ``interviewer serve`` (``run``) or ``pytest`` (``test``) with the rest of the arguments."""
    if not arguments or arguments[0] not in {"run", "test"}:
        print("usage: python3 serving/install.py run [serve arguments] | test [pytest arguments]", file=sys.stderr)
        return 2
    if sys.version_info[:2] != PYTHON:
        other = shutil.which("python3.11")
        if other is None:
            print(f"This needs Python 3.11 (this is {sys.version.split()[0]}), and no python3.11 is on the path.")
            return 1
        os.execv(other, [other, str(Path(__file__).resolve()), *arguments])
    verb, rest = arguments[0], arguments[1:]
    installer = Installer(ROOT, logged(ROOT / ".venv" / "install.log"), lambda line: print(line, flush=True))
    try:
        with exclusive(installer.stamps):
            installer.install("engine" if verb == "run" else "engine,train,traces,dev")
            if verb == "test":
                installer.browser()
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.")
        return 130
    except InstallError as error:
        print(f"{error}\nAll output: {ROOT / '.venv' / 'install.log'}")
        return 1
    program = ["interviewer", "serve", *rest] if verb == "run" else ["python", "-m", "pytest", *rest]
    os.chdir(ROOT)
    become(installer.venv, program)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
