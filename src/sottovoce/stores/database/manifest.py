"""What a backup says about itself: who made it, and a digest of every table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, MetaData, Table, Text, insert, select
from sqlalchemy import table as named_table
from sqlalchemy.sql.expression import column

__all__ = ["FORMAT", "MANIFEST", "Manifest", "Progress", "Tally", "batches", "tallied"]

FORMAT = "sottovoce-backup/1"

MANIFEST = Table(
    "sottovoce_manifest",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("content", Text, nullable=False),
)

Progress = Callable[[str, int], None]
"""Called with a table's name and how many of its rows are done."""

_FEW = {
    "results": 1, "opened": 1, "live_sessions": 1, "live_events": 1, "live_rounds": 8,
    "messages": 8, "reports": 64,
}  # fmt: skip
"""Rows to hold at once, where a row may have many megabytes."""
_MANY = 500


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows a table has, and the SHA-256 of what is in them, by primary key."""

    columns: tuple[str, ...]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The release and schema a backup comes from, its day, and the tally of each table."""

    release: str
    revision: str
    day: date
    tables: Mapping[str, Tally]

    def write(self, connection: Connection) -> None:
        """Put it into a backup."""
        about = {
            "format": FORMAT,
            "release": self.release,
            "schema": self.revision,
            "day": self.day.isoformat(),
        }
        rows = [{"name": name, "content": content} for name, content in about.items()]
        for name, tally in self.tables.items():
            rows.append({"name": f"table {name}", "content": json.dumps(asdict(tally))})
        MANIFEST.create(connection)
        connection.execute(insert(MANIFEST), rows)

    @classmethod
    def read(cls, connection: Connection) -> Manifest:
        """The one in a backup; ValueError or KeyError where it is none."""
        rows = connection.execute(select(MANIFEST.c.name, MANIFEST.c.content))
        found = {row.name: row.content for row in rows}
        if found["format"] != FORMAT:
            raise ValueError("another format")
        tables = {}
        for name, content in found.items():
            if name.startswith("table "):
                entry = json.loads(content)
                tally = Tally(tuple(entry["columns"]), int(entry["rows"]), str(entry["sha256"]))
                tables[name.removeprefix("table ")] = tally
        day = date.fromisoformat(found["day"])
        return cls(found["release"], found["schema"], day, tables)


class Counter:
    """Tallies rows as they pass."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._columns, self._rows, self._hash = tuple(columns), 0, hashlib.sha256()

    def add(self, rows: Sequence[Sequence[Any]]) -> int:
        """Count these too; how many there are now."""
        self._rows += len(rows)
        self._hash.update(b"".join(_encoded(row) for row in rows))
        return self._rows

    def tally(self) -> Tally:
        """What has passed."""
        return Tally(self._columns, self._rows, self._hash.hexdigest())


def batches(connection: Connection, table: Table) -> Iterator[Sequence[Sequence[Any]]]:
    """All rows of a table, by primary key, some at a time.

    Only names are taken from `table`, so that both kinds of database give the same values. Keys
    are numbers, bytes and texts compared as bytes, which both put in the same order.
    """
    columns: list[ColumnElement[Any]] = [column(one.name) for one in table.columns]
    keys: list[ColumnElement[Any]] = [column(one.name) for one in table.primary_key.columns]
    query = select(*columns).select_from(named_table(table.name)).order_by(*keys)
    size = _FEW.get(table.name, _MANY)
    yield from connection.execute(query, execution_options={"yield_per": size}).partitions()


def tallied(connection: Connection, table: Table, progress: Progress | None = None) -> Tally:
    """The tally of a table as it is now."""
    counter = Counter(one.name for one in table.columns)
    for rows in batches(connection, table):
        done = counter.add(rows)
        if progress is not None:
            progress(table.name, done)
    return counter.tally()


def _encoded(row: Sequence[Any]) -> bytes:
    """A row as bytes that no other row has: each cell with its kind and its length."""
    return b"".join([_cell(value) for value in row])


def _cell(value: Any) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i%d;" % value
    content = value.encode() if isinstance(value, str) else bytes(value)
    return b"%c%d:%b" % (b"t" if isinstance(value, str) else b"b", len(content), content)
