"""A table on a cluster: opened, inspected, checked, and packed when an engine is requested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import RDD, StorageLevel
from pyspark.sql import DataFrame, SparkSession

from sottovoce.engines.large_table import Recoding
from sottovoce.engines.spark.checkpoint import KeptBlocks, parts_again
from sottovoce.engines.spark.columns import Checked, answers_of, checked
from sottovoce.engines.spark.engine import SparkEngine
from sottovoce.engines.spark.packed_blocks import (
    BlockCounts,
    Blocks,
    counts_of,
    pack,
    partition_count,
    parts_of,
    worker_names,
)
from sottovoce.engines.spark.session import spark_errors
from sottovoce.engines.spark.source import Source, open_source
from sottovoce.errors import DataError
from sottovoce.model import Domain, Kind, Reading, Repeats
from sottovoce.tables.column_roles import ANSWERS, MADE, REPORTS, is_stamp
from sottovoce.tables.faults import shown
from sottovoce.tables.readers import BadRows, check_options
from sottovoce.version import __version__


def open_table(
    spark: SparkSession,
    source: Any,
    *,
    work: str | None = None,
    columns: Mapping[str, str] | None = None,
    domain: Domain | Kind | None = None,
    repeats: Repeats = "first",
    bad_rows: BadRows = "error",
    reported: bool = False,
    private: bool = False,
) -> SparkTable:
    """The table in Parquet files or in Spark's catalogue, read as `read_reports` reads one.

    Packed blocks are kept in the folder `work`, if one is given, and reused.
    """
    check_options(repeats, bad_rows)
    roles = ANSWERS if private else MADE if reported else REPORTS
    found = open_source(spark, source, roles, columns)
    answers = answers_of(found, domain)
    table = checked(found, answers, drop=bad_rows == "drop")
    return SparkTable(spark, found, table, answers.domain, repeats, work)


@dataclass(frozen=True, slots=True, eq=False)
class SparkTable:
    """A table that was checked: a `LargeTable`."""

    spark: SparkSession
    source: Source
    table: Checked
    domain: Domain
    repeats: Repeats
    work: str | None

    @property
    def simulated(self) -> bool:
        """Whether it holds simulated reports, whose noise came from a seed."""
        return is_stamp(self.source.columns["answer"])

    def engine(self, recoding: Recoding | None = None) -> SparkEngine:
        """The table coded and sorted by task, once; under another domain if one is given."""
        domain = self.domain if recoding is None else recoding.domain
        partitions = partition_count(self.spark, self.table.sound)
        with spark_errors():
            workers = worker_names(self.table)
            packed = pack(self.table, workers, domain, self.repeats, recoding, partitions)
            frame, parts, partitions = self._kept(packed, recoding, partitions)
            counts = counts_of(frame)
            self._check_repeats(counts, workers)
            parts = parts.persist(StorageLevel.MEMORY_AND_DISK_DESER)
            parts.count()
        kind = dict(self.table.frame.dtypes)["task"]
        blocks = Blocks(frame, parts, workers, partitions, counts, kind)
        return SparkEngine(blocks, domain, self._reading(counts))

    def _kept(
        self, packed: DataFrame, recoding: Recoding | None, partitions: int
    ) -> tuple[DataFrame, RDD[tuple[Any, ...]], int]:
        """The blocks on the cluster's disks or in the checkpoint, with the columns of rounds."""
        if self.work is None:
            frame = packed.persist(StorageLevel.DISK_ONLY)
            return frame, parts_of(frame), partitions
        kept = KeptBlocks(self.spark, self.work)
        frame, partitions = kept.frame(self._identity(recoding), partitions, lambda: packed)
        return frame, parts_again(frame, partitions), partitions

    def _identity(self, recoding: Recoding | None) -> dict[str, Any]:
        """Everything the blocks depend on."""
        codes = None if recoding is None else np.asarray(recoding.codes).tolist()
        return {
            "version": __version__,
            "source": self.source.name,
            "files": self.source.files,
            "columns": dict(self.source.columns),
            "rows": self.table.rows,
            "dropped": self.table.dropped,
            "domain": str(replace(self.domain, labels=()))
            if self.domain.is_numeric
            else [str(label) for label in self.domain.labels],
            "repeats": self.repeats,
            "recoding": codes,
        }

    def _check_repeats(self, counts: BlockCounts, workers: pa.Array) -> None:
        if counts.first is None or self.repeats != "error":
            return
        place, worker, task = counts.first
        file, row = self.source.place(place)
        raise DataError(
            f"worker {shown(workers[worker].as_py())} answers task {shown(task)} again "
            f"({counts.repeated:,} rows repeat a pair): choose with repeats= (first, last or keep)",
            file=file,
            row=row,
        )

    def _reading(self, counts: BlockCounts) -> Reading:
        return Reading(
            self.source.name,
            self.table.rows,
            counts.repeated,
            counts.contradicting,
            self.repeats,
            self.table.dropped,
        )
