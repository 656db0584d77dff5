"""What ``lora.yaml`` holds, and how settings given on the command line replace it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from serving.train import PROJECT, TrainError

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
MLP = ("gate_proj", "up_proj", "down_proj")


class LoraSettings(BaseModel):
    """Settings that all adapters share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    base: Annotated[str, Field(min_length=1)]
    """Name of the base model, as the adapter's own configuration carries it."""
    data: Annotated[tuple[str, ...], Field(min_length=1)]
    """Files or globs, relative to the project (or absolute)."""
    rank: Annotated[int, Field(ge=1, le=16)]
    """At most 16: the engine keeps all adapters in slots of one rank."""
    alpha: Annotated[int, Field(gt=0)]
    dropout: Annotated[float, Field(ge=0, lt=1)]
    targets: Annotated[
        tuple[Literal["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], ...],
        Field(min_length=1),
    ]
    first_layer: Annotated[int, Field(ge=0)]
    """Layers below stay frozen, so that their output is computed once per sequence instead of once per epoch.

    Counted in layers of ``base``. Another base gets the same share of its depth, unless this is set by hand.
    """
    lr: Annotated[float, Field(gt=0, lt=1)]
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Share of the steps in which the rate climbs; it falls along a cosine afterwards."""
    epochs: Annotated[int, Field(ge=1, le=50)]
    batch: Annotated[int, Field(ge=1, le=64)]
    """Packed sequences whose gradients are added up before each step."""
    seed: Annotated[int, Field(ge=0)] = 7
    max_len: Annotated[int, Field(ge=128, le=4096)]
    """Most tokens of a packed sequence."""
    threads: Annotated[int, Field(ge=1, le=64)] = 2
    """Sequences that are worked on side by side, one core each; changes no result (with dropout it would)."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute; ``auto`` takes a GPU when there is one."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """How the base's weights are held; ``auto`` is bfloat16 where the hardware multiplies it, else float32."""


class PersonaSettings(LoraSettings):
    """``lora.yaml`` of a persona."""

    group: Annotated[int, Field(ge=1, le=32)]
    """Examples in one packed sequence; they share the system message and do not see each other."""
    history: Annotated[float, Field(ge=0, le=1)]
    """Share of the examples that also carry earlier turns of the session."""


class EvaluatorSettings(LoraSettings):
    """``lora.yaml`` of the evaluator."""

    split: str = "eval/data/split.json"
    smoothing: Annotated[float, Field(ge=0, lt=1)]
    """Share of a label's probability that its neighbouring levels get."""
    error_weight: Annotated[float, Field(ge=0)]
    """Weight of the squared error of the expected level."""
    altered: Annotated[float, Field(ge=0, le=1)]
    """Share of the training answers that every second epoch reads padded or shuffled instead of as given."""
    start: str = ""
    """Adapter folder to start from (a warm-up); empty starts from the base."""


S = TypeVar("S", bound=LoraSettings)
PLACE = frozenset({"threads", "device", "dtype"})
"""Settings of the machine, not of the adapter: a result names what they came to."""


def load_settings(path: Path, kind: type[S], overrides: Mapping[str, str]) -> S:
    """Read a ``lora.yaml`` and replace settings.

    Overrides are written as YAML: ``lr=0.001``, ``targets=[q_proj, v_proj]``.

    Raises:
        TrainError: not readable, an unknown key, or a value out of range.
    """
    yaml = YAML(typ="safe")
    try:
        data = yaml.load(path.read_text(encoding="utf-8"))
        values = {**data, **{key: yaml.load(value) for key, value in overrides.items()}}
        return kind.model_validate(values)
    except (OSError, YAMLError, TypeError) as error:
        raise TrainError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise TrainError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def data_files(settings: LoraSettings) -> list[Path]:
    """Return the data files of ``settings``, sorted.

    Raises:
        TrainError: a pattern matches nothing.
    """
    found: list[Path] = []
    for pattern in settings.data:
        at = Path(pattern)
        root, relative = (Path(at.anchor), str(at.relative_to(at.anchor))) if at.is_absolute() else (PROJECT, pattern)
        matches = sorted(root.glob(relative))
        if not matches:
            raise TrainError(f"no file matches {pattern!r} under {root}; training needs a checkout of the project")
        found += matches
    return found
