"""Reports sorted by task, so that a pass reads memory from front to back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from sottovoce.inference.steps.arithmetic import compiled
from sottovoce.model import (
    CodedArray,
    Codes,
    FloatArray,
    LabelPart,
    NumberPart,
    Part,
    Reports,
    StartsArray,
)

__all__ = ["Layout", "arrange"]


class Layout(Protocol):
    """All reports, grouped by task."""

    @property
    def starts(self) -> StartsArray:
        """Where each task's reports begin."""
        ...

    def part(self, first: int, last: int) -> Part:
        """The reports of the tasks first … last − 1."""
        ...


@dataclass(frozen=True, slots=True)
class _Labels:
    starts: StartsArray
    coded: CodedArray
    labels: int

    def part(self, first: int, last: int) -> Part:
        return LabelPart(first, self.starts[first : last + 1], self.coded, self.labels)


@dataclass(frozen=True, slots=True)
class _Numbers:
    starts: StartsArray
    worker: Codes
    value: FloatArray

    def part(self, first: int, last: int) -> Part:
        return NumberPart(first, self.starts[first : last + 1], self.worker, self.value)


def arrange(reports: Reports, *, use_kernels: bool) -> Layout:
    """The reports grouped by task by a stable counting sort; within a task in the table's order.

    Labels become one number a report, worker · labels + label: 4 bytes instead of 12.
    """
    numeric = reports.domain.is_numeric
    wide = len(reports.workers) * max(reports.labels, 1) > np.iinfo(np.uint32).max
    starts = np.zeros(len(reports.tasks) + 1, np.int64)
    if not use_kernels:
        np.cumsum(np.bincount(reports.task, minlength=len(reports.tasks)), out=starts[1:])
        order = np.argsort(reports.task, kind="stable")
        if numeric:
            return _Numbers(starts, reports.worker[order], np.asarray(reports.value[order], float))
        label = reports.value.astype(np.int64)
        coded = reports.worker.astype(np.int64) * reports.labels + label
        return _Labels(starts, (coded if wide else coded.astype(np.uint32))[order], reports.labels)
    if numeric:
        worker = np.empty(len(reports), np.int32)
        value = np.empty(len(reports), np.float64)
        _sort_numbers()(reports.task, reports.worker, reports.value, starts, worker, value)
        return _Numbers(starts, worker, value)
    count = len(reports)
    packed = np.empty(count, np.int64) if wide else np.empty(count, np.uint32)
    _sort_labels()(reports.task, reports.worker, reports.value, reports.labels, starts, packed)
    return _Labels(starts, packed, reports.labels)


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
