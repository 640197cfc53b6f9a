"""`sottovoce tradeoff`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce
from sottovoce.cli import screen
from sottovoce.cli import tradeoff_views as views
from sottovoce.cli.epsilons import EpsilonsOption, epsilons
from sottovoce.cli.options import (
    AnswersArgument,
    BadRows,
    BadRowsOption,
    ColumnsOption,
    DeltaOption,
    DomainOption,
    ForceOption,
    FormatOption,
    GoldColumnsOption,
    HideOption,
    HtmlOption,
    JobsOption,
    JsonOption,
    KnownGoldOption,
    Repeats,
    RepeatsOption,
    Unit,
    UnitOption,
    Ways,
    WaysOption,
    output_option,
    pairs,
    reading,
)
from sottovoce.cli.plotting import can_plot
from sottovoce.errors import UsageError
from sottovoce.figures import check_page, check_picture, save, text_chart, write_page
from sottovoce.model import Domain, Kind, Reports
from sottovoce.planning.tradeoff import tradeoff as traded
from sottovoce.planning.tradeoff import within_range
from sottovoce.planning.trial_runner import default_jobs
from sottovoce.tables import check_path, parse_domain, write_columns

__all__ = ["tradeoff"]

USUAL = (0.5, 1.0, 2.0, 4.0)
"""Epsilons if none are given: from strong to weak."""


def tradeoff(
    answers: AnswersArgument,
    gold: KnownGoldOption = None,
    epsilon: EpsilonsOption = None,
    unit: UnitOption = Unit.answer,
    delta: DeltaOption = 0.0,
    hide_participation: HideOption = False,
    ways: WaysOption = Ways.any,
    trials: Annotated[int, typer.Option(help="How often noise is drawn for each row.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the noise.")] = 1,
    jobs: JobsOption = 0,
    output: Annotated[
        Path | None,
        output_option("Write rows here: .csv, .tsv, .jsonl or .parquet."),
    ] = None,
    html: HtmlOption = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the figure here: .svg or .png.")] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Move numbers outside the range to its ends.")
    ] = False,
    columns: ColumnsOption = None,
    gold_columns: GoldColumnsOption = None,
    domain: DomainOption = None,
    repeats: RepeatsOption = Repeats.first,
    bad_rows: BadRowsOption = BadRows.error,
    format: FormatOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Show what privacy would cost on ANSWERS, whose truths are in GOLD.

    Noise is simulated at each epsilon. The recommended pair of mechanism and inference is compared
    with the papers' pipelines at the same guarantee, with answers as they are, and with the best
    constant predictor. Bands hold the middle 90 % of trials.
    """
    wanted = epsilons(epsilon, USUAL)
    known = gold or (answers if answers.startswith("dataset:") else None)
    if known is None:
        raise UsageError("tradeoff needs --gold GOLD, a table with columns task and truth")
    if plot is not None and not can_plot(plot):
        plot = None
    _check_outputs(output, html, plot, force=force)
    table = _read(answers, domain, clip, reading(columns, None, repeats, bad_rows, format))
    truths = sottovoce.gold(known, table.domain, columns=pairs(gold_columns, "--gold-columns"))
    with screen.counted("trials") as progress:
        found = traded(
            table, truths, wanted, unit=sottovoce.Unit(unit.value), delta=delta,
            hide_participation=hide_participation, ways=ways.value, trials=trials, seed=seed,
            jobs=jobs or default_jobs(), progress=progress,
        )  # fmt: skip
    if output is not None:
        write_columns(found.table(), output, force=force)
    if html is not None:
        write_page(views.title(answers), views.blocks(found, answers), html, force=force)
    if plot is not None:
        save(views.chart(found, answers), plot, force=force)
    screen.notes_of(table.reading)
    screen.note_of_simulation(table.simulated)
    if json:
        screen.print_json(views.summary(found))
    else:
        screen.note(views.words(found))
        screen.print_table(views.columns(found), views.rows(found))
        width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
        screen.say(text_chart(views.chart(found, answers), min(width, 120)))
    for path in filter(None, (output, html, plot)):
        screen.note(f"wrote {path}")


def _check_outputs(
    output: Path | None, html: Path | None, plot: Path | None, *, force: bool
) -> None:
    """Refuse before the work, not after it."""
    checks: tuple[tuple[Path | None, Callable[..., None]], ...] = (
        (output, check_path), (html, check_page), (plot, check_picture),
    )  # fmt: skip
    places = [path.resolve() for path, _ in checks if path is not None]
    if len(set(places)) < len(places):
        raise UsageError("two outputs have the same name")
    for path, check in checks:
        if path is not None:
            check(path, force=force)


def _read(source: str, domain: str | None, clip: bool, options: dict[str, Any]) -> Reports:
    """The answers; numbers over the range that was stated, whatever the table says of it."""
    stated: Domain | Kind | None = parse_domain(domain) if domain is not None else None
    ranged = isinstance(stated, Domain) and stated.is_numeric
    if clip and not ranged:
        raise UsageError("--clip needs a range: --domain numeric:LOW..HIGH")
    if stated is not None and not (ranged and source.startswith("dataset:")):
        options = {**options, "domain": Kind.NUMERIC if ranged else stated}
    with screen.reading(source):
        table = sottovoce.read(source, **options)
    if ranged and isinstance(stated, Domain):
        return within_range(table, stated, clip=clip)
    if table.domain.size == 1 and not isinstance(stated, Domain):
        raise UsageError("only one label occurs in the answers: state all labels with --domain")
    return table
