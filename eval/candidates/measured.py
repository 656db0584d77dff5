"""What is measured on one session that a simulated candidate held, as a row that JSON can hold.

Whether a follow-up is on its probe is asked in another way than the guard does: the chosen probe has to be the nearest
of all probes of its question.
"""

from __future__ import annotations

from typing import Any

from eval.candidates import Candidate
from eval.candidates.drive import Held
from eval.candidates.simulated import reach
from interviewer.core.flags import RAISED
from interviewer.core.guard import split_turn
from interviewer.core.library import Library
from interviewer.core.receipt import turn_problems
from interviewer.core.rubric import Question, SeniorityLevel
from interviewer.core.session import fold
from interviewer.core.verdict import ORDER, Step
from interviewer.core.wording import shared


def to_row(candidate: Candidate, held: Held, library: Library) -> dict[str, Any]:
    """Return everything that is measured on one session, as JSON can hold it."""
    state = fold(held.log)
    rubric = library.rubrics[state.started.rubric]
    persona = library.personas[state.persona]
    questions = [
        {
            "turn": turn.number,
            "text": turn.question.text,
            "source": turn.question.source,
            "question_id": turn.probe.question_id,
            "criterion": turn.probe.criterion,
            "move": turn.probe.move,
            "probe": turn.probe.probe,
            "before": [p for p in turn.question.problems if " " not in p],
            "after": list(turn_problems(state, turn.number, rubric, persona.max_words)),
            "nearest": _nearest(
                turn.question.text, turn.probe.probe, rubric.question(turn.probe.question_id), candidate.level
            ),
        }
        for turn in state.turns
        if turn.probe and turn.question
    ]
    probes = [turn.probe for turn in state.turns if turn.probe and turn.question]
    found = reach(candidate, rubric, [(p.question_id, p.criterion) for p in probes])
    verdict = held.report["verdict"]["step"]
    raised = [f["flag"] for f in held.report["flags"] if f["probability"] >= RAISED]
    read = {row["criterion"]: row["level"] for row in held.report["criteria"]}
    return {
        "candidate": candidate.id,
        "round": rubric.id,
        "persona": persona.id,
        "level": candidate.level,
        "session": held.session_id,
        "versions": state.started.versions.model_dump(mode="json"),
        "expected": str(candidate.verdict),
        "verdict": verdict,
        "also_possible": held.report["verdict"]["also_possible"],
        "off": None if verdict is None else abs(ORDER.index(Step(verdict)) - ORDER.index(candidate.verdict)),
        "flags": raised,
        "flags_missing": sorted(set(candidate.flags.raised) - set(raised)),
        "flags_wrong": sorted(set(candidate.flags.absent) & set(raised)),
        "weakest": candidate.weakest,
        "weakest_questions": list(found.questions),
        "weakest_candidate": found.candidate,
        "weakest_turn": found.turn,
        "levels": {name: [candidate.levels[name], level] for name, level in read.items()},
        "receipt": held.report["receipt"],
        "spent": held.spent,
        "follow_up_ms": held.follow_up_ms,
        "main_ms": held.main_ms,
        "questions": questions,
    }


def _nearest(text: str, probe: str, question: Question | None, level: SeniorityLevel) -> bool:
    """Return whether no other probe of the question has more in common with what was asked than the chosen one."""
    others = [p.wording(level) for t in question.targets for p in t.probes] if question else []
    asked = split_turn(text)[1] or text
    return all(shared(asked, probe) >= shared(asked, other) for other in others)
