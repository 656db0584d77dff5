"""Puts one question into words: streams sentence by sentence, each checked before any of it is sent.

Invariant: the joined pieces are the turn's text, and nothing that was yielded is ever taken back. When the model cannot
pass the guard, or cannot be reached, the rubric's own wording is asked.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from interviewer.core import guard
from interviewer.core.events import QuestionSource
from interviewer.core.persona import Persona
from interviewer.core.prompts import TurnRequest, fit
from interviewer.core.text import sentences, words
from interviewer.service.deps import Deps, not_away
from interviewer.service.ports import ModelError

_PIECE = re.compile(r"\S+\s*")


@dataclass
class Asked:
    """How a turn came about; complete once its stream has ended."""

    source: QuestionSource = "generated"
    problems: list[str] = field(default_factory=list)
    text: str = ""


class Asker:
    """Asks in a persona's voice."""

    def __init__(self, deps: Deps) -> None:
        """Keep the collaborators."""
        self._deps = deps

    async def follow_up(
        self,
        persona: Persona,
        request: TurnRequest,
        context: guard.Context,
        seed: int,
        asked: Asked,
        again: Callable[[], Awaitable[bool]] = not_away,
    ) -> AsyncGenerator[str, None]:
        """Yield a follow-up: a generated tie-in and question, or authored wording where the guard says no.

        Args:
            persona: Who asks.
            request: What to pursue and the context.
            context: What the turn is checked against.
            seed: Makes the wording repeatable.
            asked: Filled in while streaming.
            again: Asked once when the model fails before anything was said: waits for it; says whether to try again.
        """
        lead_sent = False
        lead, question = "", ""
        try:
            async with aclosing(self._generated(persona, request, seed, again)) as generated:
                async for sentence in generated:
                    if "?" in sentence:
                        question = sentence
                        break
                    if not lead_sent and not lead:
                        lead = sentence
                        found = guard.check_lead(lead, context)
                        asked.problems += found
                        if not found:
                            lead_sent = True
                            async for piece in _emit(lead + " ", asked):
                                yield piece
        except ModelError as error:
            asked.problems.append("model_unavailable")
            question = ""
            asked.problems.append(str(error)[:200])
        problems = guard.check_question(question, context) if question else ("no_question",)
        whole = f"{asked.text}{question}"
        if not problems and context.follow_up and not guard.refers(whole, context.said):
            problems = ("not_tied",)
        if not problems and len(words(whole)) > context.max_words:
            problems = ("too_long",)
        asked.problems += problems
        if not problems:
            asked.source = "generated"
            closing = question
        else:
            asked.source = "mixed" if lead_sent else "fallback"
            closing = request.probe if lead_sent else f"{_pick(persona.leads, seed)} {request.probe}"
        async for piece in _emit(closing, asked):
            yield piece

    async def main_question(
        self, persona: Persona, question: str, greet: int | None, seed: int, asked: Asked
    ) -> AsyncGenerator[str, None]:
        """Yield a main question in its authored wording.

        Args:
            persona: Who asks.
            question: The authored wording.
            greet: Minutes of the session when this opens it: a greeting goes before, else a transition.
            seed: Chooses among greetings and transitions.
            asked: Filled in while streaming.
        """
        asked.source = "authored"
        if greet is None:
            before = _pick(persona.transitions, seed)
        else:
            before = _pick(persona.openings, seed).replace("{minutes}", str(greet))
        async for piece in _emit(f"{before} {question}", asked):
            yield piece

    async def warm(self, persona: Persona, request: TurnRequest) -> None:
        """Let the model read what is known of the next prompt; a failure is nothing, the turn itself will tell."""
        deps = self._deps
        messages = fit(persona, request, deps.limits.prompt_tokens, deps.count)
        name = deps.served.get(persona.id, deps.base)
        with suppress(ModelError):
            async with aclosing(deps.model.stream(name, messages, max_tokens=1, temperature=0.0, seed=0)) as stream:
                async for _ in stream:
                    pass

    async def _generated(
        self, persona: Persona, request: TurnRequest, seed: int, again: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[str, None]:
        """Yield generated sentences; a model that fails before the first one is tried once more when it is back."""
        said = tried = False
        while True:
            try:
                async with aclosing(self._sentences(persona, request, seed)) as generated:
                    async for sentence in generated:
                        said = True
                        yield sentence
                return
            except ModelError:
                if said or tried or not await again():
                    raise
                tried = True

    async def _sentences(self, persona: Persona, request: TurnRequest, seed: int) -> AsyncGenerator[str, None]:
        """Yield generated sentences as soon as each is complete; stops after the first question mark."""
        deps = self._deps
        messages = fit(persona, request, deps.limits.prompt_tokens, deps.count)
        stream = deps.model.stream(
            deps.served.get(persona.id, deps.base),
            messages,
            max_tokens=deps.limits.answer_tokens,
            temperature=deps.limits.temperature,
            seed=seed,
        )
        buffer = ""
        try:
            async with asyncio.timeout(deps.limits.model_seconds), aclosing(stream):
                async for piece in stream:
                    buffer += piece
                    if "?" in buffer:
                        break
                    spans = sentences(buffer)
                    if len(spans) > 1:
                        sentence, buffer = spans[0].of(buffer), buffer[spans[1].start :]
                        yield sentence
        except TimeoutError as error:
            raise ModelError(f"no complete turn within {deps.limits.model_seconds:.0f} s") from error
        lead, question = guard.split_turn(guard.first_question(buffer).strip())
        for sentence in (lead, question):
            if sentence:
                yield sentence


async def pieces(text: str) -> AsyncGenerator[str, None]:
    """Yield ``text`` word by word, as it is streamed."""
    for match in _PIECE.finditer(text):
        yield match.group()


async def _emit(text: str, asked: Asked) -> AsyncIterator[str]:
    async for piece in pieces(text):
        asked.text += piece
        yield piece


def _pick(options: tuple[str, ...], seed: int) -> str:
    return options[seed % len(options)]
