"""A crowd that leaves most cells empty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sottovoce.datasets.crowd import Block, block_tasks, check_sizes, randomness
from sottovoce.datasets.sampling import cells
from sottovoce.errors import UsageError
from sottovoce.model import Codes, Domain, FloatArray, Kind

__all__ = ["SparseCrowd"]

_HIGHEST = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseCrowd:
    """Good and poor workers answer a few of the tasks with a whole number 0 … 9 (P4 §VI-A).

        truthⱼ ~ N(0, 1), left real, or Uniform(low, high) where `truths` gives (low, high)
        answer = clip(round(truthⱼ + N(0, σᵢ²)), 0, 9)
        NULL instead, with probability `sparsity`, each cell on its own

    ⌈workers / 2⌉ of the workers, picked at random, have σ = `good`, the rest σ = `poor`. A NULL
    is a row that is not there. Answers are whole numbers but truths are real, so the domain is
    numeric 0..9 unless `kind` is ordinal: then answers are the labels 0 … 9. Half of the normal
    truths lie below 0, outside what anyone can answer: the published setting, kept.

    >>> SparseCrowd(kind=Kind.ORDINAL).domain.size
    10
    """

    workers: int = 2_000
    tasks: int = 200
    sparsity: float = 0.9
    good: float = 1.0
    poor: float = 5.0
    kind: Kind = Kind.NUMERIC
    seed: int = 0
    truths: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_sizes(self.workers, self.tasks, self.seed)
        if self.truths is not None and not -np.inf < self.truths[0] < self.truths[1] < np.inf:
            raise UsageError(f"truths need a range low < high, not {self.truths}")
        if not 0 <= self.sparsity < 1:
            raise UsageError(f"sparsity must be at least 0 and below 1, not {self.sparsity:g}")
        for name in ("good", "poor"):
            if not 0 <= getattr(self, name) < np.inf:
                raise UsageError(f"the deviation of {name} workers cannot be {getattr(self, name)}")
        if self.kind is Kind.CATEGORICAL:
            raise UsageError("a sparse crowd answers with numbers or ordinal labels")

    @property
    def domain(self) -> Domain:
        """Numbers 0..9, or ten ordinal labels."""
        if self.kind is Kind.ORDINAL:
            return Domain.ordinal(range(_HIGHEST + 1))
        return Domain.numeric(0, _HIGHEST)

    def deviations(self) -> FloatArray:
        """σᵢ of each worker."""
        deviations = np.full(self.workers, self.good, dtype=np.float64)
        deviations[randomness(self.seed).permutation(self.workers)[: self.workers // 2]] = self.poor
        return deviations

    def blocks(self) -> Iterator[Block]:
        """Every task's answers and truth, in task order."""
        deviations = self.deviations()
        expected = self.workers * (1 - self.sparsity)
        for number, tasks in enumerate(block_tasks(self.tasks, expected)):
            yield self._block(tasks, deviations, randomness(self.seed, number))

    def _block(self, tasks: range, deviations: FloatArray, rng: np.random.Generator) -> Block:
        if self.truths is None:
            truth = rng.standard_normal(len(tasks))
        else:
            truth = rng.uniform(*self.truths, len(tasks))
        row, worker = cells(rng, len(tasks), self.workers, 1 - self.sparsity)
        exact = truth[row] + deviations[worker] * rng.standard_normal(len(row))
        whole = np.clip(np.rint(exact), 0, _HIGHEST).astype(np.int32)
        value: Codes | FloatArray = whole
        if self.kind is Kind.NUMERIC:
            value = whole.astype(np.float64)
        task = (tasks.start + row).astype(np.int32)
        return Block(tasks.start, worker.astype(np.int32), task, value, truth)
