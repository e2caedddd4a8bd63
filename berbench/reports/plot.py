"""Cost against pass rate, as an SVG: who passes more for less. Configurations of unknown cost are not drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from berbench.reports import words
from berbench.reports.marks import text
from berbench.reports.values import ConfigurationRow

WIDTH, HEIGHT = 860, 400
LEFT, RIGHT, TOP, BOTTOM = 58, 24, 18, 52
RADIUS = 10


def is_plotted(row: ConfigurationRow) -> bool:
    """Whether there is a place for it: a pass rate, and a cost of which at least a part is known."""
    return row.rate.value is not None and row.cost.mean is not None


def plot(rows: Sequence[ConfigurationRow], letter: Mapping[str, str]) -> Iterator[str]:
    """The figure, in pieces; nothing where no configuration has a known cost. `letter` is by label."""
    drawn = [row for row in rows if is_plotted(row)]
    if not drawn:
        return
    scale = _Scale(max(row.cost.mean or 0.0 for row in drawn))
    yield f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Cost against pass rate">'
    yield from _axes(scale)
    yield _front(drawn, scale)
    places: list[tuple[float, float]] = []
    for row in drawn:
        yield from _point(row, letter[row.label], scale, places)
    yield "</svg>"


class _Scale:
    """Dollars and rates → places on the page."""

    def __init__(self, dearest: float) -> None:
        self.step = _round_step(dearest * 1.08 / 5)
        self.steps = max(1, math.ceil(dearest * 1.08 / self.step))

    def x(self, dollars: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * dollars / (self.step * self.steps)

    def y(self, rate: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5 × a power of ten."""
    if rough < 1e-6:
        return 0.2
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough * 0.999)


def _axes(scale: _Scale) -> Iterator[str]:
    bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tenth in range(0, 11, 2):
        y = scale.y(tenth / 10)
        yield f'<line class="grid" x1="{LEFT}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth * 10} %</text>'
    for number in range(scale.steps + 1):
        x = scale.x(number * scale.step)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>'
        mark = words.dollars(number * scale.step)
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{text(mark)}</text>'
    yield f'<line class="axis" x1="{LEFT}" x2="{end}" y1="{bottom}" y2="{bottom}"/>'
    middle = (LEFT + end) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">mean cost of a cell</text>'


def _front(drawn: Sequence[ConfigurationRow], scale: _Scale) -> str:
    """The steps of what can be had for a cost."""
    best = sorted((row.cost.mean or 0.0, row.rate.value or 0.0) for row in drawn if row.on_front)
    if not best:
        return ""
    path = f"M{scale.x(best[0][0]):.1f} {scale.y(best[0][1]):.1f}"
    for dollars, rate in best[1:]:
        path += f"H{scale.x(dollars):.1f}V{scale.y(rate):.1f}"
    return f'<path class="step" d="{path}H{WIDTH - RIGHT}"/>'


def _point(
    row: ConfigurationRow, letter: str, scale: _Scale, places: list[tuple[float, float]]
) -> Iterator[str]:
    """A letter in a circle, its interval, and an arrow where it may cost more. Those too close stand aside."""
    x, y = scale.x(row.cost.mean or 0.0), scale.y(row.rate.value or 0.0)
    at = x
    while any(math.hypot(at - there[0], y - there[1]) < 2 * RADIUS for there in places):
        at += 2 * RADIUS + 2
    places.append((at, y))
    kind = "best" if row.on_front else "bound" if row.cost.is_bound else "other"
    mean = words.dollars(row.cost.mean or 0.0)
    bound = "≥ " if row.cost.is_bound else ""
    title = f"{letter}: {row.label}, {words.share(row.rate.value)}, {bound}{mean} a cell"
    yield f'<g class="{kind}"><title>{text(title)}</title>'
    if row.rate.interval is not None:
        low, high = scale.y(row.rate.interval.low), scale.y(row.rate.interval.high)
        yield f'<line class="range" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
    if at != x:
        yield f'<line class="leader" x1="{x:.1f}" x2="{at:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    if row.cost.is_bound:
        tip = at + RADIUS + 14
        yield f'<path class="arrow" d="M{at + RADIUS:.1f} {y:.1f}H{tip:.1f}m-5 -4l5 4l-5 4"/>'
    yield f'<circle class="dot" cx="{at:.1f}" cy="{y:.1f}" r="{RADIUS}"/>'
    yield f'<text class="name" x="{at:.1f}" y="{y + 4:.1f}">{letter}</text></g>'
