"""Why throughput stops growing with the batch, in words, from the numbers of one sweep; or that it does not stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from eval.shape import Shape

STALL = 0.5
"""A step to a larger batch has stalled when throughput grew by less than the ratio of batches to this power."""
MISS = 0.25
"""Largest relative error at which the sum of prefill and decode counts as an explanation."""


@dataclass(frozen=True)
class Spread:
    """Median, least and most of the repeats."""

    mid: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """One batch size: how many requests were in the system all the time."""

    batch: int
    ttft: Spread
    """Median time to first token of a run, ms."""
    itl: Spread
    """Median inter-token latency of a run, ms: a step that only decodes, as long as most steps do."""
    tpot: Spread
    """Mean time per output token of a run, ms: steps that carry a prefill of others included."""
    e2e: Spread
    """Mean time of a request, ms."""
    rate: Spread
    """Requests per second."""
    tokens: Spread
    """Output tokens per second."""


@dataclass(frozen=True)
class Setting:
    """What the sweep was run on."""

    input_tokens: int
    output_tokens: int
    shape: Shape | None = None
    """``None`` when the model's is not known; traffic and arithmetic are left out then."""
    memory_gbs: float | None = None
    """Rate at which the machine streams memory, GB/s."""


def bend(points: Sequence[Point]) -> tuple[Point, Point] | None:
    """Return the first two neighbouring batches between which throughput stalled, see :data:`STALL`."""
    for before, after in pairwise(points):
        if _gain(before, after, after.tokens.mid / before.tokens.mid) < STALL:
            return before, after
    return None


def growth(points: Sequence[Point]) -> Point | None:
    """Return the first point whose ITL is over the first one's by more than a tenth and by more than the spread."""
    first = points[0].itl
    return next((p for p in points[1:] if p.itl.mid > 1.1 * first.mid and p.itl.low > first.high), None)


def line(points: Sequence[Point]) -> tuple[float, float, float]:
    """Fit ITL = a + b x batch by least squares.

    Returns:
        ``a`` and ``b`` in ms, and the largest relative miss of a point.

    Raises:
        ValueError: fewer than three points, through which any line would go.
    """
    if len(points) < 3:
        raise ValueError("a line through fewer than three points says nothing")
    mean_x = sum(p.batch for p in points) / len(points)
    mean_y = sum(p.itl.mid for p in points) / len(points)
    over = sum((p.batch - mean_x) * (p.itl.mid - mean_y) for p in points)
    b = over / sum((p.batch - mean_x) ** 2 for p in points)
    a = mean_y - b * mean_x
    return a, b, max(abs(a + b * p.batch - p.itl.mid) / p.itl.mid for p in points)


def explain(points: Sequence[Point], setting: Setting) -> list[str]:
    """Return one paragraph per cause, in the order in which a request meets them.

    Args:
        points: By rising batch; the first is batch 1.
        setting: Request lengths, model and machine.

    Raises:
        ValueError: there is no point at batch 1, or no second one.
    """
    if len(points) < 2 or points[0].batch != 1:
        raise ValueError("the explanation compares with batch 1: sweep it, and at least one more")
    paragraphs = [_single(points[0], setting), _steps(points), _arithmetic(points, setting)]
    paragraphs += [_throughput(points, setting), _waiting(points), _interference(points, setting)]
    return [paragraph for paragraph in paragraphs if paragraph]


def _single(first: Point, setting: Setting) -> str:
    shape = setting.shape
    if shape is None:
        return ""
    kv = shape.kv_bytes * _context(setting)
    read = shape.weight_bytes + kv
    implied = read / first.itl.mid / 1e6
    text = (
        f"**Batch 1.** A decoding step reads every weight once: {shape.weights / 1e6:,.1f} M x {shape.element} B = "
        f"{shape.weight_bytes / 1e6:,.0f} MB, and {kv / 1e6:,.1f} MB of keys and values. In {first.itl.mid:.1f} ms "
        f"that is {implied:,.1f} GB/s. "
    )
    if setting.memory_gbs is None:
        return text + (
            "Near the machine's memory rate, decode is bound by memory traffic; far below, by the fixed cost of a step."
        )
    share = implied / setting.memory_gbs
    text += f"Memory streams {setting.memory_gbs:,.1f} GB/s here, so the reads explain {share:.0%} of the step. "
    if share >= 0.5:
        return text + "Decode at batch 1 is bound by memory traffic, and a batch shares the weights that are read."
    return text + (
        "Most of it is not traffic but the fixed cost of a step (launching kernels, scheduling, sampling, the server), "
        "which a batch shares as it shares the weights."
    )


def _steps(points: Sequence[Point]) -> str:
    first, last, grown = points[0], points[-1], growth(points)
    if grown is None and last.itl.mid > 1.1 * first.itl.mid:
        return (
            f"**ITL** goes from {first.itl.mid:.1f} to {last.itl.mid:.1f} ms, but the runs differ by as much: whether "
            "it grows with the batch cannot be told. Repeat on a quiet machine."
        )
    if grown is None:
        return (
            f"**ITL** does not grow beyond the spread up to batch {last.batch} ({first.itl.mid:.1f} to "
            f"{last.itl.mid:.1f} ms): sequences ride along for free."
        )
    text = (
        f"**ITL** grows from batch {grown.batch} on ({first.itl.mid:.1f} ms at batch 1, {grown.itl.mid:.1f} ms there, "
        f"{last.itl.mid:.1f} ms at {last.batch}). "
    )
    if len(points) < 3:
        return text.rstrip()
    a, b, miss = line(points)
    if miss > 0.15 or a <= 0 or b <= 0:
        return f"{text}No straight line fits it (off by {miss:.0%} somewhere), so no limit is read from it."
    return text + (
        f"{a:.1f} ms + {b:.2f} ms x batch fits within {miss:.0%}: the first part is paid once per step, the second per "
        f"sequence. Decode alone reaches half its limit of {1000 / b:,.0f} tokens/s at batch {a / b:.0f}."
    )


