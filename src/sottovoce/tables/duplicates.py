"""(worker, task) pairs that occur more than once: found on codes, resolved by a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.inference.steps.arithmetic import COMPILED_FROM, compiled
from sottovoce.model import Codes, FloatArray, Reading, Repeats, Reports
from sottovoce.tables.faults import shown

Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Repeated:
    """`rows` repeat an earlier pair, `contradicting` pairs have two different values or more.

    `first` marks the first row of each pair, `last` the last.
    """

    rows: int
    contradicting: int
    first: Mask
    last: Mask


def repeated_pairs(worker: Codes, task: Codes, value: Codes | FloatArray) -> Repeated:
    """The rows that repeat a pair."""
    if len(worker) < COMPILED_FROM:
        return repeated_pairs_plain(worker, task, value)
    return repeated_pairs_compiled(worker, task, value)


def repeated_pairs_plain(worker: Codes, task: Codes, value: Codes | FloatArray) -> Repeated:
    """By sorting: the specification."""
    pair = task.astype(np.int64) * (int(worker.max()) + 1) + worker
    order = np.argsort(pair, kind="stable")
    pair, ordered = pair[order], value[order]
    same = pair[1:] == pair[:-1]
    first, last = np.ones(len(pair), np.bool_), np.ones(len(pair), np.bool_)
    first[order[1:][same]] = False
    last[order[:-1][same]] = False
    group = np.concatenate([[0], np.cumsum(~same)])
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    differs = ordered != ordered[starts[group]]
    contradicting = len(np.unique(group[differs]))
    return Repeated(int(np.count_nonzero(same)), contradicting, first, last)


def repeated_pairs_compiled(worker: Codes, task: Codes, value: Codes | FloatArray) -> Repeated:
    """By a counting sort on tasks and a stamp per worker: O(rows + workers + tasks)."""
    rows, workers = len(worker), int(worker.max()) + 1
    starts = np.zeros(int(task.max()) + 2, np.int64)
    first, last = np.ones(rows, np.bool_), np.ones(rows, np.bool_)
    stamps = np.full((2, workers), -1, np.int32)
    seen = np.empty((2, workers), np.int64)
    order = np.empty(rows, np.uint32 if rows < 2**32 else np.int64)
    repeated, contradicting = _kernel()(
        worker, task, value, starts, order, stamps, seen, first, last
    )
    return Repeated(int(repeated), int(contradicting), first, last)


@cache
def _kernel() -> Callable[..., Any]:
    return compiled(_settle)


def _settle(
    worker: Codes,
    task: Codes,
    value: Any,
    starts: npt.NDArray[np.int64],
    order: npt.NDArray[Any],
    stamps: npt.NDArray[np.int32],
    seen: npt.NDArray[np.int64],
    first: Mask,
    last: Mask,
) -> tuple[int, int]:  # pragma: no cover - compiled
    rows, tasks = len(task), len(starts) - 1
    for row in range(rows):
        starts[task[row] + 1] += 1
    for t in range(tasks):
        starts[t + 1] += starts[t]
    for row in range(rows):  # afterwards starts[t] is where task t ends
        order[starts[task[row]]] = row
        starts[task[row]] += 1
    repeated, contradicting, begin = 0, 0, 0
    for t in range(tasks):
        for place in range(begin, starts[t]):
            row = order[place]
            w = worker[row]
            if stamps[0, w] != t:  # the worker's first row for this task
                stamps[0, w] = t
                seen[0, w] = row
                seen[1, w] = row
                continue
            repeated += 1
            first[row] = False
            last[seen[1, w]] = False
            seen[1, w] = row
            if stamps[1, w] != t and value[row] != value[seen[0, w]]:
                stamps[1, w] = t
                contradicting += 1
        begin = starts[t]
    return repeated, contradicting


def resolved(reports: Reports, repeats: Repeats, row_of: Callable[[int], int]) -> Reports:
    """The table after the policy for repeated pairs, with what was found in its reading."""
    found = repeated_pairs(reports.worker, reports.task, reports.value)
    reading = reports.reading or Reading("the table", len(reports))
    if not found.rows:
        return reports
    if repeats == "error":
        position = int(np.argmin(found.first))
        worker = reports.workers[reports.worker[position]]
        task = reports.tasks[reports.task[position]]
        words = repeated_words(worker, task, found.rows)
        raise DataError(words, file=reading.source, row=row_of(position))
    reading = replace(
        reading, repeated=found.rows, contradicting=found.contradicting, repeats=repeats
    )
    if repeats == "keep":
        return replace(reports, reading=reading)
    mask = found.first if repeats == "first" else found.last
    return replace(
        reports,
        worker=reports.worker[mask],
        task=reports.task[mask],
        value=reports.value[mask],
        reading=reading,
    )


def repeated_words(worker: object, task: object, rows: int) -> str:
    """Why a table with repeated pairs is refused; the names are those of the first."""
    return (
        f"worker {shown(worker)} answers task {shown(task)} again ({rows:,} rows repeat a pair): "
        'pass repeats="first", "last" or "keep"'
    )
