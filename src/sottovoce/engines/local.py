"""The engine of one machine: NumPy for small tables, compiled kernels for large ones.

Reports are sorted by task, so that a pass reads memory from front to back.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache

import numpy as np

from sottovoce.engines.blocks import MOST_BLOCKS, adder, block_count, cut, in_order
from sottovoce.errors import UsageError
from sottovoce.inference.steps.arithmetic import COMPILED_FROM, compiled
from sottovoce.model import (
    FloatArray,
    LabelPart,
    NumberPart,
    Part,
    Reports,
)
from sottovoce.seams import Step


def arrange(reports: Reports, *, use_kernels: bool) -> Part:
    """All reports, grouped by task by a stable counting sort; within a task in the table's order.

    Labels become one number per report, worker · labels + label: 4 bytes instead of 12.
    """
    numeric = reports.domain.is_numeric
    wide = len(reports.workers) * max(reports.labels, 1) > np.iinfo(np.uint32).max
    starts = np.zeros(len(reports.tasks) + 1, np.int64)
    if not use_kernels:
        np.cumsum(np.bincount(reports.task, minlength=len(reports.tasks)), out=starts[1:])
        order = np.argsort(reports.task, kind="stable")
        if numeric:
            return NumberPart(
                0, starts, reports.worker[order], np.asarray(reports.value[order], float)
            )
        label = reports.value.astype(np.int64)
        coded = reports.worker.astype(np.int64) * reports.labels + label
        return LabelPart(
            0, starts, (coded if wide else coded.astype(np.uint32))[order], reports.labels
        )
    if numeric:
        worker = np.empty(len(reports), np.int32)
        value = np.empty(len(reports), np.float64)
        _sort_numbers()(reports.task, reports.worker, reports.value, starts, worker, value)
        return NumberPart(0, starts, worker, value)
    count = len(reports)
    packed = np.empty(count, np.int64) if wide else np.empty(count, np.uint32)
    _sort_labels()(reports.task, reports.worker, reports.value, reports.labels, starts, packed)
    return LabelPart(0, starts, packed, reports.labels)


@cache
def _sort_labels() -> Callable[..., None]:
    @compiled
    def run(task, worker, label, labels, starts, coded):  # type: ignore[no-untyped-def]
        for i in range(len(task)):
            starts[task[i] + 1] += 1
        for i in range(len(starts) - 1):
            starts[i + 1] += starts[i]
        following = starts[:-1].copy()
        for i in range(len(task)):
            place = following[task[i]]
            following[task[i]] = place + 1
            coded[place] = np.int64(worker[i]) * labels + label[i]

    return run


@cache
def _sort_numbers() -> Callable[..., None]:
    @compiled
    def run(task, worker, number, starts, workers, values):  # type: ignore[no-untyped-def]
        for i in range(len(task)):
            starts[task[i] + 1] += 1
        for i in range(len(starts) - 1):
            starts[i + 1] += starts[i]
        following = starts[:-1].copy()
        for i in range(len(task)):
            place = following[task[i]]
            following[task[i]] = place + 1
            workers[place] = worker[i]
            values[place] = number[i]

    return run


THREADED_FROM = 20_000_000
"""From this number of reports on, a second thread pays off."""


class LocalEngine:
    """Sums and maps over a table in memory.

    `use_kernels` and `threads` are chosen by size; results are identical to the bit for any number
    of threads.

    >>> from sottovoce.inference.steps.votes import AnswerCounts
    >>> from sottovoce.model import Domain
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
        self.workers, self.tasks, self.domain = reports.workers, reports.tasks, reports.domain
        self.task_count = len(reports.tasks)
        self._layout = arrange(reports, use_kernels=self._kernels)

    def total(self, step: Step) -> FloatArray:
        add = adder(step, use_kernels=self._kernels)
        total = np.zeros(step.shape)
        # NumPy steps add exactly, in any order: blocks would only add rounding errors.
        count = block_count(self._answers, math.prod(step.shape)) if self._kernels else 1
        blocks = cut(self._layout.starts, count)
        if len(blocks) == 1:
            add(self._layout.between(*blocks[0]), total)
            return total

        def block_sum(block: tuple[int, int]) -> FloatArray:
            sums = np.zeros(step.shape)
            add(self._layout.between(*block), sums)
            return sums

        for sums in in_order(block_sum, blocks, self._threads):
            total += sums
        return total

    def map(self, step: Step) -> FloatArray:
        kernel = step.kernel() if self._kernels else None
        rows = np.empty((self.task_count, *step.shape))

        def fill(block: tuple[int, int]) -> None:
            part, out = self._layout.between(*block), rows[block[0] : block[1]]
            if kernel is None:
                out[...] = step(part)
            else:
                kernel(part, out)

        parallel = kernel is not None and self._threads > 1
        blocks = cut(self._layout.starts, MOST_BLOCKS if parallel else 1)
        for _ in in_order(fill, blocks, self._threads):
            pass
        return rows
