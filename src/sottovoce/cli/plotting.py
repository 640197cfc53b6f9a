"""Static pictures, with matplotlib (extra `plots`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.cli import screen
from sottovoce.errors import NotInstalled
from sottovoce.figures.canvas import ACCENT, INK, PALE, blank_figure, check_matplotlib
from sottovoce.files.atomic_output import new_file
from sottovoce.inference.registry import estimates_accuracy

if TYPE_CHECKING:
    from sottovoce.api.compare import Comparison
    from sottovoce.model import FloatArray

__all__ = ["can_plot", "demo_plot"]


def can_plot(path: Path) -> bool:
    """Whether a picture can be drawn; one line says so where it is left out."""
    try:
        check_matplotlib()
    except NotInstalled as missing:
        screen.note(f"skipped {path}: {missing}")
        return False
    return True


def demo_plot(rows: Sequence[Comparison], abilities: FloatArray, path: Path) -> None:
    """Accuracy by method with intervals, and the best method's weights beside the truth."""
    with blank_figure(11, 4.6) as figure, new_file(path, force=True) as temporary:
        left, right = figure.subplots(1, 2)
        _draw_scores(left, rows)
        _draw_weights(right, rows, abilities)
        figure.savefig(temporary, dpi=150, format="png")


def _draw_scores(axes: Any, rows: Sequence[Comparison]) -> None:
    for height, row in enumerate(reversed(rows)):
        score, best = row.score, row is rows[0]
        color = ACCENT if best else INK
        axes.plot([score.low, score.high], [height, height], color=color, alpha=0.45, linewidth=4)
        axes.plot(score.accuracy, height, "o", color=color, markersize=7)
        axes.annotate(
            f"{score.accuracy:.3f}", (score.accuracy, height), xytext=(0, 7),
            textcoords="offset points", ha="center", fontsize=8, color=color,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [row.method for row in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.2)
    axes.grid(axis="x", color=PALE, linewidth=0.5)
    axes.set_xlabel("accuracy against gold (bars: 95 % bootstrap interval)")
    axes.set_title("How often each method finds the truth", loc="left")


def _draw_weights(axes: Any, rows: Sequence[Comparison], abilities: FloatArray) -> None:
    row = next((r for r in rows if estimates_accuracy(r.method)), rows[0])
    workers = np.asarray(row.result.workers).astype(np.int64)
    axes.plot([0.2, 1], [0.2, 1], color=PALE, linewidth=1, zorder=0)
    axes.plot(abilities[workers], row.result.weights, "o", color=INK, alpha=0.7, markersize=5)
    axes.set_xlabel("true accuracy of the worker (simulated)")
    axes.set_ylabel(f"weight by {row.method}")
    axes.set_title("What it learns about each worker, without gold", loc="left")
