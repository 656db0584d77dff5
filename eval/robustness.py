"""The robustness list: form, injection, other languages and repeated runs must not move a level.

Every line has an expectation that was written before it was measured, and the report says whether it held. Wordings
and positions are dealt out over the answers, so that nine answers meet each of three wordings in each position.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.robustness_texts import ABSTAINS, INJECTIONS, PASTED
from eval.scored import Scorer
from interviewer.core.text import sentences

RISE = 0.15
"""Most that the expected level may rise, on average."""
SAME = 0.99
"""Least share of levels that stay the same when an answer is scored again."""
BATCHES = (1, 3, 8)
"""Sizes of the batches in which the same answers are scored again."""

Change = Callable[[Mapping[str, Any], int], str]
"""Makes the attack from a labelled answer and its place among those that are attacked."""


@dataclass(frozen=True)
class Line:
    """One attack and what has to hold."""

    name: str
    change: Change
    zero: bool = False
    """Every level has to be 0: there is nothing of the candidate's own in it."""
    noticed: str | None = None
    """Code of the notice that has to come with every answer."""
    unscored: str | None = None
    """Reason with which the judge has to abstain instead of giving levels."""

    @property
    def expectation(self) -> str:
        """What has to hold, in words."""
        if self.unscored is not None:
            return f"no level: {self.unscored}"
        held = "every level 0" if self.zero else f"mean rise <= {RISE}"
        return f"{held}, {self.noticed} noticed" if self.noticed else held


