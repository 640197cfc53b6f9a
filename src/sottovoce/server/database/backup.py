"""Backup and restore of a whole database as one file, for SQLite and PostgreSQL.

A backup is a SQLite database with a manifest: the release that made it, and a digest of every
table, against which each row is checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from shutil import copyfile
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    MetaData,
    NullPool,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy import table as named_table
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.sql.expression import column

from sottovoce.errors import DataError, UsageError
from sottovoce.files.atomic_output import flush, new_file
from sottovoce.server.database.connection import Database, name_of, readable_errors
from sottovoce.server.database.postgresql import add_missing_partitions, hold_partitions
from sottovoce.server.database.schema import METADATA, reports
from sottovoce.server.database.schema_version import (
    VERSION_TABLE,
    SchemaState,
    make_tables,
    migrate,
    revision_of,
    revisions,
    schema_change,
    schema_state,
)
from sottovoce.version import __version__

FORMAT = "sottovoce-backup/1"

MANIFEST = Table(
    "sottovoce_manifest",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("content", Text, nullable=False),
)

Progress = Callable[[str, int], None]
"""Called with a table's name and how many of its rows are done."""

_FEW = {
    **dict.fromkeys(("results", "opened", "live_sessions", "live_events"), 1),
    **dict.fromkeys(("live_rounds", "messages"), 8),
    "reports": 64,
}
"""Rows to hold at once, if a row may have many megabytes."""
_MANY = 500


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of rows of a table, and the SHA-256 of their content in primary-key order."""

    columns: tuple[str, ...]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The release and schema a backup comes from, its day, and the tally of each table."""

    release: str
    revision: str
    day: date
    tables: Mapping[str, Tally]

    def write(self, connection: Connection) -> None:
        """Write the manifest into a backup."""
        about = {
            "format": FORMAT,
            "release": self.release,
            "schema": self.revision,
            "day": self.day.isoformat(),
        }
        rows = [{"name": name, "content": content} for name, content in about.items()]
        for name, tally in self.tables.items():
            rows.append({"name": f"table {name}", "content": json.dumps(asdict(tally))})
        MANIFEST.create(connection)
        connection.execute(insert(MANIFEST), rows)

    @classmethod
    def read(cls, connection: Connection) -> Manifest:
        """Read the manifest of a backup; ValueError or KeyError if it is invalid."""
        rows = connection.execute(select(MANIFEST.c.name, MANIFEST.c.content))
        found = {row.name: row.content for row in rows}
        if found["format"] != FORMAT:
            raise ValueError("another format")
        tables = {}
        for name, content in found.items():
            if name.startswith("table "):
                entry = json.loads(content)
                tally = Tally(tuple(entry["columns"]), int(entry["rows"]), str(entry["sha256"]))
                tables[name.removeprefix("table ")] = tally
        day = date.fromisoformat(found["day"])
        return cls(found["release"], found["schema"], day, tables)


class TableCounter:
    """Tallies rows as they pass."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._columns, self._rows, self._hash = tuple(columns), 0, hashlib.sha256()

    def add(self, rows: Sequence[Sequence[Any]]) -> int:
        """Count these rows too; return the total."""
        self._rows += len(rows)
        self._hash.update(b"".join(_encoded(row) for row in rows))
        return self._rows

    def tally(self) -> Tally:
        """The tally so far."""
        return Tally(self._columns, self._rows, self._hash.hexdigest())


def batches(connection: Connection, table: Table) -> Iterator[Sequence[Sequence[Any]]]:
    """All rows of a table in primary-key order, in batches.

    Only names are taken from `table`, so that both kinds of database give the same values. Keys
    are numbers, bytes, and texts compared as bytes, which both sort alike.
    """
    columns: list[ColumnElement[Any]] = [column(one.name) for one in table.columns]
    keys: list[ColumnElement[Any]] = [column(one.name) for one in table.primary_key.columns]
    query = select(*columns).select_from(named_table(table.name)).order_by(*keys)
    size = _FEW.get(table.name, _MANY)
    yield from connection.execute(query, execution_options={"yield_per": size}).partitions()


def tallied(connection: Connection, table: Table, progress: Progress | None = None) -> Tally:
    """The current tally of a table."""
    counter = TableCounter(one.name for one in table.columns)
    for rows in batches(connection, table):
        done = counter.add(rows)
        if progress is not None:
            progress(table.name, done)
    return counter.tally()


def _encoded(row: Sequence[Any]) -> bytes:
    """A row as unique bytes: each cell with its type and length."""
    return b"".join([_cell(value) for value in row])


def _cell(value: Any) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i%d;" % value
    content = value.encode() if isinstance(value, str) else bytes(value)
    return b"%c%d:%b" % (b"t" if isinstance(value, str) else b"b", len(content), content)


def verify(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Manifest:
    """The manifest of a backup, after every row has been compared with it."""
    with _backup(path) as (connection, manifest):
        name = os.path.basename(path)
        if connection.execute(text("PRAGMA integrity_check")).scalars().first() != "ok":
            raise DataError("SQLite reports that it is damaged; use another backup", file=name)
        tables = {table.name: table for table in kept_tables(connection)}
        if tables.keys() != manifest.tables.keys():
            raise DataError("its tables differ from its manifest", file=name)
        for table, expected in manifest.tables.items():
            compare(tallied(connection, tables[table], progress), expected, table, name)
    return manifest


def compare(found: Tally, expected: Tally, table: str, file: str) -> None:
    """Refuse a table that differs from the manifest."""
    if found.columns != expected.columns:
        raise DataError(f"table {table} has other columns than its manifest", file=file)
    if found.rows != expected.rows:
        raise DataError(
            f"table {table} has {found.rows:,} rows, but its manifest says "
            f"{expected.rows:,}; use another backup",
            file=file,
        )
    if found.sha256 != expected.sha256:
        raise DataError(
            f"table {table} differs from its manifest (wrong digest); use another backup",
            file=file,
        )


def kept_tables(connection: Connection) -> list[Table]:
    """The service's tables in a backup, referenced tables first."""
    found = MetaData()
    found.reflect(connection)
    return [t for t in found.sorted_tables if t.name not in (VERSION_TABLE, MANIFEST.name)]


