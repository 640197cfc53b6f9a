"""What PostgreSQL does differently: partitions, COPY, and several statements in one round trip.

PostgreSQL keeps the reports of each campaign in a table of their own, a partition of `reports`.
Nothing here waits long, and nobody waits long for it. A partition is attached under a lock that
neither readers nor writers of reports notice. To drop one, PostgreSQL locks all of `reports` for a
moment; where somebody reads for longer than that, the partition is emptied instead, and dropped
when another campaign goes. SQLite has one table, and these functions leave it alone.

Many rows are inserted at once, since reports wait for the same writer.
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


MOMENT = "100ms"
"""How long others may have to wait while a partition is dropped."""

NO_LOCK = "55P03"
"""PostgreSQL's code for a lock that was not to be had in time."""

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
    """A place for the reports of a campaign, unless it has one."""
    if connection.dialect.name == "sqlite" or _has_partition(connection, campaign):
        return
    name = _name(campaign)
    # Made in place (PARTITION OF), it would wait for all who read or write any report.
    connection.execute(text(f"CREATE TABLE {name} (LIKE reports INCLUDING ALL)"))
    connection.execute(
        text(f"ALTER TABLE reports ATTACH PARTITION {name} FOR VALUES IN ({campaign:d})")
    )


def add_missing_partitions(connection: Connection) -> None:
    """Places for the reports of all campaigns that were ever opened."""
    for number in without_partition(connection):
        add_partition(connection, number)


def without_partition(connection: Connection) -> list[int]:
    """Campaigns that were opened and have no place for reports."""
    if connection.dialect.name == "sqlite":
        return []
    return [*connection.execute(_WITHOUT).scalars()]


def count_partitions(connection: Connection) -> int:
    """How many campaigns have a table of their own, in PostgreSQL."""
    return int(connection.execute(_COUNT).scalar_one())


def drop_partition(connection: Connection, campaign: int) -> None:
    """Forget the reports of a campaign that has just been deleted, however many, in a moment.

    Whoever reads them just now goes on to see them: then they are deleted one by one.
    """
    if connection.dialect.name == "sqlite" or not _has_partition(connection, campaign):
        return
    own = _name(campaign)
    if not _promptly(connection, f"DROP TABLE {own}"):
        if not _promptly(connection, f"TRUNCATE {own}"):
            connection.execute(delete(reports).where(reports.c.campaign == campaign))
        return
    # A campaign of which only the empty partition was left has no row any more.
    for name in connection.execute(_OWNERLESS).scalars().all():
        _promptly(connection, f"DROP TABLE {name}")


def hold_partitions(connection: Connection) -> None:
    """Keep what this transaction is going to read; before it reads anything."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("LOCK TABLE reports IN ACCESS SHARE MODE"))


def _name(campaign: int) -> str:
    return f"reports_{campaign:d}"


def _has_partition(connection: Connection, campaign: int) -> bool:
    found = connection.execute(text("SELECT to_regclass(:name)"), {"name": _name(campaign)})
    return found.scalar() is not None


def _promptly(connection: Connection, statement: str) -> bool:
    """Do it, unless it would have to wait for others; whether it was done."""
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
    """For the rest of the transaction, as long as that."""
    connection.execute(text("SELECT set_config('lock_timeout', :limit, true)"), {"limit": limit})


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
