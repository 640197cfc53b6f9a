"""`sottovoce simulate`: the whole of inference on a simulated campaign, in a few seconds."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce
from sottovoce.cli.comparing import print_comparison
from sottovoce.cli.options import ForceOption
from sottovoce.cli.plotting import can_plot, demo_plot
from sottovoce.datasets import CategoricalCrowd, generate
from sottovoce.files.atomic_output import check_target
from sottovoce.inference.majority_vote import MajorityVote
from sottovoce.model import Gold, Kind, Reports
from sottovoce.tables import write_tables

__all__ = ["simulate"]

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
        workers=WORKERS, tasks=TASKS, labels=3, redundancy=REDUNDANCY,
        ability="spammers", share=0.4, difficulty=0.3, seed=seed,
    )  # fmt: skip
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
