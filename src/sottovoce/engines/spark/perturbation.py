"""Reports for a large table of answers, made on a Spark cluster: for simulation only.

Answers on a cluster have left the workers' devices, and noise added there protects nobody. So noise
comes from a seed, and the reports are marked as simulated.

A worker's answers are perturbed together, so rows are grouped by worker, into buckets chosen by a
hash of the name. Each bucket has its own seed, its workers are in the order of their names and the
rows of each in the order of tasks. So reports depend on the table and the seed only, not on the
number of partitions and executors, and a lost partition is recomputed identically.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from sottovoce.datasets import SeededRandomness
from sottovoce.engines.spark.hadoop_files import check_arrived, write_parquet
from sottovoce.engines.spark.session import spark_errors
from sottovoce.engines.spark.table import SparkTable
from sottovoce.errors import DataError, SottovoceError
from sottovoce.mechanisms.codes import report_domain, report_table
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Cells, Codes, Domain, Grid, Names, Policy, Repeats
from sottovoce.seams import Mechanism
from sottovoce.tables.column_roles import SIMULATED
from sottovoce.tables.duplicates import repeated_pairs_plain

_CELLS_PER_BUCKET = 1 << 16


class Again(NamedTuple):
    """A row that repeats a (worker, task) pair: its place and the names."""

    place: int
    worker: Any
    task: Any


class Made(NamedTuple):
    """The counts of some buckets, and what was found in them.

    `most` is the largest number of perturbed cells of one worker, `first` the first row that
    repeats a pair, `complaint` the reason why a mechanism refused its input.
    """

    reports: int = 0
    most: int = 0
    repeated: int = 0
    contradicting: int = 0
    first: Again | None = None
    complaint: str | None = None

    def beside(self, other: Made) -> Made:
        """The counts of both together."""
        return Made(
            self.reports + other.reports,
            max(self.most, other.most),
            self.repeated + other.repeated,
            self.contradicting + other.contradicting,
            min((each for each in (self.first, other.first) if each), default=None),
            min((each for each in (self.complaint, other.complaint) if each), default=None),
        )


def bucket_count(cells: int) -> int:
    """The number of buckets for a number of cells: a power of two, by the data alone.

    >>> bucket_count(1000), bucket_count(10**9)
    (1, 16384)
    """
    return 1 << max(0, -(-cells // _CELLS_PER_BUCKET) - 1).bit_length()


def bucket_seed(seed: int, bucket: int) -> int:
    """The seed of a bucket: 128 bits of NumPy's SeedSequence, as a spawned generator has them."""
    high, low = np.random.SeedSequence(seed, spawn_key=(bucket,)).generate_state(2, np.uint64)
    return int(high) << 64 | int(low)


@dataclass(frozen=True, slots=True, eq=False)
class BucketMaker:
    """Makes reports from rows of bucket, worker, task, value and place, sorted in this order.

    A value is a label's code or a number of the domain. Of repeated (worker, task) pairs the first
    or the last counts; with another duplicate policy, a bucket with such pairs gives no reports. If
    participation is hidden, `tasks` are all tasks, in order; every worker reports on each.
    """

    mechanism: Mechanism
    domain: Domain
    seed: int
    repeats: Repeats = "first"
    tasks: pa.Array | None = None

    def reports(
        self, batches: Iterator[pa.RecordBatch], tell: Callable[[Made], None]
    ) -> Iterator[pa.RecordBatch]:
        """Batches of worker, task and report; `tell` receives the counts of each bucket."""
        for bucket, rows in _by_bucket(batches):
            made, batch = self._made(bucket, rows)
            tell(made)
            if batch is not None:
                yield batch

    def _made(self, bucket: int, rows: pa.Table) -> tuple[Made, pa.RecordBatch | None]:
        worker, workers = _coded(rows.column("worker"))
        task, tasks = _coded(rows.column("task"))
        cells = Cells(worker, task, self._codes(rows), _names(workers), _names(tasks))
        cells, met = self._settled(cells, rows)
        if met.repeated and self.repeats not in ("first", "last"):
            return met, None
        if self.tasks is not None:
            cells, tasks = _dense(cells, tasks, self.tasks), self.tasks
        met = met._replace(most=int(cells.answered.max()))
        try:
            reports = self._perturbed(cells, bucket)
        except SottovoceError as error:
            return met._replace(complaint=str(error)), None
        return met._replace(reports=len(reports)), self._batch(reports, workers, tasks)

    def _codes(self, rows: pa.Table) -> Codes:
        values = rows.column("value").to_numpy()
        if self.domain.is_numeric:
            return Grid.over(self.domain).codes(values)
        codes: Codes = values.astype(np.int32, copy=False)
        return codes

    def _settled(self, cells: Cells, rows: pa.Table) -> tuple[Cells, Made]:
        """The cells without repeated pairs that do not count, and the number of repeated ones."""
        if not _occurs_twice(cells):
            return cells, Made()
        value = rows.column("value").to_numpy()
        found = repeated_pairs_plain(cells.worker, cells.task, value)
        place = rows.column("place").to_numpy()
        row = int(np.argmin(np.where(found.first, np.iinfo(np.int64).max, place)))
        names = (rows.column(name)[row].as_py() for name in ("worker", "task"))
        kept = found.first if self.repeats == "first" else found.last
        once = replace(
            cells, worker=cells.worker[kept], task=cells.task[kept], code=cells.code[kept]
        )
        first = Again(int(place[row]), *names)
        return once, Made(repeated=found.rows, contradicting=found.contradicting, first=first)

    def _perturbed(self, cells: Cells, bucket: int) -> Cells:
        randomness = SeededRandomness(bucket_seed(self.seed, bucket))
        private = self.mechanism.draw(len(cells.workers), randomness)
        return self.mechanism.perturb(cells, private, randomness)

    def _batch(self, reports: Cells, workers: pa.Array, tasks: pa.Array) -> pa.RecordBatch:
        """Reports in the form of a table on one machine."""
        table = report_table(reports, self.mechanism.alphabet, self.domain, simulated=True)
        values = pa.array(table.value)
        if not table.domain.is_numeric:
            values = pa.array([str(label) for label in table.domain.labels]).take(values)
        columns = [workers.take(pa.array(reports.worker)), tasks.take(pa.array(reports.task))]
        return pa.RecordBatch.from_arrays([*columns, values], ["worker", "task", SIMULATED])


