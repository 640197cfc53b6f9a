"""Comparison of workers with the others who answered the same tasks (leave one out)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import compiled, grouped_sums, segment_sums
from sottovoce.inference.steps.means import FLAT, centred
from sottovoce.model import Codes, FloatArray, NumberPart, Part, numbers_of
from sottovoce.seams import Kernel

TASK_PRIOR = 10.0
"""The number of answers that the pooled variance counts as next to a task's own."""


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Rows (Σ, n) for each worker: squared distances from the others' weighted mean; their number.

        (vₖⱼ − truthⱼ without k)² / ( 1 + Σ_{l≠k} h_l² / (Σ_{l≠k} h_l)² ) / σⱼ²

    with h_l = w_l + prior / nⱼ, and σⱼ² as in `task_variances`, or 1 if `pooled` is 0. If all
    workers had the same variance, the expectation of each term would be that variance over σⱼ².
    Tasks with one answer are left out. Opens each worker's distance from the crowd.
    """

    weights: FloatArray
    pooled: float = 0.0
    prior: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.weights), 2

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        task, values = part.task, part.values
        pull = _pull(part, self.weights, self.prior)
        mass = segment_sums(pull, part.starts)[task] - pull
        compared = (mass > 0) & (np.diff(part.starts)[task] > 1)
        mass = np.where(compared, mass, 1.0)
        mean = (segment_sums(pull * values, part.starts)[task] - pull * values) / mass
        noise = np.maximum(segment_sums(np.square(pull), part.starts)[task] - np.square(pull), 0.0)
        scale = self._scale(part)[task]
        errors = np.square(values - mean) / (1 + noise / np.square(mass)) / scale
        return np.stack(
            [
                grouped_sums(part.reporters, np.where(compared, errors, 0.0), len(self.weights)),
                grouped_sums(part.reporters, compared.astype(np.float64), len(self.weights)),
            ],
            axis=1,
        )

    def _scale(self, part: NumberPart) -> FloatArray:
        if self.pooled == 0:
            return np.ones(part.tasks)
        return task_variances(centred(part)[2], np.diff(part.starts), self.pooled)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, weights=self.weights[workers])

    def kernel(self) -> Kernel:
        run = _errors_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            columns = part.starts, part.worker, part.value
            run(*columns, self.weights, self.pooled, self.prior, out)

        return add


@dataclass(frozen=True, slots=True)
class MeanVariances:
    """The variance of each task's weighted mean: Σₖ hₖ² varianceₖ / (Σₖ hₖ)², hₖ as above."""

    weights: FloatArray
    variances: FloatArray
    prior: float = 0.0

    shape: ClassVar[tuple[int, ...]] = ()

    def __call__(self, part: Part) -> FloatArray:
        part = numbers_of(part)
        pull = _pull(part, self.weights, self.prior)
        mass = segment_sums(pull, part.starts)
        noise = segment_sums(np.square(pull) * self.variances[part.reporters], part.starts)
        return np.asarray(np.divide(noise, np.square(mass), out=np.ones_like(mass), where=mass > 0))

    def kernel(self) -> Kernel:
        run = _variances_kernel()

        def fill(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            run(part.starts, part.worker, self.weights, self.prior, self.variances, out)

        return fill


def task_variances(variances: FloatArray, counts: npt.ArrayLike, pooled: float) -> FloatArray:
    """σⱼ² = ( Σₖ (vₖⱼ − meanⱼ)² + 10 pooled ) / ( nⱼ − 1 + 10 ): shrunk towards all tasks'."""
    count = np.asarray(counts, np.float64)
    freedom = np.maximum(count - 1, 0.0)
    return np.asarray((variances * count + TASK_PRIOR * pooled) / (freedom + TASK_PRIOR))


def _pull(part: NumberPart, weights: FloatArray, prior: float) -> FloatArray:
    """The weight of each answer: its worker's weight, and its share of the prior's."""
    share = prior / np.maximum(np.diff(part.starts), 1)
    return np.asarray(weights[part.reporters] + share[part.task])


@cache
def _errors_kernel() -> Callable[..., None]:
    @compiled
    def run(starts, workers, values, weights, pooled, prior, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            if last - first < 2:
                continue
            scale = 1.0
            if pooled > 0:
                mean, squares = 0.0, 0.0
                for i in range(first, last):
                    mean += values[i]
                mean /= last - first
                for i in range(first, last):
                    squares += (values[i] - mean) ** 2
                if squares <= FLAT * mean * mean * (last - first):
                    squares = 0.0
                scale = (squares + TASK_PRIOR * pooled) / (last - first - 1 + TASK_PRIOR)
            share = prior / (last - first)
            mass, pulled, noise = 0.0, 0.0, 0.0
            for i in range(first, last):
                pull = weights[workers[i]] + share
                mass += pull
                pulled += pull * values[i]
                noise += pull * pull
            for i in range(first, last):
                pull = weights[workers[i]] + share
                rest = mass - pull
                if rest > 0:
                    error = values[i] - (pulled - pull * values[i]) / rest
                    spread = 1 + max(noise - pull * pull, 0.0) / (rest * rest)
                    out[workers[i], 0] += error * error / spread / scale
                    out[workers[i], 1] += 1.0

    return run


@cache
def _variances_kernel() -> Callable[..., None]:
    @compiled
    def run(starts, workers, weights, prior, variances, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            share = prior / max(last - first, 1)
            mass, noise = 0.0, 0.0
            for i in range(first, last):
                pull = weights[workers[i]] + share
                mass += pull
                noise += pull * pull * variances[workers[i]]
            out[task] = noise / (mass * mass) if mass > 0 else 1.0

    return run