@contextmanager
def open_file(path: str | os.PathLike[str], mode: str) -> Iterator[Connection]:
    """Open a SQLite file in one transaction, without journal files and foreign keys."""
    # A finished backup is immutable, so it can be read on a read-only disk.
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
        # Caught here, so that it is not taken for an error of the other database.
        if mode == "ro":
            fault = "this is not a backup, or it is damaged; use another one"
            raise DataError(fault, file=os.path.basename(path)) from None
        raise UsageError("the backup cannot be written; is the disk full?") from None

    with engine.connect() as connection:
        if mode == "rw":
            # An incomplete file is discarded, so it needs no journal and one flush.
            for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                connection.connection.execute(f"PRAGMA {pragma}")
        with connection.begin():
            yield connection


@contextmanager
def _backup(path: str | os.PathLike[str]) -> Iterator[tuple[Connection, Manifest]]:
    """An open backup and its manifest; other files are refused."""
    name = os.path.basename(path)
    if not os.path.isfile(path):
        raise UsageError(f"{os.fspath(path)} is not a file; give the path of a backup")
    with open_file(path, "ro") as connection:
        if not inspect(connection).has_table(MANIFEST.name):
            raise DataError("this is a SQLite database but not a backup", file=name)
        try:
            manifest = Manifest.read(connection)
        except (KeyError, ValueError, TypeError):
            raise DataError("its manifest cannot be read", file=name) from None
        _check_revision(manifest, revision_of(connection), name)
        yield connection, manifest


def _check_revision(manifest: Manifest, found: str | None, name: str) -> None:
    if found != manifest.revision:
        raise DataError("its schema differs from its manifest", file=name)
    if manifest.revision not in revisions():
        raise UsageError(
            f"{name} was made by release {manifest.release}, which is newer; install that release"
        )


def back_up(
    database: Database,
    path: str | os.PathLike[str],
    *,
    today: date,
    force: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Copy a consistent snapshot to a file that appears complete or not at all.

    The file is a SQLite database with the tables of the source's schema and a manifest. Deleted
    data is not in it, not even in unused pages. A server may keep accepting reports.
    """
    _check_source(database)
    with new_file(path, force=force) as place:
        os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with (
            readable_errors(database),
            database.reading() as source,
            open_file(place, "rw") as copy,
        ):
            hold_partitions(source)
            manifest = _copied(source, copy, today, progress)
        flush(place)
    flush(Path(path).parent)
    return manifest


def restore(
    path: str | os.PathLike[str], database: Database, *, progress: Progress | None = None
) -> Manifest:
    """Copy a backup into an empty database of either kind, all of it or nothing.

    The backup is verified first, and the stored rows are compared with it before the commit. A
    backup of an older release is upgraded to this release's tables.
    """
    manifest = verify(path, progress=progress)
    _check_target(database)
    with _upgraded(path, manifest) as source:
        with readable_errors(database), schema_change(database) as target:
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
            SchemaState.NEWER: "a newer release made this database; back it up with that release",
        }
        raise UsageError(
            f"{name_of(database)}: {fault.get(state, 'this is not a database of Sottovoce')}"
        )


def _check_target(database: Database) -> None:
    state = schema_state(database)
    if state is SchemaState.EMPTY:
        return
    if state is SchemaState.CURRENT:
        with readable_errors(database), database.reading() as connection:
            first = (select(table).limit(1) for table in METADATA.sorted_tables)
            if all(connection.execute(query).first() is None for query in first):
                return
    raise UsageError(
        f"{name_of(database)} is not empty; restore into a new folder or database, and start the "
        "server on it"
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
    """Copy a table's rows and tally them."""
    names = [column.name for column in table.columns]
    counter, statement = TableCounter(names), insert(table)
    for rows in batches(source, table):
        target.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])
        done = counter.add(rows)
        if progress is not None:
            progress(table.name, done)
    return counter.tally()


def _number_on(target: Connection) -> None:
    """Set PostgreSQL's sequences to continue after the restored rows."""
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
    """The backup with this release's tables: itself, or an upgraded copy."""
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
