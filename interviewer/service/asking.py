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
from interviewer.core.tie import tied
from interviewer.service.deps import Deps, not_away
from interviewer.service.ports import ModelError

ATTEMPTS = 2
"""How often a follow-up is generated: a question that fails the guard once passes in about half of the second tries."""
WARMER = 0.4
"""What the temperature goes up by for another try; at the same one a small model says nearly the same."""
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
        tie: str | None = None,
    ) -> AsyncGenerator[str, None]:
        """Yield a follow-up: a generated tie-in and question; where the guard says no, a quote and authored wording.

        A question that fails is generated once more; one that passes and does not tie in gets a quote of the
        candidate before it, cut by code. With ``quote_first`` every follow-up begins with such a quote, at once.

        Args:
            persona: Who asks.
            request: What to pursue and the context.
            context: What the turn is checked against.
            seed: Makes the wording repeatable.
            asked: Filled in while streaming.
            again: Asked once when the model fails before anything was said: waits for it; says whether to try again.
            tie: Said where the model's words do not tie in, in place of the persona's frame around a quote.
        """
        tie = tie or tied(persona.ties, context.said, request.probe, context.asked)
        led: QuestionSource | None = None
        if tie is not None and self._deps.limits.quote_first:
            led = "tied"
            async for piece in _emit(f"{tie} ", asked):
                yield piece
        for attempt in range(ATTEMPTS):
            question = ""
            try:
                said = asked.text if led == "tied" and self._deps.limits.quote_first else ""
                async with aclosing(self._generated(persona, request, seed, again, attempt, said)) as generated:
                    async for sentence in generated:
                        if "?" in sentence:
                            question = sentence
                            break
                        if led or attempt:
                            continue
                        found = guard.check_lead(sentence, context)
                        asked.problems += found
                        if not found and (guard.refers(sentence, context.said) or not context.follow_up):
                            led = "generated"
                            async for piece in _emit(f"{sentence} ", asked):
                                yield piece
            except ModelError as error:
                asked.problems += ["model_unavailable", str(error)[:200]]
                break
            usable, problems = _checked(asked.text, question, context, tie if led is None else None)
            asked.problems += problems
            if usable is not None:
                asked.source = "tied" if led == "tied" or "not_tied" in problems else "generated"
                async for piece in _emit(usable, asked):
                    yield piece
                return
            if led is None and tie is not None:  # the wait for another try is not spent in silence
                led = "tied"
                async for piece in _emit(f"{tie} ", asked):
                    yield piece
        asked.source = "mixed" if led == "generated" else "fallback"
        lead = "" if led else f"{tie or _unused(persona.leads, seed, context.asked)} "
        async for piece in _emit(f"{lead}{request.probe}", asked):
            yield piece

    def main_question(
        self, persona: Persona, question: str, greet: int | None, seed: int, asked: Asked
    ) -> AsyncGenerator[str, None]:
        """Return the stream of a main question in its authored wording.

        Args:
            persona: Who asks.
            question: The authored wording.
            greet: Minutes of the session when this opens it: a greeting goes before, else a transition.
            seed: Chooses among greetings and transitions.
            asked: Filled in while streaming.
        """
        if greet is None:
            before = persona.transitions[seed % len(persona.transitions)]
        else:
            before = persona.openings[seed % len(persona.openings)].replace("{minutes}", str(greet))
        return self.authored(before, question, asked)

    async def authored(self, before: str, question: str, asked: Asked) -> AsyncGenerator[str, None]:
        """Yield authored wording as it is, after ``before``."""
        asked.source = "authored"
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
        self,
        persona: Persona,
        request: TurnRequest,
        seed: int,
        again: Callable[[], Awaitable[bool]],
        attempt: int,
        begun: str,
    ) -> AsyncGenerator[str, None]:
        """Yield generated sentences; a model that fails before the first one is tried once more when it is back."""
        said = tried = False
        while True:
            try:
                async with aclosing(self._sentences(persona, request, seed, attempt, begun)) as generated:
                    async for sentence in generated:
                        said = True
                        yield sentence
                return
            except ModelError:
                if said or tried or not await again():
                    raise
                tried = True

    async def _sentences(
        self, persona: Persona, request: TurnRequest, seed: int, attempt: int, begun: str
    ) -> AsyncGenerator[str, None]:
        """Yield generated sentences as soon as each is complete; stops after the first question mark.

        A turn that was ``begun`` is continued, so the model words the question after the quote that stands before it.
        """
        deps = self._deps
        messages = fit(persona, request, deps.limits.prompt_tokens, deps.count)
        if begun:
            messages = [*messages, {"role": "assistant", "content": begun.rstrip()}]
        stream = deps.model.stream(
            deps.served.get(persona.id, deps.base),
            messages,
            max_tokens=deps.limits.answer_tokens,
            temperature=deps.limits.temperature + WARMER * attempt,
            seed=seed + attempt,
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


def _checked(before: str, question: str, context: guard.Context, tie: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Return what may be asked of a generated question, ``None`` for nothing, and all that was found wrong with it.

    Args:
        before: What was said in this turn so far.
        question: The generated question; empty when there was none.
        context: What it is checked against.
        tie: Put before a question that picks up nothing of the answer; ``None`` when that cannot be done any more.
    """
    if not question:
        return None, ("no_question",)
    problems = guard.check_question(question, context)
    if problems == ("stacked",):
        question = guard.unstack(question)
        unfit = guard.check_question(question, context)
    else:
        unfit = problems
    if context.follow_up and not guard.refers(f"{before}{question}", context.said):
        problems = (*problems, "not_tied")
        if tie is None:
            unfit = (*unfit, "not_tied")
        else:
            question = f"{tie} {question}"
    if len(words(f"{before}{question}")) > context.max_words:
        problems = unfit = (*problems, "too_long")
    return (None if unfit else question), tuple(dict.fromkeys(problems))


def _unused(options: tuple[str, ...], seed: int, asked: tuple[str, ...]) -> str:
    """Return one of a persona's phrases that this session has not heard yet, while there is one."""
    turned = [options[(seed + step) % len(options)] for step in range(len(options))]
    return next((o for o in turned if not any(o in earlier for earlier in asked)), turned[0])
