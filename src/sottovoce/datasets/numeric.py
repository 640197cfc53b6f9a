"""A crowd that estimates numbers, each worker with its own error variance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sottovoce.datasets.crowd import Block, block_tasks, check_sizes, randomness
from sottovoce.datasets.sampling import cells
from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray

__all__ = ["NumericCrowd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericCrowd:
    """Workers answer with the truth and a Gaussian error of their own variance (P3 §IV, §V-A).

        σₛ² ~ Exp(rate λ₁)           once per worker, mean 1/λ₁
        truthₙ ~ Uniform(low + inset, high - inset)
        answer = truthₙ + N(0, σₛ²)

    A worker answers a task with probability `density`, on its own. With `clip` answers are cut to
    low..high, which then is the domain; else any number may occur. P3 prints neither λ₁ nor how
    truths are drawn: the range is ours. Its size, 150 workers by 30 tasks, is the default.

    >>> NumericCrowd(clip=True).domain.high
    10.0
    """

    workers: int = 150
    tasks: int = 30
    lambda1: float = 1.0
    low: float = 0.0
    high: float = 10.0
    density: float = 1.0
    clip: bool = False
    seed: int = 0
    inset: float = 0.0

    def __post_init__(self) -> None:
        check_sizes(self.workers, self.tasks, self.seed)
        if not 0 < self.lambda1 < np.inf:
            raise UsageError(f"lambda1 is a rate above 0, not {self.lambda1:g}")
        if not -np.inf < self.low < self.high < np.inf:
            raise UsageError(f"truths need a range low < high, not {self.low:g}..{self.high:g}")
        if not 0 <= 2 * self.inset < self.high - self.low:
            raise UsageError(f"an inset of {self.inset:g} leaves no room for truths")
        if not 0 < self.density <= 1:
            raise UsageError(f"density must be above 0 and at most 1, not {self.density:g}")

    @property
    def domain(self) -> Domain:
        """The range when answers are cut to it, else all numbers."""
        return Domain.numeric(self.low, self.high) if self.clip else Domain.numeric()

    def variances(self) -> FloatArray:
        """σₛ² of each worker."""
        return randomness(self.seed).exponential(1 / self.lambda1, self.workers)

    def blocks(self) -> Iterator[Block]:
        """Every task's answers and truth, in task order."""
        deviations = np.sqrt(self.variances())
        for number, tasks in enumerate(block_tasks(self.tasks, self.workers * self.density)):
            yield self._block(tasks, deviations, randomness(self.seed, number))

    def _block(self, tasks: range, deviations: FloatArray, rng: np.random.Generator) -> Block:
        truth = rng.uniform(self.low + self.inset, self.high - self.inset, len(tasks))
        row, worker = cells(rng, len(tasks), self.workers, self.density)
        value = truth[row] + deviations[worker] * rng.standard_normal(len(row))
        if self.clip:
            value = np.clip(value, self.low, self.high)
        task = (tasks.start + row).astype(np.int32)
        return Block(tasks.start, worker.astype(np.int32), task, value, truth)
