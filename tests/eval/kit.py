"""Candidates and rows that tests of the evaluation share."""

from __future__ import annotations

from typing import Any

from eval.candidates import Candidate

LONG = "that is what I would say when somebody asks me about it in an interview of this kind"


def candidate(**changes: Any) -> Candidate:
    """A candidate for the builders' small rubric, weakest at measurement."""
    values: dict[str, Any] = {
        "version": 1,
        "id": "somebody",
        "level": "mid",
        "rounds": ["deep_dive"],
        "who": "Somebody.",
        "verdict": "lean_no_hire",
        "flags": {},
        "weakest": "measurement",
        "levels": {
            "tradeoff_reasoning": 2,
            "measurement": 0,
            "intellectual_honesty": 2,
            "business_impact": 1,
        },
        "answers": {
            "tradeoff_reasoning": [f"First trade, {LONG}", f"Second trade, {LONG}"],
            "measurement": [
                f"Plain figure, {LONG}",
                {"text": f"Figure for the number, {LONG}", "moves": ["ask_number"]},
                {"text": f"Figure for the batch, {LONG}", "questions": ["batch"]},
            ],
        },
    }
    return Candidate.model_validate(values | changes)
