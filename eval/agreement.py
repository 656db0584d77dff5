"""Agreement between the first and the blind second labelling, as published beside the data."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from serving.train import metrics

DATA = Path(str(files("eval"))) / "data"


def quadratic_kappa(pairs: Sequence[tuple[int, int]], levels: int = 4) -> float:
    """Return Cohen's kappa with quadratic weights (Cohen 1968) of two raters on levels ``0 .. levels - 1``.

    1 is full agreement, 0 what chance would give. Returns 1.0 when both raters used one and the same level throughout.

    Raises:
        ValueError: there are no pairs.
    """
    if not pairs:
        raise ValueError("kappa needs at least one pair of levels")
    if len({level for pair in pairs for level in pair}) == 1:
        return 1.0
    return metrics.quadratic_kappa([a for a, _ in pairs], [b for _, b in pairs], levels)


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def answers(data: Path = DATA) -> list[dict[str, Any]]:
    """Return every labelled answer, in a fixed order."""
    return [row for path in sorted((data / "answers").glob("set_*.jsonl")) for row in read_jsonl(path)]


def agreement(data: Path = DATA) -> dict[str, Any]:
    """Compare both labellings as they were made, before anything was settled."""
    settled = {(row["id"], row["criterion"]): row["first"] for row in read_jsonl(data / "blind" / "settled.jsonl")}
    first = {row["id"]: row["labels"] for row in answers(data)}
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for path in sorted((data / "blind").glob("labels_*.jsonl")):
        for row in read_jsonl(path):
            for criterion, level in row["labels"].items():
                original = settled.get((row["id"], criterion), first[row["id"]][criterion])
                pairs[criterion].append((original, level))
    everything = [pair for some in pairs.values() for pair in some]
    return {
        "answers": sum(len(read_jsonl(p)) for p in (data / "blind").glob("labels_*.jsonl")),
        "levels": len(everything),
        "kappa": round(quadratic_kappa(everything), 3),
        "exact": round(sum(a == b for a, b in everything) / len(everything), 3),
        "by_criterion": {
            criterion: {"n": len(some), "kappa": round(quadratic_kappa(some), 2)}
            for criterion, some in sorted(pairs.items())
        },
        "settled": len(settled),
        "flags": flag_agreement(data),
    }


def flag_agreement(data: Path = DATA) -> dict[str, dict[str, float]]:
    """Compare the flags of both readings as they were noted, before anything was settled.

    Returns:
        Per flag how often both noted it, only the first did and only the second, and F1 of one against the other.
    """
    settled = {row["id"]: row["first"] for row in read_jsonl(data / "blind" / "flags_settled.jsonl")}
    first = {row["id"]: set(settled.get(row["id"], row["flags"])) for row in answers(data)}
    second = {row["id"]: set(row["flags"]) for row in read_jsonl(data / "blind" / "flags.jsonl")}
    found = {}
    for flag in sorted(set().union(*first.values(), *second.values())):
        mine = [flag in first[i] for i in second]
        theirs = [flag in some for some in second.values()]
        both = sum(a and b for a, b in zip(mine, theirs, strict=True))
        found[flag] = {
            "both": both,
            "only_first": sum(mine) - both,
            "only_second": sum(theirs) - both,
            "f1": round(2 * both / (sum(mine) + sum(theirs)), 2),
        }
    return found
