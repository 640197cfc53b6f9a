"""`sottovoce db export-reports`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.options import DATA_FOLDER, DatabaseUrlOption, DataOption
from sottovoce.cli.storing import counting_rows, opened
from sottovoce.server.campaigns.partitioned_export import export_parts

__all__ = ["export_reports"]

MOST_PARTS = 100_000
"""Their numbers have five digits."""


def export_reports(
    campaign: Annotated[
        str, typer.Argument(metavar="CAMPAIGN", help="Its identifier.", show_default=False)
    ],
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Where the reports go.", show_default=False),
    ],
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    parts: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_PARTS,
            help="How many files; one for about 4 million reports if not given.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace FOLDER, if an export has made it.")
    ] = False,
) -> None:
    """Write all reports of CAMPAIGN to FOLDER as Parquet files, while the server may go on running.

    FOLDER gets reports/part-00000.parquet and so on, policy.json and, last, an empty _SUCCESS. A
    worker's reports are in one part, by pseudonym and not in the order of arrival. All parts show
    the same moment. FOLDER appears whole or not at all.
    """
    with opened(data, database_url) as database:
        with counting_rows("exporting") as progress:
            done = export_parts(
                database, campaign, folder, parts=parts, force=force, progress=progress
            )
    many = "1 part" if done.parts == 1 else f"{done.parts:,} parts"
    screen.say(f"wrote {folder}: {done.reports:,} reports in {many}")
    screen.note_of_simulation(done.simulated)
    screen.note(
        f"next: sottovoce infer {folder}/reports --policy {folder}/policy.json --engine chunked "
        "-o TRUTHS"
    )
