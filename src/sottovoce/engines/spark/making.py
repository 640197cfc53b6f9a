"""Rows sorted by task become blocks of whole tasks: what a partition runs while it packs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sottovoce.engines.large import Recoding
from sottovoce.engines.spark.blocks import MOST_REPORTS, packed
from sottovoce.model import Codes, LabelPart, NumberPart, Part, Repeats, StartsArray
from sottovoce.tables.duplicates import Repeated, repeated_pairs

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BLOCKS", "BlockMaker", "names_in", "names_out"]

BLOCKS = (
    "partition int, number int, starts binary, reports binary, numbers binary, labels int, "
    "tasks binary, answers long, repeated long, contradicting long, repeat_place long, "
    "repeat_worker int, repeat_task string"
)
"""The columns of a block: how it lies, what a round reads, names of tasks, what was counted."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockMaker:
    """Packs batches of task, worker, value and place that come sorted by task and place.

    `labels` is 0 for numbers. A repeated (worker, task) pair is settled here, where both rows are;
    with `repeats="error"` the first is told with its place.
    """

    labels: int
    repeats: Repeats
    recoding: Recoding | None = None
    most: int = MOST_REPORTS

    def blocks(self, partition: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row a block."""
        for number, rows in enumerate(_whole_tasks(batches, self.most)):
            yield self._block(partition, number, rows)

    def _block(self, partition: int, number: int, rows: pa.Table) -> pa.RecordBatch:
        import pyarrow as pa
        import pyarrow.compute as pc

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
    """Names of tasks in one cell: an Arrow stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    batch = pa.RecordBatch.from_arrays([names], ["task"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def names_in(cell: bytes) -> pa.Array:
    """The names again."""
    import pyarrow as pa

    return pa.ipc.open_stream(cell).read_all().column("task").combine_chunks()


def _whole_tasks(batches: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """The rows in pieces of whole tasks, with at most so many rows unless one task has more."""
    import pyarrow as pa

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
    """Where the last task begins, of which more rows may follow."""
    import pyarrow.compute as pc

    runs = pc.run_end_encode(table.column("task").combine_chunks(), run_end_type="int64")
    ends = runs.run_ends.to_numpy()
    return int(ends[-2]) if len(ends) > 1 else 0


def _told(
    found: Repeated, worker: Codes, task: Codes, place: npt.NDArray[np.int64], names: pa.Array
) -> list[Any]:
    """How many rows repeat a pair, how many pairs contradict themselves, and the first such row."""
    if not found.rows:
        return [0, 0, None, None, None]
    again = np.flatnonzero(~found.first)
    first = again[np.argmin(place[again])]
    name = str(names[int(task[first])].as_py())
    return [found.rows, found.contradicting, int(place[first]), int(worker[first]), name]


def _schema() -> list[pa.DataType]:
    import pyarrow as pa

    kinds = {"int": pa.int32(), "long": pa.int64(), "binary": pa.binary(), "string": pa.string()}
    return [kinds[column.split()[1]] for column in BLOCKS.split(", ")]
