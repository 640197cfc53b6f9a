"""Databases as earlier releases made them, with everything in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, insert, select, text
from tests.server.database.filled_database import Sent, fill

from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.postgresql import add_partition
from sottovoce.server.database.schema import METADATA
from sottovoce.server.database.schema_version import VERSION_TABLE, migrate, schema_change

Rows = dict[str, list[dict[str, Any]]]


def make_earlier(database: Database, revision: str, folder: Path) -> tuple[str, list[Sent]]:
    """Give an empty database the tables of a revision, and what they could hold of a service.

    Returns the campaign's invite and what was sent. Numbers of campaigns go beyond those there are.
    """
    current = Database.at(folder)
    upgrade(current)
    invite, sent = fill(current)
    with schema_change(database) as connection, current.reading() as source:
        migrate(connection, revision)
        for table in earlier_tables(connection):
            if table.name == "reports" and revision >= "0005":  # partitioned, on PostgreSQL
                for number in connection.execute(select(METADATA.tables["campaigns"].c.number)):
                    add_partition(connection, number[0])
            names = [column.name for column in table.columns]
            rows = source.execute(select(*(METADATA.tables[table.name].c[name] for name in names)))
            if found := [dict(row._mapping) for row in rows]:
                connection.execute(insert(table), found)
        _use_numbers(connection)
    current.close()
    return invite, sent


def rows_of(database: Database) -> Rows:
    """Every row of every table that the database has."""
    with database.reading() as connection:
        return {
            table.name: [
                dict(row._mapping)
                for row in connection.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in earlier_tables(connection)
        }


def earlier_tables(connection: Connection) -> Any:
    """The tables that are there, those referred to first."""
    found = MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != VERSION_TABLE]


def _use_numbers(connection: Connection) -> None:
    """As if ten campaigns and reports had been there and were deleted."""
    if connection.dialect.name == "sqlite":
        connection.execute(text("UPDATE sqlite_sequence SET seq = 10"))
        return
    for table, column in (("campaigns", "number"), ("reports", "sequence")):
        connection.execute(
            text(f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), 10)")
        )
