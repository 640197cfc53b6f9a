"""Axes: where they start, which values are named, and how."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from sottovoce.figures.canvas import PALE
from sottovoce.figures.chart import Chart
from sottovoce.figures.numbers import log_steps, power_words, spread

__all__ = ["scale_axes"]

FROM_ZERO = 0.5
"""An axis starts at 0 if the smallest value is at most this share of the largest."""
MARGIN = 0.05
"""Room beyond what is drawn, as a share of the axis."""
Y_STEPS = 8


def scale_axes(axes: Any, chart: Chart) -> None:
    """Scale both axes to what is drawn, and name values that have room beside each other."""
    axes.set_xscale(chart.x_scale)
    _scale_x(axes, chart)
    if chart.y_scale == "log":
        _scale_log_y(axes, chart)
    else:
        _start_at_zero(axes, chart)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=PALE, linewidth=0.5)


def _scale_x(axes: Any, chart: Chart) -> None:
    from matplotlib.ticker import MaxNLocator

    xs, log = chart.xs(), chart.x_scale == "log"
    if len(xs) == 1:
        axes.set_xlim(*((xs[0] / 2, xs[0] * 2) if log else (xs[0] - 1, xs[0] + 1)))
    words = power_words(xs) if log else _plain
    ticks = _with_room(xs, words, log=log)
    if len(ticks) == len(xs) or log:
        axes.set_xticks(ticks, [words(x) for x in ticks])
        axes.set_xticks([], minor=True)
    elif all(x == round(x) for x in xs):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _scale_log_y(axes: Any, chart: Chart) -> None:
    low, high = spread(map(math.log10, chart.values()))
    margin = MARGIN * (high - low)
    bottom, top = 10 ** (low - margin), 10 ** (high + margin)
    axes.set_yscale("log")
    axes.set_ylim(bottom, top)
    steps = log_steps(bottom, top, Y_STEPS)
    words = power_words(steps)
    axes.set_yticks(steps, [words(step) for step in steps])
    axes.set_yticks([], minor=True)


def _start_at_zero(axes: Any, chart: Chart) -> None:
    low, high = min(chart.values()), max(chart.values())
    if 0 <= low <= FROM_ZERO * high and high > 0:
        axes.set_ylim(0, (1 + MARGIN) * high)


def _with_room(xs: Sequence[float], words: Callable[[float], str], *, log: bool) -> list[float]:
    """The values whose labels have room: all, every second … where they are evenly apart, or some.

    >>> _with_room([1.0, 2.0, 3.0, 4.0], _plain, log=False)
    [1.0, 2.0, 3.0, 4.0]
    >>> _with_room([10.0**k for k in range(15)], power_words([1e14]), log=True)[-2:]
    [1000000000000.0, 100000000000000.0]
    """
    places = [math.log(x) if log else x for x in xs]
    gaps = [b - a for a, b in pairwise(places)]
    even = max(gaps, default=0.0) <= 1.001 * min(gaps, default=0.0)
    for step in range(1, len(xs) // 2 + 1 if even else 2):
        if len(_told_apart(xs[::step], words, log=log)) == len(xs[::step]):
            return list(xs[::step])
    return _told_apart(xs, words, log=log)


def _told_apart(xs: Sequence[float], words: Callable[[float], str], *, log: bool) -> list[float]:
    places = [math.log(x) if log else x for x in xs]
    room = (places[-1] - places[0]) or 1.0
    kept = [0]
    for i in range(1, len(xs)):
        letters = (len(words(xs[i])) + len(words(xs[kept[-1]]))) / 2
        if (places[i] - places[kept[-1]]) / room > 0.025 * (letters + 1):
            kept.append(i)
    return [xs[i] for i in kept]


def _plain(value: float) -> str:
    return f"{value:g}"
