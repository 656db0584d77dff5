"""Ask the engine, once per adapter, whether it really serves that adapter.

An adapter whose weights match no module of the base is served as the plain base, without a word in the log. So the
first-token distribution of each adapter on a fixed prompt is compared with the base's, and with a stored golden one.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from openai import AsyncOpenAI, OpenAIError

PROMPT = (
    "<|im_start|>system\nYou interview an engineer.<|im_end|>\n"
    "<|im_start|>user\nI cut the latency of our model by half.<|im_end|>\n<|im_start|>assistant\n"
)
"""The fixed prompt, in the base's chat template; changing it makes stored goldens void."""

TOP = 20
"""How many of the most likely first tokens are compared; what an OpenAI-compatible server gives at most."""

SAME = 1e-3
"""Largest difference of a log-probability, in nats, up to which an adapter counts as the unchanged base.

An adapter that matches no module leaves the base's computation as it is, so only the order of sums in another batch
can differ; a trained adapter moves likely tokens by tenths and more.
"""

TOLERANCE = 0.25
"""Largest difference, in nats, from a golden log-probability.

Goldens travel between machines that compute in bfloat16 (8 bits of precision) and in float32: measured with the
embedded base, their first tokens differ by 0.15 at most. Another version of an adapter changes likely tokens by more.
"""

LIKELY = -5.0
"""Golden tokens less likely than this (nats) are not compared: rounding moves them most and they are never sampled."""

Logprobs = Mapping[str, float]
"""First-token log-probabilities in nats, by token text."""


@dataclass(frozen=True)
class CanaryResult:
    """What was found about one served name."""

    name: str
    """The served name; ``base`` for the base model."""
    ok: bool
    """Whether it may serve."""
    detail: str
    """One sentence, fit for a log or the readiness page."""
    logprobs: Logprobs
    """What the engine answered, to be stored as a golden; empty when it did not answer."""


def adapter_name(persona: str, folder: Path) -> str:
    """Return the served name of an adapter: persona id, ``@``, eight digits of a hash over weights and configuration.

    The engine's prefix cache is keyed by name, so changed weights need another name.

    Raises:
        OSError: a file of the adapter is missing.
    """
    digest = hashlib.sha256()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        digest.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return f"{persona}@{digest.hexdigest()[:8]}"


async def check(
    client: AsyncOpenAI, names: Sequence[str], goldens: Mapping[str, Logprobs], base: str = "base"
) -> list[CanaryResult]:
    """Check the base and every adapter; one request each, sent together.

    Args:
        client: talks to the engine.
        names: served names of the adapters.
        goldens: stored log-probabilities by served name; a name without one is only compared with the base.
        base: served name of the base model.

    Returns:
        One result per name, the base first. A failed request is a result that is not ok, not an exception.
    """
    answers = await asyncio.gather(*(_first_token(client, name) for name in (base, *names)))
    own = answers[0]
    results = [_judge_base(base, own, goldens.get(base))]
    for name, answer in zip(names, answers[1:], strict=True):
        results.append(_judge_adapter(name, answer, own, goldens.get(name)))
    return results


def distance(a: Logprobs, b: Logprobs) -> float:
    """Return the largest difference over the tokens that both list, in nats; infinite when they share none."""
    shared = a.keys() & b.keys()
    return max((abs(a[token] - b[token]) for token in shared), default=float("inf"))


def differs_from_golden(found: Logprobs, golden: Logprobs) -> str | None:
    """Return what is wrong, or None when every likely golden token is there and within :data:`TOLERANCE`."""
    for token, value in golden.items():
        if value < LIKELY:
            continue
        if token not in found:
            return f"token {token!r} (golden {value:.2f}) is not among the first {TOP}"
        if abs(found[token] - value) > TOLERANCE:
            return f"token {token!r} has log-probability {found[token]:.2f}, golden {value:.2f}"
    return None


def _judge_base(name: str, answer: Logprobs | str, golden: Logprobs | None) -> CanaryResult:
    if isinstance(answer, str):
        return CanaryResult(name, False, answer, {})
    wrong = differs_from_golden(answer, golden) if golden is not None else None
    return CanaryResult(name, wrong is None, wrong or "The base answers.", answer)


def _judge_adapter(name: str, answer: Logprobs | str, base: Logprobs | str, golden: Logprobs | None) -> CanaryResult:
    if isinstance(answer, str):
        return CanaryResult(name, False, answer, {})
    if isinstance(base, str):
        return CanaryResult(name, False, "It cannot be compared: the base does not answer.", answer)
    if answer.keys() == base.keys() and distance(answer, base) <= SAME:
        return CanaryResult(name, False, "It answers exactly as the base: its weights match no module.", answer)
    if golden is None:
        return CanaryResult(name, True, "It differs from the base; no golden is stored.", answer)
    wrong = differs_from_golden(answer, golden)
    return CanaryResult(name, wrong is None, wrong or "It differs from the base and equals its golden.", answer)


async def _first_token(client: AsyncOpenAI, model: str) -> Logprobs | str:
    """Return the top log-probabilities of the first token, or why there are none."""
    try:
        answer = await client.completions.create(
            model=model, prompt=PROMPT, max_tokens=1, temperature=0.0, logprobs=TOP, seed=0, timeout=60.0
        )
    except OpenAIError as error:
        return f"The engine does not answer as {model}: {error}"
    found = answer.choices[0].logprobs if answer.choices else None
    if found is None or not found.top_logprobs:
        return f"The engine gave no log-probabilities as {model}."
    return dict(found.top_logprobs[0])
