"""Connections: durable when they write, consistent when they read, silent about passwords."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from sottovoce.errors import UsageError
from sottovoce.server.database import Database


def asked(connection: Connection, question: str) -> str:
    return str(connection.execute(text(question)).scalar_one())


@contextmanager
def both(database: Database) -> Iterator[tuple[Connection, Connection]]:
    with database.writing() as writing, database.reading() as reading:
        yield writing, reading
    database.close()


def test_a_folder_is_sqlite_that_flushes_and_checks(tmp_path: Path) -> None:
    with both(Database.at(tmp_path)) as connections:
        for connection in connections:
            assert asked(connection, "PRAGMA journal_mode") == "wal"
            assert asked(connection, "PRAGMA synchronous") == "2"
            assert asked(connection, "PRAGMA foreign_keys") == "1"


def test_sqlite_lets_one_write_and_many_read(tmp_path: Path) -> None:
    database = Database.at(f"sqlite:///{tmp_path}/other.db")
    with database.writing() as connection, closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("PRAGMA busy_timeout = 10")
        connection.execute(text("CREATE TABLE leaves (tree TEXT)"))
        assert other.execute("SELECT * FROM sqlite_master").fetchall() == []
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    database.close()


def test_postgresql_reads_one_state_and_writes_what_others_committed(postgresql: str) -> None:
    with both(Database.at(postgresql)) as (writing, reading):
        assert asked(reading, "SHOW transaction_isolation") == "repeatable read"
        assert asked(writing, "SHOW transaction_isolation") == "read committed"


def test_postgresql_is_durable_whatever_its_owner_set(postgresql: str) -> None:
    database = Database.at(postgresql)
    with database.writing() as connection:
        connection.execute(text("ALTER ROLE postgres SET synchronous_commit = off"))
    database.engine.dispose()
    with database.writing() as connection:
        assert asked(connection, "SHOW synchronous_commit") == "on"
        assert asked(connection, "SHOW lock_timeout") == "10s"
        connection.execute(text("ALTER ROLE postgres RESET synchronous_commit"))
    database.close()


def test_what_fails_leaves_no_trace(database: Database) -> None:
    with pytest.raises(DBAPIError), database.writing() as connection:  # noqa: PT012
        connection.execute(text("DELETE FROM sottovoce_schema"))
        connection.execute(text("SELECT nonsense"))
    with database.reading() as connection:
        assert asked(connection, "SELECT count(*) FROM sottovoce_schema") == "1"


@pytest.mark.parametrize(
    "address", ["mysql://me:CANARY@host/db", "sqlite://", "postgresql://me:CANARY@host:port/db"]
)
def test_other_addresses_are_refused_without_the_password(address: str) -> None:
    with pytest.raises(UsageError) as refused:
        Database.at(address)
    assert "CANARY" not in str(refused.value)


def test_a_password_is_not_shown() -> None:
    assert "CANARY" not in repr(Database.at("postgresql://me:CANARY@host/db"))
