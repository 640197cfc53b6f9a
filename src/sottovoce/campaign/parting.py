"""A campaign's reports as a folder of Parquet files, for engines that read one part at a time.

Parts are ranges of pseudonyms: all reports of a worker are in one of them, and nothing tells in
which order they came.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.campaign.report_columns import TEXT, report_column
from sottovoce.errors import DataError, Reason, Refused
from sottovoce.mechanisms.admitting import code_type
from sottovoce.model import Names
from sottovoce.stores import policy_text
from sottovoce.stores.database import Database
from sottovoce.stores.database.campaigns import Stored, find_campaign, task_names
from sottovoce.stores.database.manifest import Progress
from sottovoce.stores.database.packed import names_of
from sottovoce.stores.database.ranges import EVERYBODY, Ordered, cut, reports_between
from sottovoce.stores.database.reaching import name_of, reaching
from sottovoce.stores.database.upgrading import check_schema
from sottovoce.stores.saving import copied
from sottovoce.stores.sql import name_of as quoted
from sottovoce.stores.sql import path_of
from sottovoce.stores.whole_folders import new_folder

__all__ = ["Parted", "export_parts"]

PART = 4_000_000
"""Reports in a part, about, if nobody says how many parts there are."""

CHUNK = 1 << 18
"""Reports that are held at once, at most; about half as many are expected."""

REPORTS, POLICY, DONE = "reports", "policy.json", "_SUCCESS"


@dataclass(frozen=True, slots=True)
class Parted:
    """What was exported."""

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
) -> Parted:
    """Write reports/part-00000.parquet …, policy.json and, last, an empty _SUCCESS into a folder.

    The folder appears whole or not at all, and has one state of the database in it: a server may
    go on taking reports. Columns are those of the export `reports.parquet`, and so are rows.
    """
    check_schema(database)
    with (
        new_folder(folder, (REPORTS, POLICY, DONE), force=force) as place,
        reaching(database),
        database.reading() as connection,
    ):
        stored = _stored(database, connection, id)
        campaign = stored.campaign
        ranges = cut(EVERYBODY, parts or max(1, -(-campaign.counts.reports // PART)))
        source = _Source(connection, stored, len(ranges))
        (place / REPORTS).mkdir()
        written = 0
        for number, workers in enumerate(ranges):
            name = f"part-{number:05}.parquet"
            for rows in source.write(place / REPORTS / name, workers):
                written += rows
                if progress is not None:
                    progress(name, written)
        if written != campaign.counts.reports:
            raise DataError(
                f"campaign {id} has {written:,} reports and counts {campaign.counts.reports:,}: "
                "run sottovoce db check"
            )
        (place / POLICY).write_text(policy_text(campaign.terms.policy), encoding="utf-8")
        (place / DONE).touch()
    return Parted(len(ranges), written, campaign.simulated)


def _stored(database: Database, connection: Connection, id: str) -> Stored:
    stored = find_campaign(connection, id)
    if stored is None:
        raise Refused(Reason.NOT_FOUND, f"{name_of(database)} has no campaign {id!r}")
    return stored


class _Source:
    """The reports of a campaign as columns, some at a time."""

    def __init__(self, connection: Connection, stored: Stored, parts: int) -> None:
        self._connection, self._number = connection, stored.number
        self._column = column = report_column(stored)
        self._kind = code_type(column.alphabet)
        self._tasks = _texts(task_names(connection, stored.number))
        # Without rows an array of objects would be of any type.
        self._query = (
            f"SELECT worker::{TEXT} AS worker, task::{TEXT} AS task, "
            f"report::{column.kind} AS {quoted(column.name)} FROM chunk"
        )
        self._most = max(1, CHUNK // max(1, stored.campaign.block))
        self._reads = max(1, 2 * stored.campaign.counts.submissions // (parts * self._most))

    def write(self, path: Path, workers: range) -> Iterator[int]:
        """Write the part of these workers; how many rows there are, chunk by chunk.

        Each chunk becomes a file of its own, and DuckDB joins them in their order: what is held
        in memory does not grow with the part.
        """
        chunks = path.with_suffix(".chunks")
        chunks.mkdir()
        files: list[str] = []
        for rows in chain([self._none()], self._chunks(workers)):
            file = chunks / f"{len(files):06}.parquet"
            copied({"chunk": self._columns(rows)}, self._query, file, "FORMAT parquet")
            files.append(path_of(file))
            yield len(rows)
        scan = f"read_parquet([{', '.join(files)}], hive_partitioning = false)"
        copied({}, f"SELECT * FROM {scan}", path, "FORMAT parquet, COMPRESSION zstd")
        shutil.rmtree(chunks)

    def _chunks(self, workers: range) -> Iterator[Ordered]:
        for some in cut(workers, self._reads):
            yield from reports_between(
                self._connection, self._number, self._kind, some, most=self._most
            )

    def _none(self) -> Ordered:
        """No rows: a part without workers has columns nevertheless."""
        codes = np.empty(0, self._kind)
        return Ordered(b"", np.empty(0, np.int32), np.empty(0, np.uint32), codes)

    def _columns(self, rows: Ordered) -> dict[str, npt.NDArray[Any]]:
        return {
            "worker": _texts(names_of(rows.pseudonyms))[rows.worker],
            "task": self._tasks[rows.task],
            "report": self._column.written(rows.code),
        }


def _texts(names: list[str]) -> Names:
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array
