"""Reports for a large table of answers, made on a Spark cluster: for simulation only.

Answers on a cluster have left the devices of whoever gave them, and no noise added there protects
anybody. So noise comes from a seed, and the reports are stamped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sottovoce.engines.spark.buckets import BucketMaker, Made, bucket_count
from sottovoce.engines.spark.failing import saying
from sottovoce.engines.spark.reading import SparkTable
from sottovoce.engines.spark.writing import check_arrived, write_parquet
from sottovoce.errors import DataError
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.mechanisms.tables import report_domain
from sottovoce.model import Domain, Policy
from sottovoce.tables.column_roles import SIMULATED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["MOST_HIDING", "MOST_TASKS", "write_reports"]

MOST_TASKS = 1_000_000
"""Where participation is hidden: so many tasks at most, as every executor holds all names."""
MOST_HIDING = 10_000_000_000
"""Where participation is hidden: so many reports at most, workers times tasks."""
CELLS_PER_PARTITION = 1 << 22
"""So many reports a file has at most, about; they are made again where an executor is lost."""


def write_reports(
    answers: SparkTable, policy: Policy, seed: int, folder: str | os.PathLike[str]
) -> Made:
    """Parquet files of worker, task and stamped report in a new folder, in no certain order.

    The answers were read under the policy's domain. What they were is told afterwards, since one
    pass finds and makes everything: the files may be used only where a worker has no more answers
    than were promised and the mechanism complains of nothing, and where no pair occurs twice
    unless it was said which row counts.
    """
    mechanism, rows = mechanism_of(policy), answers.table.frame
    made = _accumulator(answers.spark)
    with saying():
        tasks, cells = None, answers.table.sound
        if mechanism.hides_participation:
            tasks = _all_tasks(rows)
            cells = len(tasks) * _worker_count(rows, len(tasks))
        maker = BucketMaker(mechanism, policy.domain, seed, answers.repeats, tasks)

        def reports(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return maker.reports(batches, made.add)

        table = _in_buckets(rows, cells).mapInArrow(reports, _schema(rows, policy))
        write_parquet(table, folder)
    check_arrived(folder, made.value.reports)
    return made.value


def _in_buckets(rows: DataFrame, cells: int) -> DataFrame:
    """The rows with the bucket of each, whole buckets in a partition, sorted."""
    from pyspark.sql import functions as sql

    parallel = rows.sparkSession.sparkContext.defaultParallelism
    partitions = max(parallel, -(-cells // CELLS_PER_PARTITION))
    name = sql.xxhash64(sql.col("worker").cast("string"))
    bucket = sql.pmod(name, sql.lit(bucket_count(cells))).cast("int").alias("bucket")
    table = rows.select("worker", "task", "value", "place", bucket).repartition(
        partitions, "bucket"
    )
    return table.sortWithinPartitions("bucket", "worker", "task", "place")


def _schema(rows: DataFrame, policy: Policy) -> str:
    """What reports are in Spark's words: names as the answers have them."""
    written = report_domain(mechanism_of(policy).alphabet, policy.domain)
    report = "double" if isinstance(written, Domain) and written.is_numeric else "string"
    names = dict(rows.dtypes)
    return f"worker {names['worker']}, task {names['task']}, {SIMULATED} {report}"


def _all_tasks(rows: DataFrame) -> pa.Array:
    """The names of all tasks, in order."""
    distinct = rows.select("task").distinct().limit(MOST_TASKS + 1)
    tasks = distinct.sort("task").toArrow().column("task").combine_chunks()
    if len(tasks) > MOST_TASKS:
        raise DataError(
            "the policy hides who answered what, so that every worker reports on every task: of "
            f"{MOST_TASKS:,} tasks at most; simulate with fewer tasks"
        )
    return tasks


def _worker_count(rows: DataFrame, tasks: int) -> int:
    workers = rows.select("worker").distinct().count()
    if workers * tasks > MOST_HIDING:
        raise DataError(
            "the policy hides who answered what, so that every worker reports on every task: "
            f"{workers:,} workers on {tasks:,} tasks are more than the {MOST_HIDING:,} reports "
            "that are made at most; simulate with fewer workers or tasks"
        )
    return workers


def _accumulator(spark: SparkSession) -> Accumulator[Made]:
    """What was made, added up as partitions end; each counts once, also where it is made again."""
    from pyspark.accumulators import AccumulatorParam

    class Beside(AccumulatorParam[Made]):
        def zero(self, value: Made) -> Made:
            return Made()

        def addInPlace(self, value1: Made, value2: Made) -> Made:  # noqa: N802 - Spark's name
            return value1.beside(value2)

    return spark.sparkContext.accumulator(Made(), Beside())
