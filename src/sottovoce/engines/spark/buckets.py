"""Buckets of workers, and the reports of each: what a partition of a simulated table runs.

A worker's answers are perturbed together, so rows are grouped by worker: a hash of its name says in
which bucket. A bucket has a seed of its own, its workers are in the order of their names and the
rows of each in the order of tasks. So reports follow from the table and the seed, however many
partitions and executors there are, and a partition that is made again is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.tables import report_table
from sottovoce.model import Cells, Codes, Domain, Grid, Names, label_text
from sottovoce.seams import Mechanism
from sottovoce.stores.naming import SIMULATED

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BucketMaker", "Made", "bucket_count", "bucket_seed"]

_CELLS_PER_BUCKET = 1 << 16


class Made(NamedTuple):
    """How many reports were made, the most answers of a worker, and whether a pair occurs twice."""

    reports: int = 0
    most: int = 0
    repeated: bool = False

    def beside(self, other: Made) -> Made:
        """The same of both together."""
        return Made(
            self.reports + other.reports,
            max(self.most, other.most),
            self.repeated or other.repeated,
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


@dataclass(frozen=True, slots=True)
class BucketMaker:
    """Makes reports, bucket by bucket, of answers that come sorted by bucket, worker and task.

    Where participation is hidden, `tasks` are all tasks, in order; every worker reports on each.
    """

    mechanism: Mechanism
    domain: Domain
    seed: int
    tasks: pa.Array | None = None

    def reports(
        self, batches: Iterator[pa.RecordBatch], tell: Callable[[Made], None]
    ) -> Iterator[pa.RecordBatch]:
        """Batches of worker, task and report; `tell` hears what was made of each bucket."""
        for bucket, table in _by_bucket(batches):
            worker, workers = _coded(table.column("worker"))
            task, tasks = _coded(table.column("task"))
            most = int(np.bincount(worker).max())
            if _occurs_twice(worker, task):
                tell(Made(0, most, repeated=True))
                continue
            code = self._codes(table.column("answer"))
            cells = Cells(worker, task, code, _names(workers), _names(tasks))
            if self.tasks is not None:
                cells, tasks = self._dense(cells, tasks), self.tasks
            reports = self._perturbed(cells, bucket)
            tell(Made(len(reports), most))
            yield self._batch(reports, workers, tasks)

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

    def _codes(self, answers: pa.ChunkedArray) -> Codes:
        """Answers as codes: numbers on the grid, or texts among the labels; all were checked."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.domain.is_numeric:
            return Grid.over(self.domain).codes(answers.to_numpy())
        labels = pa.array([label_text(label) for label in self.domain.labels], answers.type)
        codes: Codes = pc.index_in(answers, value_set=labels).to_numpy()
        return codes

    def _dense(self, cells: Cells, tasks: pa.Array) -> Cells:
        import pyarrow.compute as pc

        place = pc.index_in(tasks, value_set=self.tasks).to_numpy()
        names = _names(self.tasks)
        return Cells(cells.worker, place[cells.task], cells.code, cells.workers, names).dense()


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


def _occurs_twice(worker: Codes, task: Codes) -> bool:
    """Whether a (worker, task) pair does, where the rows are sorted by both."""
    return bool(np.any((worker[1:] == worker[:-1]) & (task[1:] == task[:-1])))
