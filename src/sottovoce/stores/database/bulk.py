"""Many rows at once, while reports wait for the same writer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from sottovoce.stores.database.failing import unavailable

__all__ = ["insert_many"]


def insert_many(
    connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """New rows, in the connection's transaction.

    Below SQLAlchemy, which looks at each value of each row; PostgreSQL's COPY saves a round trip
    for each row on top.
    """
    names = ", ".join(columns)
    if connection.dialect.name == "postgresql":
        _copy(connection, f"COPY {table.name} ({names}) FROM STDIN", rows)
    else:
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table.name} ({names}) VALUES ({marks})"
        connection.exec_driver_sql(statement, [tuple(row) for row in rows])


def _copy(connection: Connection, statement: str, rows: Iterable[Sequence[Any]]) -> None:
    driver: Any = connection.dialect.dbapi
    held: Any = connection.connection
    try:
        with held.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
    except driver.Error as error:
        raise unavailable(error) from None
