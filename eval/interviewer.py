"""The interviewer as simulated candidates meet it: every question of every session checked, verdicts compared.

Follow-ups are checked twice: *before* the guard, by the findings that the log keeps of what the model said first, and
*after* it, on what the candidate saw.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from eval.candidates import Candidate
from eval.candidates.drive import hold
from eval.candidates.measured import to_row
from eval.machine import describe, machine, summary, table
from eval.policy import WITHIN
from interviewer.core.events import WORDED
from interviewer.core.library import Library

MINUTES = 24
"""Of a session by default: three main questions with their follow-ups."""
RULES: dict[str, tuple[str, ...]] = {
    "exactly one question": ("not_one_question", "stacked", "second_question", "no_question"),
    "on the chosen probe": ("off_probe",),
    "refers to the answer": ("not_tied",),
    "no leak": ("leak",),
    "no repeat": ("repeat",),
    "no verdict": ("verdict",),
    "in role": ("out_of_role",),
    "in length": ("too_long", "too_short"),
}
"""What a generated follow-up has to keep, with the findings that break it."""


def measure(
    url: str,
    candidates: Sequence[Candidate],
    library: Library,
    progress: Callable[[str], None],
    *,
    seed: int = 1,
    minutes: int = MINUTES,
    kept: Path | None = None,
) -> dict[str, Any]:
    """Hold one session per candidate and round, and measure them.

    Args:
        url: Of a running service.
        candidates: Who is interviewed.
        library: The documents that the service runs on.
        progress: Told a line after each session.
        seed: Of every session.
        minutes: Length of every session; candidates answer at once, so only the number of questions depends on it.
        kept: File with the rows so far: those of the same candidate, seed and minutes are not held again.

    Raises:
        ServiceError: the service refused something, or cannot be reached; rows so far are in ``kept``.
    """
    done = {row["key"]: row for row in _read(kept)}
    rows: list[dict[str, Any]] = []
    for candidate in candidates:
        for round_ in candidate.rounds:
            key = _key(candidate, round_, seed, minutes)
            if key not in done:
                rubric = library.rubrics[round_]
                held = hold(url, candidate, rubric, rubric.persona, seed=seed, minutes=minutes)
                done[key] = {"key": key, "seed": seed, "minutes": minutes, **to_row(candidate, held, library)}
                _append(kept, done[key])
            rows.append(done[key])
            row = done[key]
            asked = f"{len(row['questions'])} questions"
            progress(f"{candidate.id}, {round_}: {row['verdict']} (expected {row['expected']}), {asked}")
    return {
        "machine": machine(),
        "command": f"interviewer eval interviewer --seed {seed} --minutes {minutes}",
        **summarise(rows),
        "rows": rows,
    }


def summarise(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the table of the targets over all sessions; a share is ``None`` where there is nothing to count."""
    follow_ups = [q for row in rows for q in row["questions"] if q["criterion"]]
    tried = [q for q in follow_ups if "model_unavailable" not in q["before"]]
    worded = [q for q in follow_ups if q["source"] in WORDED or q["source"] == "mixed"]
    weakest = [n for row in rows for n in row["weakest_questions"]]
    read = [(true, level) for row in rows for true, level in row["levels"].values() if level is not None]
    verdicts = [row["off"] is not None and row["off"] <= 1 for row in rows]
    flags = [not row["flags_missing"] and not row["flags_wrong"] for row in rows]
    return {
        "sessions": len(rows),
        "questions": sum(len(row["questions"]) for row in rows),
        "follow_ups": len(follow_ups),
        "rules": {
            rule: {
                "before": share(not set(codes) & set(q["before"]) for q in tried),
                "after": share(not set(codes) & set(q["after"]) for q in worded),
            }
            for rule, codes in RULES.items()
        },
        "all_rules": {
            "before": share(not q["before"] for q in tried),
            "after": share(not q["after"] for q in worded),
        },
        "nearest": share(q["nearest"] for q in follow_ups if q["source"] in WORDED),
        "model_away": share("model_unavailable" in q["before"] for q in follow_ups),
        "fallback": share(q["source"] in ("fallback", "mixed") for q in follow_ups),
        "verdict_within_one": share(verdicts),
        "flags_right": share(flags),
        "candidates_right": share(a and b for a, b in zip(verdicts, flags, strict=True)),
        "weakest_within": share((n or WITHIN + 1) <= WITHIN for n in weakest),
        "weakest_candidate_within": share((row["weakest_candidate"] or WITHIN + 1) <= WITHIN for row in rows),
        "level_error": round(mean(abs(a - b) for a, b in read), 2) if read else None,
        "milliseconds": {
            name: summary(times)
            for name, key in (
                ("answer to first token of a follow-up", "follow_up_ms"),
                ("answer to first token of a main question", "main_ms"),
            )
            if (times := [ms for row in rows for ms in row[key]])
        },
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    lines = [
        "# The interviewer, met by simulated candidates",
        "",
        describe(found["machine"]),
        "",
        f"Command: `{found['command']}`",
        "",
        f"{found['sessions']} sessions through the socket, {found['questions']} questions, {found['follow_ups']} of "
        "them follow-ups. Before: what the model said first. After: what the candidate saw in the model's words.",
        "",
        "| generated follow-ups | before the guard | after | target |",
        "|---|---|---|---|",
        *(
            f"| {rule} | {_percent(one['before'])} | {_percent(one['after'])} | >= 98% |"
            for rule, one in {**found["rules"], "all of these": found["all_rules"]}.items()
        ),
        f"| chosen probe is the nearest of its question's | - | {_percent(found['nearest'])} | - |",
        "",
        "| measure | value | target |",
        "|---|---|---|",
        f"| fell back to authored wording | {_percent(found['fallback'])} | <= 15% |",
        f"| the model did not answer in time (part of the line above) | {_percent(found['model_away'])} | - |",
        f"| verdict within one step of the expected | {_percent(found['verdict_within_one'])} | >= 90% |",
        f"| named flags raised, others not | {_percent(found['flags_right'])} | >= 90% |",
        f"| both | {_percent(found['candidates_right'])} | >= 90% |",
        f"| weakest target of a question probed within {WITHIN} turns | {_percent(found['weakest_within'])} | all |",
        f"| candidate's weakest criterion within {WITHIN} | {_percent(found['weakest_candidate_within'])} | all |",
        f"| mean distance of a read level from the true one | {found['level_error']} | - |",
        "",
        table(found["milliseconds"], "ms"),
        "",
        "| candidate | round | expected | verdict | flags raised | missing | wrong | weakest at | turns | fell back |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(_line(row) for row in found["rows"]),
    ]
    return "\n".join(lines) + "\n"


def share(values: Iterable[object]) -> float | None:
    """Return the share of true values; ``None`` when there are none to count."""
    counted = [bool(value) for value in values]
    return round(sum(counted) / len(counted), 4) if counted else None


def _line(row: dict[str, Any]) -> str:
    fell = sum(q["source"] in ("fallback", "mixed") for q in row["questions"])
    cells = (
        row["candidate"],
        row["round"],
        row["expected"],
        row["verdict"] or "none",
        ", ".join(row["flags"]) or "-",
        ", ".join(row["flags_missing"]) or "-",
        ", ".join(row["flags_wrong"]) or "-",
        row["weakest_candidate"] or "not reached",
        len(row["questions"]),
        fell,
    )
    return f"| {' | '.join(map(str, cells))} |"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def _key(candidate: Candidate, round_: str, seed: int, minutes: int) -> str:
    digest = hashlib.sha256(candidate.model_dump_json().encode()).hexdigest()[:12]
    return f"{candidate.id}:{digest}:{round_}:{seed}:{minutes}"


def _read(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _append(path: Path | None, row: dict[str, Any]) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
