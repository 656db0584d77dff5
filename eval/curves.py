"""Line charts as SVG, readable without colour: each line has its own dashes and marker, its name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log2, log10

WIDTH, HEIGHT = 400, 300
"""Of one panel, in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 66, 92, 40, 48
DASHES = ("", "7 4", "2 3")
MARKERS = ("circle", "square", "triangle")


@dataclass(frozen=True)
class Series:
    """A line: ``(x, median, least, most)`` per point; least to most is drawn as a bar."""

    name: str
    points: Sequence[tuple[float, float, float, float]]


@dataclass(frozen=True)
class Panel:
    """One chart: x on a scale of doublings, y from zero."""

    title: str
    x: str
    """Label with unit."""
    y: str
    series: Sequence[Series]
    """At most three."""


def draw(title: str, panels: Sequence[Panel]) -> str:
    """Return an SVG document with the panels side by side.

    Raises:
        ValueError: a panel has no points, more series than there are dashes, or an x that is not positive.
    """
    width = WIDTH * len(panels)
    said = "; ".join(f"{p.title}: {p.y} against {p.x}" for p in panels)
    body = "\n".join(f'<g transform="translate({WIDTH * i},0)">\n{_panel(p)}\n</g>' for i, p in enumerate(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" '
        f'role="img" font-family="sans-serif" font-size="12">\n<title>{escape(title)}</title>\n'
        f'<desc>{escape(said)}</desc>\n<rect width="{width}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def ticks(top: float) -> list[float]:
    """Return round numbers from 0 to at least ``top``, four to eight, at steps of 1, 2 or 5 times a power of ten.

    Raises:
        ValueError: ``top`` is not positive.
    """
    if top <= 0:
        raise ValueError("an axis needs something above zero")
    power = 10.0 ** floor(log10(top / 5))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= top / 6.5)
    return [round(step * i, 10) for i in range(ceil(round(top / step, 9)) + 1)]


def _panel(panel: Panel) -> str:
    points = [point for series in panel.series for point in series.points]
    if not points or len(panel.series) > len(DASHES) or any(x <= 0 for x, *_ in points):
        raise ValueError(f"{panel.title}: one to {len(DASHES)} lines with points at positive x are needed")
    xs = sorted({x for x, *_ in points})
    marks = ticks(max(most for *_, most in points) or 1.0)
    span = log2(xs[-1] / xs[0]) or 1.0

    def at_x(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * log2(x / xs[0]) / span

    def at_y(y: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / marks[-1]

    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = [f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(panel.title)}</text>']
    for mark in marks:
        y = at_y(mark)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ccc"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for x in xs:
        out.append(f'<line x1="{at_x(x):.1f}" y1="{bottom}" x2="{at_x(x):.1f}" y2="{bottom + 5}" stroke="black"/>')
        out.append(f'<text x="{at_x(x):.1f}" y="{bottom + 18}" text-anchor="middle">{x:g}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="black"/>')
    middle_x, middle_y = (LEFT + right) / 2, (TOP + bottom) / 2
    out.append(f'<text x="{middle_x}" y="{HEIGHT - 10}" text-anchor="middle">{escape(panel.x)}</text>')
    out.append(f'<text transform="translate(16,{middle_y}) rotate(-90)" text-anchor="middle">{escape(panel.y)}</text>')
    ends = _apart([at_y(series.points[-1][1]) for series in panel.series])
    for number, series in enumerate(panel.series):
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y, *_ in series.points)
        dash = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
        out.append(f'<polyline points="{path}" fill="none" stroke="black" stroke-width="1.8"{dash}/>')
        for x, y, least, most in series.points:
            across = f"{at_x(x):.1f}"
            out.append(f'<path d="M{across} {at_y(least):.1f}V{at_y(most):.1f}" stroke="black" stroke-width="1"/>')
            out.append(_marker(MARKERS[number], at_x(x), at_y(y)))
        out.append(
            f'<text x="{at_x(series.points[-1][0]) + 9:.1f}" y="{ends[number] + 4:.1f}">{escape(series.name)}</text>'
        )
    return "\n".join(out)


def _marker(kind: str, x: float, y: float) -> str:
    look = 'fill="white" stroke="black" stroke-width="1.5"'
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {look}/>'
    if kind == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" {look}/>'
    return f'<path d="M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z" {look}/>'


def _apart(heights: Sequence[float], gap: float = 14.0) -> list[float]:
    """Return the heights, moved down where two names would lie on each other."""
    placed: dict[int, float] = {}
    last = float("-inf")
    for index in sorted(range(len(heights)), key=lambda i: heights[i]):
        last = max(heights[index], last + gap)
        placed[index] = last
    return [placed[index] for index in range(len(heights))]
