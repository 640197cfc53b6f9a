"""Fixtures shared by the tests of a running service."""

from __future__ import annotations

import pytest

from sottovoce.server.database import Database


@pytest.fixture
def empty_postgresql(postgresql: str) -> str:
    """The address of a PostgreSQL database with nothing in it."""
    database = Database.at(postgresql)
    with database.engine.begin() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    database.close()
    return postgresql