def _arithmetic(points: Sequence[Point], setting: Setting) -> str:
    shape, first, last = setting.shape, points[0], points[-1]
    if shape is None:
        return ""
    step = last.batch * shape.decode_flop(_context(setting))
    decode = step / last.itl.mid / 1e6
    prefill = shape.prefill_flop(setting.input_tokens) / first.ttft.mid / 1e6
    kv = last.batch * shape.kv_bytes * _context(setting)
    text = (
        f"**Arithmetic.** At batch {last.batch} a step does {step / 1e9:,.1f} GFLOP, {decode:,.0f} GFLOP/s; one "
        f"prompt's prefill at batch 1 reached {prefill:,.0f} GFLOP/s or more. "
    )
    if decode >= 0.5 * prefill:
        text += "Decode is close to that: compute takes over from memory traffic as what a step waits for. "
    else:
        text += f"Decode uses {decode / prefill:.0%} of that rate: compute is not what limits a step yet. "
    return text + (
        f"Keys and values are not shared: {last.batch} sequences read {kv / 1e6:,.0f} MB of them beside "
        f"{shape.weight_bytes / 1e6:,.0f} MB of weights."
    )


def _throughput(points: Sequence[Point], setting: Setting) -> str:
    first, last, stalled = points[0], points[-1], bend(points)
    text = (
        f"**Throughput** grows from {first.tokens.mid:.1f} to {last.tokens.mid:.1f} output tokens/s, "
        f"{last.tokens.mid / first.tokens.mid:.1f} times for {last.batch} times the batch. "
    )
    if stalled is None:
        text += f"The line does not bend up to batch {last.batch}: sweep further to find where it does. "
    else:
        before, after = stalled
        text += (
            f"The line bends between batch {before.batch} and {after.batch}: {after.batch / before.batch:g} times the "
            f"batch gave {after.tokens.mid / before.tokens.mid:.2f} times the throughput. "
        )
        if _gain(before, after, after.tokens.high / before.tokens.low) >= STALL:
            text += "The runs differ enough for that to be chance. "
    # What one request takes of the engine's time: its prompt, which fills the machine alone, and its share of steps.
    prefill = first.ttft.mid
    decode = (setting.output_tokens - 1) * last.itl.mid / last.batch
    predicted = 1000 / (prefill + decode)
    text += (
        f"At batch {last.batch} a request costs {prefill:.0f} ms of prefill, if a batch makes that no cheaper, and "
        f"{setting.output_tokens - 1} steps x {last.itl.mid:.1f} ms / {last.batch} = {decode:.0f} ms of decode; the "
        f"sum allows {predicted:.2f} requests/s, measured were {last.rate.mid:.2f}. "
    )
    if abs(predicted - last.rate.mid) > MISS * last.rate.mid:
        return f"{text}The sum does not explain it: some of this overlaps or is missing."
    share = prefill / (prefill + decode)
    if share >= 0.5:
        return f"{text}Prefill is {share:.0%} of it: prompts, already as wide as a batch, set the limit, not decode."
    return f"{text}Decode is {1 - share:.0%} of it."


def _waiting(points: Sequence[Point]) -> str:
    first, last = points[0], points[-1]
    held = last.rate.mid * last.e2e.mid / 1000
    text = f"**TTFT** goes from {first.ttft.mid:.0f} to {last.ttft.mid:.0f} ms"
    if last.ttft.low > first.ttft.high and last.ttft.mid > 1.1 * first.ttft.mid:
        text += (
            f": prompts share the same processor and wait for each other; {last.batch} that arrive together have their "
            f"first tokens after {first.ttft.mid:.0f} to {last.batch * first.ttft.mid:.0f} ms. "
        )
    else:
        text += ", within the spread: prompts do not wait for each other. "
    text += f"Little's law: {last.rate.mid:.2f} requests/s x {last.e2e.mid / 1000:.2f} s = {held:.1f} in the system"
    if abs(held - last.batch) > 0.15 * last.batch:
        return f"{text}, not {last.batch}: the batch was not full all the time (start and end of a run)."
    return f"{text}; where throughput no longer grows, a larger batch only waits longer, in proportion."


def _interference(points: Sequence[Point], setting: Setting) -> str:
    last = points[-1]
    extra = last.tpot.mid - last.itl.mid
    if extra < 0.15 * last.itl.mid:
        return ""
    return (
        f"**Interference.** At batch {last.batch} the mean TPOT is {last.tpot.mid:.1f} ms, the median ITL "
        f"{last.itl.mid:.1f}: {extra * (setting.output_tokens - 1):.0f} ms of a request go to steps that carry other "
        "requests' prefills."
    )


def _gain(before: Point, after: Point, ratio: float) -> float:
    """Return the power of the ratio of batches that a ratio of throughputs is: 1 all gained, 0 nothing."""
    return log(ratio) / log(after.batch / before.batch)


def _context(setting: Setting) -> float:
    """Return the tokens that a step attends to, on average over a request."""
    return setting.input_tokens + setting.output_tokens / 2
