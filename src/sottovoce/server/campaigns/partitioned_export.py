"""Exports a campaign's reports as a folder of Parquet files, for engines that read by part.

Parts are ranges of pseudonyms: all reports of a worker are in one part, and the order of arrival
is not revealed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.errors import DataError, Reason, Refused
from sottovoce.files.atomic_output import new_folder
from sottovoce.mechanisms.codes import code_type
from sottovoce.mechanisms.codes import names_of as array_of
from sottovoce.server.campaigns.export_tables import TEXT, report_column
from sottovoce.server.database import Database
from sottovoce.server.database.backup import Progress
from sottovoce.server.database.campaigns import Stored, find_campaign, task_names
from sottovoce.server.database.connection import name_of, readable_errors
from sottovoce.server.database.postgresql import hold_partitions
from sottovoce.server.database.schema_version import check_schema
from sottovoce.server.database.stored_reports import (
    EVERYBODY,
    OrderedReports,
    reports_between,
    split_range,
    worker_names,
)
from sottovoce.tables import policy_text
from sottovoce.tables.duckdb_connection import name_of as quoted
from sottovoce.tables.duckdb_connection import path_of
from sottovoce.tables.writers import copied

PART = 4_000_000
"""The approximate number of reports in a part, if the number of parts is not given."""

CHUNK = 1 << 18
"""The most reports held at once; about half as many are expected."""

IN_PASSING = "FORMAT parquet, COMPRESSION uncompressed"
TO_STAY = "FORMAT parquet, COMPRESSION zstd"

REPORTS, POLICY, DONE = "reports", "policy.json", "_SUCCESS"


@dataclass(frozen=True, slots=True)
class PartitionedExport:
    """The result of an export."""

    parts: int
    reports: int
    simulated: bool


def export_parts(
    database: Database,
    id: str,
    folder: str | os.PathLike[str],
    *,
    parts: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> PartitionedExport:
    """Write reports/part-00000.parquet …, policy.json and, last, an empty _SUCCESS into a folder.

    The folder appears complete or not at all, and holds one snapshot of the database: a server may
    keep accepting reports. Columns are those of the export `reports.parquet`, and so are rows.
    """
    check_schema(database)
    with (
        new_folder(folder, (REPORTS, POLICY, DONE), force=force) as place,
        readable_errors(database),
        database.reading() as connection,
    ):
        hold_partitions(connection)
        stored = _stored(database, connection, id)
        campaign = stored.campaign
        ranges = split_range(EVERYBODY, parts or max(1, -(-campaign.counts.reports // PART)))
        writer = _Writer(connection, stored, len(ranges), progress)
        (place / REPORTS).mkdir()
        for number, workers in enumerate(ranges):
            writer.write(place / REPORTS / f"part-{number:05}.parquet", workers)
        written = writer.written
        if written != campaign.counts.reports:
            raise DataError(
                f"campaign {id} has {written:,} reports but counts "
                f"{campaign.counts.reports:,}; run sottovoce db check"
            )
        (place / POLICY).write_text(policy_text(campaign.terms.policy), encoding="utf-8")
        (place / DONE).touch()
    return PartitionedExport(len(ranges), written, campaign.simulated)


def _stored(database: Database, connection: Connection, id: str) -> Stored:
    stored = find_campaign(connection, id)
    if stored is None:
        raise Refused(Reason.NOT_FOUND, f"{name_of(database)} has no campaign {id!r}")
    return stored


class _Writer:
    """Writes the reports of a campaign in chunks."""

    def __init__(
        self, connection: Connection, stored: Stored, parts: int, progress: Progress | None
    ) -> None:
        self._connection, self._number, self._progress = connection, stored.number, progress
        self.written = 0
        self._column = column = report_column(stored)
        self._kind = code_type(column.alphabet)
        self._tasks = array_of(task_names(connection, stored.number))
        # An empty array of objects would have no type.
        self._query = (
            f"SELECT worker::{TEXT} AS worker, task::{TEXT} AS task, "
            f"report::{column.kind} AS {quoted(column.name)} FROM chunk"
        )
        self._most = max(1, CHUNK // max(1, stored.campaign.block))
        self._reads = max(1, 2 * stored.campaign.counts.submissions // (parts * self._most))

    def write(self, path: Path, workers: range) -> None:
        """Write the part of these workers.

        Each chunk becomes a file, and DuckDB joins them in order, so memory does not grow with
        the part.
        """
        chunks = path.with_suffix(".chunks")
        chunks.mkdir()
        files: list[str] = []
        with closing(_ahead(self._chunks(workers))) as read:
            for rows in chain([self._none()], read):
                file = chunks / f"{path.stem}-{len(files):06}.parquet"
                copied({"chunk": self._columns(rows)}, self._query, file, IN_PASSING)
                files.append(path_of(file))
                self._tell(path.name, len(rows))
        scan = f"read_parquet([{', '.join(files)}], hive_partitioning = false)"
        copied({}, f"SELECT * FROM {scan}", path, TO_STAY)
        shutil.rmtree(chunks)

    def _tell(self, name: str, rows: int) -> None:
        self.written += rows
        if self._progress is not None:
            self._progress(name, self.written)

    def _chunks(self, workers: range) -> Iterator[OrderedReports]:
        for some in split_range(workers, self._reads):
            yield from reports_between(
                self._connection, self._number, self._kind, some, most=self._most
            )

    def _none(self) -> OrderedReports:
        """An empty table with the columns: for a part without workers."""
        codes = np.empty(0, self._kind)
        return OrderedReports(b"", np.empty(0, np.int32), np.empty(0, np.uint32), codes)

    def _columns(self, rows: OrderedReports) -> dict[str, npt.NDArray[Any]]:
        return {
            "worker": array_of(worker_names(rows.pseudonyms))[rows.worker],
            "task": self._tasks[rows.task],
            "report": self._column.written(rows.code),
        }


def _ahead(chunks: Iterator[OrderedReports]) -> Generator[OrderedReports, None, None]:
    """The same chunks, each read while the one before it is written."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, chunks, None)
        while (rows := coming.result()) is not None:
            coming = thread.submit(next, chunks, None)
            yield rows
