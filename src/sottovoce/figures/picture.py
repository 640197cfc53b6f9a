"""A chart as a picture: self-contained SVG text, or a file.

It is drawn on a matplotlib figure: title, axes, legend and note, one below the other.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.figures.canvas import (
    PALE,
    SOFT,
    blank_figure,
    check_matplotlib,
    draw_series,
    scale_axes,
)
from sottovoce.figures.chart import Chart
from sottovoce.figures.number_format import words_for
from sottovoce.files.atomic_output import check_target, new_file

WIDTH, AXES = 403.0, 235.0
"""In points. Narrow, so that letters stay legible where a phone shrinks the picture."""

GAP, MARGIN = 8.0, 4.0

LEVEL_WIDTH = 84.0

KEY = 56.0
"""The width of a legend's line with its margins."""

ENDINGS = (".svg", ".png")

# Neither a date nor a version of matplotlib: the same chart is the same text.
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def svg(chart: Chart) -> str:
    """One `<svg>` element, the same for the same chart; letters are shapes, no font is needed."""
    return svg_of(partial(drawn, chart))


def svg_of(drawing: Callable[[], AbstractContextManager[Any]]) -> str:
    """One `<svg>` element of a figure that a context gives."""
    text = io.StringIO()
    with drawing() as figure:
        figure.savefig(text, format="svg", metadata=_NO_METADATA, facecolor="white")
    element = text.getvalue().partition("<svg")[1:]
    # Comments repeat every text that is drawn; they would only repeat it unseen.
    return re.sub(r"<!--.*?-->\s*", "", "".join(element), flags=re.DOTALL).strip() + "\n"


def check_picture(path: Path, *, force: bool = False) -> None:
    """Check early that a picture can be drawn and saved."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path} is no picture: end its name in {' or '.join(ENDINGS)}")
    check_matplotlib()
    check_target(path, force=force)


def save(chart: Chart, path: Path, *, force: bool = False) -> None:
    """Draw the chart into a file, SVG or PNG by its ending; whole or not at all."""
    save_figure(partial(drawn, chart), path, force=force)


def save_figure(
    drawing: Callable[[], AbstractContextManager[Any]], path: Path, *, force: bool = False
) -> None:
    """Save a figure that a context gives, SVG or PNG by the path's ending; whole or not at all."""
    check_picture(path, force=force)
    with new_file(path, force=force) as temporary:
        if path.suffix.lower() == ".svg":
            temporary.write_text(svg_of(drawing), encoding="utf-8")
            return
        with drawing() as figure:
            figure.savefig(temporary, format="png", dpi=200, metadata={"Software": None})


@contextmanager
def drawn(chart: Chart) -> Iterator[Any]:
    """The finished figure; save it inside the block."""
    with blank_figure(WIDTH / 72, 1, dpi=72) as figure:  # at 72 dpi a pixel is a point
        axes = figure.subplots()
        handles = draw_series(axes, chart)
        _label_axes(axes, chart)
        labels = _draw_levels(axes, chart)
        _stack(figure, chart, handles)
        _part_labels(figure, axes, labels)
        yield figure


