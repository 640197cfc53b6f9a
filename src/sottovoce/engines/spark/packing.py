"""A table's reports as blocks of whole tasks on a cluster, packed once.

Workers are coded in the order of their names. Rows go to partitions by their task and are sorted
there, so that a partition that is lost and made again is the same, and so is every number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sottovoce.engines.large import Recoding
from sottovoce.engines.spark.blocks import PART_COLUMNS
from sottovoce.engines.spark.checking import Checked
from sottovoce.engines.spark.making import BLOCKS, BlockMaker
from sottovoce.model import Domain, Repeats

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Blocks",
    "Counts",
    "Repeat",
    "counts_of",
    "pack",
    "partition_count",
    "parts_of",
    "worker_names",
]

REPORTS_PER_PARTITION = 1 << 26
"""So many reports a partition has at most, about: 256 MB of labels."""
SHARED_NAMES = 2_000_000
"""Up to so many names of workers go to every executor; more are joined where they are."""


class Repeat(NamedTuple):
    """A row that repeats a (worker, task) pair: its place, the worker's code, the task's name."""

    place: int
    worker: int
    task: str


@dataclass(frozen=True, slots=True)
class Counts:
    """What the blocks hold together, and the first row that repeats a pair."""

    tasks: int
    answers: int
    repeated: int
    contradicting: int
    first: Repeat | None


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The reports of a table on a cluster.

    `frame` has a row a block, on disks; `parts` what a round reads of them, in memory where there
    is room. `workers` are everybody's names, in the order of their codes; `task_kind` is Spark's
    type of tasks' names.
    """

    frame: DataFrame
    parts: RDD[tuple[Any, ...]]
    workers: pa.Array
    partitions: int
    counts: Counts
    task_kind: str


def partition_count(spark: SparkSession, reports: int) -> int:
    """One for each core, or as many as keep a partition small.

    What a round sends around is as much as there are partitions: it does not grow with the
    reports before every core has 67 million of them.
    """
    return max(spark.sparkContext.defaultParallelism, -(-reports // REPORTS_PER_PARTITION))


def worker_names(table: Checked) -> pa.Array:
    """Everybody's name, in order: a worker's code is its place here."""
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
    """The blocks of a table, one a row, to be made when they are asked for."""
    labels = 0 if domain.is_numeric else domain.size
    maker = BlockMaker(labels, repeats, recoding)

    def blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        return maker.blocks(context.partitionId() if context else 0, batches)

    kind = "double" if recoding is None and domain.is_numeric else "int"
    rows = _coded(table, workers).selectExpr(
        "task", "worker", f"cast(value as {kind}) value", "place"
    )
    by_task = rows.repartition(partitions, "task").sortWithinPartitions("task", "place")
    return by_task.mapInArrow(blocks, BLOCKS)


def parts_of(frame: DataFrame) -> RDD[tuple[Any, ...]]:
    """What rounds read of the blocks, partition by partition as they were made."""
    return frame.select(*PART_COLUMNS).rdd.map(tuple)


def counts_of(frame: DataFrame) -> Counts:
    """What the blocks hold."""
    from pyspark.sql import functions as sql

    row: Any = frame.agg(
        sql.sum(sql.length("starts") / 8 - 1), sql.sum("answers"), sql.sum("repeated"),
        sql.sum("contradicting"), sql.min("repeat_place"),
        sql.min_by("repeat_worker", "repeat_place"), sql.min_by("repeat_task", "repeat_place"),
    ).first()  # fmt: skip
    tasks, answers, repeated, contradicting = map(int, row[:4])
    first = Repeat(*row[4:]) if repeated else None
    return Counts(tasks, answers, repeated, contradicting, first)


def _coded(table: Checked, workers: pa.Array) -> DataFrame:
    """The rows with codes in place of workers' names."""
    import pyarrow as pa
    from pyspark.sql import functions as sql

    spark = table.frame.sparkSession
    codes = pa.array(range(len(workers)), pa.int32())
    names = spark.createDataFrame(pa.table({"worker": workers, "code": codes}))
    shared = sql.broadcast(names) if len(workers) <= SHARED_NAMES else names
    rows = table.frame.join(shared, "worker")
    return rows.select("task", sql.col("code").alias("worker"), "value", "place")
