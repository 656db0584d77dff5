"""What a checkpoint folder says about the model in it, read without loading the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serving.fetch import FetchError
from serving.manifest import MANIFEST


class CatalogueError(FetchError):
    """There is no such model, or its folder is not one; carries ``fix`` as :class:`FetchError` does."""


@dataclass(frozen=True)
class Checkpoint:
    """Facts about a model."""

    name: str
    """The folder's name, or the repository's inside a hub's cache."""
    layers: int
    context: int
    """Positions that it was made for."""
    size: int
    """Bytes of its weights."""
    template: str
    """Chat template, as text."""


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a folder that is to be served or trained on.

    Raises:
        CatalogueError: a part is missing: configuration, weights as safetensors, tokenizer or chat template.
    """
    fix = "Copy the whole model repository there: config.json, *.safetensors, the tokenizer and its chat template."
    try:
        config = text_config(folder)
        layers, context = int(config["num_hidden_layers"]), int(config["max_position_embeddings"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CatalogueError(
            f"{folder} has no config.json of a language model ({type(error).__name__}: {error}).", fix
        ) from error
    files = _shards(folder) or sorted(path.name for path in folder.glob("*.safetensors"))
    missing = [name for name in files if not (folder / name).is_file()]
    if missing or not files:
        raise CatalogueError(f"{folder} lacks weights: {', '.join(missing) or 'no *.safetensors'}.", fix)
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise CatalogueError(f"{folder} has no tokenizer.", fix)
    template = chat_template(folder)
    if template is None:
        raise CatalogueError(f"{folder} has no chat template, so it is no model for conversations.", fix)
    size = sum((folder / name).stat().st_size for name in files)
    return Checkpoint(public_name(folder), layers, context, size, template)


def text_config(folder: Path) -> dict[str, Any]:
    """Return ``config.json``, or the part of it that is about text.

    Raises:
        OSError: it is not there.
        ValueError: it is not an object in JSON.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    found = config.get("text_config", config) if isinstance(config, dict) else None
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def public_name(folder: Path) -> str:
    """Return what to call a checkpoint folder: its own name, or the repository's inside a hub's cache."""
    if folder.parent.name == "snapshots" and folder.parents[1].name.startswith("models--"):
        return folder.parents[1].name.rpartition("--")[2]
    return folder.name


def chat_template(folder: Path) -> str | None:
    """Return the text of a checkpoint's chat template, or None when it has none."""
    path = folder / "chat_template.jinja"
    if path.is_file():
        return path.read_text(encoding="utf-8")
    for name in ("tokenizer_config.json", "chat_template.json"):
        try:
            found: Any = json.loads((folder / name).read_text(encoding="utf-8")).get("chat_template")
        except (OSError, ValueError, AttributeError):
            continue
        if found:
            return found if isinstance(found, str) else json.dumps(found)
    return None


def fetched_from(folder: Path) -> str | None:
    """Return where this project fetched a folder from, as its manifest says; None for a folder of another origin."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(found["source"]) if isinstance(found, dict) and "source" in found else None


def _shards(folder: Path) -> list[str]:
    """Return the weight files that the index names; empty when there is no index."""
    try:
        index = json.loads((folder / "model.safetensors.index.json").read_text(encoding="utf-8"))
        return sorted({str(name) for name in index["weight_map"].values()})
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return []
