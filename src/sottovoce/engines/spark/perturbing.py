"""Reports for a large table of answers, made on a Spark cluster: for simulation only.

Answers on a cluster have left the devices of whoever gave them, and no noise added there protects
anybody. So noise comes from a seed, and the reports are stamped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sottovoce.engines.spark.buckets import BucketMaker, Made, bucket_count
from sottovoce.errors import DataError
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.mechanisms.tables import report_domain
from sottovoce.model import Domain, Policy
from sottovoce.stores.naming import SIMULATED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["MOST_HIDING", "MOST_TASKS", "write_reports"]

MOST_TASKS = 1_000_000
"""Where participation is hidden: so many tasks at most, as every executor holds all names."""
MOST_HIDING = 10_000_000_000
"""Where participation is hidden: so many reports at most, workers times tasks."""


def write_reports(answers: DataFrame, rows: int, policy: Policy, seed: int, folder: str) -> Made:
    """Parquet files of worker, task and stamped report, in no certain order.

    `answers` has so many `rows` of worker, task and answer, the answer as text of a label or as a
    number, all of the policy's domain. What the answers were is told afterwards: nobody may use
    the files where a pair occurs twice or a worker has more answers than were promised.
    """
    mechanism = mechanism_of(policy)
    tasks, cells = None, rows
    if mechanism.hides_participation:
        tasks = _all_tasks(answers)
        cells = len(tasks) * _worker_count(answers, len(tasks))
    maker = BucketMaker(mechanism, policy.domain, seed, tasks)
    made = _accumulator(answers.sparkSession)

    def reports(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return maker.reports(batches, made.add)

    table = _in_buckets(answers, bucket_count(cells)).mapInArrow(reports, _schema(answers, policy))
    table.write.mode("append").option("compression", "zstd").parquet(folder)
    return made.value


def _in_buckets(answers: DataFrame, buckets: int) -> DataFrame:
    """The answers with the bucket of each, whole buckets in a partition, sorted."""
    from pyspark.sql import functions as sql

    bucket = sql.pmod(sql.xxhash64(sql.col("worker").cast("string")), sql.lit(buckets))
    table = answers.select("worker", "task", "answer", bucket.cast("int").alias("bucket"))
    return table.repartition("bucket").sortWithinPartitions("bucket", "worker", "task")


def _schema(answers: DataFrame, policy: Policy) -> str:
    """What reports are in Spark's words: names as the answers have them."""
    written = report_domain(mechanism_of(policy).alphabet, policy.domain)
    report = "double" if isinstance(written, Domain) and written.is_numeric else "string"
    names = dict(answers.dtypes)
    return f"worker {names['worker']}, task {names['task']}, {SIMULATED} {report}"


def _all_tasks(answers: DataFrame) -> pa.Array:
    """The names of all tasks, in order."""
    distinct = answers.select("task").distinct().limit(MOST_TASKS + 1)
    tasks = distinct.sort("task").toArrow().column("task").combine_chunks()
    if len(tasks) > MOST_TASKS:
        raise DataError(
            "the policy hides who answered what, so that every worker reports on every task: of "
            f"{MOST_TASKS:,} tasks at most; simulate with fewer tasks"
        )
    return tasks


def _worker_count(answers: DataFrame, tasks: int) -> int:
    workers = answers.select("worker").distinct().count()
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
