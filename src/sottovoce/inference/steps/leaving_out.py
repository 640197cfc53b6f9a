"""How far each worker is from the others, its own answers left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.inference.compiling import compiled
from sottovoce.inference.steps.segments import grouped_sums, segment_sums
from sottovoce.model import FloatArray, NumberPart, Part, numbers_of
from sottovoce.seams import Kernel

__all__ = ["LeaveOneOut", "MeanVariances"]


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Rows (Σ, n) for each worker: squared distances from the others' weighted mean, and how many.

        (vₖⱼ − truthⱼ without k)² / ( 1 + Σ_{l≠k} h_l² / (Σ_{l≠k} h_l)² ) / variancesⱼ

    with h_l = w_l + prior / nⱼ. If everybody's variance were the same, the expectation of each term
    would be that variance over variancesⱼ. Tasks with one answer are left out. Opens each worker's
    distance from the crowd.
    """

    weights: FloatArray
    variances: FloatArray
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
        scale = self.variances[part.first : part.first + part.tasks][task]
        errors = np.square(values - mean) / (1 + noise / np.square(mass)) / scale
        return np.stack(
            [
                grouped_sums(part.reporters, np.where(compared, errors, 0.0), len(self.weights)),
                grouped_sums(part.reporters, compared.astype(np.float64), len(self.weights)),
            ],
            axis=1,
        )

    def kernel(self) -> Kernel:
        run = _errors_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part = numbers_of(part)
            variances = self.variances[part.first : part.first + part.tasks]
            run(part.starts, part.worker, part.value, self.weights, self.prior, variances, out)

        return add


@dataclass(frozen=True, slots=True)
class MeanVariances:
    """The variance of each task's weighted mean: Σₖ hₖ² varianceₖ / (Σₖ hₖ)², hₖ as above."""

    weights: FloatArray
    variances: FloatArray
    prior: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

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


def _pull(part: NumberPart, weights: FloatArray, prior: float) -> FloatArray:
    """How much each answer counts: its worker's weight, and its share of the prior's."""
    share = prior / np.maximum(np.diff(part.starts), 1)
    return np.asarray(weights[part.reporters] + share[part.task])


@cache
def _errors_kernel() -> Callable[..., None]:
    @compiled
    def run(starts, workers, values, weights, prior, variances, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            if last - first < 2:
                continue
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
                    out[workers[i], 0] += error * error / spread / variances[task]
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
