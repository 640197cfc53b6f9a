"""`sottovoce demo`: the whole of inference on a simulated campaign, in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.comparing import print_comparison

if TYPE_CHECKING:
    from sottovoce.model import Gold, Reports

__all__ = ["demo"]

WORKERS, TASKS, REDUNDANCY = 60, 500, 7


def demo(
    folder: Annotated[Path, typer.Option(help="Where the answers, gold and plot go.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option(help="The same seed gives the same campaign.")] = 7,
) -> None:
    """Simulate a campaign with spammers, infer its truths by several methods, and plot it.

    Writes answers.csv, gold.csv and demo.png; the answers are simulated.
    """
    import sottovoce
    from sottovoce.cli import plotting
    from sottovoce.datasets import CategoricalCrowd, generate
    from sottovoce.model import Kind

    crowd = CategoricalCrowd(
        workers=WORKERS, tasks=TASKS, labels=3, redundancy=REDUNDANCY,
        ability="spammers", share=0.4, difficulty=0.3, seed=seed,
    )  # fmt: skip
    answers, gold = generate(crowd)
    folder.mkdir(parents=True, exist_ok=True)
    _save(answers, gold, folder)
    typer.echo(
        f"A simulated campaign: {WORKERS} workers, 4 in 10 of them guessing, give {len(answers):,} "
        f"answers to {TASKS} tasks with {crowd.labels} labels.\n"
    )
    rows = sottovoce.compare(folder / "answers.csv", folder / "gold.csv", domain=Kind.CATEGORICAL)
    print_comparison(rows)
    best, vote = rows[0], next(row for row in rows if row.method == "majority-vote")
    wrong = [round((1 - float(row.score.accuracy or 0)) * row.score.tasks) for row in (vote, best)]
    typer.echo(f"Majority vote gets {wrong[0]} tasks wrong, {best.method} {wrong[1]}.")
    picture = plotting.demo_plot(rows, crowd.abilities(), folder / "demo.png")
    typer.echo(f"\nSaved {folder / 'answers.csv'}, {folder / 'gold.csv'} and {picture}.")
    typer.echo(f"Try:  sottovoce infer {folder / 'answers.csv'} --gold {folder / 'gold.csv'}")


def _save(answers: Reports, gold: Gold, folder: Path) -> None:
    from sottovoce.stores import write_columns

    table = {
        "worker": answers.workers[answers.worker],
        "task": answers.tasks[answers.task],
        "answer": answers.value,
    }
    write_columns(table, folder / "answers.csv", force=True)
    write_columns({"task": gold.tasks, "truth": gold.truths}, folder / "gold.csv", force=True)
