from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from eval.bend import Point, Setting, Spread, bend, explain, growth, line
from eval.shape import read_shape
from tests.bench.test_shape import LLAMA_8B

BATCHES = (1, 2, 4, 8, 16)
TOKENS_OUT = 41


def around(value: float, noise: float = 0.01) -> Spread:
    return Spread(value, value * (1 - noise), value * (1 + noise))


def series(itl: Callable[[int], float], prefill: float = 100.0, noise: float = 0.01) -> list[Point]:
    """Make a machine whose prefills do not overlap with anything and whose steps take ``itl(batch)`` ms."""
    points = []
    for batch in BATCHES:
        request = prefill + (TOKENS_OUT - 1) * itl(batch) / batch
        rate = 1000 / request
        points.append(
            Point(
                batch,
                ttft=around(prefill * (batch + 1) / 2, noise),
                itl=around(itl(batch), noise),
                tpot=around(itl(batch), noise),
                e2e=around(request * batch, noise),
                rate=around(rate, noise),
                tokens=around(rate * TOKENS_OUT, noise),
            )
        )
    return points


def told(points: list[Point], setting: Setting | None = None) -> str:
    return "\n".join(explain(points, setting or Setting(500, TOKENS_OUT)))


def test_a_known_line_is_found_again() -> None:
    a, b, miss = line(series(lambda batch: 10 + 2 * batch))
    assert a == pytest.approx(10)
    assert b == pytest.approx(2)
    assert miss == pytest.approx(0)
    with pytest.raises(ValueError, match="fewer than three"):
        line(series(lambda _: 10)[:2])


def test_the_limit_of_decode_is_read_from_the_line() -> None:
    # batch / (10 + 2 batch) ms tends to 1 token per 2 ms, and is half of it at batch 5.
    assert "half its limit of 500 tokens/s at batch 5" in told(series(lambda batch: 10 + 2 * batch))


def test_no_line_is_claimed_where_none_fits() -> None:
    # Flat, then proportional: the roofline of a GPU.
    text = told(series(lambda batch: max(10.0, 10.0 * batch / 4)))
    assert "grows from batch 8 on" in text
    assert "No straight line fits it" in text


def test_free_steps_and_cheap_prefill_do_not_bend() -> None:
    points = series(lambda _: 10.0, prefill=1.0)
    # 401 ms a request at batch 1, 1 + 400/16 = 26 ms at batch 16: 15.4 times.
    assert bend(points) is None
    assert growth(points) is None
    text = told(points)
    assert "15.4 times for 16 times the batch" in text
    assert "does not bend up to batch 16" in text
    assert "sequences ride along for free" in text


def test_prefill_bends_the_line_though_steps_are_free() -> None:
    # Requests cost 500, 300, 200, 150, 125 ms: the gains are 1.67, 1.5, 1.33, 1.2, and 1.33 is less than 2 ** 0.5.
    points = series(lambda _: 10.0)
    found = bend(points)
    assert found is not None
    assert (found[0].batch, found[1].batch) == (4, 8)
    text = told(points)
    assert "between batch 4 and 8: 2 times the batch gave 1.33 times the throughput" in text
    assert "Prefill is 80% of it" in text


def test_steps_that_grow_with_the_batch_bend_it_by_decode() -> None:
    # Requests cost 1 + 40 * (1 + batch) / batch ms: 81, 61, 51, 46, 43.5.
    text = told(series(lambda batch: 1.0 + batch, prefill=1.0))
    assert "between batch 1 and 2" in text
    assert "Decode is 98% of it" in text


def test_a_sum_that_does_not_fit_is_not_an_explanation() -> None:
    points = series(lambda _: 10.0)
    last = points[-1]
    points[-1] = replace(last, rate=around(last.rate.mid / 3), tokens=around(last.tokens.mid / 3))
    text = told(points)
    assert "The sum does not explain it" in text
    assert "Prefill is" not in text


def test_growth_within_the_spread_is_not_called_growth() -> None:
    assert growth(series(lambda batch: 10 + 0.2 * batch, noise=0.3)) is None
    found = growth(series(lambda batch: 10 + 0.2 * batch))
    assert found is not None
    assert found.batch == 8  # 11.6 against 10.2: the first over a tenth more


def test_a_spread_that_hides_everything_is_said() -> None:
    text = told(series(lambda batch: 10 + 0.2 * batch, noise=0.3))
    assert "whether it grows with the batch cannot be told" in text
    assert "The runs differ enough for that to be chance" in text
    assert "chance" not in told(series(lambda batch: 10 + 0.2 * batch))


def test_littles_law_is_checked_and_not_assumed() -> None:
    points = series(lambda _: 10.0)
    assert "8.00 requests/s x 2.00 s = 16.0 in the system; where throughput no longer grows" in told(points)
    points[-1] = replace(points[-1], e2e=around(points[-1].e2e.mid / 2))
    assert "8.0 in the system, not 16" in told(points)


def test_waiting_prompts_and_prompts_that_do_not_wait() -> None:
    points = series(lambda _: 10.0)
    assert "wait for each other; 16 that arrive together have their first tokens after 100 to 1600 ms" in told(points)
    level = [replace(point, ttft=around(100)) for point in points]
    assert "within the spread: prompts do not wait" in told(level)


def test_steps_that_carry_prefills_are_told_apart_from_the_median_step() -> None:
    points = series(lambda _: 10.0)
    assert "Interference" not in told(points)
    points[-1] = replace(points[-1], tpot=around(15.0))
    assert "200 ms of a request go to steps that carry other requests' prefills" in told(points)


def test_traffic_explains_the_step_or_does_not() -> None:
    # 15.0 GB of weights and 0.07 GB of keys and values in 5 ms are 3015 GB/s, 90% of 3350; in 20 ms 22%.
    shape = read_shape(LLAMA_8B, 2)
    bound = told(series(lambda _: 5.0), Setting(500, TOKENS_OUT, shape, 3350.0))
    assert "7,504.7 M x 2 B = 15,009 MB" in bound
    assert "the reads explain 90% of the step. Decode at batch 1 is bound by memory traffic" in bound
    fixed = told(series(lambda _: 20.0), Setting(500, TOKENS_OUT, shape, 3350.0))
    assert "the reads explain 23% of the step. Most of it is not traffic" in fixed
    unknown = told(series(lambda _: 20.0), Setting(500, TOKENS_OUT, shape))
    assert "Near the machine's memory rate" in unknown


def test_compute_takes_over_only_where_decode_reaches_the_rate_of_prefill() -> None:
    # A prompt of 500: 7.0 TFLOP in 20 ms, 350 TFLOP/s. A step of 16: 0.24 TFLOP, in 1 ms 240 TFLOP/s, in 10 ms 24.
    shape = read_shape(LLAMA_8B, 2)
    quick = told(series(lambda _: 1.0, prefill=20.0), Setting(500, TOKENS_OUT, shape))
    assert "compute takes over from memory traffic" in quick
    slow = told(series(lambda _: 10.0, prefill=20.0), Setting(500, TOKENS_OUT, shape))
    assert "Decode uses 7% of that rate: compute is not what limits a step yet" in slow


def test_a_sweep_without_batch_1_is_refused() -> None:
    with pytest.raises(ValueError, match="compares with batch 1"):
        explain(series(lambda _: 10.0)[1:], Setting(500, TOKENS_OUT))
