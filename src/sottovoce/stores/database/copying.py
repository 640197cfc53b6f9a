"""Everything a database holds, in one file, and back: SQLite to PostgreSQL as well."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from shutil import copyfile

from sqlalchemy import Connection, Table, insert, select, text

from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import flush, new_file
from sottovoce.stores.database.backup_file import compare, kept_tables, open_file, verify
from sottovoce.stores.database.connecting import Database
from sottovoce.stores.database.manifest import (
    Counter,
    Manifest,
    Progress,
    Tally,
    batches,
    tallied,
)
from sottovoce.stores.database.partitions import add_missing_partitions, hold_partitions
from sottovoce.stores.database.reaching import name_of, reaching
from sottovoce.stores.database.tables import METADATA, reports
from sottovoce.stores.database.upgrading import (
    SchemaState,
    changing,
    make_tables,
    migrate,
    revision_of,
    revisions,
    schema_state,
)
from sottovoce.version import __version__

__all__ = ["back_up", "restore"]


def back_up(
    database: Database,
    path: str | os.PathLike[str],
    *,
    today: date,
    force: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Copy one consistent state to a file that appears whole or not at all.

    The file is a SQLite database with the tables of the source's schema and a manifest. What was
    deleted before is not in it, not even in unused pages. A server may go on taking reports.
    """
    _check_source(database)
    with new_file(path, force=force) as place:
        os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with reaching(database), database.reading() as source, open_file(place, "rw") as copy:
            hold_partitions(source)
            manifest = _copied(source, copy, today, progress)
        flush(place)
    flush(Path(path).parent)
    return manifest


def restore(
    path: str | os.PathLike[str], database: Database, *, progress: Progress | None = None
) -> Manifest:
    """Copy a backup into an empty database of either kind, all of it or nothing.

    It is verified before, and what was stored is compared with it before it is committed. One that
    an older release made gets this release's tables on the way.
    """
    manifest = verify(path, progress=progress)
    _check_target(database)
    with _upgraded(path, manifest) as source:
        with reaching(database), changing(database) as target:
            make_tables(target)
            for table in METADATA.sorted_tables:
                if table is reports:
                    add_missing_partitions(target)
                expected = _fill(source, target, table, progress)
                compare(tallied(target, table), expected, table.name, os.path.basename(path))
            _number_on(target)
    return manifest


def _check_source(database: Database) -> None:
    state = schema_state(database)
    if state not in (SchemaState.CURRENT, SchemaState.OLDER):
        fault = {
            SchemaState.EMPTY: "there is nothing to back up",
            SchemaState.NEWER: "a newer release made this database: back it up with that release",
        }
        raise UsageError(
            f"{name_of(database)}: {fault.get(state, 'this is not a database of Sottovoce')}"
        )


def _check_target(database: Database) -> None:
    state = schema_state(database)
    if state is SchemaState.EMPTY:
        return
    if state is SchemaState.CURRENT:
        with reaching(database), database.reading() as connection:
            first = (select(table).limit(1) for table in METADATA.sorted_tables)
            if all(connection.execute(query).first() is None for query in first):
                return
    raise UsageError(
        f"{name_of(database)} is not empty: restore into a new folder or database, and start the "
        "server on that"
    )


def _copied(
    source: Connection, copy: Connection, today: date, progress: Progress | None
) -> Manifest:
    revision = revision_of(source)
    assert revision is not None  # noqa: S101 - the source was checked
    migrate(copy, revision)
    tallies = {table.name: _fill(source, copy, table, progress) for table in kept_tables(copy)}
    manifest = Manifest(__version__, revision, today, tallies)
    manifest.write(copy)
    return manifest


def _fill(source: Connection, target: Connection, table: Table, progress: Progress | None) -> Tally:
    """Copy a table's rows, and tally them as they pass."""
    names = [column.name for column in table.columns]
    counter, statement = Counter(names), insert(table)
    for rows in batches(source, table):
        target.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])
        done = counter.add(rows)
        if progress is not None:
            progress(table.name, done)
    return counter.tally()


def _number_on(target: Connection) -> None:
    """Let PostgreSQL number new rows after those that were restored."""
    if target.dialect.name != "postgresql":
        return
    for table in METADATA.sorted_tables:
        key = table.autoincrement_column
        if key is not None and not key.foreign_keys:
            target.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', '{key.name}'), "
                    f"(SELECT max({key.name}) FROM {table.name}))"
                )
            )


@contextmanager
def _upgraded(path: str | os.PathLike[str], manifest: Manifest) -> Iterator[Connection]:
    """The backup with this release's tables: itself, or a copy that is brought up to date."""
    if manifest.revision == revisions()[-1]:
        with open_file(path, "ro") as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        place = Path(folder) / "backup"
        copyfile(path, place)
        with open_file(place, "rw") as connection:
            migrate(connection, revisions()[-1])
            yield connection
