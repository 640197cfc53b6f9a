"""`sottovoce tradeoff`: the cost of privacy on a table, as rows, chart, page or JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.cli.command_classes import epsilons, epsilons_option
from sottovoce.cli.simulation import can_plot
from sottovoce.errors import UsageError
from sottovoce.figures import (
    Block,
    Figure,
    Paragraph,
    Table,
    check_page,
    check_picture,
    save,
    text_chart,
    write_page,
)
from sottovoce.figures.charts import tradeoff_chart
from sottovoce.model import Domain, Kind, Reports
from sottovoce.planning.tradeoff import (
    Tradeoff,
    measure_name,
    number_words,
    recommended_words,
    tradeoff_columns,
    tradeoff_rows,
    tradeoff_title,
    tradeoff_words,
    within_range,
)
from sottovoce.planning.tradeoff import tradeoff as traded
from sottovoce.planning.trial_runner import default_jobs
from sottovoce.tables import check_path, parse_domain, write_columns

USUAL = (0.5, 1.0, 2.0, 4.0)
"""The default epsilons, from strong to weak privacy."""

OutputOption = Annotated[
    Path | None,
    options.output_option("Write the rows to this .csv, .tsv, .jsonl or .parquet file."),
]
ClipOption = Annotated[bool, typer.Option("--clip", help="Clip numbers to the range.")]


def tradeoff(
    answers: options.AnswersArgument,
    gold: options.KnownGoldOption = None,
    epsilon: Annotated[list[str] | None, epsilons_option(USUAL)] = None,
    unit: options.UnitOption = options.Unit.answer,
    delta: options.DeltaOption = 0.0,
    hide_participation: options.HideOption = False,
    ways: options.WaysOption = options.Ways.any,
    trials: Annotated[int, typer.Option(help="Number of simulations per row.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 1,
    jobs: options.JobsOption = 0,
    output: OutputOption = None,
    html: options.HtmlOption = None,
    plot: Annotated[
        Path | None, options.file_option("Write the figure to this .svg or .png file.")
    ] = None,
    clip: ClipOption = False,
    columns: options.ColumnsOption = None,
    gold_columns: options.GoldColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = "first",
    bad_rows: options.BadRowsOption = "error",
    format: options.FormatOption = None,
    json: options.JsonOption = False,
    force: options.ForceOption = False,
) -> None:
    """Measure the accuracy cost of privacy on ANSWERS, scored against GOLD.

    Simulates noise at each epsilon. Compares the recommended pair of mechanism and inference with
    the papers' pipelines at the same guarantee, with clean answers, and with the best constant
    predictor. Bands contain the middle 90 % of trials.
    """
    wanted = epsilons(epsilon, USUAL)
    known = gold or (answers if answers.startswith("dataset:") else None)
    if known is None:
        raise UsageError("tradeoff needs --gold TABLE, with columns task and truth")
    plot = plot if plot is None or can_plot(plot) else None
    files = [(output, check_path), (html, check_page), (plot, check_picture)]
    console.check_outputs(files, force=force)
    table = _read(answers, domain, clip, options.reading(columns, None, repeats, bad_rows, format))
    named = options.pairs(gold_columns, "--gold-columns")
    truths = sottovoce.gold(known, table.domain, columns=named)
    with console.progress_bar("trials") as progress:
        found = traded(
            table,
            truths,
            wanted,
            unit=sottovoce.Unit(unit.value),
            delta=delta,
            hide_participation=hide_participation,
            ways=ways.value,
            trials=trials,
            seed=seed,
            jobs=jobs or default_jobs(),
            progress=progress,
        )
    _write(found, answers, output, html, plot, force=force)
    console.notes_of(table.reading)
    console.note_of_simulation(table.simulated)
    _print(found, answers, json=json)
    for path in filter(None, (output, html, plot)):
        console.note(f"wrote {path}")


def _write(
    found: Tradeoff,
    source: str,
    output: Path | None,
    html: Path | None,
    plot: Path | None,
    *,
    force: bool,
) -> None:
    if output is not None:
        write_columns(found.table(), output, force=force)
    if html is not None:
        write_page(tradeoff_title(source), blocks(found, source), html, force=force)
    if plot is not None:
        save(tradeoff_chart(found, source), plot, force=force)


def _read(source: str, domain: str | None, clip: bool, keywords: dict[str, Any]) -> Reports:
    """The answers; numbers have the stated range, regardless of the table."""
    stated: Domain | Kind | None = parse_domain(domain) if domain is not None else None
    ranged = isinstance(stated, Domain) and stated.is_numeric
    if clip and not ranged:
        raise UsageError("--clip needs a range: --domain numeric:LOW..HIGH")
    if stated is not None and not (ranged and source.startswith("dataset:")):
        keywords = {**keywords, "domain": Kind.NUMERIC if ranged else stated}
    with console.reading(source):
        table = sottovoce.read(source, **keywords)
    if ranged and isinstance(stated, Domain):
        return within_range(table, stated, clip=clip)
    if table.domain.size == 1 and not isinstance(stated, Domain):
        raise UsageError("only one label occurs in the answers: list all labels with --domain")
    return table


def _print(found: Tradeoff, source: str, *, json: bool) -> None:
    if json:
        console.print_json(summary(found))
        return
    console.note(tradeoff_words(found))
    console.print_table(tradeoff_columns(found), tradeoff_rows(found))
    console.say(text_chart(tradeoff_chart(found, source), console.chart_width()))


def blocks(found: Tradeoff, source: str) -> list[Block]:
    """The page: summary, figure and table."""
    named = tuple(head or "remark" for head in tradeoff_columns(found))
    return [
        Paragraph(_said(found)),
        Figure(tradeoff_chart(found, source), "Bands contain the middle 90 % of trials."),
        Table(named, tuple(tuple(row) for row in tradeoff_rows(found)), tradeoff_words(found)),
    ]


def summary(found: Tradeoff) -> dict[str, Any]:
    """The result as one JSON object."""
    table = found.table()
    records = [{name: _plain(table[name][i]) for name in table} for i in range(len(found.rows))]
    return {
        "measure": found.measure,
        "clean": found.clean,
        "clean_method": found.clean_method,
        "best_constant": found.constant,
        "unit": str(found.unit),
        "answers_of_a_worker": found.answers,
        "tasks": found.scored,
        "trials": found.trials,
        "seed": found.seed,
        "simulated": True,
        "recommended": {f"{e:g}": row.name for e, row in found.recommended.items()},
        "rows": records,
    }


def _said(found: Tradeoff) -> str:
    return (
        f"Clean answers give {measure_name(found)} {number_words(found.clean, found)} "
        f"({found.clean_method}), the best constant predictor "
        f"{number_words(found.constant, found)}. {recommended_words(found)} It was chosen by a "
        "pilot round whose noise is not that of the trials shown. The noise is simulated."
    )


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
