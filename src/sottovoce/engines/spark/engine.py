"""Sums on a Spark cluster, computed where the blocks are; then truths, also there."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame

from sottovoce.engines.large_table import PartEngine
from sottovoce.engines.spark.hadoop_files import check_arrived, write_parquet
from sottovoce.engines.spark.packed_blocks import (
    PART_COLUMNS,
    Blocks,
    PackedPart,
    names_in,
    unpacked,
)
from sottovoce.engines.spark.session import spark_errors
from sottovoce.engines.spark.sums import (
    PartitionSums,
    WholeValue,
    added_up,
    array_bytes,
    share,
    wide_total,
    with_own_workers,
)
from sottovoce.inference.steps.arithmetic import COMPILED_FROM
from sottovoce.model import Domain, FloatArray, Names, Part, Reading, Result, label_text
from sottovoce.seams import Learnt, Step, SumsAggregator, WorkerStep


@dataclass(frozen=True, slots=True, eq=False)
class BlockTruths:
    """Infers the truths of the tasks of each block.

    `learnt` gives the learnt parameters; if they are `wide`, those of a block's workers only.
    """

    aggregator: SumsAggregator[Any]
    learnt: Callable[[], Learnt]
    domain: Domain
    task_count: int
    worker_count: int
    use_kernels: bool
    wide: bool

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One batch of truths per block."""
        learnt = self.learnt()
        for batch in batches:
            for row in batch.to_pylist():
                names = names_in(row.pop("tasks"))
                result = self._told(unpacked(PackedPart(**row)), learnt)
                columns = truth_columns(result)
                yield pa.RecordBatch.from_arrays(
                    [names, *columns.values()], ["task", *columns.keys()]
                )

    def _told(self, part: Part, learnt: Learnt) -> Result:
        if self.wide:
            part, own = with_own_workers(part)
            learnt = learnt.among(own, self.worker_count)
        places = np.arange(part.tasks)
        engine = PartEngine(
            part, places, self.domain, self.task_count, use_kernels=self.use_kernels
        )
        return self.aggregator.tell(engine, learnt)


def truth_columns(result: Result) -> dict[str, pa.Array]:
    """The columns of truths except the task names."""
    columns = {name: column for name, column in result.table().items() if name != "task"}
    arrays = {name: pa.array(column) for name, column in columns.items() if name != "truth"}
    if result.domain.is_numeric:
        return {"truth": pa.array(result.truths), **arrays}
    return {"truth": label_array(result.domain).take(pa.array(result.truths)), **arrays}


def label_array(domain: Domain) -> pa.Array:
    """The labels of a domain in their own type, or as text if they have several types."""
    kinds = {type(label) for label in domain.labels}
    if kinds in ({bool}, {int}, {float}):
        return pa.array(domain.labels)
    return pa.array([label_text(label) for label in domain.labels])


L = TypeVar("L", bound=Learnt)

MOST_SHARED = 1 << 26
"""The largest sum, in bytes, that every Python process may hold with the parameters behind it."""

ROWS_PER_FILE = 5_000_000
"""Rows per file of workers."""

_KINDS = {"string": "string", "int64": "long", "double": "double", "bool": "boolean"}
"""Spark's names for the Arrow types of a result."""


class SparkEngine:
    """Sums over blocks on a cluster; a `LargeEngine`.

    A sum of more than `MOST_SHARED` bytes is cut by workers.
    """

    def __init__(self, blocks: Blocks, domain: Domain, reading: Reading) -> None:
        self._blocks, self.domain, self.reading = blocks, domain, reading
        self.tasks: Names = np.empty(0, np.int64)
        self.task_count, self.answers = blocks.counts.tasks, blocks.counts.answers
        self._kernels = self.answers >= COMPILED_FROM

    @cached_property
    def workers(self) -> Names:
        names: Names = self._blocks.workers.to_numpy(zero_copy_only=False)
        return names

    def total(self, step: Step) -> FloatArray:
        size = 8 * math.prod(step.shape)
        parts = self._blocks.parts
        with spark_errors():
            if size > MOST_SHARED and isinstance(step, WorkerStep):
                count = len(self._blocks.workers)
                return wide_total(parts, step, count, use_kernels=self._kernels)
            shared = self._context.broadcast(step)
            try:
                sums = parts.mapPartitionsWithIndex(PartitionSums(shared, self._kernels).sums)
                return added_up(sums, self._blocks.partitions, size)
            finally:
                shared.destroy()

    def map(self, step: Step) -> FloatArray:
        return np.empty((0, *step.shape))

    def write_truths(
        self, aggregator: SumsAggregator[L], learnt: L, folder: str | os.PathLike[str]
    ) -> None:
        columns = truth_columns(aggregator.tell(self, learnt))
        kinds = [f"{name} {_KINDS[str(column.type)]}" for name, column in columns.items()]
        schema = ", ".join([f"task {self._blocks.task_kind}", *kinds])
        blocks = self._blocks.frame.select(*PART_COLUMNS, "tasks")
        with spark_errors(), self._everywhere(learnt) as (get, wide):
            told = BlockTruths(
                aggregator,
                get,
                self.domain,
                self.task_count,
                len(self._blocks.workers),
                self._kernels,
                wide,
            )
            _write(blocks.mapInArrow(told.batches, schema), folder, self.task_count)

    def write_workers(self, columns: dict[str, FloatArray], folder: str | os.PathLike[str]) -> None:
        table = pa.table({"worker": self._blocks.workers, **columns})
        with spark_errors():
            frame = self._blocks.frame.sparkSession.createDataFrame(table)
            files = -(-table.num_rows // ROWS_PER_FILE)
            _write(frame.coalesce(files), folder, table.num_rows)

    @property
    def _context(self) -> SparkContext:
        return self._blocks.frame.sparkSession.sparkContext

    @contextmanager
    def _everywhere(self, learnt: L) -> Iterator[tuple[Callable[[], L], bool]]:
        """A function that gives the value on executors, and whether it is too large for them."""
        if array_bytes(learnt) > MOST_SHARED:
            shared = share(self._context, learnt)
            yield shared.opened, True
            shared.forget()
            return
        broadcast = self._context.broadcast(learnt)
        yield WholeValue(broadcast), False
        broadcast.destroy()


def _write(frame: DataFrame, folder: str | os.PathLike[str], rows: int) -> None:
    write_parquet(frame, folder)
    check_arrived(folder, rows)
