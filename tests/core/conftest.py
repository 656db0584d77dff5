from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from interviewer.adapters.documents import packaged
from interviewer.core.library import Library
from tests.core.builders import shipped

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def library() -> Library:
    """The documents that ship with the project."""
    return shipped()


def _rows(paths: Sequence[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(paths) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def answers() -> list[dict[str, Any]]:
    """Every labelled answer."""
    return _rows(list((ROOT / "eval" / "data" / "answers").glob("*.jsonl")))


@pytest.fixture(scope="session")
def examples() -> list[dict[str, Any]]:
    """Every written example of how a persona puts a probe, with ``persona`` added."""
    paths = packaged("personas").glob("*/data/examples.jsonl")
    return [{**row, "persona": path.parents[1].name} for path in sorted(paths) for row in _rows([path])]
