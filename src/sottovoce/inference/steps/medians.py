"""Weighted medians per task, and each worker's distance from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Self

import numpy as np

from sottovoce.inference.steps.arithmetic import TIE, compiled, grouped_sums, segment_sums
from sottovoce.model import Codes, FloatArray, NumberPart, Part, numbers_of
from sottovoce.seams import Kernel


@dataclass(frozen=True, slots=True)
class WeightedMedians:
    """The value with half of its task's weight on either side; the midpoint of two such values.

    Each row is (truth, Σ wₖ, standard deviation of the task's answers).
    """

    weights: FloatArray

    shape: ClassVar[tuple[int, ...]] = (3,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        counts = np.maximum(np.diff(part.starts), 1)
        mass = segment_sums(self.weights[part.reporters], part.starts)
        mean = segment_sums(part.values, part.starts) / counts
        spread = segment_sums(np.square(part.values - mean[part.task]), part.starts) / counts
        return np.stack([medians_of(part, self.weights), mass, np.sqrt(spread)], axis=1)

    def kernel(self) -> Kernel:
        run = _median_kernel()

        def fill(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            errors = np.empty(0)
            run(part.starts, part.worker, part.value, self.weights, out, errors)

        return fill


@dataclass(frozen=True, slots=True)
class AbsoluteErrors:
    """Σ |vₖ − truth| / standard deviation of the task over each worker's answers.

    The truths are those of `WeightedMedians`; a task whose answers are all equal adds nothing.
    Opens each worker's distance from the crowd.
    """

    weights: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.weights),)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        rows = WeightedMedians(self.weights)(part)
        errors = np.abs(part.values - rows[part.task, 0])
        spread = rows[part.task, 2]
        errors = np.divide(errors, spread, out=np.zeros_like(errors), where=spread > 0)
        return grouped_sums(part.reporters, errors, len(self.weights))

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, weights=self.weights[workers])

    def kernel(self) -> Kernel:
        run = _median_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            run(part.starts, part.worker, part.value, self.weights, np.empty((0, 3)), out)

        return add


def medians_of(part: NumberPart, weights: FloatArray) -> FloatArray:
    """The weighted median of each task; 0 where there are no answers."""
    order = np.lexsort((part.values, part.task))
    values = part.values[order]
    weight = weights[part.reporters[order]]
    starts = part.starts - part.starts[0]
    below = np.concatenate([[0.0], np.cumsum(weight)])
    half = (below[starts[:-1]] + below[starts[1:]]) / 2
    slack = TIE * (below[starts[1:]] - below[starts[:-1]])
    filled = np.flatnonzero(np.diff(starts))
    # The last value whose weight from below is at most half, and the first that reaches it.
    last = starts[1:] - 1
    lower = np.clip(np.searchsorted(below, half - slack, "left") - 1, starts[:-1], last)
    upper = np.clip(np.searchsorted(below, half + slack, "right") - 1, starts[:-1], last)
    medians = np.zeros(part.tasks)
    medians[filled] = (values[lower[filled]] + values[upper[filled]]) / 2
    return medians


@cache
def _median_kernel() -> Callable[..., None]:
    @compiled
    def run(starts, workers, values, weights, rows, errors):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            if first == last:
                if len(rows) > 0:
                    rows[task] = 0.0
                continue
            order = np.argsort(values[first:last])
            mass, mean = 0.0, 0.0
            for i in range(first, last):
                mass += weights[workers[i]]
                mean += values[i]
            mean /= last - first
            spread = 0.0
            for i in range(first, last):
                spread += (values[i] - mean) ** 2
            spread = np.sqrt(spread / (last - first))
            low, high = mass / 2 - TIE * mass, mass / 2 + TIE * mass
            below, lower, upper = 0.0, last - first - 1, last - first - 1
            found = False
            for j in range(last - first):
                below += weights[workers[first + order[j]]]
                if not found and below >= low:
                    lower, found = j, True
                if below > high:
                    upper = j
                    break
            median = (values[first + order[lower]] + values[first + order[upper]]) / 2
            if len(rows) > 0:
                rows[task, 0], rows[task, 1], rows[task, 2] = median, mass, spread
            if len(errors) > 0 and spread > 0:
                for i in range(first, last):
                    errors[workers[i]] += abs(values[i] - median) / spread

    return run
