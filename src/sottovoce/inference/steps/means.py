"""Weighted means per task, each worker's distance from them, and the spread of numbers.

The spread is measured within tasks, between tasks, or from a centre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np

from sottovoce.inference.steps.arithmetic import compiled, grouped_sums, segment_sums, total
from sottovoce.model import Codes, FloatArray, NumberPart, Part, numbers_of
from sottovoce.seams import Kernel

Scaling: TypeAlias = Literal["none", "deviation", "variance"]
"""The divisor of squared errors: 1, the task's standard deviation, or its variance."""

FLAT = 1e-24
"""A variance below this share of the squared mean is rounding, not spread."""


@dataclass(frozen=True, slots=True)
class WeightedMeans:
    """The truth of each task as a weighted mean of its answers.

        truth = mean + Σ wₖ (vₖ − mean) / (prior + Σ wₖ)

    With `prior` 0 that is Σ wₖ vₖ / Σ wₖ; a larger prior shrinks the truth towards the plain mean.
    Each row is (truth, prior + Σ wₖ, standard deviation of the task's answers).
    """

    weights: FloatArray
    prior: float = 0.0

    shape: ClassVar[tuple[int, ...]] = (3,)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        mean, offset, variance = centred(part)
        truth, mass = _pull(part, offset, self.weights, self.prior)
        return np.stack([mean + truth, mass, np.sqrt(variance)], axis=1)

    def kernel(self) -> Kernel:
        run = _means_kernel()

        def fill(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            columns = part.starts, part.worker, part.value
            run(*columns, self.weights, self.prior, 0.0, out, np.empty(0))

        return fill


@dataclass(frozen=True, slots=True)
class SquaredErrors:
    """Σ (vₖ − truth)² / scale over each worker's answers, with the truths of `WeightedMeans`.

    The scale is 1, or the standard deviation or variance of the task's answers; a task whose
    answers are all equal adds nothing. Opens each worker's distance from the crowd.
    """

    weights: FloatArray
    prior: float = 0.0
    scaling: Scaling = "none"

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.weights),)

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        _, offset, variance = centred(part)
        truth, _ = _pull(part, offset, self.weights, self.prior)
        power = _power(self.scaling)
        scale = np.where(variance > 0, variance, np.inf) ** power if power else variance * 0 + 1
        errors = np.square(offset - truth[part.task]) / scale[part.task]
        return grouped_sums(part.reporters, errors, len(self.weights))

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, weights=self.weights[workers])

    def kernel(self) -> Kernel:
        run = _means_kernel()
        power = _power(self.scaling)

        def add(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            columns = part.starts, part.worker, part.value
            run(*columns, self.weights, self.prior, power, np.empty((0, 3)), out)

        return add


@dataclass(frozen=True, slots=True)
class TaskMeans:
    """Σ over answers of (1, value): the count and the sum of all numbers. Opens both."""

    shape: ClassVar[tuple[int, ...]] = (2,)

    def __call__(self, part: Part) -> FloatArray:
        values = numbers_of(part).values
        return np.array([len(values), total(values)])

    def kernel(self) -> None:
        return None


def _power(scaling: Scaling) -> float:
    return {"none": 0.0, "deviation": 0.5, "variance": 1.0}[scaling]


def centred(part: NumberPart) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each task's mean, each answer's offset from it, each task's variance (0 where flat)."""
    counts = np.maximum(np.diff(part.starts), 1)
    mean = segment_sums(part.values, part.starts) / counts
    offset = part.values - mean[part.task]
    variance = segment_sums(np.square(offset), part.starts) / counts
    variance[variance <= FLAT * np.square(mean)] = 0.0
    return mean, offset, variance


def _pull(
    part: NumberPart, offset: FloatArray, weights: FloatArray, prior: float
) -> tuple[FloatArray, FloatArray]:
    """Σ w · offset / (prior + Σ w) for each task, and that denominator."""
    weight = weights[part.reporters]
    mass = prior + segment_sums(weight, part.starts)
    pulled = segment_sums(weight * offset, part.starts)
    return np.divide(pulled, mass, out=np.zeros_like(mass), where=mass > 0), mass


@cache
def _means_kernel() -> Callable[..., None]:
    """Each task's weighted mean, then the requested output: its row, workers' errors, or both.

    `rows` or `errors` of length 0 are not written; `power` is that of the variance in the scale.
    """

    @compiled
    def run(starts, workers, values, weights, prior, power, rows, errors):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            mean = 0.0
            for i in range(first, last):
                mean += values[i]
            mean /= max(last - first, 1)
            mass, pulled, variance = 0.0, 0.0, 0.0
            for i in range(first, last):
                offset = values[i] - mean
                variance += offset * offset
                mass += weights[workers[i]]
                pulled += weights[workers[i]] * offset
            variance /= max(last - first, 1)
            if variance <= FLAT * mean * mean:
                variance = 0.0
            mass += prior
            truth = pulled / mass if mass > 0 else 0.0
            if len(rows) > 0:
                rows[task, 0], rows[task, 1], rows[task, 2] = mean + truth, mass, np.sqrt(variance)
            if len(errors) > 0 and (power == 0 or variance > 0):
                scale = variance**power
                for i in range(first, last):
                    error = values[i] - mean - truth
                    errors[workers[i]] += error * error / scale

    return run


@dataclass(frozen=True, slots=True)
class SpreadWithin:
    """(Σ (v − mean of its task)², Σ (answers to a task − 1)), for the pooled variance of tasks."""

    shape: ClassVar[tuple[int, ...]] = (2,)

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
    """(Σ (mean of a task − centre)², the number of tasks with answers)."""

    centre: float

    shape: ClassVar[tuple[int, ...]] = (2,)

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

    shape: ClassVar[tuple[int, ...]] = ()

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
