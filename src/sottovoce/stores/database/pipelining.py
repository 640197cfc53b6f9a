"""Several statements to PostgreSQL in one round trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

from sqlalchemy import Connection

__all__ = ["Rows", "Statement", "in_one_trip"]

Rows: TypeAlias = Sequence[Sequence[Any]]
Statement: TypeAlias = tuple[str, Mapping[str, Any]]
"""What is asked, with `%(name)s` for each value, and the values."""


def in_one_trip(connection: Connection, statements: Sequence[Statement]) -> list[Rows]:
    """The rows of each, in the connection's transaction.

    One after another all the same: each sees what the ones before it did, and waited for.
    """
    driver: Any = connection.connection.driver_connection
    with ExitStack() as stack:
        cursors = [stack.enter_context(driver.cursor()) for _ in statements]
        with driver.pipeline():
            for cursor, (text, values) in zip(cursors, statements, strict=True):
                cursor.execute(text, values)
        return [cursor.fetchall() if cursor.description else [] for cursor in cursors]
