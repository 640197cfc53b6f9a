"""Of several servers on one database, one infers."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from sottovoce.server.database import Database

__all__ = ["Election"]

KEY = int.from_bytes(b"sotto-vo", "big")
"""The number of PostgreSQL's advisory lock; locks belong to one database of a server."""


class Election:
    """Won by who holds a lock, on a connection of its own; a holder that dies gives it back.

    On SQLite there is one server, and it wins.
    """

    def __init__(self, database: Database) -> None:
        self._database = None if database.is_sqlite else Database(database.url)
        self._connection: Connection | None = None

    def won(self) -> bool:
        """Whether this server infers now."""
        if self._database is None:
            return True
        try:
            if self._connection is not None:
                self._connection.execute(text("SELECT 1"))
                return True
            return self._stood(self._database)
        except DBAPIError:
            self._give_up()
            return False

    def close(self) -> None:
        """Let another server win."""
        self._give_up()
        if self._database is not None:
            self._database.close()

    def _stood(self, database: Database) -> bool:
        connection = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._connection = connection
        won = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": KEY}).scalar()
        if not won:
            self._give_up()
        return bool(won)

    def _give_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()  # a connection in a pool would keep its lock
            connection.close()
