"""PostgreSQL specifics: partitions, COPY, and several statements in one round trip.

The reports of each campaign are in their own table, a partition of `reports`. Nothing here holds a
lock for long. Attaching a partition does not block readers or writers of reports. Dropping one
locks all of `reports` for a moment; if a longer read is in progress, the partition is emptied
instead and dropped when another campaign is deleted. SQLite has one table, and these functions
leave it alone.

Many rows are inserted at once, because reports share one writer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

from sqlalchemy import Connection, Table, delete, text
from sqlalchemy.exc import OperationalError

from sottovoce.server.database.connection import unavailable
from sottovoce.server.database.schema import reports


def insert_many(
    connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Insert rows in the connection's transaction.

    It bypasses SQLAlchemy, which processes each value of each row; PostgreSQL's COPY also saves a
    round trip per row.
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


MOMENT = "100ms"
"""The longest that others may have to wait while a partition is dropped."""

NO_LOCK = "55P03"
"""PostgreSQL's code for a lock timeout."""

_OWNERLESS = text("""
    SELECT relname FROM pg_inherits
    JOIN pg_class ON pg_class.oid = inhrelid
    LEFT JOIN campaigns ON relname = 'reports_' || campaigns.number
    WHERE inhparent = 'reports'::regclass AND campaigns.number IS NULL""")
_WITHOUT = text("""
    SELECT number FROM campaigns
    LEFT JOIN pg_inherits ON inhparent = 'reports'::regclass
        AND inhrelid = to_regclass('reports_' || number)
    WHERE state <> 'draft' AND inhrelid IS NULL ORDER BY number""")
_COUNT = text("SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('reports')")


def add_partition(connection: Connection, campaign: int) -> None:
    """Add the partition of a campaign, unless it has one."""
    if connection.dialect.name == "sqlite" or _has_partition(connection, campaign):
        return
    name = _name(campaign)
    # Created with PARTITION OF, it would wait for all readers and writers of reports.
    connection.execute(text(f"CREATE TABLE {name} (LIKE reports INCLUDING ALL)"))
    connection.execute(
        text(f"ALTER TABLE reports ATTACH PARTITION {name} FOR VALUES IN ({campaign:d})")
    )


def add_missing_partitions(connection: Connection) -> None:
    """Add partitions for all campaigns that were ever opened."""
    for number in without_partition(connection):
        add_partition(connection, number)


def without_partition(connection: Connection) -> list[int]:
    """Campaigns that were opened and have no partition."""
    if connection.dialect.name == "sqlite":
        return []
    return [*connection.execute(_WITHOUT).scalars()]


def count_partitions(connection: Connection) -> int:
    """How many campaigns have a partition, in PostgreSQL."""
    return int(connection.execute(_COUNT).scalar_one())


def drop_partition(connection: Connection, campaign: int) -> None:
    """Drop the reports of a deleted campaign quickly, whatever their number.

    If they are being read, they are deleted one by one instead, and readers still see them.
    """
    if connection.dialect.name == "sqlite" or not _has_partition(connection, campaign):
        return
    own = _name(campaign)
    if not _promptly(connection, f"DROP TABLE {own}"):
        if not _promptly(connection, f"TRUNCATE {own}"):
            connection.execute(delete(reports).where(reports.c.campaign == campaign))
        return
    # A campaign with only an empty partition left has no row.
    for name in connection.execute(_OWNERLESS).scalars().all():
        _promptly(connection, f"DROP TABLE {name}")


def hold_partitions(connection: Connection) -> None:
    """Lock the partitions that this transaction will read; call it before reading."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("LOCK TABLE reports IN ACCESS SHARE MODE"))


def _name(campaign: int) -> str:
    return f"reports_{campaign:d}"


def _has_partition(connection: Connection, campaign: int) -> bool:
    found = connection.execute(text("SELECT to_regclass(:name)"), {"name": _name(campaign)})
    return found.scalar() is not None


def _promptly(connection: Connection, statement: str) -> bool:
    """Do it unless it would have to wait for others; return whether it was done."""
    try:
        with connection.begin_nested():
            query = text("SELECT current_setting('lock_timeout')")
            usual = connection.execute(query).scalar_one()
            _wait_for_locks(connection, MOMENT)
            connection.execute(text(statement))
            _wait_for_locks(connection, usual)
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != NO_LOCK:
            raise
        return False
    return True


def _wait_for_locks(connection: Connection, limit: str) -> None:
    """Set the lock timeout for the rest of the transaction."""
    connection.execute(text("SELECT set_config('lock_timeout', :limit, true)"), {"limit": limit})


Rows: TypeAlias = Sequence[Sequence[Any]]
Statement: TypeAlias = tuple[str, Mapping[str, Any]]
"""A statement with `%(name)s` for each value, and the values."""


def in_one_trip(connection: Connection, statements: Sequence[Statement]) -> list[Rows]:
    """The rows of each statement, in the connection's transaction.

    They run one after another: each sees the effects of those before it.
    """
    driver: Any = connection.connection.driver_connection
    with ExitStack() as stack:
        cursors = [stack.enter_context(driver.cursor()) for _ in statements]
        with driver.pipeline():
            for cursor, (text, values) in zip(cursors, statements, strict=True):
                cursor.execute(text, values)
        return [cursor.fetchall() if cursor.description else [] for cursor in cursors]
