"""Sums over a packed table, one block at a time, and truths written as they are inferred."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from sottovoce.engines.blocks import adder, block_count, cut, in_order
from sottovoce.engines.chunked.packed_table import PackedTable, Room
from sottovoce.engines.large_table import PartEngine
from sottovoce.engines.local import THREADED_FROM
from sottovoce.inference.steps.arithmetic import COMPILED_FROM
from sottovoce.model import FloatArray, Names, Result
from sottovoce.seams import Learnt, Step, SumsAggregator
from sottovoce.tables.writers import write_columns

L = TypeVar("L", bound=Learnt)

MOST_CELLS = 1 << 22
"""At most this many numbers, one per label and task, are inferred at once."""


class ChunkedEngine:
    """Sums over a table on a disk.

    `use_kernels` and `threads` are chosen by size, as in memory; sums do not depend on threads.
    """

    def __init__(
        self, table: PackedTable, *, use_kernels: bool | None = None, threads: int | None = None
    ) -> None:
        self._table, self.answers, self.task_count = table, table.answers, table.task_count
        self.domain, self.reading = table.manifest.domain, table.manifest.reading
        self.tasks: Names = np.empty(0, np.int64)
        self._kernels = table.answers >= COMPILED_FROM if use_kernels is None else use_kernels
        if threads is None:
            large = self._kernels and table.answers >= THREADED_FROM
            threads = os.cpu_count() or 1 if large else 1
        self._threads = threads

    @cached_property
    def workers(self) -> Names:
        return self._table.workers()

    def total(self, step: Step) -> FloatArray:
        add = adder(step, use_kernels=self._kernels)
        count = block_count(self.answers, math.prod(step.shape)) if self._kernels else 1
        ends = np.concatenate([[0], np.cumsum(self._table.sizes)])
        groups = [range(*group) for group in cut(ends, count)]

        own = threading.local()

        def group_sum(group: range) -> FloatArray:
            sums, own.room = np.zeros(step.shape), getattr(own, "room", None) or Room()
            for block in group:
                add(self._table.part(block, own.room), sums)
            return sums

        if len(groups) == 1:
            return group_sum(groups[0])
        total = np.zeros(step.shape)
        for sums in in_order(group_sum, groups, self._threads):
            total += sums
        return total

    def map(self, step: Step) -> FloatArray:
        return np.empty((0, *step.shape))

    def write_truths(
        self, aggregator: SumsAggregator[L], learnt: L, folder: str | os.PathLike[str]
    ) -> None:
        place = Path(folder)
        place.mkdir()

        def write(block: int) -> None:
            for number, told in enumerate(self._told(block, aggregator, learnt)):
                write_columns(told.table(), place / f"part-{block:05d}-{number:03d}.parquet")

        for _ in in_order(write, range(len(self._table.sizes)), self._threads):
            pass

    def _told(self, block: int, aggregator: SumsAggregator[L], learnt: L) -> Iterator[Result]:
        """The truths of a block, inferred for as many tasks at a time as memory allows."""
        part, names = self._table.part(block), self._table.names(block)
        most = max(1, MOST_CELLS // max(1, self.domain.size))
        for first in range(0, part.tasks, most):
            some = replace(part.between(first, min(first + most, part.tasks)), first=0)
            engine = PartEngine(
                some,
                names[first : first + most],
                self.domain,
                self.task_count,
                use_kernels=self._kernels,
            )
            yield aggregator.tell(engine, learnt)

    def write_workers(self, columns: dict[str, FloatArray], folder: str | os.PathLike[str]) -> None:
        place = Path(folder)
        place.mkdir()
        write_columns({"worker": self.workers, **columns}, place / "part-00000.parquet")
