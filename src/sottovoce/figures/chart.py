"""Chart: title, axes, series and bands, independent of rendering."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from sottovoce.errors import UsageError

Role = Literal["ours", "theirs", "reference"]
Better = Literal["higher", "lower", "neither"]
Scale = Literal["linear", "log"]
Style = Literal["lines", "bars"]

LARGEST = 1e150
"""Beyond this the distance of two values might overflow."""


class Point(NamedTuple):
    """One value of a series, with its band where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one method, with a band around each or around none.

    >>> Series("ours", (2.0, 1.0), (0.9, 0.8)).points()[0]
    Point(x=1.0, y=0.8, low=None, high=None)
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    role: Role = "theirs"

    def __post_init__(self) -> None:
        _check_text("the name of a series", self.name)
        _check_choice("role", self.role, get_args(Role))
        what = f"series {self.name!r}"
        if not self.x:
            raise UsageError(f"{what} has no values: give one for each x")
        if (self.low is None) != (self.high is None):
            raise UsageError(f"{what} has half a band: give both low and high, or neither")
        for column, values in (
            ("x", self.x),
            ("y", self.y),
            ("low", self.low),
            ("high", self.high),
        ):
            _check_values(f"{column} of {what}", self.x if values is None else values, len(self.x))
        if len(set(self.x)) < len(self.x):
            raise UsageError(f"{what} has two values at the same x: give one for each x")
        if any(low > high for low, high in zip(self.low or (), self.high or (), strict=True)):
            raise UsageError(f"{what} has a band whose low end is above its high end")

    def points(self) -> tuple[Point, ...]:
        """The values, in the order of x."""
        lows, highs = self.low or (None,) * len(self.x), self.high or (None,) * len(self.x)
        return tuple(sorted(map(Point, self.x, self.y, lows, highs)))


@dataclass(frozen=True, slots=True)
class Level:
    """A baseline that is the same at every x, such as the best constant."""

    name: str
    y: float

    def __post_init__(self) -> None:
        _check_text("the name of a level", self.name)
        _check_values(f"y of level {self.name!r}", (self.y,), 1)


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over a common x, with the levels they are to be compared to.

    Lines show how something changes with x; bars, how something is distributed over few of them.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    levels: tuple[Level, ...] = ()
    note: str = ""
    better: Better = "higher"
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    style: Style = "lines"

    def __post_init__(self) -> None:
        for field in ("title", "x_label", "y_label"):
            _check_text(f"the chart's {field}", getattr(self, field))
        if self.note:
            _check_text("the chart's note", self.note)
        _check_choice("better", self.better, get_args(Better))
        _check_choice("x_scale", self.x_scale, get_args(Scale))
        _check_choice("y_scale", self.y_scale, get_args(Scale))
        _check_choice("style", self.style, get_args(Style))
        if self.style == "bars" and "log" in (self.x_scale, self.y_scale):
            raise UsageError("bars stand on linear axes: draw lines, or leave the scales linear")
        if not self.series:
            raise UsageError(f"chart {self.title!r} has no series: give at least one")
        names = [series.name for series in self.series]
        if len(set(names)) < len(names):
            raise UsageError(f"chart {self.title!r} has two series of one name: rename one")
        if self.x_scale == "log" and self.xs()[0] <= 0:
            raise UsageError(f"a logarithmic x starts above 0, not at {self.xs()[0]:g}")
        if self.y_scale == "log" and min(self.values()) <= 0:
            raise UsageError(f"a logarithmic y starts above 0, not at {min(self.values()):g}")

    def xs(self) -> tuple[float, ...]:
        """Every x of any series, in order."""
        return tuple(sorted({x for series in self.series for x in series.x}))

    def values(self) -> Iterator[float]:
        """Everything that has a place on the y axis: means, bands and levels."""
        for series in self.series:
            yield from (*series.y, *(series.low or ()), *(series.high or ()))
        yield from (level.y for level in self.levels)

    def y_words(self) -> str:
        """The label of the y axis, and which way is better, if any."""
        if self.better == "neither":
            return self.y_label
        return f"{self.y_label} ({self.better} is better)"


def _check_text(what: str, text: str) -> None:
    """Refuse what would tear a line apart: line breaks, controls, marks that turn its direction."""
    if not text.strip() or not text.isprintable():
        raise UsageError(f"{what} must be one line of printable text, not {text!r}")


def _check_choice(field: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"{field} must be one of {', '.join(choices)}, not {value!r}")


def _check_values(what: str, values: tuple[float, ...], count: int) -> None:
    if len(values) != count:
        raise UsageError(f"{what} has {len(values)} values for {count} x: give one for each")
    if not all(math.isfinite(value) and abs(value) <= LARGEST for value in values):
        raise UsageError(f"{what} must be finite and at most {LARGEST:g} in size: leave others out")
