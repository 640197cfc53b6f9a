"""`sottovoce simulate`: the whole of inference on a simulated campaign, in a few seconds.

The picture needs matplotlib (extra `plots`).
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import sottovoce
from sottovoce.api.compare import Comparison
from sottovoce.cli import console
from sottovoce.cli.comparison import print_comparison
from sottovoce.cli.options import ForceOption
from sottovoce.datasets import CategoricalCrowd, generate
from sottovoce.errors import NotInstalled
from sottovoce.figures.canvas import INK, PALE, blank_figure, check_matplotlib
from sottovoce.figures.plot import draw_scores
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.inference.majority_vote import MajorityVote
from sottovoce.inference.registry import estimates_accuracy
from sottovoce.model import FloatArray, Gold, Kind, Reports
from sottovoce.tables import write_tables

WORKERS, TASKS, REDUNDANCY = 60, 500, 7


def simulate(
    folder: Annotated[Path, typer.Option(help="Where the answers, gold and plot go.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option(help="The same seed gives the same campaign.")] = 7,
    force: ForceOption = False,
) -> None:
    """Simulate a campaign with spammers, infer its truths by several methods, and plot it.

    Writes answers.csv, truth.csv and demo.png; the answers are simulated.
    """
    crowd = CategoricalCrowd(
        workers=WORKERS,
        tasks=TASKS,
        labels=3,
        redundancy=REDUNDANCY,
        ability="spammers",
        share=0.4,
        difficulty=0.3,
        seed=seed,
    )
    picture = folder / "demo.png"
    plotted = can_plot(picture)
    if plotted and picture.exists():
        check_target(picture, force=force)
    answers, gold = generate(crowd)
    folder.mkdir(parents=True, exist_ok=True)
    _save(answers, gold, folder, force=force)
    typer.echo(
        f"A simulated campaign: {WORKERS} workers, 4 in 10 of them guessing, give {len(answers):,} "
        f"answers to {TASKS} tasks with {crowd.labels} labels.\n"
    )
    rows = sottovoce.compare(folder / "answers.csv", folder / "truth.csv", domain=Kind.CATEGORICAL)
    print_comparison(rows)
    best, vote = rows[0], next(row for row in rows if row.method == MajorityVote.name)
    wrong = [round((1 - float(row.score.accuracy or 0)) * row.score.tasks) for row in (vote, best)]
    typer.echo(f"Majority vote gets {wrong[0]} tasks wrong, {best.method} {wrong[1]}.")
    saved = f"{folder / 'answers.csv'} and {folder / 'truth.csv'}"
    if plotted:
        demo_plot(rows, crowd.abilities(), picture)
        saved = f"{folder / 'answers.csv'}, {folder / 'truth.csv'} and {picture}"
    files = f"{folder / 'answers.csv'} --gold {folder / 'truth.csv'}"
    typer.echo(f"\nSaved {saved}.")
    typer.echo(f"Try:  sottovoce infer {files} -m {best.method}")


def _save(answers: Reports, gold: Gold, folder: Path, *, force: bool) -> None:
    table = {
        "worker": answers.workers[answers.worker],
        "task": answers.tasks[answers.task],
        "answer": answers.value,
    }
    known = {"task": gold.tasks, "truth": gold.truths}
    files: dict[str | PathLike[str], dict[str, Any]]
    files = {folder / "answers.csv": table, folder / "truth.csv": known}
    write_tables(files, force=force)


def can_plot(path: Path) -> bool:
    """Whether a picture can be drawn; one line says so where it is left out."""
    try:
        check_matplotlib()
    except NotInstalled as missing:
        console.note(f"skipped {path}: {missing}")
        return False
    return True


def demo_plot(rows: Sequence[Comparison], abilities: FloatArray, path: Path) -> None:
    """Accuracy by method with intervals, and the best method's weights beside the truth."""
    with blank_figure(11, 4.6) as figure, new_file(path, force=True) as temporary:
        left, right = figure.subplots(1, 2)
        draw_scores(left, rows)
        _draw_weights(right, rows, abilities)
        figure.savefig(temporary, dpi=150, format="png")


def _draw_weights(axes: Any, rows: Sequence[Comparison], abilities: FloatArray) -> None:
    row = next((r for r in rows if estimates_accuracy(r.method)), rows[0])
    workers = np.asarray(row.result.workers).astype(np.int64)
    axes.plot([0.2, 1], [0.2, 1], color=PALE, linewidth=1, zorder=0)
    axes.plot(abilities[workers], row.result.weights, "o", color=INK, alpha=0.7, markersize=5)
    axes.set_xlabel("true accuracy of the worker (simulated)")
    axes.set_ylabel(f"weight by {row.method}")
    axes.set_title("What it learns about each worker, without gold", loc="left")
