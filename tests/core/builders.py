"""Small documents and logs for tests: every value that a test leaves out is legal and says nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from interviewer.adapters.documents import load_library
from interviewer.core import events as ev
from interviewer.core.assessment import Assessment, CriterionAssessment, Probabilities, Unscored, UnscoredReason
from interviewer.core.coverage import Coverage, CriterionState, Reading
from interviewer.core.drills import Drill, Drills
from interviewer.core.library import Library
from interviewer.core.persona import Persona, Phase
from interviewer.core.rubric import (
    Coaching,
    Criterion,
    Fact,
    Move,
    Probe,
    Question,
    Rubric,
    Target,
    Vocabulary,
    WrongClaim,
)
from interviewer.core.session import SessionState, fold
from interviewer.core.text import Quote

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
TRADE, MEASURE, HONEST, IMPACT = "tradeoff_reasoning", "measurement", "intellectual_honesty", "business_impact"
CRITERIA = (TRADE, MEASURE, HONEST, IMPACT)
VERSIONS = ev.Versions(rubric="r1", persona="p1", prompt="1", model="m", adapter="a@1", judge="scripted")


@cache
def shipped() -> Library:
    """The documents that ship with the project, read once in a run."""
    return load_library()


def exactly(level: int) -> Probabilities:
    """All probability on one level."""
    a, b, c, d = (1.0 if n == level else 0.0 for n in range(4))
    return (a, b, c, d)


def found(
    criterion: str, p: Probabilities | int, level: int | None = None, *quotes: Quote, confidence: float | None = None
) -> CriterionAssessment:
    """One criterion as read; an int stands for certainty."""
    dist = exactly(p) if isinstance(p, int) else p
    reported = level if level is not None else max(range(4), key=dist.__getitem__)
    sure = dist[reported] if confidence is None else confidence
    return CriterionAssessment(
        criterion=criterion, probabilities=dist, level=reported, confidence=sure, evidence=quotes
    )


def assessed(*criteria: CriterionAssessment, **levels: Probabilities | int) -> Assessment:
    """An assessment of the given readings, and of ``levels`` by criterion."""
    return Assessment(criteria=(*criteria, *(found(name, p) for name, p in levels.items())), judge="scripted")


def unscored(reason: UnscoredReason = UnscoredReason.JUDGE_UNAVAILABLE) -> Unscored:
    return Unscored(reason=reason, detail="the judge could not be reached")


def heard(
    criterion: str, p: Probabilities | int | None, *, weight: float = 1.0, must: bool = True, level: int | None = None
) -> CriterionState:
    """A criterion's state after one reading, or after none."""
    reading = () if p is None else (Reading(turn=1, question_id="q", assessment=found(criterion, p, level)),)
    return CriterionState(criterion=criterion, weight=weight, must_ask=must, readings=reading)


def known(*criteria: CriterionState) -> Coverage:
    return Coverage(criteria=criteria)


def vocabulary() -> Vocabulary:
    return Vocabulary(
        version=1,
        criteria={
            name: Criterion(
                asks=f"Does the answer show {name}?", levels={n: f"{name} anchor {n}" for n in (0, 1, 2, 3)}
            )
            for name in CRITERIA
        },
        flags={"bluffing": "Confident and empty."},
    )


def target(criterion: str, topic: str, weight: float = 1.0, *, moves: tuple[Move, ...] | None = None) -> Target:
    """A target with one probe for each move: clarify, ask_number and other_side unless told."""
    chosen = moves or (Move.CLARIFY, Move.ASK_NUMBER, Move.OTHER_SIDE)
    probes = tuple(
        Probe(move=move, text=f"About {topic} and {criterion}, {move} number {n}?") for n, move in enumerate(chosen)
    )
    return Target(criterion=criterion, weight=weight, probes=probes)


def question(name: str, *targets: Target, **changes: Any) -> Question:
    values: dict[str, Any] = {
        "id": name,
        "topic": f"Topic of {name}",
        "text": f"What would you do about {name}?",
        "targets": targets or tuple(target(c, name) for c in (TRADE, MEASURE, HONEST)),
        "facts": (Fact(claim="Decode is bound by memory.", terms=("memory-bound",)),),
        "wrong_claims": (WrongClaim(claim="Bigger is better.", correction="It depends."),),
        "hints": (f"Look at {name}.", f"Compare two {name}.", f"It is {name}."),
        "coaching": Coaching(bad=f"Bad on {name}.", good=f"Good on {name}."),
    }
    return Question(**(values | changes))


