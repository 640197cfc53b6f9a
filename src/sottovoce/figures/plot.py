"""plot: a picture of a result, a comparison, a plan or a tradeoff, shown by notebooks."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from sottovoce.api.compare import Comparison
from sottovoce.errors import UsageError
from sottovoce.figures.canvas import ACCENT, INK, PALE, blank_figure, check_matplotlib
from sottovoce.figures.charts import plan_chart, result_chart, tradeoff_chart
from sottovoce.figures.picture import drawn, save_figure, svg_of
from sottovoce.model import Result
from sottovoce.planning.plan import Plan
from sottovoce.planning.tradeoff import Tradeoff


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture that notebooks show; `save` writes it to a file.

    `figure` is a context manager that gives the matplotlib figure, to change it before saving.
    """

    title: str
    figure: Callable[[], AbstractContextManager[Any]] = field(repr=False)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the picture to a file, SVG or PNG by its ending; replace a file with `force`."""
        save_figure(self.figure, Path(path), force=force)

    def _repr_svg_(self) -> str:
        return svg_of(self.figure)

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        with self.figure() as figure:
            figure.savefig(picture, format="png", dpi=144)
        return picture.getvalue()


def plot(value: Result | Plan | Tradeoff | Sequence[Comparison]) -> Plot:
    """Draw a result, a plan, a tradeoff or what `compare` returns; notebooks show the picture.

    A result is drawn as tasks by confidence (numbers: by standard error); a comparison as the score
    of each method with its 95 % interval; a plan and a tradeoff as the score by epsilon. It needs
    matplotlib (extra `plots`).
    """
    check_matplotlib()
    match value:
        case Result():
            chart = result_chart(value)
        case Plan():
            chart = plan_chart(value)
        case Tradeoff():
            chart = tradeoff_chart(value)
        case [Comparison(), *_]:
            return Plot("Scores of methods", partial(_score_figure, value))
        case _:
            raise UsageError(
                "plot draws a Result, a Plan, a Tradeoff or what compare() returns, not "
                f"{type(value).__name__}"
            )
    return Plot(chart.title, partial(drawn, chart))


@contextmanager
def _score_figure(rows: Sequence[Comparison]) -> Iterator[Any]:
    with blank_figure(6.5, 1.4 + 0.34 * len(rows)) as figure:
        draw_scores(figure.subplots(), rows)
        yield figure


def draw_scores(axes: Any, rows: Sequence[Comparison]) -> None:
    """Draw the score of each method with its interval; the first is highlighted."""
    for height, row in enumerate(reversed(rows)):
        score, color = row.score, ACCENT if row is rows[0] else INK
        value = float(score.mae or 0.0) if score.accuracy is None else score.accuracy
        axes.plot([score.low, score.high], [height, height], color=color, alpha=0.45, linewidth=4)
        axes.plot(value, height, "o", color=color, markersize=7)
        axes.annotate(
            f"{value:.3g}" if score.accuracy is None else f"{value:.3f}",
            (value, height),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=color,
        )
    axes.set_yticks(range(len(rows)), [row.method for row in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.2)
    axes.grid(axis="x", color=PALE, linewidth=0.5)
    numeric = bool(rows) and rows[0].score.accuracy is None
    measure, better = ("mean absolute error", "lower") if numeric else ("accuracy", "higher")
    axes.set_xlabel(f"{measure} against gold ({better} is better; bars: 95 % bootstrap interval)")
    axes.set_title("Score of each method against gold", loc="left")
