from __future__ import annotations

from xml.etree import ElementTree

import pytest

from eval.curves import BOTTOM, HEIGHT, TOP, Panel, Series, draw, ticks

SVG = "{http://www.w3.org/2000/svg}"


def panel(*series: Series, title: str = "Between tokens") -> Panel:
    return Panel(title, "batch (requests)", "latency (ms)", series)


RISING = Series("ITL", [(1, 50, 40, 60), (2, 50, 45, 55), (4, 100, 90, 100)])
FLAT = Series("TPOT", [(1, 80, 80, 80), (2, 80, 80, 80), (4, 98, 98, 98)])


def test_lines_differ_without_colour() -> None:
    root = ElementTree.fromstring(draw("Sweep", [panel(RISING, FLAT)]))
    lines = list(root.iter(f"{SVG}polyline"))
    assert len({line.get("stroke-dasharray") for line in lines}) == 2
    assert {line.get("stroke") for line in lines} == {"black"}
    group = root.find(f"{SVG}g")
    assert group is not None
    assert len(group.findall(f"{SVG}circle")) == 3
    assert len(group.findall(f"{SVG}rect")) == 3


def test_axes_say_what_they_measure_and_lines_their_names() -> None:
    root = ElementTree.fromstring(draw("Sweep", [panel(RISING, FLAT)]))
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert {"batch (requests)", "latency (ms)", "ITL", "TPOT"} <= set(said)
    names = [text for text in root.iter(f"{SVG}text") if text.text in ("ITL", "TPOT")]
    heights = sorted(float(name.get("y", "0")) for name in names)
    assert heights[1] - heights[0] >= 14  # 98 and 100 ms end side by side; their names do not


def test_points_stand_where_the_scales_say() -> None:
    root = ElementTree.fromstring(draw("Sweep", [panel(RISING)]))
    line = next(root.iter(f"{SVG}polyline"))
    places = [tuple(map(float, pair.split(","))) for pair in line.get("points", "").split()]
    xs, ys = zip(*places, strict=True)
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)  # 1, 2, 4: equal steps
    assert ys[2] == pytest.approx(TOP)  # 100 is the top of the scale
    assert ys[0] == pytest.approx((TOP + HEIGHT - BOTTOM) / 2)  # 50 is half of it


def test_text_is_escaped() -> None:
    root = ElementTree.fromstring(draw("a < b & c", [panel(RISING, title="<x>")]))
    assert root.findtext(f"{SVG}title") == "a < b & c"


@pytest.mark.parametrize(
    ("top", "wanted"),
    [
        (100, [0, 20, 40, 60, 80, 100]),
        (7, [0, 2, 4, 6, 8]),
        (0.3, [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]),
        (1234, [0, 200, 400, 600, 800, 1000, 1200, 1400]),
    ],
)
def test_ticks_are_round(top: float, wanted: list[float]) -> None:
    assert ticks(top) == wanted


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="above zero"):
        ticks(0)
    with pytest.raises(ValueError, match="one to 3 lines"):
        draw("empty", [panel()])
    with pytest.raises(ValueError, match="positive x"):
        draw("log of zero", [panel(Series("x", [(0, 1, 1, 1)]))])
