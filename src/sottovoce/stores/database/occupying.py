"""Work on a database that no server uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from sottovoce.errors import UsageError
from sottovoce.files.locks import folder_lock
from sottovoce.stores.database.connecting import Database
from sottovoce.stores.database.reaching import name_of, reaching

__all__ = ["alone"]

_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sottovoce' "
    "AND datname = current_database() AND pid <> pg_backend_pid()"
)


@contextmanager
def alone(database: Database) -> Iterator[None]:
    """Refuse a database that a server uses; SQLite's folder is held until the block ends.

    A server that starts on PostgreSQL meanwhile looks at the schema first, as every server does.
    """
    if database.file is not None:
        with folder_lock(database.file.parent):
            yield
        return
    with reaching(database), database.reading() as connection:
        others = connection.execute(_OTHERS).scalar_one()
    if others:
        raise UsageError(
            f"{name_of(database)} is in use: {others:,} connections of running servers (or other "
            "sottovoce commands); stop them first"
        )
    yield
