"""The probe policy against a fixed list and against chance, on the simulated candidates; no engine takes part.

The scripted judge errs as much as the real one did on unseen questions (``eval/candidates/simulated.py`` says how).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

from eval.agreement import DATA, answers
from eval.candidates import Candidate
from eval.candidates.simulated import MOST_TURNS, Noise, Played, Policy, play
from eval.machine import describe, machine
from interviewer.core.library import Library
from interviewer.core.persona import Persona
from interviewer.core.probe import Ask, Close, Decision, decide
from interviewer.core.rubric import Probe, Question, Rubric, Target
from interviewer.core.session import SessionState
from interviewer.core.verdict import Step

SHORT = 15
"""Minutes of the short mode."""
WITHIN = 3
"""Follow-ups within which the weakest target has to be reached."""


def real_noise() -> Noise:
    """Return the error of the judge as it was last measured on unseen questions (``eval/reports/judge.json``)."""
    published = json.loads((DATA.parent / "reports" / "judge.json").read_text(encoding="utf-8"))
    levels = [level for a in answers() for level in a["labels"].values()]
    return Noise(published["kappa"], [levels.count(level) / len(levels) for level in range(4)])


def fixed_list(state: SessionState, rubric: Rubric, persona: Persona, elapsed: float) -> Decision:
    """Ask the questions in the order of the document, and under each the first probe of each target."""
    turn = state.current
    question = rubric.question(turn.question_id) if turn and turn.question_id else None
    if question is not None:
        at = len(state.on_question(question.id)) - 1
        if at < min(persona.followups, len(question.targets)):
            return _ask(question, question.targets[at], question.targets[at].probes[0], state)
    return _main(next(iter(_unasked(state, rubric)), None), state)


def at_random(state: SessionState, rubric: Rubric, persona: Persona, elapsed: float) -> Decision:
    """Ask any question and any probe of it that was not asked yet."""
    draw = random.Random(f"{state.started.seed}:{len(state.turns)}")
    turn = state.current
    question = rubric.question(turn.question_id) if turn and turn.question_id else None
    if question is not None and len(state.on_question(question.id)) <= persona.followups:
        used = {t.probe.probe for t in state.turns if t.probe}
        level = state.started.level
        left = [(t, p) for t in question.targets for p in t.probes if p.wording(level) not in used]
        if left:
            return _ask(question, *draw.choice(left), state)
    unasked = list(_unasked(state, rubric))
    return _main(draw.choice(unasked) if unasked else None, state)


POLICIES: dict[str, Policy] = {"ours": decide, "fixed list": fixed_list, "random": at_random}


def measure(
    candidates: Sequence[Candidate], library: Library, seeds: int, noise: Noise | None = None
) -> dict[str, Any]:
    """Play all policies over all candidates and ``seeds`` seeds, in the whole round and in the short mode.

    Naive policies get as many turns as ours took with the same candidate and seed.
    """
    noise = noise or real_noise()
    lengths: dict[str, dict[str, Any]] = {}
    for name in ("whole round", f"short, {SHORT} minutes"):
        rows: dict[str, dict[str, list[dict[str, float]]]] = {policy: {} for policy in POLICIES}
        for candidate in candidates:
            for round_ in candidate.rounds:
                rubric = library.rubrics[round_]
                persona = library.personas[rubric.persona]
                minutes = rubric.minutes if name == "whole round" else SHORT
                for seed in range(seeds):
                    turns = MOST_TURNS
                    for policy, choose in POLICIES.items():
                        played = play(
                            candidate, rubric, persona, choose, noise, seed=seed, minutes=minutes, turns=turns
                        )
                        turns = len(played.asked)  # "ours" comes first
                        found = rows[policy].setdefault(f"{candidate.id}/{round_}", [])
                        found.append(_numbers(played, candidate.verdict))
        lengths[name] = {policy: _summary(found) for policy, found in rows.items()}
        lengths[name] |= {
            f"ours - {policy}": _difference(rows["ours"], rows[policy]) for policy in POLICIES if policy != "ours"
        }
    return {
        "machine": machine(),
        "command": f"interviewer eval policy --seeds {seeds}",
        "candidates": len(candidates),
        "rounds": sum(len(c.rounds) for c in candidates),
        "seeds": seeds,
        "judge": {
            "error_width": round(noise.width, 3),
            "recall_level_0_1": round(noise.recall((0, 1)), 3),
            "recall_level_3": round(noise.recall((3,)), 3),
        },
        "lengths": lengths,
    }


MEASURES = {
    "reached": f"weakest target of a question reached within {WITHIN} follow-ups",
    "reached_candidate": f"candidate's weakest criterion reached within {WITHIN} follow-ups of a question on it",
    "followups_to_weakest": f"follow-ups until the weakest target (not reached counts {WITHIN + 2})",
    "turns_to_candidate": "turns of the session until the candidate's weakest criterion was probed (never: all + 1)",
    "must_heard": "must-ask criteria assessed",
    "must_probed": "must-ask criteria dug into",
    "within_one": "verdict within one step",
    "exact": "verdict exact",
    "turns": "turns",
}


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    judge = found["judge"]
    lines = [
        "# The probe policy against a fixed list and chance",
        "",
        describe(found["machine"]),
        "",
        f"Command: `{found['command']}`",
        "",
        f"{found['candidates']} simulated candidates in {found['rounds']} rounds, {found['seeds']} seeds each. The "
        f"judge is scripted: the true level with a normal error of width {judge['error_width']}, which gives the "
        f"published kappa; recall of level 0-1 {judge['recall_level_0_1']}, of level 3 {judge['recall_level_3']}. "
        "Naive policies get the turns that ours took. In brackets: 95% bootstrap interval over candidates.",
    ]
    for name, policies in found["lengths"].items():
        lines += [
            "",
            f"## {name.capitalize()}",
            "",
            f"| measure | {' | '.join(policies)} |",
            "|---" * (len(policies) + 1) + "|",
        ]
        for key, words in MEASURES.items():
            cells = [f"{p[key][0]:.2f} [{p[key][1]:.2f}, {p[key][2]:.2f}]" for p in policies.values()]
            lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def interval(values: Sequence[float], draws: int = 2000) -> tuple[float, float, float]:
    """Return the mean of per-candidate values with its 95% bootstrap interval; the same values give the same one."""
    draw = random.Random(7)
    means = sorted(mean(draw.choices(values, k=len(values))) for _ in range(draws))
    return round(mean(values), 3), round(means[int(0.025 * draws)], 3), round(means[int(0.975 * draws)], 3)


def _numbers(played: Played, expected: Step) -> dict[str, float]:
    questions = played.reach.questions
    off = played.off(expected)
    return {
        "reached": mean(float((n or MOST_TURNS) <= WITHIN) for n in questions) if questions else 1.0,
        "reached_candidate": float((played.reach.candidate or MOST_TURNS) <= WITHIN),
        "followups_to_weakest": mean(float(n or WITHIN + 2) for n in questions) if questions else 1.0,
        "turns_to_candidate": float(played.reach.turn or len(played.asked) + 1),
        "must_heard": played.heard,
        "must_probed": played.probed,
        "within_one": float(off is not None and off <= 1),
        "exact": float(off == 0),
        "turns": float(len(played.asked)),
    }


def _summary(rows: dict[str, list[dict[str, float]]]) -> dict[str, tuple[float, float, float]]:
    return {key: interval([mean(one[key] for one in some) for some in rows.values()]) for key in MEASURES}


def _difference(
    ours: dict[str, list[dict[str, float]]], theirs: dict[str, list[dict[str, float]]]
) -> dict[str, tuple[float, float, float]]:
    return {
        key: interval([mean(a[key] - b[key] for a, b in zip(ours[who], theirs[who], strict=True)) for who in ours])
        for key in MEASURES
    }


def _unasked(state: SessionState, rubric: Rubric) -> Iterator[Question]:
    asked = {t.question_id for t in state.turns}
    return (q for q in rubric.questions if q.id not in asked)


def _ask(question: Question, target: Target, probe: Probe, state: SessionState) -> Ask:
    words = probe.wording(state.started.level)
    return Ask(question_id=question.id, criterion=target.criterion, move=probe.move, probe=words, reason="naive")


def _main(question: Question | None, state: SessionState) -> Decision:
    if question is None:
        return Close(cause="complete", reason="Every question was asked.")
    words = question.wording(state.started.level)
    return Ask(question_id=question.id, criterion=None, move=None, probe=words, reason="naive")
