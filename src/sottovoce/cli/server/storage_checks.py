"""Where a service keeps everything: the folder, the disk and the database."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.server.check import Check, fine, problem, warning
from sottovoce.errors import UsageError, install_command
from sottovoce.server.database import Database
from sottovoce.server.database.connection import name_of, readable_errors
from sottovoce.server.database.integrity import integrity
from sottovoce.server.database.postgresql import count_partitions
from sottovoce.server.database.schema_version import WAYS_OUT, SchemaState, schema_state

if TYPE_CHECKING:
    from sqlalchemy import Connection


LEAST_FREE, LITTLE_FREE = 64 << 20, 1 << 30
"""Bytes: below the first a server takes no reports."""

SLOW_FLUSH, QUICK_FLUSH = 0.1, 20e-6
"""Seconds for one flush; quicker than any disk, it does not reach the disk."""

OLDEST_POSTGRESQL = 140_000

LOCKS = 4
"""A campaign's table and its indexes: who reads all reports at once locks them all."""


def folder_findings(folder: Path) -> Iterator[Check]:
    """Look at the data folder and its disk."""
    if not folder.exists():
        there = next(parent for parent in folder.absolute().parents if parent.exists())
        if not os.access(there, os.W_OK):
            yield problem("data folder", f"{folder} cannot be made", f"sudo mkdir -m 700 {folder}")
        else:
            yield fine("data folder", f"{folder} is not there yet: serve makes it")
        return
    yield _permissions(folder)
    yield _owner(folder)
    yield _space(folder)
    yield _flushing(folder)


def database_findings(database: Database) -> Iterator[Check]:
    """Look at the database, if it answers."""
    try:
        yield _schema(database)
        if database.file is not None and not database.file.exists():
            return
        with readable_errors(database), database.reading() as connection:
            faults = integrity(connection, whole=False)
            yield from _sqlite(connection, faults) if database.is_sqlite else _server(connection)
    except UsageError as error:
        if database.is_sqlite:
            yield problem("database", str(error), "sottovoce restore FILE --data NEW-FOLDER")
        else:
            yield problem("database", str(error), 'psql "$SOTTOVOCE_DATABASE_URL" -c "SELECT 1"')


def _schema(database: Database) -> Check:
    ways = {
        SchemaState.OLDER: "sottovoce db upgrade",
        SchemaState.NEWER: install_command("server").replace("install", "install --upgrade", 1),
        SchemaState.FOREIGN: "createdb sottovoce",
    }
    state = schema_state(database)
    if state is SchemaState.EMPTY:
        return fine("database", f"{name_of(database)} is empty: serve makes its tables")
    if state is SchemaState.CURRENT:
        return fine("database", f"{name_of(database)} answers and has this release's tables")
    return problem("database", f"{name_of(database)} {WAYS_OUT[state]}", ways[state])


def _permissions(folder: Path) -> Check:
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077 and os.name == "posix":
        found = f"{folder} can be entered by other users of this machine ({mode:03o})"
        return problem("permissions", found, f"chmod 700 {folder}")
    return fine("permissions", f"{folder} is for its owner only")


def _owner(folder: Path) -> Check:
    owner = folder.stat().st_uid
    mine = os.geteuid() if hasattr(os, "geteuid") else owner
    if owner != mine and mine != 0:
        found = f"{folder} belongs to user {owner}, and this is user {mine}"
        return problem("owner", found, f"sudo chown -R {mine} {folder}")
    foreign = [file.name for file in folder.iterdir() if file.stat().st_uid != owner]
    if foreign:
        found = f"{foreign[0]} belongs to another user than its folder"
        return problem("owner", found, f"sudo chown -R {owner} {folder}")
    return fine("owner", f"user {owner}")


def _space(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    found = f"{free / (1 << 30):,.1f} GB free"
    way = f"df -h {folder}; make room, or move the folder to a larger disk"
    if free < LEAST_FREE:
        return problem("disk", f"{found}: the server takes no reports", way)
    if free < LITTLE_FREE:
        return warning("disk", found, way)
    return fine("disk", found)


def _flushing(folder: Path) -> Check:
    """A report is acknowledged after one flush: it must work, and its time is what workers wait."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            started = time.perf_counter()
            for _ in range(5):
                file.write(b"x" * 4096)
                file.flush()
                os.fsync(file.fileno())
            each = (time.perf_counter() - started) / 5
    except OSError as error:
        found = f"nothing can be written in {folder}: {error.strerror}"
        return problem("flushing", found, f"ls -ld {folder}; df -h {folder}")
    found = f"{each * 1000:.2f} ms"
    if each > SLOW_FLUSH:
        return warning("flushing", f"{found}, which is slow", "use a local disk, not a network's")
    if each < QUICK_FLUSH:
        return warning(
            "flushing",
            f"{found}: quicker than a disk can be",
            f"df -T {folder}; a folder in memory (tmpfs) is lost when the machine stops",
        )
    return fine("flushing", found)


def _sqlite(connection: Connection, faults: list[str]) -> Iterator[Check]:
    from sqlalchemy import text

    if faults:
        way = "stop the server; sottovoce restore FILE --data NEW-FOLDER"
        yield problem("integrity", faults[0], way)
    else:
        yield fine("integrity", "SQLite finds nothing wrong")
    mode = connection.execute(text("PRAGMA journal_mode")).scalar_one()
    if mode != "wal":
        found = f"journal mode {mode}: readers would block the writer"
        yield problem("journal", found, "put the data folder on a local disk")
    else:
        yield fine("journal", "write-ahead log")


def _server(connection: Connection) -> Iterator[Check]:
    from sqlalchemy import text

    def setting(name: str) -> str:
        return str(connection.execute(text(f"SHOW {name}")).scalar_one())

    version = setting("server_version")
    if int(setting("server_version_num")) < OLDEST_POSTGRESQL:
        yield problem("PostgreSQL", f"version {version}", "use version 14 or newer")
    else:
        yield fine("PostgreSQL", f"version {version}")
    if setting("server_encoding") != "UTF8":
        way = "createdb --encoding=UTF8 --template=template0 NAME; then backup and restore"
        yield problem("encoding", setting("server_encoding"), way)
    else:
        yield fine("encoding", "UTF8")
    yield _kept(setting("fsync"), setting("synchronous_commit"))
    isolation = setting("default_transaction_isolation")
    if isolation != "read committed":
        way = "ALTER DATABASE NAME SET default_transaction_isolation TO 'read committed';"
        yield warning("isolation", f"{isolation} by default; the server sets its own", way)
    else:
        yield fine("isolation", isolation)
    each, connections = setting("max_locks_per_transaction"), setting("max_connections")
    yield _partitions(count_partitions(connection), int(each), int(connections))


def _partitions(partitions: int, each: int, connections: int) -> Check:
    """A backup reads all reports in one transaction; the other half of all locks is for others."""
    wanted = -(-2 * LOCKS * partitions // connections)
    if wanted > each:
        found = f"{partitions:,} campaigns have a table each: too many for a backup to lock"
        way = f"ALTER SYSTEM SET max_locks_per_transaction = {2 * wanted}; restart PostgreSQL"
        return warning("partitions", found, way)
    return fine("partitions", f"{partitions:,} campaigns have a table for their reports")


def _kept(fsync: str, commit: str) -> Check:
    if fsync != "on":
        way = "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();"
        return problem("durability", "fsync is off: a crash loses acknowledged reports", way)
    if commit == "off":
        way = "ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf();"
        return warning("durability", "synchronous_commit is off; the server sets its own", way)
    return fine("durability", f"fsync on, synchronous_commit {commit}")
