"""Rubrics, personas and drills from YAML, strictly: an error names the file, the line and what to change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from interviewer.core.drills import Drills
from interviewer.core.library import Library
from interviewer.core.persona import Persona
from interviewer.core.rubric import Rubric, Vocabulary
from interviewer.core.scenario import Scenario

M = TypeVar("M", bound=BaseModel)


MOST_BYTES = 1_000_000
"""Bytes of one document; the largest that ships has a tenth of it."""
MOST_NESTED = 50
"""Brackets open at once, which the parser's time grows with the square of."""


class DocumentError(ValueError):
    """A document cannot be used; the message starts with ``file:line:``."""


def packaged(folder: str) -> Path:
    """Return the path of a document folder that ships with the project (``rubrics`` or ``personas``)."""
    return Path(str(files(folder)))


def load_library(rubrics: Path | None = None, personas: Path | None = None) -> Library:
    """Load every document and check all references between them.

    Raises:
        DocumentError: the first problem found.
    """
    rubric_folder = rubrics or packaged("rubrics")
    persona_folder = personas or packaged("personas")
    vocabulary, _ = load(rubric_folder / "criteria.yaml", Vocabulary)
    drills, _ = load(rubric_folder / "drills.yaml", Drills)
    hashes: dict[str, str] = {}
    found: dict[str, Rubric] = {}
    for path in sorted(rubric_folder.glob("*.yaml")):
        if path.name not in ("criteria.yaml", "drills.yaml"):
            rubric = load_rubric(path, vocabulary)
            if rubric.id in found:
                raise DocumentError(f"{path}:1: another document has the id {rubric.id!r} already; choose a new one")
            found[rubric.id] = rubric
            hashes[f"rubric:{rubric.id}"] = _hash(path)
    people: dict[str, Persona] = {}
    for path in sorted(persona_folder.glob("*/persona.yaml")):
        persona, lines = load(path, Persona)
        if persona.rubric not in found:
            raise DocumentError(f"{path}:{_line(lines, ('rubric',))}: no rubric is called {persona.rubric!r}")
        if persona.id in people:
            at = _line(lines, ("id",))
            raise DocumentError(f"{path}:{at}: another persona has the id {persona.id!r} already; choose a new one")
        people[persona.id] = persona
        hashes[f"persona:{persona.id}"] = _hash(path)
    for rubric in found.values():
        if rubric.persona not in people:
            raise DocumentError(f"{rubric_folder / rubric.id}.yaml:1: no persona is called {rubric.persona!r}")
    for drill in drills.drills:
        unknown = set(drill.trains) - set(vocabulary.criteria)
        if unknown:
            raise DocumentError(
                f"{rubric_folder / 'drills.yaml'}:1: drill {drill.id!r} trains unknown {sorted(unknown)}"
            )
    for wrong in drills.problems(found):
        raise DocumentError(f"{rubric_folder / 'drills.yaml'}:1: {wrong}")
    scenarios: dict[str, Scenario] = {}
    for path in sorted((rubric_folder / "scenarios").glob("*.yaml")):
        scenario, lines = load(path, Scenario)
        for place, wrong in scenario.problems(found):
            raise DocumentError(f"{path}:{_line(lines, place)}: {wrong}")
        if scenario.id in scenarios:
            raise DocumentError(f"{path}:{_line(lines, ('id',))}: another scenario has the id {scenario.id!r} already")
        scenarios[scenario.id] = scenario
        hashes[f"scenario:{scenario.id}"] = _hash(path)
    return Library(vocabulary, found, people, drills, hashes, scenarios)


def load_rubric(path: Path, vocabulary: Vocabulary) -> Rubric:
    """Load one rubric and check it against the vocabulary.

    Raises:
        DocumentError: it cannot be read, has unknown or missing keys, or refers to something that does not exist.
    """
    rubric, data = load(path, Rubric)
    problem = next(iter(rubric.problems(vocabulary)), None)
    if problem is not None:
        at, message = problem
        raise DocumentError(f"{path}:{_line(data, at)}: {message}")
    return rubric


def load(path: Path, model: type[M]) -> tuple[M, Any]:
    """Read one YAML document into ``model``; the second value keeps the line numbers.

    Raises:
        DocumentError: not readable, not UTF-8, not YAML, or not of the shape of ``model``.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(f"{path}:1: cannot be read: {error}") from error
    if len(content) > MOST_BYTES:
        raise DocumentError(f"{path}:1: larger than {MOST_BYTES} bytes; split it into documents of one round each")
    if (line := _too_deep(text)) is not None:
        raise DocumentError(f"{path}:{line}: brackets within brackets, more than {MOST_NESTED}; take some away")
    try:
        data = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DocumentError(f"{path}:{line}: not valid YAML: {error.problem}") from error
    except (YAMLError, ValueError, OverflowError, RecursionError) as error:
        # A value of a type that cannot be made (30 February, 5000 digits), or too much within one another.
        raise DocumentError(f"{path}:1: not valid YAML: {error}") from error
    try:
        return model.model_validate(data), data
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = tuple(p for p in first["loc"] if p != "[key]")
        where = ".".join(map(str, at)) or "document"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise DocumentError(f"{path}:{_line(data, at)}: {where}: {first['msg']}{more}") from error


def schemas() -> Mapping[str, dict[str, Any]]:
    """Return the JSON Schemas that stand beside the documents, by path relative to the project."""
    models: Iterable[tuple[str, type[BaseModel]]] = (
        ("rubrics/rubric.schema.json", Rubric),
        ("rubrics/criteria.schema.json", Vocabulary),
        ("rubrics/drills.schema.json", Drills),
        ("rubrics/scenarios/scenario.schema.json", Scenario),
        ("personas/persona.schema.json", Persona),
    )
    return {path: model.model_json_schema() for path, model in models}


def _too_deep(text: str) -> int | None:
    """Return the 1-based line where too many brackets are open, whether they are syntax or words; else ``None``."""
    depth = 0
    for found in re.finditer(r"[][{}]", text):
        depth = max(0, depth + (1 if found.group() in "[{" else -1))
        if depth > MOST_NESTED:
            return text.count("\n", 0, found.start()) + 1
    return None


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _line(data: Any, at: Sequence[str | int]) -> int:
    """Return the 1-based line of a place in a document, or of the nearest thing around it."""
    line = 0
    for part in at:
        marks = getattr(data, "lc", None)
        if marks is None:
            break
        try:
            line = marks.item(part)[0] if isinstance(part, int) and isinstance(data, list) else marks.key(part)[0]
            data = data[part]
        except (KeyError, IndexError, TypeError, AttributeError):
            break
    return line + 1
