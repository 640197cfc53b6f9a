"""Matplotlib figures in the house style (extra `plots`): empty ones, their axes and series.

No pyplot: a separate figure changes no global setting, so drawing does not affect a program that
plots too. Axes decide where they start and which values are labelled. Series are lines with markers
and bands, or bars; they differ in more than colour.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sottovoce.errors import NotInstalled
from sottovoce.figures.chart import Chart, Series
from sottovoce.figures.number_format import log_steps, power_words, spread

INK, SOFT, ACCENT, PALE = "#22303c", "#5d6a74", "#c2553a", "#b8c4cc"

STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters everywhere
    "font.size": 10,
    "svg.fonttype": "path",  # letters as shapes: the picture needs no font to look as drawn
    "svg.hashsalt": "sottovoce",
    "text.color": INK,
    "text.parse_math": False,  # a dollar is a dollar
    "text.usetex": False,
    "xtick.color": INK,
    "ytick.color": INK,
}

FROM_ZERO = 0.5
"""An axis starts at 0 if the smallest value is at most this share of the largest."""

MARGIN = 0.05
"""Room beyond what is drawn, as a share of the axis."""

Y_STEPS = 8

# Okabe and Ito's colours, which the colour-blind tell apart; without yellow, too pale for a line.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

MARKERS = ("o", "s", "^", "D", "v", "P", "X")

DASHES: tuple[Any, ...] = (
    (0, (5, 2)),
    (0, (1.5, 1.5)),
    (0, (7, 2, 1.5, 2)),
    (0, (3, 1.5)),
    (0, (9, 2)),
    (0, (5, 1.5, 1.5, 1.5, 1.5, 1.5)),
)

REFERENCE_MARKERS = ("x", "+", "*", "1")

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")

MARKED = 16
"""The largest number of markers on a line."""

BARS = 0.8
"""The share of the distance between x values that bars take."""


def check_matplotlib() -> None:
    """Raise NotInstalled early if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401 - whether it is there is the question
    except ImportError:
        raise NotInstalled("matplotlib", purpose="a plot", extra="plots") from None


@contextmanager
def blank_figure(width: float, height: float, *, dpi: float = 100) -> Iterator[Any]:
    """An empty figure with a size in inches; draw and save it inside the block."""
    check_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Scripts that the font lacks are drawn as boxes; the same words are next to the picture.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def scale_axes(axes: Any, chart: Chart) -> None:
    """Scale both axes to what is drawn, and label the values that have room."""
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
        xs,
        [point.y for point in points],
        color=color,
        linestyle=stroke.dash,
        linewidth=2.4 if ours else 1.2 if stroke.is_reference else 1.6,
        marker=stroke.marker,
        markersize=6 if ours else 5,
        markevery=math.ceil(len(xs) / MARKED),
        markerfacecolor=color if ours else "white",
        zorder=4 if ours else 3,
        clip_on=False,  # a marker on the edge is drawn whole
    )
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
                centers,
                [point.y for point in points],
                width,
                color=filled,
                edgecolor=INK if stroke.is_reference else "white",
                linewidth=0.8,
                hatch=HATCHES[number % len(HATCHES)],
            )
        )
        if stroke.series.low is not None:
            lows, highs = [p.low for p in points], [p.high for p in points]
            axes.vlines(centers, lows, highs, color=INK, linewidth=1.2)
    return drawn
