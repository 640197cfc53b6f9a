"""Connections to the database: SQLite in a folder, or PostgreSQL at an address.

Driver errors become refusals, or one sentence for a person, without passwords or stored data.
Commands that need exclusive use of a database get it here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from sottovoce.errors import NotInstalled, Reason, Refused, UsageError
from sottovoce.files.locks import folder_lock

PATIENCE = 10.0
"""Seconds to wait for another writing connection."""

FILE = "sottovoce.db"

_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    f"journal_size_limit = {64 << 20}",  # shrinks the log again after a long export
)

# Otherwise the driver's errors would contain the data.
_POOL: dict[str, Any] = {"pool_timeout": PATIENCE, "hide_parameters": True}

_PATIENT_AND_DURABLE = f"""
    SELECT set_config('lock_timeout', '{PATIENCE:g}s', true),
    CASE current_setting('synchronous_commit')
        WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END
"""
"""For one transaction: a limit for locks, and durable commits."""

STORAGE_ERRORS = (DBAPIError, NoConnection)
"""A full disk, a lost server, or no free connection: nothing was changed."""

log = logging.getLogger("sottovoce.stores")

_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sottovoce' "
    "AND datname = current_database() AND pid <> pg_backend_pid()"
)


class Database:
    """The database of a service. Connections are made when they are needed.

    SQLite: WAL, so that readers see a consistent state while one connection writes, and
    `synchronous=FULL`, so that a commit is on the disk when it returns.

    `engine` is for writing. Readers have their own connections, so writing never waits for a
    reader's connection.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.is_sqlite: bool = url.get_backend_name() == "sqlite"
        make = _sqlite if self.is_sqlite else _postgresql
        self.engine: Engine = make(url, writes=True)
        self._readers = make(url, writes=False)

    @classmethod
    def at(cls, place: str | os.PathLike[str]) -> Database:
        """The database at an address, or in a folder."""
        if isinstance(place, str) and "://" in place:
            return cls(_parsed(place))
        return cls(URL.create("sqlite", database=str(Path(place) / FILE)))

    @property
    def file(self) -> Path | None:
        """SQLite's file."""
        return Path(self.url.database or "") if self.is_sqlite else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection with a consistent snapshot, whatever is committed in the meantime."""
        with self._readers.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is durable when the block ends, or is rolled back."""
        with self.engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._readers.dispose()

    def __repr__(self) -> str:
        return f"Database({self.url.render_as_string(hide_password=True)!r})"


def _parsed(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UsageError(
            "invalid database address; write postgresql://user:password@host/name"
        ) from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database:
        return url
    raise UsageError(
        f"the database is SQLite or PostgreSQL, not {url.get_backend_name()}: write "
        "postgresql://user:password@host/name, or give a folder for SQLite"
    )


def _sqlite(url: URL, *, writes: bool) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": PATIENCE, "check_same_thread": False}, **_POOL
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # BEGIN is issued here
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the lock at the start, so that its reads are still valid at the end.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL, *, writes: bool) -> Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise NotInstalled("psycopg", purpose="PostgreSQL", extra="server") from None
    engine = create_engine(
        url,
        # A writer locks the rows it depends on, then sees what others committed before.
        isolation_level="READ COMMITTED" if writes else "REPEATABLE READ",
        pool_pre_ping=True,
        connect_args={"connect_timeout": int(PATIENCE), "application_name": "sottovoce"},
        **_POOL,
    )
    if writes:

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            connection.exec_driver_sql(_PATIENT_AND_DURABLE)

    return engine


def unavailable(error: BaseException) -> Refused:
    """The refusal for a storage failure; the log has the driver's name for it.

    The driver's message could contain data, so neither includes it.
    """
    cause = getattr(error, "orig", error)
    name = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    log.error("storage failed", extra={"error": name or type(cause).__name__})
    return Refused(Reason.UNAVAILABLE, "the server's storage does not respond; try again later")


@contextmanager
def readable_errors(database: Database) -> Iterator[None]:
    """Turn driver errors into helpful messages.

    Only a failure to connect is quoted: other messages could contain data.
    """
    try:
        yield
    except DBAPIError as error:
        raise UsageError(_sentence(database, error)) from None


def name_of(database: Database) -> str:
    """The name of a database in messages."""
    return str(database.file or f"the database {database.url.database!r}")


def _sentence(database: Database, error: DBAPIError) -> str:
    first = str(error.orig).strip().splitlines()[:1]
    reason = first[0] if first else type(error.orig).__name__
    if database.file is not None:
        if "not a database" in reason or "malformed" in reason:
            return f"{database.file} is not a SQLite database, or is damaged; restore a backup"
        return f"{database.file} cannot be used: {_known_only(reason)}"
    if "connection" in reason or error.connection_invalidated:
        return f"PostgreSQL does not respond: {reason}; check --database-url"
    return f"PostgreSQL refused: {type(error.orig).__name__}"


def _known_only(reason: str) -> str:
    """SQLite's own message, which quotes no row; other errors by their type."""
    known = (
        "unable to open database file",
        "attempt to write a readonly database",
        "database is locked",
        "database or disk is full",
        "disk I/O error",
        "database schema has changed",
    )
    found = next((words for words in known if words in reason), "SQLite refused it")
    # A full disk also shows as this, when SQLite creates its shared memory.
    return f"{found}; is the disk full?" if found == "disk I/O error" else found


@contextmanager
def exclusive_use(database: Database) -> Iterator[None]:
    """Refuse a database that a server uses; SQLite's folder is locked until the block ends.

    A server that starts on PostgreSQL in the meantime checks the schema first, like every server.
    """
    if database.file is not None:
        with folder_lock(database.file.parent):
            yield
        return
    with readable_errors(database), database.reading() as connection:
        others = connection.execute(_OTHERS).scalar_one()
    if others:
        raise UsageError(
            f"{name_of(database)} is in use: {others:,} connections of running servers (or other "
            "sottovoce commands); stop them first"
        )
    yield
