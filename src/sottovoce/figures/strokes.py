"""Series on axes: lines with markers and bands, or bars; told apart without colour too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sottovoce.figures.canvas import INK
from sottovoce.figures.chart import Chart, Series

__all__ = ["draw_series"]

# Okabe and Ito's colours, which the colour-blind tell apart; without yellow, too pale for a line.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = (
    (0, (5, 2)), (0, (1.5, 1.5)), (0, (7, 2, 1.5, 2)), (0, (3, 1.5)), (0, (9, 2)),
    (0, (5, 1.5, 1.5, 1.5, 1.5, 1.5)),
)  # fmt: skip
REFERENCE_MARKERS = ("x", "+", "*", "1")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")

MARKED = 16
"""A line has at most so many markers."""
BARS = 0.8
"""The share of the way from x to x that bars take."""


@dataclass(frozen=True, slots=True)
class _Stroke:
    """How a series looks; `place` counts the series of its kind, references apart."""

    series: Series
    place: int

    @property
    def is_reference(self) -> bool:
        return self.series.role == "reference"

    @property
    def color(self) -> str:
        return INK if self.is_reference else COLORS[self.place % len(COLORS)]

    @property
    def marker(self) -> str:
        kinds = REFERENCE_MARKERS if self.is_reference else MARKERS
        return kinds[self.place % len(kinds)]

    @property
    def dash(self) -> Any:
        return "-" if self.series.role == "ours" else DASHES[self.place % len(DASHES)]


def draw_series(axes: Any, chart: Chart) -> list[Any]:
    """Draw every series of a chart; what a legend shows of each."""
    strokes = _strokes(chart.series)
    if chart.style == "bars":
        return _bars(axes, chart, strokes)
    return [_line(axes, stroke) for stroke in strokes]


def _strokes(series: Sequence[Series]) -> list[_Stroke]:
    found: list[_Stroke] = []
    for each in series:
        reference = each.role == "reference"
        place = sum(stroke.is_reference == reference for stroke in found)
        found.append(_Stroke(each, place))
    return found


def _line(axes: Any, stroke: _Stroke) -> Any:
    series, points = stroke.series, stroke.series.points()
    xs, color, ours = [point.x for point in points], stroke.color, stroke.series.role == "ours"
    (line,) = axes.plot(
        xs, [point.y for point in points], color=color, linestyle=stroke.dash,
        linewidth=2.4 if ours else 1.2 if stroke.is_reference else 1.6,
        marker=stroke.marker, markersize=6 if ours else 5, markevery=math.ceil(len(xs) / MARKED),
        markerfacecolor=color if ours else "white", zorder=4 if ours else 3,
        clip_on=False,  # a marker on the edge is drawn whole
    )  # fmt: skip
    if series.low is not None and series.high is not None:
        _band(axes, xs, [p.low for p in points], [p.high for p in points], color)
    return line


def _band(axes: Any, xs: list[float], lows: list[Any], highs: list[Any], color: str) -> None:
    if len(xs) == 1:  # an area over one point is invisible
        axes.vlines(xs, lows, highs, color=color, linewidth=5, alpha=0.3)
    else:
        axes.fill_between(xs, lows, highs, color=color, alpha=0.15, linewidth=0, zorder=2)


def _bars(axes: Any, chart: Chart, strokes: Sequence[_Stroke]) -> list[Any]:
    """Bars of all series side by side at each x."""
    width = BARS * min((b - a for a, b in pairwise(chart.xs())), default=1.0) / len(strokes)
    drawn = []
    for number, stroke in enumerate(strokes):
        points = stroke.series.points()
        centers = [point.x + (number - (len(strokes) - 1) / 2) * width for point in points]
        filled = "white" if stroke.is_reference else stroke.color
        drawn.append(
            axes.bar(
                centers, [point.y for point in points], width, color=filled,
                edgecolor=INK if stroke.is_reference else "white", linewidth=0.8,
                hatch=HATCHES[number % len(HATCHES)],
            )
        )  # fmt: skip
        if stroke.series.low is not None:
            lows, highs = [p.low for p in points], [p.high for p in points]
            axes.vlines(centers, lows, highs, color=INK, linewidth=1.2)
    return drawn
