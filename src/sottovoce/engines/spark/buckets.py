"""Buckets of workers, and the reports of each: what a partition of a simulated table runs.

A worker's answers are perturbed together, so rows are grouped by worker: a hash of its name says in
which bucket. A bucket has a seed of its own, its workers are in the order of their names and the
rows of each in the order of tasks. So reports follow from the table and the seed, however many
partitions and executors there are, and a partition that is made again is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.tables import report_table
from sottovoce.model import Cells, Codes, Domain, Grid, Names, Repeats
from sottovoce.seams import Mechanism
from sottovoce.tables.column_roles import SIMULATED
from sottovoce.tables.duplicates import repeated_pairs_plain

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Again", "BucketMaker", "Made", "bucket_count", "bucket_seed"]

_CELLS_PER_BUCKET = 1 << 16


class Again(NamedTuple):
    """A row that repeats a (worker, task) pair: its place and the names."""

    place: int
    worker: Any
    task: Any


class Made(NamedTuple):
    """What was made of some buckets, and what was met on the way.

    `most` is how many cells of one worker were perturbed at most, `first` the first row that
    repeats a pair, `complaint` why a mechanism refused what it was given.
    """

    reports: int = 0
    most: int = 0
    repeated: int = 0
    contradicting: int = 0
    first: Again | None = None
    complaint: str | None = None

    def beside(self, other: Made) -> Made:
        """The same of both together."""
        return Made(
            self.reports + other.reports,
            max(self.most, other.most),
            self.repeated + other.repeated,
            self.contradicting + other.contradicting,
            min((each for each in (self.first, other.first) if each), default=None),
            min((each for each in (self.complaint, other.complaint) if each), default=None),
        )


def bucket_count(cells: int) -> int:
    """How many buckets so many cells are put into: a power of two, by the data alone.

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
    """Makes reports of rows of bucket, worker, task, value and place that come sorted by these.

    A value is the code of a label or a number, of the domain. Of repeated (worker, task) pairs the
    first or the last counts; otherwise nothing is made of a bucket that has some. Where
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
        """Batches of worker, task and report; `tell` hears what was made of each bucket."""
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
        """The cells without those that repeat a pair and do not count, and how many did."""
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
        """Reports as a table on one machine has them."""
        import pyarrow as pa

        table = report_table(reports, self.mechanism.alphabet, self.domain, simulated=True)
        values = pa.array(table.value)
        if not table.domain.is_numeric:
            values = pa.array([str(label) for label in table.domain.labels]).take(values)
        columns = [workers.take(pa.array(reports.worker)), tasks.take(pa.array(reports.task))]
        return pa.RecordBatch.from_arrays([*columns, values], ["worker", "task", SIMULATED])


def _by_bucket(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Each bucket with its rows, which follow each other."""
    import pyarrow as pa

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
    """Codes in the order of appearance, and the names they stand for."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary


def _names(names: pa.Array) -> Names:
    found: Names = names.to_numpy(zero_copy_only=False)
    return found


def _occurs_twice(cells: Cells) -> bool:
    """Whether a (worker, task) pair does, where the rows are sorted by both."""
    worker, task = cells.worker, cells.task
    return bool(np.any((worker[1:] == worker[:-1]) & (task[1:] == task[:-1])))


def _dense(cells: Cells, tasks: pa.Array, every: pa.Array) -> Cells:
    """Every worker with every task, not with those of its bucket only."""
    import pyarrow.compute as pc

    place = pc.index_in(tasks, value_set=every).to_numpy()
    return replace(cells, task=place[cells.task], tasks=_names(every)).dense()
