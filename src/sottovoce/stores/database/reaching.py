"""A database that does not answer is one sentence, without a password and without a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from sottovoce.errors import UsageError
from sottovoce.stores.database.connecting import Database

__all__ = ["name_of", "reaching"]


@contextmanager
def reaching(database: Database) -> Iterator[None]:
    """Turn what a driver raises into the sentence a person can use.

    Only a failure to connect is quoted: other messages may hold what is stored.
    """
    try:
        yield
    except DBAPIError as error:
        raise UsageError(_sentence(database, error)) from None


def name_of(database: Database) -> str:
    """How a message calls a database."""
    return str(database.file or f"the database {database.url.database!r}")


def _sentence(database: Database, error: DBAPIError) -> str:
    first = str(error.orig).strip().splitlines()[:1]
    reason = first[0] if first else type(error.orig).__name__
    if database.file is not None:
        if "not a database" in reason or "malformed" in reason:
            return f"{database.file} is not a SQLite database, or is damaged: restore a backup"
        return f"{database.file} cannot be used: {_known_only(reason)}"
    if "connection" in reason or error.connection_invalidated:
        return f"PostgreSQL does not answer: {reason}; check --database-url"
    return f"PostgreSQL refused: {type(error.orig).__name__}"


def _known_only(reason: str) -> str:
    """SQLite's own words, which quote no row; anything else by its kind."""
    known = (
        "unable to open database file",
        "attempt to write a readonly database",
        "database is locked",
        "database or disk is full",
        "disk I/O error",
        "database schema has changed",
    )
    found = next((words for words in known if words in reason), "SQLite refused it")
    # A full disk shows as this too, where SQLite makes its shared memory.
    return f"{found}; is the disk full?" if found == "disk I/O error" else found
