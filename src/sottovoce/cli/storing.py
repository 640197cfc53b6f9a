"""The database that the options of a command name."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli import screen
from sottovoce.errors import NotInstalled

if TYPE_CHECKING:
    from sottovoce.server.database import Database

__all__ = ["counting_rows", "opened"]

OFTEN, SELDOM = 0.1, 10.0
"""Seconds between two signs of life, on a terminal and in a log."""


@contextmanager
def opened(data: Path, database_url: str | None) -> Iterator[Database]:
    """The database at the address, or in the folder; nothing is made."""
    try:
        from sottovoce.server.database import Database
    except ModuleNotFoundError as error:
        raise NotInstalled(
            str(error.name), purpose="the service's database", extra="server"
        ) from None
    database = Database.at(database_url or data)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def counting_rows(what: str) -> Iterator[Callable[[str, int], None]]:
    """Says on standard error how far a long copy has come; nothing, if it is quick."""
    live = sys.stderr.isatty()
    said = started = time.monotonic()

    def tell(table: str, rows: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - started < 1 or now - said < (OFTEN if live else SELDOM):
            return
        said = now
        if live:
            sys.stderr.write(f"\r{what}: {table}, {rows:,} rows\x1b[K")
            sys.stderr.flush()
        else:
            screen.note(f"{what}: {table}, {rows:,} rows")

    try:
        yield tell
    finally:
        if live and said != started:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
