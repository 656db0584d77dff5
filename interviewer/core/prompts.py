"""Prompts: what the persona and the judge models read. The same code renders training data and live turns.

``VERSION`` is part of every session's record; change it whenever a rendered character changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

from interviewer.core.assessment import Frozen
from interviewer.core.coverage import coverage
from interviewer.core.passages import readable
from interviewer.core.persona import Persona
from interviewer.core.probe import MOVE_NAMES
from interviewer.core.rubric import Move, Rubric, SeniorityLevel
from interviewer.core.screen import neutralise
from interviewer.core.session import SessionState, Turn
from interviewer.core.text import clip_words, label

VERSION = "3"
SAID_WORDS = 130
"""Words of the last answer that the persona reads; head and tail are kept."""

ABOUT_WORDS = 24
"""Words of the background, the resume and the job that the persona reads."""

Count = Callable[[str], int]
"""Exact number of tokens of a text in the served model's tokenizer."""


class Message(TypedDict):
    """One chat message, as the OpenAI API takes it."""

    role: Literal["system", "user", "assistant"]
    content: str


class TurnRequest(Frozen):
    """Everything that the wording of one interviewer turn may depend on."""

    level: SeniorityLevel
    question: str
    """Main question under discussion, or the one being left for a transition."""
    said: str
    """The candidate's last words; empty at the opening."""
    probe: str
    """Authored wording to pursue."""
    move: Move | None
    """``None`` asks a new main question."""
    earlier: tuple[str, ...] = ()
    """Older context, oldest first; lines are dropped from the front when the window is short."""


def persona_messages(persona: Persona, request: TurnRequest) -> list[Message]:
    """Render the chat that makes ``persona`` speak its next turn."""
    system = (
        f"You are {persona.name}, {persona.title}, interviewing an applied-AI engineer ({request.level}). "
        f"{persona.voice} "
        "Pick up the candidate's own words in one short sentence, then ask exactly one question. "
        "Never praise, judge, explain or answer it yourself."
    )
    task = (
        f"Ask next ({MOVE_NAMES[request.move]}): {request.probe}"
        if request.move is not None
        else f"Move on to a new question: {request.probe}"
    )
    lines = [f"Topic: {request.question}"]
    lines += [f"Earlier: {neutralise(line)}" for line in request.earlier]
    if request.said:
        lines.append(f"Candidate: {clip_words(neutralise(request.said), SAID_WORDS)}")
    lines.append(task)
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n".join(lines)}]


def count_messages(messages: Sequence[Message], count: Count) -> int:
    """Return the tokens of a rendered ChatML chat with the assistant's header: exact for the embedded model."""
    turns = sum(count(f"{m['role']}\n{m['content']}\n") + 2 for m in messages)
    return turns + 1 + count("assistant\n")


def fit(persona: Persona, request: TurnRequest, budget: int, count: Count) -> list[Message]:
    """Render ``request`` in at most ``budget`` tokens, dropping the oldest context first, then clipping the answer.

    The probe and the question are never dropped; when they alone exceed the budget the result does too.
    """
    while count_messages(messages := persona_messages(persona, request), count) > budget:
        if request.earlier:
            request = request.model_copy(update={"earlier": request.earlier[1:]})
        elif len(request.said.split()) > 8:
            shorter = clip_words(request.said, len(request.said.split()) // 2)
            request = request.model_copy(update={"said": shorter})
        else:
            break
    return messages


def history(state: SessionState, rubric: Rubric, recent: int = 2, *, ahead: bool = False) -> tuple[str, ...]:
    """Summarise a session for the persona: who the candidate is, the rubric state for what is older, the last turns.

    The summary names what was covered and what is open; never how the candidate did.

    Args:
        state: The session.
        rubric: Of its round.
        recent: Turns that are quoted, before the one whose answer the persona reads in full.
        ahead: Summarise for the turn that follows an answer which is still to come.
    """
    started = state.started
    about = (("background", started.background), ("resume", started.resume), ("job", started.job))
    told = ((name, readable(text)) for name, text in about)
    known = tuple(f"their {name}: {clip_words(text, ABOUT_WORDS)}" for name, text in told if text)
    done = [t for t in state.turns if t.answer and t.question]
    before = done if ahead else done[:-1]
    if not before:
        return known
    older, latest = before[:-recent], before[-recent:]
    lines = []
    if older:
        topics = dict.fromkeys(q.topic for t in older if t.question_id and (q := rubric.question(t.question_id)))
        open_ = [label(c) for c in coverage(state, rubric).open_must_ask]
        lines.append(f"covered {', '.join(topics) or 'the opening'}; still open: {', '.join(open_) or 'nothing'}.")
    return (*known, *lines, *(_short(turn) for turn in latest))


def _short(turn: Turn) -> str:
    asked = turn.question.text if turn.question else ""
    answered = turn.answer.text if turn.answer else ""
    return f"you asked: {clip_words(asked, 24)} They said: {clip_words(answered, 30)}"


# --- the judge -----------------------------------------------------------------------------------------------------

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWX"
"""Names of the sentences that the judge can point at; longer answers have neighbouring sentences joined."""
LEVEL_TOKENS = ("0", "1", "2", "3")


def judge_prefix(question: str, segments: Sequence[str]) -> str:
    """Render what all criteria of an answer share; it ends where the criterion begins."""
    said = " ".join(one_line(segment) for segment in segments)
    return f"Question: {one_line(question)}\nAnswer: {said}\n"


def level_suffix(name: str, asks: str) -> str:
    """Render the part that is read at one token: the level, ``0`` to ``3``.

    Args:
        name: Of the criterion.
        asks: What it asks, for a criterion that the judge was not trained on; empty for the vocabulary's own, whose
            name says it all to the adapter and costs a fifth of the tokens.
    """
    return f"{label(name)}: {asks}\nlevel=" if asks else f"{label(name)}\nlevel="


def labelled(segments: Sequence[str]) -> str:
    """Render an answer for a judge that names its evidence: one line per segment, each with its label."""
    return "\n".join(f"[{LABELS[i]}] {one_line(segment)}" for i, segment in enumerate(segments))


def one_line(text: str) -> str:
    """Return ``text`` without control tokens and with single spaces."""
    return " ".join(neutralise(text).split())
