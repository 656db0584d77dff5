"""The running judge against people's scores of real answers to questions of other fields: reported, not aimed at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.agreement import quadratic_kappa
from eval.machine import describe, machine, summary, table
from eval.outside_sets import FLOORS, GIVEN, SHORT_PART, SOURCES, Answer, OutsideError, as_scored, load, sample
from eval.scored import Failures, NothingScored, failures_line
from interviewer.client import Client
from interviewer.score_lines import PASSING
from interviewer.service.score_request import content_hash
from serving.train.metrics import bootstrap, spearman

CHUNK = 16
ROUNDS = 1000
"""Draws of questions for an interval."""
CRITERION = "right_and_complete"
RUBRIC = {
    "criteria": {
        CRITERION: {
            "asks": "Does the answer say correctly everything that the question asks for?",
            "levels": [
                "Nothing that was asked for is there, or what is said is wrong.",
                "Less than half of what was asked for is there and right.",
                "Most of what was asked for is there and right; something is missing or wrong.",
                "Everything that was asked for is there and right.",
            ],
        }
    }
}
"""One criterion of the request's own for every question, on which no judge of ours was trained."""


def measure(
    data: Path,
    url: str,
    progress: Callable[[str], None],
    *,
    limit: int | None = None,
    seed: int = 1,
    references: bool = True,
    partial: Path | None = None,
) -> dict[str, Any]:
    """Score the answers of the sets through the service and compare with what people gave.

    Args:
        data: Folder with the sets.
        url: The service.
        progress: Told about each chunk.
        limit: Score only so many, spread over the questions; ``None`` is all.
        seed: Of that choice.
        references: Whether the judge is given the reference answer, where there is one.
        partial: Results so far: ids and numbers, no words. What is in it is not scored again.

    Raises:
        OutsideError: the sets or earlier results cannot be used.
        ServiceError: the service refused or went away; ``partial`` is kept.
        NothingScored: no answer was.
    """
    chosen = sample(load(data), limit, seed)
    settings = content_hash([RUBRIC, references])
    rows = _earlier(partial, settings)
    earlier = sum(a.id in rows for a in chosen)
    if earlier:
        progress(f"{earlier} of {len(chosen)} answers were scored before")
    failures = Failures()
    with Client(url, seconds=300.0) as client:
        for row in _score(client, [a for a in chosen if a.id not in rows], references, failures, progress):
            judges = {row["versions"]["judge"], *(r["versions"]["judge"] for r in list(rows.values())[:1])}
            if len(judges) > 1:
                raise OutsideError(f"Two judges, {' and '.join(sorted(judges))}; remove {partial} and begin again.")
            if partial is not None:
                with partial.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"settings": settings, **row}) + "\n")
            rows[row["id"]] = row
    done = [(a, rows[a.id]) for a in chosen if a.id in rows]
    for _, row in done:
        if row["reason"]:
            failures.add(row["reason"], row["detail"])
    read = [(a, row) for a, row in done if not row["reason"]]
    if not read:
        raise NothingScored(f"no answer was scored. {failures_line(failures.described(), len(chosen))}")
    command = f"interviewer eval outside --data {data.name}"
    options = [f" --limit {limit} --seed {seed}" if limit else "", "" if references else " --no-reference"]
    return {
        "machine": machine(),
        "command": command + "".join(options),
        "versions": read[0][1]["versions"],
        "references": references,
        "answers": len(chosen),
        "done": len(done),
        "failures": failures.described(),
        "milliseconds": {"one criterion, judge alone": summary([row["judge_ms"] for _, row in read])},
        "parts": {
            part: _part(part, [(a, row) for a, row in read if a.part == part])
            for part in sorted({a.part for a, _ in read})
        },
    }


