"""A crowd's answers as tables in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.datasets.crowd import ANSWERS_PER_BLOCK, Crowd
from sottovoce.model import Codes, Gold, Names, Reports

__all__ = ["generate"]


def generate(crowd: Crowd) -> tuple[Reports, Gold]:
    """Draw the crowd's answers and truths as tables in memory.

    Names are numbers: worker 12 and task 345, which `stream_to_parquet` writes as w12 and t345.
    Workers without an answer and tasks without one are in no vocabulary; gold has every task.
    """
    worker, task, value, truth = _Column(), _Column(), _Column(), _Column()
    for block in crowd.blocks():
        worker.add(block.worker)
        task.add(block.task)
        value.add(block.value)
        truth.add(block.truth)
    worker_codes, workers = _named(worker.whole(), crowd.workers)
    task_codes, tasks = _named(task.whole(), crowd.tasks)
    reports = Reports(worker_codes, task_codes, value.whole(), workers, tasks, crowd.domain)
    return reports, Gold(np.arange(crowd.tasks), truth.whole())


class _Column:
    """An array that grows in place: blocks in a list would be in memory twice when joined."""

    def __init__(self) -> None:
        self.values: npt.NDArray[Any] | None = None
        self.size = 0

    def add(self, part: npt.NDArray[Any]) -> None:
        end = self.size + len(part)
        if self.values is None:
            self.values = np.empty(end, part.dtype)
        elif end > len(self.values):
            self.values.resize(max(end, len(self.values) * 5 // 4), refcheck=False)
        self.values[self.size : end] = part
        self.size = end

    def whole(self) -> npt.NDArray[Any]:
        if self.values is None:
            raise ValueError("a column of no blocks")
        self.values.resize(self.size, refcheck=False)
        return self.values


def _named(numbers: Codes, size: int) -> tuple[Codes, Names]:
    """Turn numbers below `size` into codes over those that occur, in place, a piece at a time."""
    pieces = [
        numbers[first : first + ANSWERS_PER_BLOCK]
        for first in range(0, len(numbers), ANSWERS_PER_BLOCK)
    ]
    occurs = np.zeros(size, dtype=bool)
    for piece in pieces:
        occurs[piece] = True
    names = np.flatnonzero(occurs)
    if len(names) < size:
        code = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        for piece in pieces:
            piece[:] = code[piece]
    return numbers, names
