"""A backup's file: a SQLite database with a manifest, checked row by row."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from sqlalchemy import Connection, MetaData, NullPool, Table, create_engine, event, inspect, text
from sqlalchemy.engine import ExceptionContext

from sottovoce.errors import DataError, UsageError
from sottovoce.stores.database.manifest import MANIFEST, Manifest, Progress, Tally, tallied
from sottovoce.stores.database.upgrading import VERSION_TABLE, revision_of, revisions

__all__ = ["compare", "kept_tables", "open_file", "verify"]


def verify(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Manifest:
    """What a backup holds, if it is whole: every row is read and compared with the manifest."""
    with _backup(path) as (connection, manifest):
        name = os.path.basename(path)
        if connection.execute(text("PRAGMA integrity_check")).scalars().first() != "ok":
            raise DataError("SQLite finds it damaged: use another backup", file=name)
        tables = {table.name: table for table in kept_tables(connection)}
        if tables.keys() != manifest.tables.keys():
            raise DataError("it has other tables than were written", file=name)
        for table, expected in manifest.tables.items():
            compare(tallied(connection, tables[table], progress), expected, table, name)
    return manifest


def compare(found: Tally, expected: Tally, table: str, file: str) -> None:
    """Refuse a table that is not what was written."""
    if found.columns != expected.columns:
        raise DataError(f"table {table} has other columns than were written", file=file)
    if found.rows != expected.rows:
        raise DataError(
            f"table {table} has {found.rows:,} rows, and {expected.rows:,} were written: use "
            "another backup",
            file=file,
        )
    if found.sha256 != expected.sha256:
        raise DataError(
            f"table {table} is not what was written (its digest differs): use another backup",
            file=file,
        )


def kept_tables(connection: Connection) -> list[Table]:
    """The tables of a backup that hold what the service keeps, those referred to first."""
    found = MetaData()
    found.reflect(connection)
    return [t for t in found.sorted_tables if t.name not in (VERSION_TABLE, MANIFEST.name)]


@contextmanager
def open_file(path: str | os.PathLike[str], mode: str) -> Iterator[Connection]:
    """A SQLite file in one transaction, without anything beside it and without foreign keys."""
    # Nobody changes a finished backup, so that it can be read on a disk that takes no writes.
    immutable = "&immutable=1" if mode == "ro" else ""
    address = f"file:{quote(os.path.abspath(path))}?mode={mode}{immutable}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(address, uri=True, isolation_level=None)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    @event.listens_for(engine, "handle_error")
    def say(_: ExceptionContext) -> None:
        # Here, so that nobody takes it for an error of the database at the other end.
        if mode == "ro":
            fault = "this is no backup, or a damaged one: use another"
            raise DataError(fault, file=os.path.basename(path)) from None
        raise UsageError("the backup cannot be written: is the disk full?") from None

    with engine.connect() as connection:
        if mode == "rw":
            # A file that is thrown away unless it is whole needs no journal, and one flush.
            for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                connection.connection.execute(f"PRAGMA {pragma}")
        with connection.begin():
            yield connection


@contextmanager
def _backup(path: str | os.PathLike[str]) -> Iterator[tuple[Connection, Manifest]]:
    """An open backup and its manifest; whatever is none is refused."""
    name = os.path.basename(path)
    if not os.path.isfile(path):
        raise UsageError(f"{os.fspath(path)} is not a file: name a backup")
    with open_file(path, "ro") as connection:
        if not inspect(connection).has_table(MANIFEST.name):
            raise DataError("this is a SQLite database, and no backup", file=name)
        try:
            manifest = Manifest.read(connection)
        except (KeyError, ValueError, TypeError):
            raise DataError("its manifest cannot be read", file=name) from None
        _check_revision(manifest, revision_of(connection), name)
        yield connection, manifest


def _check_revision(manifest: Manifest, found: str | None, name: str) -> None:
    if found != manifest.revision:
        raise DataError("its schema is not the one that was written", file=name)
    if manifest.revision not in revisions():
        raise UsageError(
            f"{name} was made by release {manifest.release}, which is newer: install that release"
        )