def _by_bucket(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Each bucket with its rows, which are consecutive."""
    current, held = -1, list[pa.RecordBatch]()
    for batch in batches:
        bucket = batch.column("bucket").to_numpy()
        edges = [0, *(np.flatnonzero(np.diff(bucket)) + 1).tolist(), len(bucket)]
        for begin, end in pairwise(edges):
            if end == begin:
                continue
            if held and bucket[begin] != current:
                yield current, pa.Table.from_batches(held)
                held = []
            current = int(bucket[begin])
            held.append(batch.slice(begin, end - begin))
    if held:
        yield current, pa.Table.from_batches(held)


def _coded(column: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    """Codes in the order of appearance, and the names they represent."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary


def _names(names: pa.Array) -> Names:
    found: Names = names.to_numpy(zero_copy_only=False)
    return found


def _occurs_twice(cells: Cells) -> bool:
    """Whether a (worker, task) pair repeats; the rows are sorted by both."""
    worker, task = cells.worker, cells.task
    return bool(np.any((worker[1:] == worker[:-1]) & (task[1:] == task[:-1])))


def _dense(cells: Cells, tasks: pa.Array, every: pa.Array) -> Cells:
    """Every worker with every task, not with those of its bucket only."""
    place = pc.index_in(tasks, value_set=every).to_numpy()
    return replace(cells, task=place[cells.task], tasks=_names(every)).dense()


MOST_TASKS = 1_000_000
"""If participation is hidden: the most tasks, because every executor holds all names."""
MOST_HIDING = 10_000_000_000
"""If participation is hidden: the most reports, workers times tasks."""
CELLS_PER_PARTITION = 1 << 22
"""The approximate maximum of reports per file; a lost executor's files are made again."""


def write_reports(
    answers: SparkTable, policy: Policy, seed: int, folder: str | os.PathLike[str]
) -> Made:
    """Parquet files of worker, task and marked report in a new folder, in no particular order.

    The answers were read under the policy's domain. Their counts are returned afterwards, because
    one pass checks and makes everything. Use the files only if no worker has more answers than
    promised, the mechanism has no complaint, and no pair repeats unless a duplicate policy was
    chosen.
    """
    mechanism, rows = mechanism_of(policy), answers.table.frame
    made = _accumulator(answers.spark)
    with spark_errors():
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
    """The rows with their bucket, whole buckets in a partition, sorted."""
    parallel = rows.sparkSession.sparkContext.defaultParallelism
    partitions = max(parallel, -(-cells // CELLS_PER_PARTITION))
    name = sql.xxhash64(sql.col("worker").cast("string"))
    bucket = sql.pmod(name, sql.lit(bucket_count(cells))).cast("int").alias("bucket")
    table = rows.select("worker", "task", "value", "place", bucket).repartition(
        partitions, "bucket"
    )
    return table.sortWithinPartitions("bucket", "worker", "task", "place")


def _schema(rows: DataFrame, policy: Policy) -> str:
    """The reports' schema in Spark's words; names have the types of the answers' table."""
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
            "the policy hides participation, so every worker reports on every task: at most "
            f"{MOST_TASKS:,} tasks; simulate with fewer tasks"
        )
    return tasks


def _worker_count(rows: DataFrame, tasks: int) -> int:
    workers = rows.select("worker").distinct().count()
    if workers * tasks > MOST_HIDING:
        raise DataError(
            f"the policy hides participation, so every worker reports on every task: {workers:,} "
            f"workers on {tasks:,} tasks exceed the maximum of {MOST_HIDING:,} reports; simulate "
            "with fewer workers or tasks"
        )
    return workers


def _accumulator(spark: SparkSession) -> Accumulator[Made]:
    """Counts, added up as partitions end; each counts once, even if it is made again."""

    class Beside(AccumulatorParam[Made]):
        def zero(self, value: Made) -> Made:
            return Made()

        def addInPlace(self, value1: Made, value2: Made) -> Made:  # noqa: N802 - Spark's name
            return value1.beside(value2)

    return spark.sparkContext.accumulator(Made(), Beside())
