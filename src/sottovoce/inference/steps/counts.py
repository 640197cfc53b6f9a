"""How many reports there are: per task, per worker, per label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np

from sottovoce.inference.compiling import compiled
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel

__all__ = ["AnswerCounts", "AnswersPerWorker", "LabelCounts"]


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many reports each task has."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __call__(self, part: Part) -> FloatArray:
        return np.diff(part.starts).astype(np.float64)

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class AnswersPerWorker:
    """How many reports each worker gave. Opens who took part how much."""

    workers: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.workers,)

    def __call__(self, part: Part) -> FloatArray:
        worker = part.report // part.labels if isinstance(part, LabelPart) else part.reporters
        return np.bincount(worker, minlength=self.workers).astype(np.float64)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> Kernel:
        run = _worker_kernel()

        def add(part: Part, out: FloatArray) -> None:
            if isinstance(part, LabelPart):
                run(part.report, part.labels, out)
            else:
                run(part.reporters, 1, out)

        return add


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How many reports name each label. Opens the shares of labels."""

    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.labels,)

    def __call__(self, part: Part) -> FloatArray:
        label = labels_of(part).report % self.labels
        return np.bincount(label, minlength=self.labels).astype(np.float64)

    def kernel(self) -> None:
        return None


@cache
def _worker_kernel() -> Callable[..., None]:
    @compiled
    def run(reports, labels, out):  # type: ignore[no-untyped-def]
        for i in range(len(reports)):
            out[reports[i] // labels] += 1.0

    return run
