"""Exports of a campaign as files, streamed in constant memory.

An export sees one snapshot of the database, on its own connection. Reports are sorted by pseudonym
and then by the task's place, so their order of arrival is not revealed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.server.campaigns.export_tables import (
    ExportTable,
    crowdkit_table,
    reports_table,
    tasks_table,
    totals_table,
    truths_table,
    workers_table,
)
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import Stored, the_campaign
from sottovoce.server.database.connection import unavailable
from sottovoce.server.database.postgresql import hold_partitions
from sottovoce.server.service import Service
from sottovoce.tables import policy_text
from sottovoce.tables.writers import Pieces, csv_pieces, jsonl_pieces, parquet_pieces

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}

FORMATS = ("csv", "jsonl", "parquet")

EXPORTS = (
    *(f"{table}.{format}" for table in ("reports", "truths", "workers") for format in FORMATS),
    "crowdkit.csv",
    "tasks.csv",
    "policy.json",
)
"""The exports of a campaign."""

SEALED_EXPORTS = tuple(f"totals.{format}" for format in FORMATS)
"""Further exports of a sealed campaign, once it is opened."""


LEFT_AFTER = 86_400.0
"""Seconds after which a temporary file counts as abandoned."""


@dataclass(frozen=True, slots=True)
class Export:
    """A file being streamed: its name, number of rows, and pieces.

    The file of a simulated campaign has SIMULATED in its name.

    The caller must close it, after the last piece or before.
    """

    name: str
    media_type: str
    rows: int | None
    pieces: Iterator[bytes]
    _open: ExitStack = field(default_factory=ExitStack, repr=False)

    def close(self) -> None:
        """Release the database connection and temporary files."""
        self._open.close()


def export(service: Service, id: str, name: str, *, raw: bool = False) -> Export:
    """The export of a campaign with this name; CSV is safe for spreadsheets unless `raw`."""
    if name not in (names := (*EXPORTS, *SEALED_EXPORTS)):
        raise Refused(
            Reason.NOT_FOUND, f"there is no export of this name; choose one of {', '.join(names)}"
        )
    with ExitStack() as opening:
        opening.enter_context(service.exports.taken())
        # Its own connection: the service's are for short requests.
        database = Database(service.database.url)
        opening.callback(database.close)
        connection = opening.enter_context(database.reading())
        hold_partitions(connection)
        stored = the_campaign(connection, id)
        table, format = name.split(".")
        if format == "json":
            rows, pieces = None, _policy_pieces(stored)
        else:
            found = _table(service, connection, stored, table)
            rows, pieces = found.rows, _pieces(found, format, database, raw=raw)
        opening.callback(pieces.close)
        stamp = "-SIMULATED" if stored.campaign.simulated else ""
        called = f"{id}-{table}{stamp}.{format}"
        return Export(called, MEDIA_TYPES[format], rows, pieces, opening.pop_all())


def _table(service: Service, connection: Connection, stored: Stored, name: str) -> ExportTable:
    match name:
        case "reports":
            return reports_table(connection, stored)
        case "crowdkit":
            return crowdkit_table(connection, stored)
        case "truths":
            return truths_table(service, connection, stored)
        case "totals":
            return totals_table(connection, stored)
        case "workers":
            return workers_table(service, connection, stored)
        case _:
            return tasks_table(connection, stored)


def _pieces(table: ExportTable, format: str, database: Database, *, raw: bool) -> Pieces:
    names = tuple(table.kinds)
    match format:
        case "csv":
            return csv_pieces(names, table.chunks, table.words, raw=raw)
        case "jsonl":
            return jsonl_pieces(names, table.chunks, table.words)
        case _:
            return _parquet_pieces(table, database)


def _parquet_pieces(table: ExportTable, database: Database) -> Pieces:
    try:
        folder = _temporary(database)
        yield from parquet_pieces(table.kinds, table.chunks, table.words, folder=folder)
    except OSError as error:  # the disk is full
        raise unavailable(error) from None


def _temporary(database: Database) -> Path | None:
    """The folder for large temporary files: next to SQLite's file, or the system's.

    Files left by a killed server are removed.
    """
    if database.file is None:
        return None
    folder = database.file.parent / "temp"
    folder.mkdir(exist_ok=True)
    for left in folder.glob("export-*"):
        if time.time() - left.stat().st_mtime > LEFT_AFTER:
            shutil.rmtree(left, ignore_errors=True)
    return folder


def _policy_pieces(stored: Stored) -> Pieces:
    yield policy_text(stored.campaign.terms.policy).encode()
