"""Response bodies about the documents: personas, rounds, questions, drills and situations."""

from __future__ import annotations

from interviewer.core.assessment import Frozen
from interviewer.core.rubric import Move


class PersonaView(Frozen):
    """An interviewer."""

    id: str
    name: str
    title: str
    rubric: str
    voice: str
    prompt_only: bool
    """No adapter is served for it; it runs on the base model with its prompt."""


class PersonaList(Frozen):
    """All interviewers."""

    personas: tuple[PersonaView, ...]


class RubricView(Frozen):
    """A round."""

    id: str
    title: str
    persona: str
    minutes: int
    decides: str
    listens_for: tuple[str, ...]
    danger_signs: tuple[str, ...]
    criteria: tuple[str, ...]
    must_ask: tuple[str, ...]
    questions: int


class RubricList(Frozen):
    """All rounds, with what each criterion asks and each flag means."""

    rubrics: tuple[RubricView, ...]
    criteria: dict[str, str]
    flags: dict[str, str]


class ScenarioView(Frozen):
    """A situation that a round can open with; its facts are the interviewer's, and given to who asks."""

    id: str
    title: str
    rubric: str
    question: str
    brief: str
    facts: int
    """How many there are to ask for."""


class ScenarioList(Frozen):
    """Situations that rounds can open with."""

    scenarios: tuple[ScenarioView, ...]


class DrillView(Frozen):
    """An exercise that can be started alone; what happens in it on the clock is not shown before."""

    id: str
    title: str
    how: str
    rubric: str
    persona: str
    minutes: int
    trains: tuple[str, ...]
    questions: int
    words: int | None
    """Longest answer in words, when the drill has such a limit."""
    events: int
    """How many things happen on the clock."""


class DrillList(Frozen):
    """Exercises."""

    drills: tuple[DrillView, ...]


class ProbeView(Frozen):
    """A follow-up as it is authored."""

    move: Move
    text: str
    senior: str | None


class GivenView(Frozen):
    """A fact of a question's case."""

    about: str
    says: str


class Spoilers(Frozen):
    """What the interviewer knows about a question; who reads it cannot be asked that question in earnest any more."""

    hints: tuple[str, ...]
    """Three rungs, each nearer to the answer."""
    facts: tuple[str, ...]
    """Claims that a good answer may contain."""
    probes: dict[str, tuple[ProbeView, ...]]
    """Follow-ups by the criterion that they dig for."""
    givens: tuple[GivenView, ...]
    """What is told of the case to a candidate who asks before answering."""


class QuestionView(Frozen):
    """A question; what the interviewer knows about it is not shown."""

    id: str
    rubric: str
    topic: str
    text: str
    senior: str | None
    criteria: tuple[str, ...]


class QuestionList(Frozen):
    """Questions of the rounds."""

    questions: tuple[QuestionView, ...]


class QuestionDetail(QuestionView):
    """One question, with what it listens for."""

    listens_for: dict[str, str]
    """What each of its criteria asks of an answer."""
    spoilers: Spoilers | None
    """Only when it was asked for."""
