"""A table's reports as blocks of whole tasks on a cluster, packed once.

Workers are coded in the order of their names. Rows go to partitions by task and are sorted there,
so a lost partition is recomputed identically, and so is every number. Blocks are rows of a Spark
table, with arrays in binary columns: a row has tens of thousands of reports or more, so a round
handles few objects, and arrays are read from a row without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import RDD, TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from sottovoce.engines.large_table import Recoding
from sottovoce.engines.spark.columns import Checked
from sottovoce.model import (
    CodedArray,
    Codes,
    Domain,
    LabelPart,
    NumberPart,
    Part,
    Repeats,
    StartsArray,
)
from sottovoce.tables.duplicates import Repeated, repeated_pairs

MOST_REPORTS = 1 << 21
"""The most reports of a block, unless a single task has more: 8 MB of labels."""

PART_COLUMNS = ("starts", "reports", "numbers", "labels")
"""The columns that a round reads; task names are read only when truths are inferred."""

_NARROW, _WIDE = np.dtype("<u4"), np.dtype("<i8")


class PackedPart(NamedTuple):
    """A part as it is stored in a row.

    `starts` are 8-byte integers. For labels, `reports` is worker · labels + label in 4 bytes, or in
    8 where that does not fit, and `numbers` is empty. For numbers `labels` is 0, `reports` the
    workers in 4 bytes and `numbers` the values in 8.
    """

    starts: bytes
    reports: bytes
    numbers: bytes
    labels: int


def packed(part: Part) -> PackedPart:
    """The row of a part; its starts count from 0."""
    starts = (part.starts - part.starts[0]).astype("<i8").tobytes()
    if isinstance(part, NumberPart):
        workers = part.reporters.astype("<i4").tobytes()
        return PackedPart(starts, workers, part.values.astype("<f8").tobytes(), 0)
    kind = _NARROW if part.coded.dtype.itemsize == _NARROW.itemsize else _WIDE
    return PackedPart(starts, part.report.astype(kind).tobytes(), b"", part.labels)


def unpacked(row: Any) -> Part:
    """The part in a row: any object with the fields of `PackedPart`."""
    starts = np.frombuffer(row.starts, "<i8")
    if not row.labels:
        workers, values = np.frombuffer(row.reports, "<i4"), np.frombuffer(row.numbers, "<f8")
        return NumberPart(0, starts, workers, values)
    narrow = len(row.reports) == _NARROW.itemsize * int(starts[-1])
    coded: CodedArray
    coded = (
        np.frombuffer(row.reports, np.uint32) if narrow else np.frombuffer(row.reports, np.int64)
    )
    return LabelPart(0, starts, coded, row.labels)


BLOCKS = (
    "partition int, number int, starts binary, reports binary, numbers binary, labels int, "
    "tasks binary, answers long, repeated long, contradicting long, repeat_place long, "
    "repeat_worker int, repeat_task string"
)
"""The columns of a block: its position, the columns that rounds read, task names, counts."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockMaker:
    """Packs batches of task, worker, value and place that are sorted by task and place.

    `labels` is 0 for numbers. A repeated (worker, task) pair is resolved here, where both rows are;
    with `repeats="error"` the first one is reported with its place.
    """

    labels: int
    repeats: Repeats
    recoding: Recoding | None = None
    most: int = MOST_REPORTS

    def blocks(self, partition: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row per block."""
        for number, rows in enumerate(_whole_tasks(batches, self.most)):
            yield self._block(partition, number, rows)

    def _block(self, partition: int, number: int, rows: pa.Table) -> pa.RecordBatch:
        runs = pc.run_end_encode(rows.column("task").combine_chunks(), run_end_type=pa.int64())
        starts = np.concatenate([[0], runs.run_ends.to_numpy()])
        worker, place = (rows.column(name).to_numpy() for name in ("worker", "place"))
        value = rows.column("value").to_numpy()
        task = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        found = repeated_pairs(worker, task, value)
        told = _told(found, worker, task, place, runs.values)
        if found.rows and self.repeats in ("first", "last"):
            kept = found.first if self.repeats == "first" else found.last
            worker, value = worker[kept], value[kept]
            counts = np.bincount(task[kept], minlength=len(starts) - 1)
            starts = np.concatenate([[0], np.cumsum(counts)])
        row = packed(self._part(starts, worker, value))
        cells = [partition, number, *row, names_out(runs.values), len(worker), *told]
        names = [column.split()[0] for column in BLOCKS.split(", ")]
        kinds = _schema()
        arrays = [pa.array([cell], kind) for cell, kind in zip(cells, kinds, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names)

    def _part(self, starts: StartsArray, worker: Codes, value: npt.NDArray[Any]) -> Part:
        if self.recoding is not None:
            value = np.asarray(self.recoding.codes)[value]
        if value.dtype.kind == "f":
            return NumberPart(0, starts, worker, value.astype(np.float64, copy=False))
        coded = worker.astype(np.int64) * self.labels + value
        wide = len(coded) and int(coded.max()) > np.iinfo(np.uint32).max
        return LabelPart(0, starts, coded if wide else coded.astype(np.uint32), self.labels)


def names_out(names: pa.Array) -> bytes:
    """Task names in one cell: an Arrow stream."""
    sink = pa.BufferOutputStream()
    batch = pa.RecordBatch.from_arrays([names], ["task"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def names_in(cell: bytes) -> pa.Array:
    """The task names in a cell made by `names_out`."""
    return pa.ipc.open_stream(cell).read_all().column("task").combine_chunks()


def _whole_tasks(batches: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """The rows in pieces of whole tasks, with at most `most` rows unless one task has more."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= most:
            table = pa.Table.from_batches(held)
            edge = _last_task(table)
            if edge:
                yield table.slice(0, edge)
            rest = table.slice(edge)
            held, rows = rest.to_batches(), rest.num_rows
    if rows:
        yield pa.Table.from_batches(held)


def _last_task(table: pa.Table) -> int:
    """The position of the last task, of which more rows may follow."""
    runs = pc.run_end_encode(table.column("task").combine_chunks(), run_end_type="int64")
    ends = runs.run_ends.to_numpy()
    return int(ends[-2]) if len(ends) > 1 else 0


def _told(
    found: Repeated, worker: Codes, task: Codes, place: npt.NDArray[np.int64], names: pa.Array
) -> list[Any]:
    """The numbers of rows that repeat a pair and of contradictory pairs, and the first such row."""
    if not found.rows:
        return [0, 0, None, None, None]
    again = np.flatnonzero(~found.first)
    first = again[np.argmin(place[again])]
    name = str(names[int(task[first])].as_py())
    return [found.rows, found.contradicting, int(place[first]), int(worker[first]), name]


def _schema() -> list[pa.DataType]:
    kinds = {"int": pa.int32(), "long": pa.int64(), "binary": pa.binary(), "string": pa.string()}
    return [kinds[column.split()[1]] for column in BLOCKS.split(", ")]


REPORTS_PER_PARTITION = 1 << 26
"""The approximate maximum of reports per partition: 256 MB of labels."""
SHARED_NAMES = 2_000_000
"""Up to this many worker names are sent to every executor; more are joined in place."""


class Repeat(NamedTuple):
    """A row that repeats a (worker, task) pair: its place, the worker's code, the task's name."""

    place: int
    worker: int
    task: str


@dataclass(frozen=True, slots=True)
class BlockCounts:
    """The totals of the blocks, and the first row that repeats a pair."""

    tasks: int
    answers: int
    repeated: int
    contradicting: int
    first: Repeat | None


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The reports of a table on a cluster.

    `frame` has one row per block, on disks; `parts` has the columns that rounds read, in memory if
    there is room. `workers` are the names of all workers, in the order of their codes; `task_kind`
    is Spark's type of task names.
    """

    frame: DataFrame
    parts: RDD[tuple[Any, ...]]
    workers: pa.Array
    partitions: int
    counts: BlockCounts
    task_kind: str


def partition_count(spark: SparkSession, reports: int) -> int:
    """One partition per core, or as many as keep a partition small.

    A round's traffic is proportional to the number of partitions: it does not grow with the reports
    until every core has 67 million of them.
    """
    return max(spark.sparkContext.defaultParallelism, -(-reports // REPORTS_PER_PARTITION))


def worker_names(table: Checked) -> pa.Array:
    """The names of all workers, in order: a worker's code is its position here."""
    names = table.frame.select("worker").distinct().sort("worker").toArrow()
    return names.column("worker").combine_chunks()


def pack(
    table: Checked,
    workers: pa.Array,
    domain: Domain,
    repeats: Repeats,
    recoding: Recoding | None,
    partitions: int,
) -> DataFrame:
    """The blocks of a table, one per row, computed lazily."""
    labels = 0 if domain.is_numeric else domain.size
    maker = BlockMaker(labels, repeats, recoding)

    def blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        return maker.blocks(context.partitionId() if context else 0, batches)

    kind = "double" if recoding is None and domain.is_numeric else "int"
    rows = _coded(table, workers).selectExpr(
        "task", "worker", f"cast(value as {kind}) value", "place"
    )
    by_task = rows.repartition(partitions, "task").sortWithinPartitions("task", "place")
    return by_task.mapInArrow(blocks, BLOCKS)


def parts_of(frame: DataFrame) -> RDD[tuple[Any, ...]]:
    """The columns that rounds read, in the partitions in which they were made."""
    return frame.select(*PART_COLUMNS).rdd.map(tuple)


def counts_of(frame: DataFrame) -> BlockCounts:
    """The totals of the blocks."""
    row: Any = frame.agg(
        sql.sum(sql.length("starts") / 8 - 1),
        sql.sum("answers"),
        sql.sum("repeated"),
        sql.sum("contradicting"),
        sql.min("repeat_place"),
        sql.min_by("repeat_worker", "repeat_place"),
        sql.min_by("repeat_task", "repeat_place"),
    ).first()
    tasks, answers, repeated, contradicting = map(int, row[:4])
    first = Repeat(*row[4:]) if repeated else None
    return BlockCounts(tasks, answers, repeated, contradicting, first)


def _coded(table: Checked, workers: pa.Array) -> DataFrame:
    """The rows with codes in place of worker names."""
    spark = table.frame.sparkSession
    codes = pa.array(range(len(workers)), pa.int32())
    names = spark.createDataFrame(pa.table({"worker": workers, "code": codes}))
    shared = sql.broadcast(names) if len(workers) <= SHARED_NAMES else names
    rows = table.frame.join(shared, "worker")
    return rows.select("task", sql.col("code").alias("worker"), "value", "place")
