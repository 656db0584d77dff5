"""Flags that were raised against those that were labelled: precision, recall, F1 and what is taken for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any


def flag_table(pairs: Sequence[tuple[set[str], set[str]]]) -> dict[str, Any]:
    """Compare labelled with raised flags, answer by answer.

    Args:
        pairs: Labelled and raised flags of each answer.

    Returns:
        Counts and rates per flag, macro F1 over the flags that were labelled at least once, and the confusion: how
        often a raised flag stood on answers labelled with each missed one ("none" where nothing was missed or raised).
        A rate without a denominator is 0.
    """
    rows: dict[str, dict[str, Any]] = {}
    for name in sorted(set().union(*(a | b for a, b in pairs))):
        hit = sum(name in a and name in b for a, b in pairs)
        labelled, raised = sum(name in a for a, _ in pairs), sum(name in b for _, b in pairs)
        rows[name] = {
            "labelled": labelled,
            "raised": raised,
            "right": hit,
            "precision": round(hit / raised, 3) if raised else 0.0,
            "recall": round(hit / labelled, 3) if labelled else 0.0,
            "f1": round(2 * hit / (labelled + raised), 3),
        }
    confused: Counter[tuple[str, str]] = Counter()
    for labelled_here, raised_here in pairs:
        missed, wrong = labelled_here - raised_here, raised_here - labelled_here
        confused.update((a, b) for a in sorted(missed) or ["none"] for b in sorted(wrong) or ["none"] if a != b)
    known = [2 * r["right"] / (r["labelled"] + r["raised"]) for r in rows.values() if r["labelled"]]
    return {
        "answers": len(pairs),
        "macro_f1": round(sum(known) / len(known), 3) if known else None,
        "by_flag": rows,
        "confusion": [{"labelled": a, "raised": b, "n": n} for (a, b), n in confused.most_common()],
    }


def flag_lines(found: dict[str, Any]) -> str:
    """Return the Markdown of :func:`flag_table`."""
    rows = "\n".join(
        f"| {name} | {r['labelled']} | {r['raised']} | {r['precision']} | {r['recall']} | {r['f1']} |"
        for name, r in found["by_flag"].items()
    )
    confused = "\n".join(f"| {r['labelled']} | {r['raised']} | {r['n']} |" for r in found["confusion"])
    return (
        f"{found['answers']} answers; macro F1 **{found['macro_f1']}** over the flags that were labelled.\n\n"
        f"| flag | labelled | raised | precision | recall | F1 |\n|---|---|---|---|---|---|\n{rows}\n\n"
        f"| labelled and missed | raised instead | answers |\n|---|---|---|\n{confused}\n"
    )
