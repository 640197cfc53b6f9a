"""`sottovoce db`."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.options import DATA_FOLDER, DatabaseUrlOption, DataOption
from sottovoce.cli.storing import counting_rows, opened
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target
from sottovoce.files.locks import make_folder
from sottovoce.server.database.backup import back_up
from sottovoce.server.database.connection import alone, name_of
from sottovoce.server.database.integrity import check as faults_in
from sottovoce.server.database.schema_version import (
    SchemaState,
    check_schema,
    pending,
    revisions,
    schema_state,
)
from sottovoce.server.database.schema_version import upgrade as bring_up

if TYPE_CHECKING:
    from sottovoce.server.database import Database

__all__ = ["check", "upgrade"]


BackupOption = Annotated[
    Path | None,
    typer.Option(help="Where the backup goes; the data folder if not given.", show_default=False),
]


def upgrade(
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    backup: BackupOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
) -> None:
    """Bring the database to this release: check, back up, then change it in one transaction.

    Stop the server first. An empty database gets its tables. Where something fails the database
    stays as it was.
    """
    with opened(data, database_url) as database:
        state = schema_state(database)
        if state is SchemaState.CURRENT:
            screen.say(f"{name_of(database)} is up to date: nothing to do")
        elif state is SchemaState.EMPTY:
            _make(database, dry_run=dry_run)
        elif state is SchemaState.OLDER:
            place = backup or _free_name(data)
            _check_room(database, place)
            if dry_run:
                _announce(database, place)
                return
            with alone(database):
                _back_up_and_migrate(database, place)
        else:
            check_schema(database)


def check(data: DataOption = DATA_FOLDER, database_url: DatabaseUrlOption = None) -> None:
    """Read the whole database, and say what is not as the service wrote it; 1 if there is any.

    Counters against rows, packed reports against their campaign's tasks, no task reported twice by
    a worker; SQLite's own checks. A server may go on running.
    """
    with opened(data, database_url) as database:
        check_schema(database)
        faults = faults_in(database)
        for fault in faults:
            screen.say(fault)
        if faults:
            screen.note(f"{name_of(database)}: {len(faults):,} faults; restore a backup, or ask")
            raise typer.Exit(1)
        screen.say(f"{name_of(database)} is sound")


def _make(database: Database, *, dry_run: bool) -> None:
    if dry_run:
        screen.say(f"would make the tables of schema {revisions()[-1]} in {name_of(database)}")
        return
    with alone(database):
        bring_up(database)
    screen.say(f"made the tables of schema {revisions()[-1]} in {name_of(database)}")


def _back_up_and_migrate(database: Database, place: Path) -> None:
    with counting_rows("backing up") as progress:
        today = datetime.now(UTC).date()
        manifest = back_up(database, place, today=today, progress=progress)
    screen.say(f"backed up to {place}")
    changes = pending(database)
    bring_up(database)
    for change in changes:
        screen.say(f"changed: {change}")
    screen.say(f"upgraded from schema {manifest.revision} to {revisions()[-1]}")


def _announce(database: Database, place: Path) -> None:
    screen.say(f"would back up to {place}")
    for change in pending(database):
        screen.say(f"would change: {change}")


def _free_name(data: Path) -> Path:
    """A file in the data folder that is not there yet."""
    folder, name = make_folder(data), f"before-{revisions()[-1]}"
    names = (f"{name}{f'-{turn}' if turn else ''}.backup" for turn in range(1000))
    return next(folder / one for one in names if not (folder / one).exists())


def _check_room(database: Database, place: Path) -> None:
    """Refuse before anything is done where a backup cannot be put."""
    check_target(place)
    needed = database.file.stat().st_size if database.file is not None else 0
    free = shutil.disk_usage(place.parent).free
    if free < 2 * needed:
        raise UsageError(
            f"{place.parent} has {free >> 20:,} MB free, and a backup and an upgrade may take "
            f"{2 * needed >> 20:,} MB: make room, or name another disk with --backup"
        )
