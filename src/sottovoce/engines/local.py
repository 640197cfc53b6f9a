"""The engine of one machine: NumPy for small tables, compiled kernels for large ones."""

from __future__ import annotations

import math
import os

import numpy as np

from sottovoce.engines.adding import adder
from sottovoce.engines.blocks import MOST_BLOCKS, block_count, cut
from sottovoce.engines.layout import arrange
from sottovoce.engines.ordering import in_order
from sottovoce.errors import UsageError
from sottovoce.inference.steps.arithmetic import COMPILED_FROM
from sottovoce.model import Domain, FloatArray, Names, Reports
from sottovoce.seams import Step

__all__ = ["LocalEngine"]

THREADED_FROM = 20_000_000
"""From so many reports on, a second core is worth waking."""


class LocalEngine:
    """Sums and maps over a table in memory.

    `use_kernels` and `threads` are chosen by size; results are the same, to the bit, for any
    number of threads.

    >>> from sottovoce.inference.steps.votes import AnswerCounts
    >>> table = Reports.of([0, 1, 0], [0, 0, 1], [1, 1, 0], domain=Domain.categorical("ab"))
    >>> LocalEngine(table).map(AnswerCounts())
    array([2., 1.])
    """

    def __init__(
        self, reports: Reports, *, use_kernels: bool | None = None, threads: int | None = None
    ) -> None:
        self._answers = len(reports)
        self._kernels = self._answers >= COMPILED_FROM if use_kernels is None else use_kernels
        if threads is None:
            large = self._kernels and self._answers >= THREADED_FROM
            threads = os.cpu_count() or 1 if large else 1
        if threads < 1:
            raise UsageError(f"threads must be at least 1, not {threads}")
        self._threads = threads
        self._workers, self._tasks, self._domain = reports.workers, reports.tasks, reports.domain
        self._layout = arrange(reports, use_kernels=self._kernels)

    @property
    def workers(self) -> Names:
        return self._workers

    @property
    def tasks(self) -> Names:
        return self._tasks

    @property
    def task_count(self) -> int:
        return len(self._tasks)

    @property
    def domain(self) -> Domain:
        return self._domain

    def total(self, step: Step) -> FloatArray:
        add = adder(step, use_kernels=self._kernels)
        total = np.zeros(step.shape)
        # NumPy steps add exactly, in any order: cutting would only add roundings between blocks.
        count = block_count(self._answers, math.prod(step.shape)) if self._kernels else 1
        blocks = cut(self._layout.starts, count)
        if len(blocks) == 1:
            add(self._layout.part(*blocks[0]), total)
            return total

        def block_sum(block: tuple[int, int]) -> FloatArray:
            sums = np.zeros(step.shape)
            add(self._layout.part(*block), sums)
            return sums

        for sums in in_order(block_sum, blocks, self._threads):
            total += sums
        return total

    def map(self, step: Step) -> FloatArray:
        kernel = step.kernel() if self._kernels else None
        rows = np.empty((len(self._tasks), *step.shape))

        def fill(block: tuple[int, int]) -> None:
            part, out = self._layout.part(*block), rows[block[0] : block[1]]
            if kernel is None:
                out[...] = step(part)
            else:
                kernel(part, out)

        parallel = kernel is not None and self._threads > 1
        blocks = cut(self._layout.starts, MOST_BLOCKS if parallel else 1)
        for _ in in_order(fill, blocks, self._threads):
            pass
        return rows
