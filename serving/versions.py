"""Versions of adapters on disk: those that ship, those that were installed, and which one is in use.

An installed version is a copy under ``<root>/<adapter>/<digest>/``, laid out as what ships (``adapter/`` with weights
and configuration, beside it ``canary.json`` and, for the evaluator, ``calibration.json`` and ``words.json``). The
digest is over weights and configuration, so a version never changes under its name and the engine's prefix cache, which
is keyed by name and path, is never stale.

Invariant: a version's folder is complete or absent; ``history.json`` is replaced, never edited.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from serving.canary import adapter_name

WEIGHTS = ("adapter_config.json", "adapter_model.safetensors")
BESIDE = ("canary.json", "calibration.json", "words.json", "result.json")
"""What may lie beside an adapter and belongs to its version."""


class VersionError(Exception):
    """A version cannot be installed, found or left; the message says what to do."""


@dataclass(frozen=True)
class Version:
    """One version of one adapter."""

    adapter: str
    """Persona id, or ``evaluator``."""
    name: str
    """Served name: adapter, ``@``, digest."""
    folder: Path
    """Weights and configuration."""
    shipped: bool

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits over weights and configuration."""
        return self.name.rpartition("@")[2]

    def beside(self, name: str) -> Path | None:
        """Return a file that belongs to this version, or None when it has none."""
        path = self.folder.parent / name
        return path if path.is_file() else None

    def golden(self) -> Mapping[str, float] | None:
        """Return the stored canary: log-probabilities in nats by token text."""
        path = self.beside("canary.json")
        return json.loads(path.read_text(encoding="utf-8")) if path else None

    def keep_golden(self, logprobs: Mapping[str, float]) -> None:
        """Store the canary of a version that came without one."""
        text = json.dumps({token: round(value, 4) for token, value in logprobs.items()}, indent=1)
        (self.folder.parent / "canary.json").write_text(f"{text}\n", encoding="utf-8")


class VersionStore:
    """The versions of all adapters."""

    def __init__(self, root: Path, shipped: Mapping[str, Path]) -> None:
        """Keep the places.

        Args:
            root: Where installed versions and the history lie; made when something is installed.
            shipped: Adapter folder by adapter id; what is in use until something else is.
        """
        self._root = root
        self._shipped = {name: Version(name, adapter_name(name, path), path, True) for name, path in shipped.items()}

    def install(self, adapter: str, source: Path) -> Version:
        """Copy a version into the store; the same content again changes nothing.

        Args:
            adapter: Whose adapter it is.
            source: A folder with the weights, or one that has them in ``adapter/``, as training leaves it.

        Raises:
            VersionError: the folder lacks a file, or the store cannot be written.
        """
        source = source.resolve()
        folder = source / "adapter" if (source / "adapter").is_dir() else source
        missing = [name for name in WEIGHTS if not (folder / name).is_file()]
        if missing:
            raise VersionError(f"{folder} has no {' and no '.join(missing)}; name the folder that training wrote.")
        name = adapter_name(adapter, folder)
        known = self.find(adapter, name.rpartition("@")[2])
        if known is not None:
            return known
        place = self._root / adapter
        try:
            place.mkdir(parents=True, exist_ok=True)
            made = Path(tempfile.mkdtemp(prefix=".new-", dir=place))
            try:
                (made / "adapter").mkdir()
                for part in WEIGHTS:
                    shutil.copyfile(folder / part, made / "adapter" / part)
                for part in BESIDE:
                    if (folder.parent / part).is_file():
                        shutil.copyfile(folder.parent / part, made / part)
                made.chmod(0o755)
                made.rename(place / name.rpartition("@")[2])
            except OSError:
                shutil.rmtree(made, ignore_errors=True)
                raise
        except OSError as error:
            raise VersionError(f"Cannot write {place}: {error}.") from error
        return Version(adapter, name, place / name.rpartition("@")[2] / "adapter", False)

    def versions(self, adapter: str) -> list[Version]:
        """Return the versions of one adapter that are there, the shipped one first."""
        found = [self._shipped[adapter]] if adapter in self._shipped else []
        place = self._root / adapter
        for folder in sorted(place.glob("[0-9a-f]*")) if place.is_dir() else []:
            version = Version(adapter, f"{adapter}@{folder.name}", folder / "adapter", False)
            if version.name not in {v.name for v in found}:
                found.append(version)
        return found

    def find(self, adapter: str, digest: str) -> Version | None:
        """Return a version by its digest."""
        return next((v for v in self.versions(adapter) if v.digest == digest), None)

    def active(self, adapter: str) -> Version | None:
        """Return the version in use: the last of the history that is still there, else the shipped one."""
        past = self._past(adapter)
        return past[-1] if past else None

    def previous(self, adapter: str) -> Version:
        """Return the version that was in use before.

        Raises:
            VersionError: there was none.
        """
        past = self._past(adapter)
        if len(past) < 2:
            raise VersionError(f"There is no earlier version of {adapter} to go back to.")
        return past[-2]

    def activated(self, version: Version) -> None:
        """Record that ``version`` is in use now."""
        self._write(version.adapter, [*self._past(version.adapter), version])

    def rolled_back(self, adapter: str) -> None:
        """Record that the version before is in use again."""
        self._write(adapter, self._past(adapter)[:-1])

    def _past(self, adapter: str) -> list[Version]:
        """Return the versions that were in use, oldest first, none twice in a row; those that are gone left out."""
        path = self._root / adapter / "history.json"
        try:
            digests = json.loads(path.read_text(encoding="utf-8"))["history"] if path.is_file() else []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise VersionError(f"{path} cannot be read ({error}); delete it to use what ships.") from error
        start = [self._shipped[adapter]] if adapter in self._shipped else []
        found = start + [v for digest in digests if (v := self.find(adapter, str(digest)))]
        return [v for n, v in enumerate(found) if n == 0 or v.name != found[n - 1].name]

    def _write(self, adapter: str, past: list[Version]) -> None:
        place = self._root / adapter
        try:
            place.mkdir(parents=True, exist_ok=True)
            new = place / "history.json.new"
            new.write_text(json.dumps({"history": [v.digest for v in past]}) + "\n", encoding="utf-8")
            os.replace(new, place / "history.json")
        except OSError as error:
            raise VersionError(f"Cannot write {place}: {error}.") from error
