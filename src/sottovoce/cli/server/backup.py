"""`sottovoce backup` and `sottovoce restore`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import (
    DATA_FOLDER,
    DatabaseUrlOption,
    DataOption,
    ForceOption,
    JsonOption,
)
from sottovoce.cli.server.database import counting_rows, existing, opened
from sottovoce.server.database import backup as database_backup
from sottovoce.server.database.backup import Manifest, back_up
from sottovoce.server.database.connection import exclusive_use, name_of

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="The backup file.", show_default=False)
]


def backup(
    file: FileArgument,
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Back up the whole service to FILE; the server can keep running.

    The format of FILE does not depend on the database: it restores into SQLite or PostgreSQL. FILE
    contains everything in the database, including the webhooks' secrets: keep it private.
    """
    with existing(data, database_url) as database:
        with counting_rows("backing up") as progress:
            today = datetime.now(UTC).date()
            manifest = back_up(database, file, today=today, force=force, progress=progress)
    _tell(f"backed up to {file}", manifest, as_json=json)


def restore(
    file: FileArgument,
    data: DataOption = DATA_FOLDER,
    database_url: DatabaseUrlOption = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check FILE and list its contents.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Restore the backup in FILE into an empty database (SQLite or PostgreSQL).

    Every row is verified against the backup before and after. The restore is atomic. Workers'
    receipts, invites and tokens keep working.
    """
    if verify:
        with counting_rows("verifying") as progress:
            manifest = database_backup.verify(file, progress=progress)
        _tell(f"{file} is complete", manifest, as_json=json)
        return
    with opened(data, database_url) as database:
        with exclusive_use(database), counting_rows("restoring") as progress:
            manifest = database_backup.restore(file, database, progress=progress)
        _tell(f"restored into {name_of(database)}", manifest, as_json=json)


def _tell(done: str, manifest: Manifest, *, as_json: bool) -> None:
    rows = {name: tally.rows for name, tally in sorted(manifest.tables.items())}
    about = {"release": manifest.release, "schema": manifest.revision}
    if as_json:
        console.print_json({**about, "day": manifest.day.isoformat(), "rows": rows})
        return
    day = f"release {manifest.release}, schema {manifest.revision}, {manifest.day.isoformat()}"
    console.say(f"{done}: {day}")
    console.print_table(["table", "rows"], [[name, f"{count:,}"] for name, count in rows.items()])
