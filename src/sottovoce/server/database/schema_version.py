"""Checks and upgrades the schema of a database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, MetaData, Table, Text, insert, inspect, select, text

from sottovoce.errors import UsageError
from sottovoce.files.locks import make_folder
from sottovoce.server.database.connection import Database, name_of, readable_errors
from sottovoce.server.database.schema import METADATA

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory


MIGRATIONS = Path(__file__).parent / "migrations"

VERSION_TABLE = "sottovoce_schema"
"""Named after Sottovoce, so that another program's tables are never mistaken for ours."""

_version = Table(VERSION_TABLE, MetaData(), Column("version_num", Text, primary_key=True))

_MAKING = 0x736F74746F  # "sotto": the advisory lock for making or changing tables


class SchemaState(StrEnum):
    """The state of a database's schema, as this release sees it."""

    EMPTY = "empty"
    CURRENT = "current"
    OLDER = "older"
    NEWER = "newer"
    FOREIGN = "foreign"
    """Tables that are not ours."""


def revisions() -> list[str]:
    """The revisions this release knows, the newest last."""
    return sorted(file.stem[1:5] for file in MIGRATIONS.glob("r[0-9]*.py"))


def schema_state(database: Database) -> SchemaState:
    """The state of the schema. Changes nothing and makes no file."""
    if database.file is not None and not database.file.exists():
        return SchemaState.EMPTY
    with readable_errors(database), database.reading() as connection:
        return _state(connection)


def revision_of(connection: Connection) -> str | None:
    """The revision of the tables, if they are ours."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(_version.c.version_num)).scalar_one_or_none()


def check_schema(database: Database) -> None:
    """Refuse every database without this release's tables, with a remedy."""
    state = schema_state(database)
    if state is not SchemaState.CURRENT:
        raise UsageError(f"{name_of(database)} {WAYS_OUT[state]}")


def upgrade(database: Database) -> None:
    """Make the tables, or upgrade them to this release, in one transaction.

    Concurrent upgrades take turns, and the second finds nothing to do.
    """
    with readable_errors(database), schema_change(database) as connection:
        state = _state(connection)
        if state is SchemaState.EMPTY:
            make_tables(connection)
        elif state is SchemaState.OLDER:
            migrate(connection, revisions()[-1])
        elif state is not SchemaState.CURRENT:
            raise UsageError(f"{name_of(database)} {WAYS_OUT[state]}")


def make_tables(connection: Connection) -> None:
    """Make this release's tables in an empty database; existing tables are left alone.

    Faster than running all migrations; a test checks that both give the same tables.
    """
    METADATA.create_all(connection)
    if not inspect(connection).has_table(VERSION_TABLE):
        _version.create(connection)
        connection.execute(insert(_version), {"version_num": revisions()[-1]})


def migrate(connection: Connection, to: str) -> None:
    """Migrate tables from their revision, or from nothing, to a later one."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    scripts = _scripts()
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    pending = list(scripts.iterate_revisions(to, revision_of(connection) or "base"))
    with Operations.context(context):
        for script in reversed(pending):
            script.module.upgrade()
    context.stamp(scripts, to)


def _scripts() -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(MIGRATIONS), version_locations=[str(MIGRATIONS)])


def pending(database: Database) -> list[str]:
    """The changes of an upgrade, one line per revision."""
    with readable_errors(database), database.reading() as connection:
        found = revision_of(connection) or "base"
    scripts = _scripts().iterate_revisions(revisions()[-1], found)
    return [f"{script.revision}, {script.doc}" for script in reversed(list(scripts))]


def _state(connection: Connection) -> SchemaState:
    known, found = revisions(), revision_of(connection)
    if found == known[-1]:
        return SchemaState.CURRENT
    if found is not None:
        return SchemaState.OLDER if found in known else SchemaState.NEWER
    return SchemaState.FOREIGN if inspect(connection).get_table_names() else SchemaState.EMPTY


@contextmanager
def schema_change(database: Database) -> Iterator[Connection]:
    """A transaction for changing tables, under an exclusive lock."""
    if not database.is_sqlite:
        with database.writing() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MAKING})
            yield connection
        return
    _make_file(database)
    with database.engine.connect() as connection:
        # A recreated table is dropped first, which would cascade to other rows.
        driver = connection.connection
        driver.execute("PRAGMA foreign_keys = OFF")
        try:
            with connection.begin():
                yield connection
                if connection.execute(text("PRAGMA foreign_key_check")).first() is not None:
                    raise UsageError(f"{name_of(database)} has rows with broken references")
        finally:
            driver.execute("PRAGMA foreign_keys = ON")


def _make_file(database: Database) -> None:
    """Create SQLite's file for its owner only; SQLite gives its other files the same mode."""
    if database.file is not None and not database.file.exists():
        make_folder(database.file.parent)
        os.close(os.open(database.file, os.O_RDWR | os.O_CREAT, 0o600))


WAYS_OUT = {
    SchemaState.EMPTY: "is empty; run sottovoce db upgrade to make its tables",
    SchemaState.OLDER: "was made by an older release; stop the server and run sottovoce db upgrade",
    SchemaState.NEWER: "was made by a newer release; install that release, or restore a backup "
    "that this one made",
    SchemaState.FOREIGN: "holds tables that are not Sottovoce's; choose an empty database",
}
"""The text after a database's name in an error message."""