def _draw_levels(axes: Any, chart: Chart) -> list[Any]:
    """Dashed lines; their labels stand at the right, where no series runs."""
    words = words_for(chart.values(), log=chart.y_scale == "log")
    labels = []
    for level in chart.levels:
        axes.axhline(level.y, color=SOFT, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        label = axes.annotate(
            _wrapped(f"{level.name} {_short(words(level.y))}", LEVEL_WIDTH, 8),
            (1, level.y),
            xycoords=axes.get_yaxis_transform(),
            xytext=(GAP, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=SOFT,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": PALE,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )
        labels.append(label)
    return labels


def _short(number: str) -> str:
    """A number without zeros that say nothing: a label stands alone.

    >>> _short("20.00"), _short("0.510"), _short("1e-10"), _short("200")
    ('20', '0.51', '1e-10', '200')
    """
    return number.rstrip("0").rstrip(".") if "." in number and "e" not in number else number


def _label_axes(axes: Any, chart: Chart) -> None:
    scale_axes(axes, chart)
    axes.set_xlabel(_wrapped(chart.x_label, WIDTH * 0.7, 10))
    # Which way is better is not torn apart: no-break spaces.
    better = f"({chart.better} is better)"
    words = chart.y_words().replace(better, better.replace(" ", "\N{NO-BREAK SPACE}"))
    axes.set_ylabel(_wrapped(words, AXES * 0.75, 10))


def _stack(figure: Any, chart: Chart, handles: Sequence[Any]) -> None:
    """Put title, axes, legend and note below each other, and size the figure to them."""
    parts = [_title(figure, chart), None, _legend(figure, chart, handles), *_note(figure, chart)]
    heights = [part.get_window_extent().height if part else AXES for part in parts]
    total = sum(heights) + GAP * (len(parts) - 1) + 2 * MARGIN
    figure.set_size_inches(WIDTH / 72, total / 72)
    top = total - MARGIN
    for part, height in zip(parts, heights, strict=True):
        if part is None:
            figure.get_layout_engine().set(rect=(0, (top - height) / total, 1, height / total))
        else:
            part.set_in_layout(False)  # else the axes would make room for it a second time
            _move(part, MARGIN / WIDTH, top / total)
        top -= height + GAP


def _move(part: Any, left: float, top: float) -> None:
    if hasattr(part, "set_bbox_to_anchor"):  # a legend
        part.set_bbox_to_anchor((left, top))
    else:
        part.set_position((left, top))


def _title(figure: Any, chart: Chart) -> Any:
    words = _wrapped(chart.title, WIDTH - 3 * MARGIN, 11, bold=True)
    return figure.text(0, 0, words, fontsize=11, fontweight="bold", va="top")


def _note(figure: Any, chart: Chart) -> list[Any]:
    if not chart.note:
        return []
    words = _wrapped(chart.note, WIDTH - 3 * MARGIN, 8)
    return [figure.text(0, 0, words, fontsize=8, color=SOFT, va="top", linespacing=1.35)]


def _legend(figure: Any, chart: Chart, handles: Sequence[Any]) -> Any:
    columns = 2 if all(_width(s.name, 9) < WIDTH / 2 - KEY for s in chart.series) else 1
    names = [_wrapped(series.name, WIDTH / columns - KEY, 9) for series in chart.series]
    return figure.legend(
        handles,
        names,
        loc="upper left",
        ncols=columns,
        fontsize=9,
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        handlelength=3.2,
        columnspacing=1.2,
        labelspacing=0.45,
    )


def _part_labels(figure: Any, axes: Any, labels: Sequence[Any]) -> None:
    """Move the labels of levels that lie close together apart; a thin line leads to each."""
    figure.draw_without_rendering()
    if not labels:
        return
    bottom, room = axes.bbox.y0, axes.bbox.height
    order = sorted(labels, key=lambda label: float(label.xy[1]))
    wanted = [float(axes.transData.transform((1, label.xy[1]))[1]) - bottom for label in order]
    heights = [label.get_window_extent().height + 2 for label in order]
    for label, old, new in zip(order, wanted, _parted(wanted, heights, room), strict=True):
        label.xyann = (GAP + 6, new - old)


def _parted(wanted: Sequence[float], heights: Sequence[float], room: float) -> list[float]:
    """Centres from below as near to the wanted as heights allow, below `room` where they fit."""
    gaps = [(low + high) / 2 for low, high in pairwise(heights)]
    centers = list(wanted)
    for i, gap in enumerate(gaps):
        centers[i + 1] = max(centers[i + 1], centers[i] + gap)
    centers[-1] = min(centers[-1], max(room, wanted[-1]))
    for i in reversed(range(len(gaps))):
        centers[i] = min(centers[i], centers[i + 1] - gaps[i])
    return centers


def _wrapped(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """The text in lines of at most `width` points, measured in the font."""
    most = min(len(text), 4 + math.ceil(len(text) * width / _width(text, size, bold=bold)))
    while True:
        lines = textwrap.wrap(text, most)
        if most == 1 or all(_width(line, size, bold=bold) <= width for line in lines):
            return "\n".join(lines)
        most -= 1


def _width(text: str, size: float, *, bold: bool = False) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return max(1.0, float(text_to_path.get_text_width_height_descent(text, font, False)[0]))
