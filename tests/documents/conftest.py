from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from interviewer.adapters.documents import load_library, packaged
from interviewer.core.library import Library
from tests.core.builders import shipped


@pytest.fixture(scope="session")
def library() -> Library:
    """The documents that ship with the project."""
    return shipped()


@dataclass(frozen=True)
class Folders:
    """A copy of one round, one persona and what they need, to be broken by a test."""

    rubrics: Path
    personas: Path

    def path(self, name: str) -> Path:
        return self.personas / "recruiter" / name if name == "persona.yaml" else self.rubrics / name

    def edit(self, name: str, old: str, new: str) -> int:
        """Replace the first ``old`` in a document; return the 1-based line on which it stood."""
        path = self.path(name)
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    def load(self) -> Library:
        return load_library(self.rubrics, self.personas)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    made = Folders(tmp_path / "rubrics", tmp_path / "personas")
    made.rubrics.mkdir()
    (made.personas / "recruiter").mkdir(parents=True)
    for name in ("criteria.yaml", "drills.yaml", "recruiter.yaml"):
        shutil.copy(packaged("rubrics") / name, made.rubrics)
    shutil.copy(packaged("personas") / "recruiter" / "persona.yaml", made.personas / "recruiter")
    text = _first_questions((made.rubrics / "recruiter.yaml").read_text(encoding="utf-8"), 2)
    (made.rubrics / "recruiter.yaml").write_text(text, encoding="utf-8")
    return made


def _first_questions(text: str, count: int) -> str:
    """Keep the head of a rubric and its first questions: reading all of it takes a second."""
    return "  - id: ".join(text.split("  - id: ")[: count + 1])
