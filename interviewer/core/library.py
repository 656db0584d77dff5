"""All documents of the project, loaded once and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interviewer.core.drills import Drills
from interviewer.core.persona import Persona
from interviewer.core.rubric import Question, Rubric, Vocabulary
from interviewer.core.scenario import Scenario


@dataclass(frozen=True)
class Library:
    """Rubrics, personas, criteria and drills, with references between them already checked."""

    vocabulary: Vocabulary
    rubrics: Mapping[str, Rubric]
    personas: Mapping[str, Persona]
    drills: Drills
    hashes: Mapping[str, str]
    """Content hash of each document, by ``rubric:<id>``, ``persona:<id>`` and ``scenario:<id>``; 12 hex digits."""
    scenarios: Mapping[str, Scenario] = field(default_factory=dict)

    def find_question(self, question_id: str) -> tuple[Rubric, Question] | None:
        """Return the question with that id and its round, or ``None``."""
        for rubric in self.rubrics.values():
            question = rubric.question(question_id)
            if question is not None:
                return rubric, question
        return None
