"""The committee's memo as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from interviewer.core.memo_parts import Memo, Sentence
from interviewer.core.text import capital, label

SECTIONS = (
    ("reasons", "How the votes make it"),
    ("evidence", "Evidence"),
    ("disagreement", "Where the rounds disagree"),
    ("gaps", "Gaps that can decide"),
    ("seniority", "Level"),
    ("role", "The role that would fit"),
    ("would_change", "What would change the vote"),
    ("unfinished", "Rounds without a vote"),
)
"""Parts of the decision, with their headings, in order."""


def memo_markdown(found: Memo) -> str:
    """Write a memo as Markdown: every sentence with the round that it rests on, and the quotes."""
    decision = found.decision
    lines = [f"# Committee memo: {label(decision.step) if decision.step else 'no decision'}", ""]
    lines += [line for said in decision.vote for line in (said.text, "")]
    for vote in found.rounds:
        also = f", or {label(vote.also_possible)}: too close to call" if vote.also_possible else ""
        step = label(vote.verdict) if vote.verdict else "no vote"
        lines += [f"- **{capital(label(vote.rubric))}: {step}{also}.** " + " ".join(said.text for said in vote.says)]
    for name, heading in SECTIONS:
        said: Sequence[Sentence] = getattr(decision, name)
        if said:
            lines += ["", f"## {heading}", "", *(line for one in said for line in _sentence(one))]
    return "\n".join(lines) + "\n"


def _sentence(said: Sentence) -> list[str]:
    rounds = ", ".join(dict.fromkeys(label(s.round) for s in said.sources))
    quotes = dict.fromkeys((s.round, q) for s in said.sources for q in s.quotes)
    lines = [f"- {said.text} ({rounds})"]
    return lines + [f'  > "{" ".join(q.text.split())}" ({label(where)}, answer {q.turn})' for where, q in quotes]
