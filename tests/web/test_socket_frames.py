"""A thousand strange frames, seeded: nothing fails, hangs or grows, and the next client is served as ever."""

from __future__ import annotations

import random
import resource

import pytest

from eval.frames import CLOSES, frame, fuzz
from interviewer.web.wire import MAX_FRAME

from .kit import Running


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


@pytest.mark.asyncio(loop_scope="module")
async def test_a_thousand_strange_frames(shared: Running) -> None:
    url = f"http://{shared.host}"
    await fuzz(url, 200, 5)  # so that what is loaded once is loaded
    before = peak_mb()
    found = await fuzz(url, 1000, 7)
    assert found.violations == []
    assert found.sent == 1000
    assert peak_mb() - before < 100
    assert {"bad_message", "turn_in_progress"} <= set(found.refused), "bad ones and good ones in odd moments"
    assert set(found.closed) & set(CLOSES)


def test_the_frames_are_of_every_kind_and_the_same_for_a_seed() -> None:
    chance, again = random.Random(3), random.Random(3)
    frames = [frame(chance) for _ in range(2000)]
    assert frames == [frame(again) for _ in range(2000)]
    assert {type(f) for f in frames} == {str, bytes, bytearray}
    assert any(len(f) > MAX_FRAME for f in frames) and any(len(f) == 0 for f in frames)
    assert sum(isinstance(f, str) and f.startswith('{"type": "answer"') for f in frames) > 50
