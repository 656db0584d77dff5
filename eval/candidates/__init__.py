"""Simulated candidates: who they are, what they would say, and what a good interviewer has to find out about them.

A candidate is a YAML document with a bank of answers by criterion. They cannot foresee a question's topic, so an answer
belongs to the criterion of the probe that was asked; where it matters it also names the moves or questions it suits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from interviewer.adapters.documents import DocumentError, load
from interviewer.core.library import Library
from interviewer.core.rubric import Move, Question, SeniorityLevel, Slug, Strict, Text
from interviewer.core.text import words
from interviewer.core.verdict import Step

FOLDER = Path(str(files("eval"))) / "candidates"
SPENT = "I have told you what I know about that."
"""What a candidate says when nothing is left in the bank."""
FEWEST_WORDS, MOST_WORDS = 15, 190

Words: TypeAlias = Annotated[str, Field(min_length=40, max_length=1600)]
TrueLevel: TypeAlias = Annotated[int, Field(ge=0, le=3)]


class Answer(Strict):
    """One answer in the candidate's own voice."""

    text: Words
    moves: tuple[Move, ...] = ()
    """Moves that it suits; empty suits any."""
    questions: tuple[Slug, ...] = ()
    """Rubric questions that it suits; empty suits any."""


class Flags(Strict):
    """What the committee must and must not write down about the candidate."""

    raised: tuple[Slug, ...] = ()
    absent: tuple[Slug, ...] = ()


class Candidate(Strict):
    """One simulated candidate."""

    version: Literal[1]
    id: Slug
    level: SeniorityLevel
    """Seniority at which they are interviewed."""
    rounds: Annotated[tuple[Slug, ...], Field(min_length=1)]
    who: Text
    """Who they are and what gives them away."""
    verdict: Step
    """What a committee that knew all of ``levels`` would decide, in each of the rounds."""
    flags: Flags
    weakest: Slug
    """The criterion that an interviewer has to find; none of the round's is lower."""
    levels: Annotated[dict[Slug, TrueLevel], Field(min_length=3)]
    """The level at which they truly are, for each criterion of their rounds."""
    answers: dict[Slug, Annotated[tuple[Answer | Words, ...], Field(min_length=2)]]

    def bank(self, criterion: str) -> tuple[Answer, ...]:
        """Return all answers on a criterion; empty where there are none."""
        return tuple(a if isinstance(a, Answer) else Answer(text=a) for a in self.answers.get(criterion, ()))

    def weakest_of(self, question: Question) -> frozenset[str]:
        """Return the question's targets at which the candidate is weakest; more than one when they are level."""
        known = {t.criterion: self.levels[t.criterion] for t in question.targets if t.criterion in self.levels}
        lowest = min(known.values(), default=0)
        return frozenset(name for name, level in known.items() if level == lowest)

    def problems(self, library: Library) -> Iterator[str]:
        """Yield what does not fit the project's rubrics and vocabulary, in sentences."""
        flags = set(self.flags.raised) | set(self.flags.absent)
        for unknown in sorted(flags - set(library.vocabulary.flags)):
            yield f"flags: there is no flag {unknown!r}"
        for both in sorted(set(self.flags.raised) & set(self.flags.absent)):
            yield f"flags: {both!r} cannot be both raised and absent"
        for name in self.rounds:
            rubric = library.rubrics.get(name)
            if rubric is None:
                yield f"rounds: there is no round {name!r}"
                continue
            for criterion in rubric.weights:
                if criterion not in self.levels or criterion not in self.answers:
                    yield f"answers: round {name!r} asks for {criterion!r}; give its level and answers"
                elif self.levels[criterion] < self.levels.get(self.weakest, 0):
                    yield f"weakest: {criterion!r} is lower than {self.weakest!r}"
            if self.weakest not in rubric.weights:
                yield f"weakest: round {name!r} does not judge {self.weakest!r}"
        seen: set[str] = set()
        for criterion in self.answers:
            for answer in self.bank(criterion):
                length = len(words(answer.text))
                if not FEWEST_WORDS <= length <= MOST_WORDS:
                    yield f"answers.{criterion}: an answer has {length} words; {FEWEST_WORDS} to {MOST_WORDS} are meant"
                if answer.text in seen:
                    yield f"answers.{criterion}: an answer stands there twice: {answer.text[:40]!r}"
                seen.add(answer.text)


class Speaker:
    """A candidate in one session: says each answer of the bank once."""

    def __init__(self, candidate: Candidate) -> None:
        """Start with the whole bank."""
        self.candidate = candidate
        self._left = {name: list(candidate.bank(name)) for name in candidate.answers}
        self.spent = 0
        """How often nothing was left to say."""

    def reply(self, question: Question, criterion: str | None, move: Move | None) -> str:
        """Answer a follow-up on ``criterion``, or a main question when it is ``None``.

        A main question is answered on the target about which most is left to say, the heavier one among equals.
        """
        if criterion is None:
            targets = sorted(question.targets, key=lambda t: (-len(self._left.get(t.criterion, ())), -t.weight))
            criterion = targets[0].criterion
        left = self._left.get(criterion, [])
        if not left:
            self.spent += 1
            return SPENT
        chosen = max(left, key=lambda a: _fit(a, question.id, move))
        left.remove(chosen)
        return chosen.text


def load_candidates(library: Library, names: Sequence[str] = (), folder: Path = FOLDER) -> tuple[Candidate, ...]:
    """Return the candidates in the order of their ids, all of them or those named.

    Raises:
        DocumentError: a document cannot be used, or a name is unknown; the message says what to change.
    """
    found: dict[str, Candidate] = {}
    for path in sorted(folder.glob("*.yaml")):
        candidate, _ = load(path, Candidate)
        problem = next(candidate.problems(library), None)
        if candidate.id != path.stem:
            problem = f"id: {candidate.id!r} has to be the file's name, {path.stem!r}"
        if problem is not None:
            raise DocumentError(f"{path}: {problem}")
        found[candidate.id] = candidate
    for name in names:
        if name not in found:
            raise DocumentError(f"{folder}: there is no candidate {name!r}; there are {', '.join(found)}")
    return tuple(c for c in found.values() if not names or c.id in names)


def _fit(answer: Answer, question: str, move: Move | None) -> int:
    """Return how well an answer suits; meant for this question, then this move, then for any, then for others."""
    if question in answer.questions:
        return 3
    if move is not None and move in answer.moves:
        return 2
    return 1 if not answer.questions and not answer.moves else 0
