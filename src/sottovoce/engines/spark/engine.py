"""Sums on a Spark cluster, made where the blocks lie."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sottovoce.engines.spark.blocks import PART_COLUMNS
from sottovoce.engines.spark.failing import saying
from sottovoce.engines.spark.packing import Blocks
from sottovoce.engines.spark.sharing import Whole, array_bytes, share
from sottovoce.engines.spark.summing import PartitionSums, added_up
from sottovoce.engines.spark.telling import BlockTruths, truth_columns
from sottovoce.engines.spark.wide import wide_total
from sottovoce.engines.spark.writing import check_arrived, write_parquet
from sottovoce.inference.steps.arithmetic import COMPILED_FROM
from sottovoce.model import Domain, FloatArray, Names, Reading
from sottovoce.seams import Learnt, Step, SumsAggregator, WorkerStep

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame

__all__ = ["MOST_SHARED", "SparkEngine"]

L = TypeVar("L", bound=Learnt)

MOST_SHARED = 1 << 26
"""Bytes of a sum that every Python process may hold whole, and the parameters behind it beside."""

ROWS_PER_FILE = 5_000_000
"""Rows of a file of workers."""

_KINDS = {"string": "string", "int64": "long", "double": "double", "bool": "boolean"}
"""Arrow's types of a result in Spark's words."""


class SparkEngine:
    """Sums over blocks on a cluster; a `LargeEngine`.

    A sum of more than `MOST_SHARED` bytes is cut by workers.
    """

    def __init__(self, blocks: Blocks, domain: Domain, reading: Reading) -> None:
        self._blocks, self._domain, self._reading = blocks, domain, reading
        self._kernels = blocks.counts.answers >= COMPILED_FROM

    @cached_property
    def workers(self) -> Names:
        names: Names = self._blocks.workers.to_numpy(zero_copy_only=False)
        return names

    @property
    def tasks(self) -> Names:
        return np.empty(0, np.int64)

    @property
    def task_count(self) -> int:
        return self._blocks.counts.tasks

    @property
    def answers(self) -> int:
        return self._blocks.counts.answers

    @property
    def domain(self) -> Domain:
        return self._domain

    @property
    def reading(self) -> Reading:
        return self._reading

    def total(self, step: Step) -> FloatArray:
        size = 8 * math.prod(step.shape)
        parts = self._blocks.parts
        with saying():
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
        with saying(), self._everywhere(learnt) as (get, wide):
            told = BlockTruths(
                aggregator, get, self._domain, self.task_count, len(self._blocks.workers),
                self._kernels, wide,
            )  # fmt: skip
            _write(blocks.mapInArrow(told.batches, schema), folder, self.task_count)

    def write_workers(self, columns: dict[str, FloatArray], folder: str | os.PathLike[str]) -> None:
        import pyarrow as pa

        table = pa.table({"worker": self._blocks.workers, **columns})
        with saying():
            frame = self._blocks.frame.sparkSession.createDataFrame(table)
            files = -(-table.num_rows // ROWS_PER_FILE)
            _write(frame.coalesce(files), folder, table.num_rows)

    @property
    def _context(self) -> SparkContext:
        return self._blocks.frame.sparkSession.sparkContext

    @contextmanager
    def _everywhere(self, learnt: L) -> Iterator[tuple[Callable[[], L], bool]]:
        """What gives the value on executors, and whether that is too large to be held there."""
        if array_bytes(learnt) > MOST_SHARED:
            shared = share(self._context, learnt)
            yield shared.opened, True
            shared.forget()
            return
        broadcast = self._context.broadcast(learnt)
        yield Whole(broadcast), False
        broadcast.destroy()


def _write(frame: DataFrame, folder: str | os.PathLike[str], rows: int) -> None:
    write_parquet(frame, folder)
    check_arrived(folder, rows)
