"""Cells: workers' answers or reports as codes; Private: what a worker draws once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model.arrays import Codes, Names, occurs_twice

NULL = -1
"""The code for no answer."""

Words: TypeAlias = npt.NDArray[np.uint64]
"""Uniform 64-bit words."""

ReportCodes: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.uint64] | npt.NDArray[np.float64]
"""Codes into a mechanism's alphabet; masks for subsets; numbers where a mechanism has no grid."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Row i: worker[i] gives code[i] for task[i]. Codes are in no repr, log or error.

    Before a mechanism they are answers (a label, a point of the grid, or NULL), after it reports.
    """

    worker: Codes
    task: Codes
    code: ReportCodes = field(repr=False)
    workers: Names
    tasks: Names

    def __post_init__(self) -> None:
        if not self.worker.shape == self.task.shape == self.code.shape == (len(self.worker),):
            raise UsageError("worker, task and code must be columns of one length")

    def __len__(self) -> int:
        return len(self.worker)

    @property
    def answered(self) -> npt.NDArray[np.int64]:
        """How many cells each worker has."""
        return np.bincount(self.worker, minlength=len(self.workers))

    def reporting(self, code: ReportCodes) -> Cells:
        """The same rows with other codes."""
        return replace(self, code=code)

    def dense(self) -> Cells:
        """Every worker with every task, by worker and then by task; missing cells are NULL."""
        workers, tasks = len(self.workers), len(self.tasks)
        place = self.worker.astype(np.int64) * tasks + self.task
        if occurs_twice(place):
            raise UsageError("a worker answers a task once: choose which of the repeats counts")
        code = np.full(workers * tasks, NULL, np.int32)
        code[place] = self.code
        return Cells(
            np.repeat(np.arange(workers, dtype=np.int32), tasks),
            np.tile(np.arange(tasks, dtype=np.int32), workers),
            code,
            self.workers,
            self.tasks,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Private:
    """Values that each worker draws once and keeps: `values[worker]`. In no repr, log or error."""

    values: npt.NDArray[np.uint64] | npt.NDArray[np.float64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.values)