def rubric(*questions: Question, **changes: Any) -> Rubric:
    values: dict[str, Any] = {
        "version": 1,
        "id": "deep_dive",
        "title": "Deep dive",
        "persona": "deep_dive",
        "minutes": 60,
        "decides": "Is the depth real?",
        "listens_for": ("numbers", "prices"),
        "danger_signs": ("keywords", "bluffing"),
        "weights": {TRADE: 2.0, MEASURE: 1.0, HONEST: 1.0, IMPACT: 1.0},
        "must_ask": (TRADE, MEASURE),
        "veto": (HONEST,),
        "better_role": "A platform team.",
        "questions": questions or (question("cache"), question("batch"), question("rank")),
    }
    return Rubric(**(values | changes))


def persona(**changes: Any) -> Persona:
    values: dict[str, Any] = {
        "version": 1,
        "id": "deep_dive",
        "name": "Ada",
        "title": "Staff engineer",
        "rubric": "deep_dive",
        "voice": "You speak plainly.",
        "openings": ("Hello there.", "Good day."),
        "closings": ("Thank you.", "Goodbye."),
        "leads": ("One step down.", "Stay there.", "Let me see.", "Hold on."),
        "ties": ('You said "{quote}".', 'I heard "{quote}".', 'Let me stay with "{quote}".'),
        "transitions": ("Next page.", "Moving on.", "Another one."),
        "moves": dict.fromkeys(Move, 1.0),
        "followups": 3,
        "phases": (
            Phase(name="first", until=0.5, purpose="To begin."),
            Phase(name="second", until=1.0, purpose="To end."),
        ),
    }
    return Persona(**(values | changes))


def drills(*names: tuple[str, tuple[str, ...]]) -> Drills:
    """Drills by id and the criteria that they train."""
    chosen = names or (("first", (TRADE, MEASURE)), ("second", (MEASURE, TRADE, IMPACT)))
    return Drills(
        version=1,
        drills=tuple(
            Drill(
                id=n,
                title=f"Drill {n}",
                how=f"How to {n}",
                minutes=20,
                trains=trains,
                rubric="elsewhere",
                questions=("qq",),
                brief=f"Rules of {n}.",
            )
            for n, trains in chosen
        ),
    )


class Log:
    """A log that is written event by event, one second apart; ``state`` folds it."""

    def __init__(self, **started: Any) -> None:
        values: dict[str, Any] = {
            "persona": "deep_dive",
            "rubric": "deep_dive",
            "level": "mid",
            "mode": "practice",
            "minutes": 60,
            "seed": 7,
            "versions": VERSIONS,
        }
        self.records: list[ev.Recorded] = []
        self.turn = 0
        self.add(ev.SessionStarted(**(values | started)))

    @property
    def state(self) -> SessionState:
        return fold(self.records)

    def add(self, event: ev.Event, after: float = 1.0) -> Log:
        at = self.records[-1].at + timedelta(seconds=after) if self.records else START
        self.records.append(ev.Recorded(session_id="s", seq=len(self.records) + 1, at=at, event=event))
        return self

    def choose(self, question_id: str, criterion: str | None = None, move: Move | None = None, **more: Any) -> Log:
        self.turn += 1
        values: dict[str, Any] = {
            "turn": self.turn,
            "question_id": question_id,
            "criterion": criterion,
            "move": move,
            "probe": f"Probe {self.turn}?",
            "reason": "because",
            "elapsed": 0.0,
        }
        return self.add(ev.ProbeChosen(**(values | more)))

    def ask(self, text: str = "", source: ev.QuestionSource = "authored", **more: Any) -> Log:
        said = text or f"Question {self.turn}?"
        return self.add(ev.QuestionAsked(turn=self.turn, text=said, source=source, persona="deep_dive", **more))

    def answer(self, text: str = "An answer.") -> Log:
        return self.add(ev.AnswerGiven(turn=self.turn, msg_id=f"m{self.turn}", text=text))

    def read(self, result: Assessment | Unscored, turn: int | None = None) -> Log:
        at = turn or self.turn
        if isinstance(result, Assessment):
            return self.add(ev.AnswerAssessed(turn=at, assessment=result))
        return self.add(ev.AnswerUnscored(turn=at, reason=result.reason, detail=result.detail, notices=result.notices))

    def turn_on(self, question_id: str, result: Assessment | Unscored, text: str = "An answer.", **chosen: Any) -> Log:
        """A whole turn: choice, question, answer and reading."""
        return self.choose(question_id, **chosen).ask().answer(text).read(result)

    def hint(self, question_id: str, rung: int) -> Log:
        return self.add(ev.HintGiven(turn=self.turn, question_id=question_id, rung=rung, text="Look there."))

    def end(self, farewell: str = "") -> Log:
        return self.add(ev.SessionEnded(reason="complete", farewell=farewell))
