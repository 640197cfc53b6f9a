"""An engine for the truths of some tasks, once all sums are made."""

from __future__ import annotations

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray, Names, Part
from sottovoce.seams import Step

__all__ = ["PartEngine"]


class PartEngine:
    """Maps over the tasks of one part, wherever that lies; others have made the sums.

    `workers` has no names: what a worker is called is not needed to tell a truth.
    """

    def __init__(
        self, part: Part, tasks: Names, domain: Domain, task_count: int, *, use_kernels: bool = True
    ) -> None:
        self._part, self._tasks, self._domain = part, tasks, domain
        self._task_count, self._kernels = task_count, use_kernels

    @property
    def workers(self) -> Names:
        return np.empty(0, np.int64)

    @property
    def tasks(self) -> Names:
        return self._tasks

    @property
    def task_count(self) -> int:
        return self._task_count

    @property
    def domain(self) -> Domain:
        return self._domain

    def total(self, step: Step) -> FloatArray:
        raise UsageError(f"the sums of {type(step).__name__} are over more tasks than are at hand")

    def map(self, step: Step) -> FloatArray:
        kernel = step.kernel() if self._kernels else None
        if kernel is None:
            return step(self._part)
        rows = np.empty((self._part.tasks, *step.shape))
        kernel(self._part, rows)
        return rows