def _score(
    client: Client,
    answers: Sequence[Answer],
    references: bool,
    failures: Failures,
    progress: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    for start in range(0, len(answers), CHUNK):
        items = [_item(answer, references) for answer in answers[start : start + CHUNK]]
        for outcome in client.lines("/v1/score/batch", {"items": items}, format="jsonl"):
            result = outcome["result"]
            unscored = (result and result["unscored"]) or {"reason": "", "detail": ""}
            if result is None or unscored["reason"] in PASSING:
                failures.add(
                    unscored["reason"] or outcome["error"]["code"], unscored["detail"] or outcome["error"]["message"]
                )
                continue
            score = result["scores"][0] if result["scores"] else {"level": None, "expected": None}
            yield {
                "id": outcome["id"],
                "level": score["level"],
                "expected": score["expected"],
                "reason": unscored["reason"],
                "detail": unscored["detail"],
                "notices": [notice["code"] for notice in result["notices"]],
                "judge_ms": result["timing"]["judge_ms"],
                "versions": result["versions"],
            }
        progress(f"{min(start + CHUNK, len(answers))} of {len(answers)} answers")


def _item(answer: Answer, references: bool) -> dict[str, Any]:
    item = {"id": answer.id, "question": {"text": answer.question}, "answer": answer.text, "rubric": RUBRIC}
    return item | ({"reference": answer.reference} if references and answer.reference else {})


def _earlier(partial: Path | None, settings: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    if partial is None or not partial.is_file():
        return rows
    text = partial.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:  # a line that was cut off
        partial.write_text(whole, encoding="utf-8")
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            row = json.loads(line)
            if row.pop("settings") != settings:
                raise OutsideError(f"{partial} is of other options; remove it, or name another report")
            rows[row["id"]] = row
        except (ValueError, KeyError, TypeError) as error:
            raise OutsideError(f"{partial}:{number} is no result of this check; remove it") from error
    return rows


def _part(part: str, read: Sequence[tuple[Answer, dict[str, Any]]]) -> dict[str, Any]:
    answers = [a for a, _ in read]
    expected = [float(row["expected"]) for _, row in read]
    levels = [as_scored(row["level"], part) for _, row in read]
    found: dict[str, Any] = {
        "n": len(read),
        "questions": len({a.question for a in answers}),
        "mean_given": round(sum(a.level for a in answers) / len(read), 2),
        "mean_read": round(sum(levels) / len(read), 2),
        "notices": dict(Counter(code for _, row in read for code in row["notices"]).most_common()),
    }
    if part == SHORT_PART:
        return found
    groups: dict[str, list[tuple[float, float]]] = {}
    for answer, value in zip(answers, expected, strict=True):
        groups.setdefault(answer.question, []).append((answer.score, value))
    pairs = list(zip((a.level for a in answers), levels, strict=True))
    low, high = bootstrap(list(groups.values()), lambda units: spearman(*zip(*units, strict=True)), ROUNDS, 1)
    floors = {
        name: {"given": GIVEN.get(part, {}).get(name), **_agreement(answers, [score(a) for a in answers])}
        for name, score in FLOORS.items()
        if name == "log length" or all(a.reference for a in answers)
    }
    judge = {"kappa": round(quadratic_kappa(pairs), 3), **_agreement(answers, expected), "interval": [low, high]}
    return found | {"judge": judge, "floors": floors}


def _agreement(answers: Sequence[Answer], scores: Sequence[float]) -> dict[str, float]:
    """Compare any score with the people's: by rank, and as levels dealt out by rank in the numbers that they gave."""
    order = sorted(range(len(scores)), key=scores.__getitem__)
    dealt = zip(order, sorted(a.level for a in answers), strict=True)
    return {
        "spearman": round(spearman([a.score for a in answers], list(scores)), 3),
        "kappa_dealt": round(quadratic_kappa([(answers[i].level, level) for i, level in dealt]), 3),
    }


def to_markdown(found: Mapping[str, Any]) -> str:
    """Write the report."""
    versions = found["versions"]
    given = "with the reference answer where a set has one" if found["references"] else "without the reference answers"
    lines = [
        "# Outside check: people's scores of real answers",
        describe(found["machine"]),
        f"Command: `{found['command']}`",
        f"Judge: `{versions['judge']}` (model {versions['model']}), on one criterion of the request's own, {given}. "
        + failures_line(found["failures"], found["answers"]),
        "The answers are not part of this project: " + "; ".join(SOURCES.values()) + ". Nothing was tuned on them, and "
        "there is no target. A judge that reads should beat the floors: length of the answer, and words of the "
        "reference that it says.",
        "*Dealt*: levels given out by rank in the numbers that people gave, so that only the order counts. "
        "The interval (95%) is over questions.",
    ]
    for part, one in found["parts"].items():
        lines.append(
            f"## {part}\n\n{one['n']} answers to {one['questions']} questions; mean level given {one['mean_given']}, "
            f"read {one['mean_read']}. Set aside before reading: {_notices(one['notices'])}."
        )
        if "judge" in one:
            lines.append(_table(one))
    return "\n\n".join([*lines, table(found["milliseconds"], "ms")]) + "\n"


def _notices(found: Mapping[str, int]) -> str:
    return ", ".join(f"{code} in {n}" for code, n in found.items()) or "nothing"


def _table(one: Mapping[str, Any]) -> str:
    judge = one["judge"]
    low, high = judge["interval"]
    rows = [
        "| | Spearman | as published with the set | quadratic kappa | kappa, dealt |\n|---|---|---|---|---|",
        f"| **judge** | **{judge['spearman']}** ({low} to {high}) | | {judge['kappa']} | {judge['kappa_dealt']} |",
    ]
    for name, floor in one["floors"].items():
        published = "" if floor["given"] is None else floor["given"]
        rows.append(f"| {name} | {floor['spearman']} | {published} | | {floor['kappa_dealt']} |")
    return "\n".join(rows)