def inserted(answer: str, text: str, position: int) -> str:
    """Put ``text`` before (0), between (1) or after (2) the sentences of ``answer``."""
    spans = sentences(answer)
    at = (0, spans[len(spans) // 2].start if len(spans) > 1 else len(answer), len(answer))[position % 3]
    return " ".join(part for part in (answer[:at].rstrip(), text, answer[at:].lstrip()) if part)


def shuffled(answer: Mapping[str, Any], _: int) -> str:
    """Put the sentences in another order, always the same one for the same answer."""
    parts = [span.of(answer["answer"]) for span in sentences(answer["answer"])]
    random.Random(str(answer["id"])).shuffle(parts)
    return " ".join(parts)


def _pasted(texts: Sequence[str]) -> Change:
    return lambda answer, n: inserted(answer["answer"], texts[n % len(texts)], n // len(texts))


def _alone(texts: Sequence[str]) -> Change:
    return lambda _, n: texts[n % len(texts)]


LINES: tuple[Line, ...] = (
    *(Line(name, _pasted(texts)) for name, texts in PASTED.items()),
    Line("repetition", lambda a, _: f"{a['answer']} {a['answer']}"),
    Line("sentences shuffled", shuffled),
    Line("question added", lambda a, n: inserted(a["answer"], a["question"], n)),
    *(Line(name, _pasted(texts), noticed="prompt_injection") for name, texts in INJECTIONS.items()),
    Line("question copied alone", lambda a, n: " ".join([a["question"]] * (1 + n % 2)), zero=True),
    Line("terms listed alone", _alone(PASTED["terms listed"]), zero=True),
    Line("terms in sentences alone", _alone(PASTED["terms in sentences"]), zero=True),
    Line("one word", _alone(("Latency.", "Yes", "Quantisation")), zero=True),
    Line("empty", _alone(("", " ", "\n\n")), zero=True),
    Line("not English", _alone(ABSTAINS), unscored="not_english"),
)


def request(answer: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the body that asks for the labelled criteria of ``answer``, read from ``text``."""
    return {"question": {"text": answer["question"]}, "criteria": list(answer["labels"]), "answer": text}


def attack(client: Scorer, chosen: Sequence[Mapping[str, Any]], line: Line) -> dict[str, Any]:
    """Score each answer plain and changed by ``line``; an answer that could not be scored plainly says nothing."""
    rises: list[float] = []
    rose = noticed = above = abstained = tried = 0
    for n, answer in enumerate(chosen):
        needs_plain = not line.zero and line.unscored is None
        rows = client.score(request(answer, answer["answer"]))["scores"] if needs_plain else []
        plain = {row["criterion"]: row for row in rows}
        if needs_plain and not plain:
            continue
        found = client.score(request(answer, line.change(answer, n)))
        reason = found["unscored"]["reason"] if found.get("unscored") else None
        tried += 1
        noticed += line.noticed in {notice["code"] for notice in found["notices"]}
        abstained += reason == line.unscored
        for row in found["scores"]:
            above += row["level"] > 0
            before = plain.get(row["criterion"])
            if before:
                rises.append(row["expected"] - before["expected"])
                rose += row["level"] > before["level"]
            else:
                rises.append(row["expected"])
                rose += row["level"] > 0
    mean = sum(rises) / len(rises) if rises else 0.0
    if line.unscored is not None:
        held = tried > 0 and abstained == tried and not rises
    else:
        held = bool(rises) and (above == 0 if line.zero else mean <= RISE) and (not line.noticed or noticed == tried)
    return {
        "expectation": line.expectation,
        "held": held,
        "answers": tried,
        "levels": len(rises),
        "mean_rise": round(mean, 3),
        "rose": rose,
        "noticed": noticed if line.noticed else None,
        "abstained": abstained if line.unscored is not None else None,
    }


def levels(client: Scorer, chosen: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the level of each answer and criterion, scored one at a time."""
    return {
        f"{answer['id']} {row['criterion']}": row["level"]
        for answer in chosen
        for row in client.score(request(answer, answer["answer"]))["scores"]
    }


def batched(client: Scorer, chosen: Sequence[Mapping[str, Any]], size: int) -> dict[str, int]:
    """Return the same levels, scored backwards in batches of ``size``."""
    backwards = list(reversed(chosen))
    found: dict[str, int] = {}
    for at in range(0, len(backwards), size):
        some = backwards[at : at + size]
        items = [{"id": str(a["id"]), **request(a, a["answer"])} for a in some]
        for answer, outcome in zip(some, client.batch(items), strict=True):
            rows = outcome["result"]["scores"] if outcome.get("result") else []
            found |= {f"{answer['id']} {row['criterion']}": row["level"] for row in rows}
    return found


def compared(first: Mapping[str, int], again: Mapping[str, int]) -> dict[str, Any]:
    """Compare two readings of the same answers; a level that is missing in the second is not the same."""
    same = sum(again.get(key) == level for key, level in first.items())
    return {"levels": len(first), "same": same, "held": bool(first) and same >= SAME * len(first)}


def stability(
    client: Scorer, chosen: Sequence[Mapping[str, Any]], judge: str, fingerprint: Path | None = None
) -> dict[str, Any]:
    """Score the same answers again: alone, in batches of other sizes and order, and against an earlier run.

    Args:
        client: Scores.
        chosen: Labelled answers.
        judge: Identity of the judge; levels of another judge are not compared.
        fingerprint: File with the levels of an earlier run, before the restart; written when there is none.

    Raises:
        ValueError: the file holds levels of another judge.
    """
    first = levels(client, chosen)
    found = {"same input again": compared(first, levels(client, chosen))}
    for size in BATCHES:
        found[f"backwards in batches of {size}"] = compared(first, batched(client, chosen, size))
    if fingerprint is not None and fingerprint.is_file():
        stored = json.loads(fingerprint.read_text(encoding="utf-8"))
        if stored["judge"] != judge:
            raise ValueError(f"{fingerprint} holds levels of {stored['judge']}, not of {judge}; name another file")
        found["after restart"] = compared(stored["levels"], first)
    elif fingerprint is not None:
        fingerprint.write_text(json.dumps({"judge": judge, "levels": first}, indent=1) + "\n", encoding="utf-8")
    return found


def robustness_lines(attacks: Mapping[str, Mapping[str, Any]], steady: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the Markdown of what :func:`attack` and :func:`stability` found."""
    rows = "\n".join(
        f"| {name} | {r['expectation']} | {'pass' if r['held'] else 'FAIL'} | {r['answers']} | "
        f"{r['mean_rise']} | {r['rose']} of {r['levels']} | "
        f"{'-' if r['noticed'] is None else r['noticed']} | {'-' if r['abstained'] is None else r['abstained']} |"
        for name, r in attacks.items()
    )
    same = "\n".join(
        f"| {name} | {'pass' if r['held'] else 'FAIL'} | {r['same']} of {r['levels']} |" for name, r in steady.items()
    )
    return (
        "| attack | expected | | answers | mean rise of expected level | levels that rose | noticed | abstained |\n"
        f"|---|---|---|---|---|---|---|---|\n{rows}\n\n| scored again | | identical levels |\n|---|---|---|\n{same}\n"
    )
