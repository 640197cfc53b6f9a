"""How far numbers are apart: within tasks, between tasks, from a centre."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.inference.compiling import compiled
from sottovoce.inference.exact import total
from sottovoce.inference.steps.means import FLAT, centred
from sottovoce.model import FloatArray, Part, numbers_of
from sottovoce.seams import Kernel

__all__ = ["SpreadBetween", "SpreadFrom", "SpreadWithin"]


@dataclass(frozen=True, slots=True)
class SpreadWithin:
    """(Σ (v − mean of its task)², Σ (answers to a task − 1)): what pools tasks' variances."""

    shape: tuple[int, ...] = (2,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        _, _, variance = centred(part)
        counts = np.diff(part.starts)
        return np.array([total(variance * counts), np.maximum(counts - 1, 0).sum()])

    def kernel(self) -> Kernel:
        run = _within_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            run(part.starts, part.value, out)

        return add


@dataclass(frozen=True, slots=True)
class SpreadBetween:
    """(Σ (mean of a task − centre)², how many tasks have answers)."""

    centre: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        answered = np.diff(part.starts) > 0
        offsets = centred(part)[0][answered] - self.centre
        return np.array([total(np.square(offsets)), np.count_nonzero(answered)])

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class SpreadFrom:
    """Σ (v − centre)² over all answers."""

    centre: float

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __call__(self, part: Part) -> FloatArray:
        return np.array(total(np.square(numbers_of(part).values - self.centre)))

    def kernel(self) -> None:
        return None


@cache
def _within_kernel() -> Callable[..., None]:
    @compiled
    def run(starts, values, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            mean, squares = 0.0, 0.0
            for i in range(first, last):
                mean += values[i]
            mean /= max(last - first, 1)
            for i in range(first, last):
                squares += (values[i] - mean) ** 2
            if squares > FLAT * mean * mean * (last - first):
                out[0] += squares
            out[1] += max(last - first - 1, 0)

    return run
