"""The running judge against labelled answers of questions it never saw, and the attacks of the robustness list."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval.agreement import DATA, answers, quadratic_kappa
from eval.flagged import flag_lines, flag_table
from eval.machine import describe, machine
from eval.robustness import LINES, attack, request, robustness_lines, stability
from eval.scored import Scorer, judge_lines
from interviewer.core.flags import RAISED
from serving.train.metrics import recall


def measure(
    url: str, split: str, progress: Callable[[str], None], attacked: int = 12, fingerprint: Path | None = None
) -> dict[str, Any]:
    """Score every answer of a split, and ``attacked`` of them with each attack and again in other batches.

    Args:
        url: Of the service.
        split: Whose answers.
        progress: Told how far it is.
        attacked: How many answers meet each line of the robustness list.
        fingerprint: Levels of a run before a restart, to compare with; written when there is no such file.

    Raises:
        ValueError: the split is unknown or empty, or the fingerprint is that of another judge.
        ServiceError: there is no service.
        NothingScored: the judge failed on every answer.
    """
    splits: dict[str, str] = json.loads((DATA / "split.json").read_text(encoding="utf-8"))
    chosen = [a for a in answers() if splits.get(a["question_id"]) == split]
    if not chosen:
        raise ValueError(f"no answers in split {split!r}; there are {', '.join(sorted(set(splits.values())))}")
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths: list[tuple[int, int]] = []
    quotes = exact = 0
    flagged: list[tuple[set[str], set[str]]] = []
    attacks: dict[str, dict[str, Any]] = {}
    with Scorer(url) as client, Scorer(url) as attacker:
        for number, answer in enumerate(chosen, 1):
            scored = client.score(request(answer, answer["answer"]))
            if scored["scores"]:
                raised = {flag["flag"] for flag in scored["flags"] if flag["probability"] >= RAISED}
                flagged.append((set(answer["flags"]), raised))
            for row in scored["scores"]:
                pairs[row["criterion"]].append((answer["labels"][row["criterion"]], row["level"]))
                lengths.append((answer["labels"][row["criterion"]], len(answer["answer"].split())))
                quotes += len(row["evidence"])
                exact += sum(answer["answer"][q["start"] : q["end"]] == q["text"] for q in row["evidence"])
            if number % 10 == 0:
                progress(f"{number} of {len(chosen)} answers")
        judge = client.described()
        some = spread(chosen, attacked)
        for line in LINES:
            attacks[line.name] = attack(attacker, some, line)
            progress(f"attack {line.name}: {'pass' if attacks[line.name]['held'] else 'FAIL'}")
        steady = stability(attacker, some, judge["judge"], fingerprint)
    everything = [pair for some in pairs.values() for pair in some]
    return {
        "machine": machine(),
        "command": f"interviewer eval judge --split {split}",
        "judge": judge,
        "questions": len({a["question_id"] for a in chosen}),
        "answers": len(chosen),
        "levels": len(everything),
        "kappa": round(quadratic_kappa(everything), 3),
        "kappa_of_length": round(quadratic_kappa(_by_length(lengths)), 3),
        "signed_error": round(sum(b - a for a, b in everything) / len(everything), 3),
        "recall_level_0_1": _recall(everything, (0, 1)),
        "recall_level_3": _recall(everything, (3,)),
        "quotes": quotes,
        "quotes_exact": exact,
        "by_criterion": {
            name: {"n": len(some), "kappa": round(quadratic_kappa(some), 2)} for name, some in sorted(pairs.items())
        },
        "flags": flag_table(flagged),
        "attacks": attacks,
        "stability": steady,
        "attack_failures": attacker.failures.described(),
    }


def to_markdown(found: dict[str, Any]) -> str:
    """Write the report."""
    rows = "\n".join(f"| {n} | {r['n']} | {r['kappa']} |" for n, r in found["by_criterion"].items())
    return (
        f"# Judge on unseen questions\n\n{describe(found['machine'])}\n\nCommand: `{found['command']}`\n\n"
        f"{judge_lines(found['judge'])}\n"
        f"{found['questions']} questions, {found['answers']} answers, {found['levels']} levels. Quadratic weighted "
        f"kappa **{found['kappa']}** (answer length alone {found['kappa_of_length']}); "
        f"signed error {found['signed_error']}; recall of level 0-1 {found['recall_level_0_1']}, "
        f"of level 3 {found['recall_level_3']}; {found['quotes_exact']} of {found['quotes']} quotes exact.\n\n"
        f"| criterion | n | kappa |\n|---|---|---|\n{rows}\n\n"
        f"## Flags\n\n{flag_lines(found['flags'])}\n"
        f"## Robustness\n\n{robustness_lines(found['attacks'], found['stability'])}"
        + (f"\nNot scored there: {_named(found['attack_failures'])}\n" if found["attack_failures"] else "")
    )


def spread(chosen: list[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """Return ``n`` of the answers, evenly spread, so that they are not all on the first question."""
    return chosen if n >= len(chosen) else [chosen[i * len(chosen) // n] for i in range(n)]


def _named(failures: dict[str, dict[str, Any]]) -> str:
    return "; ".join(f"{kind} {one['n']} (the first: {one['first']})" for kind, one in failures.items())


def _recall(pairs: list[tuple[int, int]], levels: tuple[int, ...]) -> float:
    return round(recall([a for a, _ in pairs], [b for _, b in pairs], levels), 3)


def _by_length(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pair each label with the level that its length would get, with the marginals of the labels."""
    by_length = sorted(pairs, key=lambda pair: pair[1])
    levels = sorted(level for level, _ in pairs)
    return [(label, level) for (label, _), level in zip(by_length, levels, strict=True)]
