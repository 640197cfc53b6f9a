"""`sottovoce compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

import sottovoce
from sottovoce.api.compare import Comparison
from sottovoce.cli import console, options
from sottovoce.cli.console import interval_words
from sottovoce.errors import UsageError


def compare(
    answers: options.AnswersArgument,
    gold: options.KnownGoldOption = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="Compare only these: repeat the option, or write majority-vote,dawid-skene.",
            show_default=False,
        ),
    ] = None,
    columns: options.ColumnsOption = None,
    gold_columns: options.GoldColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = "first",
    bad_rows: options.BadRowsOption = "error",
    format: options.FormatOption = None,
    json: options.JsonOption = False,
) -> None:
    """Score every suitable method on ANSWERS against GOLD, best first."""
    known = gold or (answers if answers.startswith("dataset:") else None)
    if known is None:
        raise UsageError("compare needs --gold TABLE, with columns task and truth")
    table = console.read_table(answers, options.reading(columns, domain, repeats, bad_rows, format))
    rows = sottovoce.compare(
        table,
        known,
        [name.strip() for text in method for name in text.split(",")] if method else None,
        gold_columns=options.pairs(gold_columns, "--gold-columns"),
    )
    console.notes_of(table.reading)
    console.note_of_simulation(table.simulated)
    if json:
        console.print_json(
            {
                "tasks": len(table.tasks),
                "workers": len(table.workers),
                "answers": len(table),
                "methods": [
                    {
                        "method": row.method,
                        "rounds": row.result.rounds,
                        "converged": row.result.converged,
                        "score": row.score.as_dict(),
                    }
                    for row in rows
                ],
            }
        )
        return
    console.note(
        f"{len(table.tasks):,} tasks, {len(table.workers):,} workers, {len(table):,} answers; "
        f"{rows[0].score.tasks:,} gold tasks; 95 % bootstrap intervals over tasks"
    )
    print_comparison(rows)


def print_comparison(rows: Sequence[Comparison]) -> None:
    """Methods and their scores as a table."""
    labels = rows[0].score.accuracy is not None
    shown = []
    for row in rows:
        score, result = row.score, row.result
        main = [f"{score.accuracy:.4f}"] if labels else [f"{score.mae:.4g}"]
        rest = [] if labels else [f"{score.rmse:.4g}"]
        interval = interval_words(score)
        rounds = str(result.rounds) + ("" if result.converged else " (limit)")
        shown.append([row.method, *main, interval, *rest, rounds])
    heads = ["accuracy", "interval"] if labels else ["MAE", "interval", "RMSE"]
    console.print_table(["method", *heads, "rounds"], shown)
