"""How often each worker agrees with given truths, repeated rows counted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from sottovoce.inference.compiling import compiled
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel

__all__ = ["Accuracies"]


@dataclass(frozen=True, slots=True)
class Accuracies:
    """For each worker, how many distinct (task, label) answers it gave, and how many are true.

    Row 0 counts the true ones, row 1 all. Opens each worker's agreement with the truths.
    """

    truths: Codes = field(repr=False)
    workers: int
    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return 2, self.workers

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        cells = self.workers * self.labels
        task, report = np.divmod(np.unique(part.task.astype(np.int64) * cells + part.report), cells)
        worker, label = np.divmod(report, self.labels)
        right = (label == self._truths(part)[task]).astype(np.float64)
        return np.stack(
            [np.bincount(worker, right, self.workers), np.bincount(worker, minlength=self.workers)]
        )

    def kernel(self) -> Kernel:
        run = _kernel(self.labels)

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            seen = np.full(self.workers * self.labels, -1, np.int32)
            run(part.starts, part.coded, self._truths(part), seen, out)

        return add

    def _truths(self, part: LabelPart) -> Codes:
        return self.truths[part.first : part.first + part.tasks]


@cache
def _kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, truths, seen, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            for i in range(starts[task], starts[task + 1]):
                if seen[coded[i]] == task:
                    continue
                seen[coded[i]] = task
                worker = coded[i] // labels
                out[1, worker] += 1.0
                if coded[i] - worker * labels == truths[task]:
                    out[0, worker] += 1.0

    return run
