"""`sottovoce campaign results` and `export`."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce
from sottovoce.cli import console
from sottovoce.cli.campaign.connection import CampaignArgument, connected
from sottovoce.cli.campaign.description import printable_line, summary_words
from sottovoce.cli.console import plural
from sottovoce.cli.options import (
    ForceOption,
    GoldColumnsOption,
    GoldOption,
    JsonOption,
    file_option,
    output_option,
    pairs,
)
from sottovoce.errors import DataError, UsageError
from sottovoce.files.atomic_output import check_target
from sottovoce.model import Score
from sottovoce.requester.client import Order, Requester
from sottovoce.requester.views import ResultsView
from sottovoce.tables.writers import csv_pieces

TABLES = ("reports", "truths", "workers", "totals")

FORMATS = ("csv", "jsonl", "parquet")

NAMES = (
    *(f"{table}.{format}" for table in TABLES for format in FORMATS),
    "crowdkit.csv",
    "tasks.csv",
    "policy.json",
)


def results(
    context: typer.Context,
    campaign: CampaignArgument,
    output: Annotated[
        Path | None, output_option("Write all truths to this .csv, .jsonl or .parquet file.")
    ] = None,
    weights: Annotated[
        Path | None,
        file_option("Write the workers' weights to this .csv, .jsonl or .parquet file."),
    ] = None,
    gold: GoldOption = None,
    gold_columns: GoldColumnsOption = None,
    sort: Annotated[
        Order, typer.Option(help="Order: that of the tasks, or least confident first.")
    ] = "place",
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Print the inferred truth of every task, from the reports received so far.

    A terminal shows the first tasks as a table; a pipe gets all tasks as CSV.
    """
    if output is not None and sort != "place":
        raise UsageError(
            "--output writes the order of the tasks: drop --sort, or drop --output and use a pipe"
        )
    wanted = _exports(output, weights, force=force)
    with connected(context, campaign) as requester:
        first = requester.results_page(campaign, limit=console.SHOWN, order=sort)
        words = summary_words(first["summary"], first["reports_waiting"])
        simulated = requester.campaign(campaign)["simulated"]
        if not first["total"] and (wanted or gold):
            raise DataError(f"campaign {campaign}: {words}")
        score = _score(requester, campaign, gold, gold_columns)
        for name, path in wanted.items():
            requester.export(campaign, name, path, force=force)
        if json:
            found = _found(requester, campaign, first, sort, score)
            console.print_json({"simulated": simulated, **found})
            return
        if output is None and first["total"]:
            _print(requester, campaign, first, sort)
    for path in wanted.values():
        console.note(f"wrote {path}")
    console.note(words)
    console.note_of_simulation(simulated)
    if score is not None:
        console.note(console.score_words(score))


def export(
    context: typer.Context,
    campaign: CampaignArgument,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="reports, truths, workers (the weights) or, for a sealed campaign, totals, each "
            "as .csv, .jsonl or .parquet; crowdkit.csv, tasks.csv or policy.json. Default: "
            "reports, in the format of --output.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[Path | None, output_option("Write to this file. Default: NAME.")] = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Do not escape CSV cells that a spreadsheet would run as a formula.",
        ),
    ] = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Download a campaign's reports, truths, weights, tasks or policy.

    The file appears only when the download is complete.
    """
    wanted = export_name(name, output)
    if output is not None:
        check_target(output, force=force)
    with connected(context, campaign) as requester:
        path = output or _own_name(requester, campaign, wanted)
        rows = requester.export(campaign, wanted, path, raw=raw, force=force)
    if json:
        console.print_json({"export": wanted, "file": str(path), "rows": rows})
        return
    console.note(f"wrote {path}" + ("" if rows is None else f": {plural(rows, 'row')}"))
    if wanted.startswith("reports."):
        console.note(
            f"next: sottovoce campaign export {campaign} policy.json; then sottovoce infer {path} "
            "--policy policy.json"
        )


def export_name(name: str | None, output: Path | None) -> str:
    """The export for a name, with or without its extension, and an output file.

    >>> export_name("truths", Path("today.parquet")), export_name(None, Path("leaf.csv"))
    ('truths.parquet', 'reports.csv')
    """
    if name is None and output is None:
        raise UsageError(f"give the NAME of an export: {', '.join(NAMES)}")
    chosen = name or (output.name if output is not None and output.name in NAMES else "reports")
    if "." not in chosen:
        only = [each for each in NAMES if each.startswith(f"{chosen}.")]
        ending = output.suffix.lower() if output is not None else ""
        chosen = only[0] if len(only) == 1 else f"{chosen}{ending or '.csv'}"
    if chosen not in NAMES:
        near = difflib.get_close_matches(chosen, NAMES, n=1)
        way = f"did you mean {near[0]}?" if near else f"there are {', '.join(NAMES)}"
        raise UsageError(f"there is no export {chosen!r}: {way}")
    return chosen


def _own_name(requester: Requester, campaign: str, wanted: str) -> Path:
    """The export's file name, marked if the campaign is simulated."""
    path = Path(wanted)
    is_simulated = requester.campaign(campaign)["simulated"]
    return path.with_stem(f"{path.stem}-SIMULATED") if is_simulated else path


def _exports(output: Path | None, weights: Path | None, *, force: bool) -> dict[str, Path]:
    """The exports and their files, checked before the download."""
    files = {"truths": output, "workers": weights}
    wanted = {export_name(name, path): path for name, path in files.items() if path is not None}
    console.check_outputs([(path, check_target) for path in wanted.values()], force=force)
    return wanted


def _score(
    requester: Requester, campaign: str, gold: str | None, columns: str | None
) -> Score | None:
    if gold is None:
        return None
    mapping = pairs(columns, "--gold-columns")
    return sottovoce.score(requester.results(campaign), gold, columns=mapping)


def _found(
    requester: Requester, campaign: str, first: ResultsView, sort: Order, score: Score | None
) -> dict[str, Any]:
    return {
        "summary": first["summary"],
        "reports_waiting": first["reports_waiting"],
        "score": score.as_dict() if score is not None else None,
        "truths": list(requester.truths(campaign, order=sort)),
    }


def _print(requester: Requester, campaign: str, first: ResultsView, sort: Order) -> None:
    if not sys.stdout.isatty():
        _pipe(requester, campaign, sort)
        return
    columns = list(first["truths"][0])
    rows = [[_cell(row.get(column)) for column in columns] for row in first["truths"]]
    console.print_rows(columns, rows, first["total"])


def _pipe(requester: Requester, campaign: str, sort: Order) -> None:
    """Write all rows as CSV to standard output once they have arrived."""
    if sort == "confidence":
        rows: list[Any] = [*requester.truths(campaign, order="confidence")]
        names = list(rows[0])
        sys.stdout.buffer.writelines(csv_pieces(names, [[[row[n] for row in rows] for n in names]]))
        sys.stdout.flush()
        return
    console.pipe_csv(lambda path: requester.export(campaign, "truths.csv", path))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else printable_line(str(value))
