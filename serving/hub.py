"""Fetch a base model from a model hub once and keep it as an ordinary checkpoint folder.

Invariant: a folder under its final name is complete; its manifest names the repository, the commit and every file. An
interrupted download goes on where it stopped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from serving.fetch import CACHE_VARIABLE, FetchError, Progress, exclusive
from serving.manifest import MANIFEST, broken_files, write_manifest

WANTED = ("*.json", "*.safetensors", "*.jinja", "*.txt", "tokenizer.model", "LICENSE*")
"""Files that are taken from a repository."""

Download = Callable[[str, str | None, Path], str]
"""Puts a repository's files into a folder, given its name and commit (None: newest); returns the commit."""


def download(repository: str, revision: str | None, folder: Path) -> str:
    """Take a repository's files from the hub.

    Raises:
        OSError, ValueError, RuntimeError: the hub cannot be reached, or has no such repository or commit.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        commit = HfApi().model_info(repository, revision=revision).sha or "unknown"
        snapshot_download(repository, revision=commit, local_dir=folder, allow_patterns=list(WANTED))
    except HfHubHTTPError as error:
        raise OSError(str(error)) from error
    except Exception as error:  # the transport's own errors share no base class with the system's
        raise OSError(f"{type(error).__name__}: {error}") from error
    return commit


def ensure_hub(
    folder: Path, repository: str, revision: str | None, licence: str, progress: Progress, fetch: Download = download
) -> Path:
    """Return ``folder`` with the checkpoint in it, fetching it when it is not there.

    A complete folder is recognised by the names and sizes in its manifest: hashing 16 GB at every start costs half a
    minute. Several processes may call this at once: one works, the others wait.

    Args:
        folder: where it is to lie.
        repository: name at the hub.
        revision: commit; None takes the newest when nothing is there yet.
        licence: for the manifest.
        progress: is given one line of text per step.
        fetch: takes the files.

    Raises:
        FetchError: no hub within reach, disk full, or an incomplete repository.
    """
    by_hand = (
        f"Where the hub can be reached, download the repository {repository} into a folder, copy that folder here and "
        "name its path instead of the model."
    )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(folder.parent / f".{folder.name}.lock", progress):
            bad = broken_files(folder, hashes=False)
            if not bad:
                return folder
            if folder.exists():
                progress(f"The cached model is damaged ({', '.join(bad)}); it is fetched again.")
                shutil.rmtree(folder)
            part = folder.with_name(f".{folder.name}.part")
            part.mkdir(exist_ok=True)
            progress(f"Downloading {repository} from the model hub; this can take long.")
            try:
                commit = fetch(repository, revision, part)
            except (OSError, ValueError, RuntimeError) as error:
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise FetchError(f"Cannot fetch {repository} from the model hub: {reason[:300]}.", by_hand) from error
            if not (part / "config.json").is_file() or not list(part.glob("*.safetensors")):
                raise FetchError(f"{repository} has no config.json or no *.safetensors.", "Name another model.")
            shutil.rmtree(part / ".cache", ignore_errors=True)  # the hub client's own notes
            (part / MANIFEST).unlink(missing_ok=True)
            write_manifest(part, {"source": repository, "revision": commit, "license": licence})
            part.replace(folder)
            progress(f"The base model is ready in {folder}.")
            return folder
    except OSError as error:
        raise FetchError(
            f"Cannot write the model cache {folder.parent}: {error}.",
            f"Free space there, or set {CACHE_VARIABLE} to a folder that can be written.",
        ) from error
