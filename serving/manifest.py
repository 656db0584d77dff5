"""A list of a folder's files with their hashes, to tell a complete folder from a damaged one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

MANIFEST = "manifest.json"
"""File name of the manifest inside the folder that it describes."""


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def write_manifest(folder: Path, about: Mapping[str, str]) -> None:
    """Write the manifest of all plain files in ``folder``, with the facts ``about`` their origin."""
    files = {
        path.name: {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != MANIFEST
    }
    (folder / MANIFEST).write_text(json.dumps({**about, "files": files}, indent=1) + "\n", encoding="utf-8")


def broken_files(folder: Path, *, hashes: bool = True) -> list[str]:
    """Return the names of files that are missing or differ from the manifest; empty when the folder is intact.

    A folder without a readable manifest is reported as that one name. Sizes are compared first, so that a truncated
    file is found without reading the others. Without ``hashes`` only they are compared.
    """
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        wanted = {str(name): (str(entry["sha256"]), int(entry["bytes"])) for name, entry in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return [MANIFEST]
    short = [name for name, (_, size) in wanted.items() if not _has_size(folder / name, size)]
    if short or not hashes:
        return short
    return [name for name, (digest, _) in wanted.items() if sha256_of(folder / name) != digest]


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
