"""`sottovoce campaign export`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.campaigns.connecting import CampaignArgument, connected
from sottovoce.cli.campaigns.words import counted
from sottovoce.cli.options import ForceOption, JsonOption, output_option
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target

if TYPE_CHECKING:
    from sottovoce.requester.client import Requester

__all__ = ["export", "export_name"]

TABLES = ("reports", "truths", "workers", "totals")
FORMATS = ("csv", "jsonl", "parquet")
NAMES = (
    *(f"{table}.{format}" for table in TABLES for format in FORMATS),
    "crowdkit.csv",
    "tasks.csv",
    "policy.json",
)


def export(
    context: typer.Context,
    campaign: CampaignArgument,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="reports, truths, workers or, of a sealed campaign, totals (as .csv, .jsonl or "
            ".parquet), crowdkit.csv, tasks.csv or policy.json. Reports, in the format of FILE, "
            "if not given.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("Write here; to NAME if not given.", metavar="FILE"),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Leave cells of a CSV as they are, also those that a spreadsheet would run as a "
            "formula.",
        ),
    ] = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Download a campaign's reports, truths, weights, tasks or policy, whole or not at all."""
    wanted = export_name(name, output)
    if output is not None:
        check_target(output, force=force)
    with connected(context, campaign) as requester:
        path = output or _own_name(requester, campaign, wanted)
        rows = requester.export(campaign, wanted, path, raw=raw, force=force)
    if json:
        screen.print_json({"export": wanted, "file": str(path), "rows": rows})
        return
    screen.note(f"wrote {path}" + ("" if rows is None else f": {counted(rows, 'row')}"))
    if wanted.startswith("reports."):
        screen.note(
            f"next: sottovoce campaign export {campaign} policy.json; then sottovoce infer {path} "
            "--policy policy.json"
        )


def _own_name(requester: Requester, campaign: str, wanted: str) -> Path:
    """The export's name, with a stamp where the campaign is simulated."""
    path = Path(wanted)
    is_simulated = requester.campaign(campaign)["simulated"]
    return path.with_stem(f"{path.stem}-SIMULATED") if is_simulated else path


def export_name(name: str | None, output: Path | None) -> str:
    """The export that is asked for by a name, with or without its ending, and a file.

    >>> export_name("truths", Path("today.parquet")), export_name(None, Path("leaf.csv"))
    ('truths.parquet', 'reports.csv')
    """
    if name is None and output is None:
        raise UsageError(f"say what to export, as one of {', '.join(NAMES)}")
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
