"""`sottovoce tradeoff`: the cost of privacy on a table, as rows, chart, page or JSON."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.cli.command_classes import EpsilonsOption, epsilons
from sottovoce.cli.simulation import can_plot
from sottovoce.errors import UsageError
from sottovoce.figures import (
    Block,
    Chart,
    Figure,
    Level,
    Paragraph,
    Series,
    Table,
    check_page,
    check_picture,
    save,
    text_chart,
    write_page,
)
from sottovoce.model import Domain, Kind, Reports
from sottovoce.model.guarantee import rounded_up
from sottovoce.planning.tradeoff import CLEAN, CONSTANT, Tradeoff, TradeoffRow, within_range
from sottovoce.planning.tradeoff import tradeoff as traded
from sottovoce.planning.trial_runner import default_jobs
from sottovoce.tables import check_path, parse_domain, write_columns

OURS = "recommended"

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
    epsilon: EpsilonsOption = None,
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
    repeats: options.RepeatsOption = options.Repeats.first,
    bad_rows: options.BadRowsOption = options.BadRows.error,
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
        write_page(title(source), blocks(found, source), html, force=force)
    if plot is not None:
        save(chart(found, source), plot, force=force)


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
    console.note(words(found))
    console.print_table(heads(found), rows(found))
    console.say(text_chart(chart(found, source), console.chart_width()))


def title(source: str) -> str:
    """The title of the page and the figure."""
    return f"Cost of privacy on {source if source != '-' else 'these answers'}"


def words(found: Tradeoff) -> str:
    """What all rows have in common, in one line."""
    unit = f"epsilon per {found.unit}"
    return (
        f"{found.scored:,} tasks with a known truth; up to {found.answers:,} reports per worker, "
        f"all observed together; {unit}; {found.trials} trials, seed {found.seed}, SIMULATED noise"
    )


def heads(found: Tradeoff) -> list[str]:
    """The column names of the table."""
    return ["epsilon", "pair", _measure(found), "s.e.", "90 % band", "true epsilon", ""]


def rows(found: Tradeoff) -> list[list[str]]:
    """The table: a row per pair and epsilon, then the rows without noise."""
    shown = [_shown(row, found) for row in found.rows]
    for name, value in ((_clean(found), found.clean), (CONSTANT, found.constant)):
        shown.append(["-", name, _number(value, found), "", "", "", ""])
    return shown


def chart(found: Tradeoff, source: str) -> Chart:
    """The measure by epsilon: ours, the papers', clean answers and the best constant."""
    return Chart(
        title(source),
        f"epsilon per {found.unit}",
        "accuracy" if found.measure == "accuracy" else "mean absolute error",
        tuple(_series(found)),
        (Level(_clean(found), found.clean), Level(CONSTANT, found.constant)),
        note=" ".join(filter(None, [_note(found), *_weaker(found)])),
        better="higher" if found.measure == "accuracy" else "lower",
        x_scale="log" if len(found.recommended) > 2 else "linear",
    )


def blocks(found: Tradeoff, source: str) -> list[Block]:
    """The page: summary, figure and table."""
    named = tuple(head or "remark" for head in heads(found))
    return [
        Paragraph(_said(found)),
        Figure(chart(found, source), "Bands contain the middle 90 % of trials."),
        Table(named, tuple(tuple(row) for row in rows(found)), words(found)),
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


def _clean(found: Tradeoff) -> str:
    return f"{CLEAN}, {found.clean_method}"


def _measure(found: Tradeoff) -> str:
    return "accuracy" if found.measure == "accuracy" else "MAE"


def _shown(row: TradeoffRow, found: Tradeoff) -> list[str]:
    spread = row.spread
    band = f"{_number(spread.low, found)} to {_number(spread.high, found)}"
    held = rounded_up(row.true_epsilon, 4) if math.isfinite(row.true_epsilon) else "none"
    held += f", delta {row.delta:g}" if row.delta else ""
    remark = OURS if row.recommended else "as published" if row.pair.published else ""
    return [
        f"{row.epsilon:g}",
        row.name,
        _number(spread.mean, found),
        f"{spread.standard_error:.2g}",
        band,
        held,
        remark,
    ]


def _series(found: Tradeoff) -> list[Series]:
    by_name: dict[str, list[TradeoffRow]] = {}
    for row in found.rows:
        by_name.setdefault(OURS if row.recommended else row.name, []).append(row)
    return [
        Series(
            name,
            tuple(row.epsilon for row in rows),
            tuple(row.spread.mean for row in rows),
            tuple(row.spread.low for row in rows),
            tuple(row.spread.high for row in rows),
            "ours" if name == OURS else "theirs",
        )
        for name, rows in by_name.items()
    ]


def _note(found: Tradeoff) -> str:
    chosen = {e: row.name for e, row in found.recommended.items()}
    if not chosen:
        return ""
    if len({*chosen.values()}) == 1:
        return f"Recommended at every epsilon: {next(iter(chosen.values()))}."
    return f"Recommended: {'; '.join(f'{name} at {e:g}' for e, name in chosen.items())}."


def _weaker(found: Tradeoff) -> list[str]:
    """Remarks on pairs whose true epsilon is not the one at which they are drawn."""
    said = []
    for name in dict.fromkeys(row.name for row in found.rows):
        rows = [row for row in found.rows if row.name == name]
        held = [row.true_epsilon for row in rows]
        if rows[0].pair.published:
            ends = sorted({rounded_up(end, 4) for end in (min(held), max(held))}, key=float)
            said.append(f"The true epsilon of {name} is {' to '.join(ends)}, not the one shown.")
        elif any(row.delta > ours.delta for row in rows for ours in found.recommended.values()):
            said.append(f"{name} keeps the epsilon shown only with delta {rows[0].delta:g}.")
    return said


def _said(found: Tradeoff) -> str:
    return (
        f"Clean answers give {_measure(found)} {_number(found.clean, found)} "
        f"({found.clean_method}), the best "
        f"constant predictor {_number(found.constant, found)}. {_note(found)} It was chosen in "
        "a pilot round with other noise than the trials shown. The noise is simulated."
    )


def _number(value: float, found: Tradeoff) -> str:
    return f"{value:.4f}" if found.measure == "accuracy" else f"{value:.4g}"


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
