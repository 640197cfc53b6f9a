"""A chart in plain text, for terminals.

Each x has a group of rows, one for each series, all on one horizontal axis of values:

    epsilon 1                    ┆
      ours            ├───●──┤   ┆   0.812
      theirs      ├──○───┤       ┆   0.704
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from sottovoce.figures.chart import Chart, Point, Role
from sottovoce.figures.number_format import round_steps, spread, words_for

NARROWEST = 40
"""With fewer columns than this there is no room for a name, a strip and a number."""

MARKS: dict[Role, str] = {"ours": "●", "theirs": "○", "reference": "◇"}
LEVELS = "┆╎┊"
INDENT = 2


@dataclass(frozen=True, slots=True)
class _Columns:
    """The widths of the parts, and the scale of the strip."""

    name: int
    strip: int
    number: int
    low: float
    high: float
    log: bool

    @property
    def left(self) -> int:
        """The column the strip starts in."""
        return INDENT + self.name + 1

    def place(self, value: float) -> int:
        """The column of a value, within the strip."""
        value = math.log10(value) if self.log else value
        return round((value - self.low) / (self.high - self.low) * (self.strip - 1))

    def steps(self, most: int) -> list[tuple[float, str]]:
        """At most `most` values at the axis, and their texts: powers of ten if it is `log`."""
        steps = round_steps(self.low, self.high, most)
        if not self.log:
            return steps
        return [(10.0**power, f"1e{power:.0f}") for power, _ in steps if power == round(power)]


def text_chart(chart: Chart, width: int = 80) -> str:
    """The chart as lines of at most `width` columns (40 where `width` is less)."""
    width = max(width, NARROWEST)
    columns = _columns(chart, width)
    lines = [
        *textwrap.wrap(chart.title, width),
        "",
        *_groups(chart, columns),
        *_axis(chart, columns, width),
        *_legend(chart, columns, width),
    ]
    return "\n".join(_cut(line, width) for line in lines)


def _columns(chart: Chart, width: int) -> _Columns:
    words = _words(chart)
    number = max(len(words(y)) for series in chart.series for y in series.y)
    longest = max(cell_len(series.name) for series in chart.series)
    name = min(longest, 2 * (width - INDENT - number) // 5)
    strip = width - INDENT - name - number - 2
    log = chart.y_scale == "log"
    values = map(math.log10, chart.values()) if log else chart.values()
    return _Columns(name, strip, number, *spread(values), log)


def _words(chart: Chart) -> Callable[[float], str]:
    return words_for(chart.values(), log=chart.y_scale == "log")


def _groups(chart: Chart, columns: _Columns) -> Iterator[str]:
    words = _words(chart)
    rows = [
        (set_cell_size(name, columns.name), MARKS[series.role], {p.x: p for p in series.points()})
        for name, series in zip(_names(chart, columns.name), chart.series, strict=True)
    ]
    for x in chart.xs():
        yield _heading(x, chart, columns)
        for name, mark, points in rows:
            if x in points:
                strip = _strip(points[x], mark, chart, columns)
                yield f"{' ' * INDENT}{name} {strip} {words(points[x].y):>{columns.number}}"


def _names(chart: Chart, width: int) -> list[str]:
    """The names as far as they fit; numbered where two of them would look the same."""
    short = [_shortened(series.name, width) for series in chart.series]
    if len(set(short)) == len(short):
        return short
    return [_shortened(f"{i}. {series.name}", width) for i, series in enumerate(chart.series, 1)]


def _heading(x: float, chart: Chart, columns: _Columns) -> str:
    """The line above a group: its x value, with the levels running on behind it."""
    line = " " * columns.left + "".join(_empty_strip(chart, columns))
    text = f"{_shortened(chart.x_label, len(line) - 14)} {x:g} "
    return f"{text}{line[cell_len(text) :]}".rstrip()


def _empty_strip(chart: Chart, columns: _Columns) -> list[str]:
    cells = [" "] * columns.strip
    for number, level in enumerate(chart.levels):
        cells[columns.place(level.y)] = LEVELS[number % len(LEVELS)]
    return cells


def _strip(point: Point, mark: str, chart: Chart, columns: _Columns) -> str:
    cells = _empty_strip(chart, columns)
    if point.low is not None and point.high is not None:
        first, last = columns.place(point.low), columns.place(point.high)
        cells[first : last + 1] = "─" * (last + 1 - first)
        if first < last:
            cells[first], cells[last] = "├", "┤"
    cells[columns.place(point.y)] = mark
    return "".join(cells)


def _axis(chart: Chart, columns: _Columns, width: int) -> Iterator[str]:
    line, labels = ["─"] * columns.strip, ""
    for value, words in columns.steps(max(4, columns.strip // 6)):
        place = columns.place(value)
        line[place] = "┴"
        start = min(columns.left + place - len(words) // 2, width - len(words))
        if not labels or start > len(labels):
            labels = labels.ljust(start) + words
    yield " " * columns.left + "".join(line)
    yield labels
    title = chart.y_words()
    indent = " " * max(0, min(columns.left, width - cell_len(title)))
    yield from textwrap.wrap(title, width, initial_indent=indent)


def _legend(chart: Chart, columns: _Columns, width: int) -> Iterator[str]:
    """Lines below the drawing: levels, shortened names, the note."""
    words = _words(chart)
    levels = [
        f"{LEVELS[number % len(LEVELS)]} {level.name}: {words(level.y)}"
        for number, level in enumerate(chart.levels)
    ]
    names = [
        f"{MARKS[series.role]} {name} = {series.name}"
        for name, series in zip(_names(chart, columns.name), chart.series, strict=True)
        if name != series.name
    ]
    for part in (levels, names, [chart.note] if chart.note else []):
        if part:
            yield ""
            yield from _wrapped(part, width, indent="" if part == [chart.note] else "  ")


def _wrapped(texts: Sequence[str], width: int, *, indent: str) -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(text, width, subsequent_indent=indent)


def _shortened(text: str, width: int) -> str:
    """The text, its middle left out where it is too long: names often differ at their ends."""
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    head = set_cell_size(text, width - 1 - tail)
    return f"{head}…{set_cell_size(text[::-1], tail)[::-1]}"


def _cut(line: str, width: int) -> str:
    """The line without what wide characters, which wrapping counts as one, put beyond the edge."""
    return line if cell_len(line) <= width else set_cell_size(line, width).rstrip()
