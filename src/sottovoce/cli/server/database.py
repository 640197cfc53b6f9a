"""`sottovoce db upgrade`, `check` and `export-reports`; the database from options."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import DATA_FOLDER, DatabaseUrlOption, DataOption, file_option
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target
from sottovoce.files.locks import make_folder
from sottovoce.server.campaigns.partitioned_export import export_parts
from sottovoce.server.database import Database
from sottovoce.server.database.backup import back_up
from sottovoce.server.database.connection import exclusive_use, name_of
from sottovoce.server.database.integrity import check as faults_in
from sottovoce.server.database.schema_version import (
    SchemaState,
    check_schema,
    pending,
    revisions,
    schema_state,
)
from sottovoce.server.database.schema_version import upgrade as bring_up

OFTEN, SELDOM = 0.1, 10.0
"""Seconds between two progress lines, on a terminal and in a log."""

MOST_PARTS = 100_000
"""Part numbers have five digits."""

BackupOption = Annotated[
    Path | None,
    file_option("Write the backup here. Default: a new file in --data.", show_default=False),
]


def upgrade(
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    backup: BackupOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, without doing it.")
    ] = False,
) -> None:
    """Upgrade the database to this release: check, back up, migrate in one transaction.

    Stop the server first. An empty database gets its tables. If a step fails, the database is
    unchanged.
    """
    with opened(data, database_url) as database:
        state = schema_state(database)
        if state is SchemaState.CURRENT:
            console.say(f"{name_of(database)} is up to date: nothing to do")
        elif state is SchemaState.EMPTY:
            _make(database, dry_run=dry_run)
        elif state is SchemaState.OLDER:
            place = backup or _free_name(data)
            _check_room(database, place)
            if dry_run:
                _announce(database, place)
                return
            with exclusive_use(database):
                _back_up_and_migrate(database, place)
        else:
            check_schema(database)


def check(data: DataOption = DATA_FOLDER, database_url: DatabaseUrlOption = None) -> None:
    """Check the whole database for inconsistencies; exit code 1 if there are any.

    Checks counters against rows, packed reports against their campaign's tasks, and that no worker
    reported a task twice; runs SQLite's own checks. The server can keep running.
    """
    with existing(data, database_url) as database:
        check_schema(database)
        faults = faults_in(database)
        for fault in faults:
            console.say(fault)
        if faults:
            console.note(
                f"{name_of(database)}: {len(faults):,} faults; restore a backup, or ask for help"
            )
            raise typer.Exit(1)
        console.say(f"{name_of(database)} is consistent")


def export_reports(
    campaign: Annotated[
        str, typer.Argument(metavar="CAMPAIGN", help="The campaign's ID.", show_default=False)
    ],
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The new folder for the reports.", show_default=False
        ),
    ],
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    parts: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_PARTS,
            help="Number of files. Default: one per 4 million reports, approximately.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace FOLDER if an earlier export created it.")
    ] = False,
) -> None:
    """Export all reports of CAMPAIGN to FOLDER as Parquet; the server can keep running.

    FOLDER gets reports/part-00000.parquet and so on, policy.json and, last, an empty _SUCCESS. A
    worker's reports are in one part, ordered by pseudonym, not by arrival. All parts come from one
    snapshot. FOLDER appears only when it is complete.
    """
    with existing(data, database_url) as database:
        with counting_rows("exporting") as progress:
            done = export_parts(
                database, campaign, folder, parts=parts, force=force, progress=progress
            )
    many = "1 part" if done.parts == 1 else f"{done.parts:,} parts"
    console.say(f"wrote {folder}: {done.reports:,} reports in {many}")
    console.note_of_simulation(done.simulated)
    console.note(
        f"next: sottovoce infer {folder}/reports --policy {folder}/policy.json --engine chunked "
        "-o TRUTHS"
    )


@contextmanager
def opened(data: Path, database_url: str | None) -> Iterator[Database]:
    """The database at the address, or in the folder; nothing is created."""
    database = Database.at(database_url or data)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def existing(data: Path, database_url: str | None) -> Iterator[Database]:
    """The database at the address, or in the folder; an error if the folder has none."""
    with opened(data, database_url) as database:
        if database.file is not None and not database.file.exists():
            raise UsageError(
                f"there is no database in {database.file.parent}: run this where the server runs, "
                "or pass --data FOLDER"
            )
        yield database


@contextmanager
def counting_rows(what: str) -> Iterator[Callable[[str, int], None]]:
    """Report the progress of a long copy on standard error."""
    live = sys.stderr.isatty()
    said = started = time.monotonic()

    def tell(table: str, rows: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - started < 1 or now - said < (OFTEN if live else SELDOM):
            return
        said = now
        if live:
            sys.stderr.write(f"\r{what}: {table}, {rows:,} rows\x1b[K")
            sys.stderr.flush()
        else:
            console.note(f"{what}: {table}, {rows:,} rows")

    try:
        yield tell
    finally:
        if live and said != started:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _make(database: Database, *, dry_run: bool) -> None:
    if dry_run:
        console.say(f"would create the tables of schema {revisions()[-1]} in {name_of(database)}")
        return
    with exclusive_use(database):
        bring_up(database)
    console.say(f"created the tables of schema {revisions()[-1]} in {name_of(database)}")


def _back_up_and_migrate(database: Database, place: Path) -> None:
    with counting_rows("backing up") as progress:
        today = datetime.now(UTC).date()
        manifest = back_up(database, place, today=today, progress=progress)
    console.say(f"backed up to {place}")
    changes = pending(database)
    bring_up(database)
    for change in changes:
        console.say(f"changed: {change}")
    console.say(f"upgraded from schema {manifest.revision} to {revisions()[-1]}")


def _announce(database: Database, place: Path) -> None:
    console.say(f"would back up to {place}")
    for change in pending(database):
        console.say(f"would change: {change}")


def _free_name(data: Path) -> Path:
    """An unused file name in the data folder."""
    folder, name = make_folder(data), f"before-{revisions()[-1]}"
    names = (f"{name}{f'-{turn}' if turn else ''}.backup" for turn in range(1000))
    return next(folder / one for one in names if not (folder / one).exists())


def _check_room(database: Database, place: Path) -> None:
    """Raise an error before any work if the backup cannot be written."""
    check_target(place)
    needed = database.file.stat().st_size if database.file is not None else 0
    free = shutil.disk_usage(place.parent).free
    if free < 2 * needed:
        raise UsageError(
            f"{place.parent} has {free >> 20:,} MB free, but a backup and an upgrade may need "
            f"{2 * needed >> 20:,} MB: free some space, or choose another disk with --backup"
        )
