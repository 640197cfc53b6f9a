"""Simulated crowds of workers: labels, numbers, and sparse numbers.

Simulation only. A crowd is a frozen set of parameters with a seed. It draws answers in blocks of
whole tasks. Block i depends only on the parameters and i, so a table in memory and a file written
block by block contain the same rows in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from sottovoce.datasets.seeded_randomness import cells, distinct, randomness
from sottovoce.errors import UsageError
from sottovoce.model import Codes, Domain, FloatArray, Kind

ANSWERS_PER_BLOCK = 1 << 20
"""About how many answers a block holds: 12 to 16 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """All answers to the tasks first, first + 1, … first + len(truth) − 1, and their truths.

    Workers and tasks are numbers from 0; values are label codes or floats.
    """

    first: int
    worker: Codes
    task: Codes
    value: Codes | FloatArray
    truth: npt.NDArray[Any]


class Crowd(Protocol):
    """Parameters and a seed: `blocks` yields the same answers every time it is called."""

    @property
    def workers(self) -> int:
        """How many workers there are, answering or not."""
        ...

    @property
    def tasks(self) -> int:
        """How many tasks there are, answered or not."""
        ...

    @property
    def domain(self) -> Domain:
        """The possible answers."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Every task's answers and truth, in task order."""
        ...


def block_tasks(tasks: int, answers_per_task: float) -> Iterator[range]:
    """Cut the tasks into ranges of about `ANSWERS_PER_BLOCK` answers, of one task at least."""
    step = max(1, math.floor(ANSWERS_PER_BLOCK / max(answers_per_task, 1)))
    for first in range(0, tasks, step):
        yield range(first, min(first + step, tasks))


def check_sizes(workers: int, tasks: int, seed: int) -> None:
    """Raise unless there is a worker, a task, a code for each, and a seed NumPy takes."""
    for name, size in (("workers", workers), ("tasks", tasks)):
        if not 1 <= size <= np.iinfo(np.int32).max:
            raise UsageError(f"{name} must be from 1 to 2^31 - 1, not {size:,}")
    if seed < 0:
        raise UsageError(f"a seed is 0 or more, not {seed}")


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Raise unless low ≤ value ≤ high."""
    if not low <= value <= high:
        raise UsageError(f"{name} must be from {low:g} to {high:g}, not {value:g}")


Ability: TypeAlias = Literal["homogeneous", "heterogeneous", "spammers", "adversaries"]

_CONCENTRATION = 4.0  # a + b of the Beta law of abilities


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoricalCrowd:
    """Workers choose one of K labels; all wrong labels are equally likely.

    The truth of a task is label k with probability ∝ imbalance^(−k / (K − 1)): label 0 is
    `imbalance` times as common as label K − 1. Each task is answered by `redundancy` different
    workers, every such set as likely. Worker u answers task t rightly with probability

        1/K + (1 − dₜ) (aᵤ − 1/K),    dₜ ~ Uniform(0, difficulty),

    so a task of difficulty 1 is a guess for everybody. The abilities aᵤ are

    - homogeneous: `accuracy`, for all;
    - heterogeneous: 1/K + (1 − 1/K) B with B ~ Beta(4 m, 4 (1 − m)) and m chosen so that the mean
      is `accuracy`: nobody is worse than chance;
    - spammers: 1/K, that is a uniform label whatever the truth, for round(share · workers) of the
      workers, picked at random; the others are heterogeneous;
    - adversaries: 1/(2K), half of chance, for that many; the others are heterogeneous.

    With `difficulty` 0 this is the one-coin model of Dawid & Skene (1979).

    >>> crowd = CategoricalCrowd(workers=20, tasks=50, labels=3, redundancy=4, seed=1)
    >>> crowd.answers, str(crowd.domain)
    (200, 'categorical {0, 1, 2}')
    """

    workers: int = 100
    tasks: int = 1_000
    labels: int = 4
    redundancy: int = 5
    ability: Ability = "heterogeneous"
    accuracy: float = 0.7
    share: float = 0.2
    imbalance: float = 1.0
    difficulty: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_sizes(self.workers, self.tasks, self.seed)
        if self.labels < 2:
            raise UsageError(f"labels must be 2 or more, not {self.labels}")
        if not 1 <= self.redundancy <= self.workers:
            raise UsageError(
                f"redundancy {self.redundancy:,} needs as many different workers for each task, "
                f"and there are {self.workers:,}: choose 1 to {self.workers:,}"
            )
        if self.ability not in get_args(Ability):
            raise UsageError(f"ability is one of {', '.join(get_args(Ability))}: {self.ability!r}")
        if not 1 / self.labels < self.accuracy < 1 and self.ability != "homogeneous":
            raise UsageError(
                f"the mean accuracy of a {self.ability} crowd lies between chance "
                f"(1/{self.labels}) and 1, not at {self.accuracy:g}"
            )
        check_between("accuracy", self.accuracy, 0, 1)
        check_between("share", self.share, 0, 1)
        check_between("difficulty", self.difficulty, 0, 1)
        if not 1 <= self.imbalance < np.inf:
            raise UsageError(f"imbalance is 1 or more, and finite, not {self.imbalance:g}")

    @property
    def domain(self) -> Domain:
        """The labels 0 … K − 1."""
        return Domain.categorical(range(self.labels))

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.tasks * self.redundancy

    @property
    def prior(self) -> FloatArray:
        """How likely each label is to be a task's truth."""
        ranks = np.arange(self.labels) / (self.labels - 1)
        relative = np.exp(-math.log(self.imbalance) * ranks)
        prior: FloatArray = relative / relative.sum()
        return prior

    def abilities(self) -> FloatArray:
        """aᵤ of each worker: how often it is right on a task without difficulty."""
        rng, chance = randomness(self.seed), 1 / self.labels
        if self.ability == "homogeneous":
            return np.full(self.workers, self.accuracy)
        mean = (self.accuracy - chance) / (1 - chance)
        beta = rng.beta(_CONCENTRATION * mean, _CONCENTRATION * (1 - mean), self.workers)
        abilities = chance + (1 - chance) * beta
        if self.ability != "heterogeneous":
            odd = rng.permutation(self.workers)[: round(self.share * self.workers)]
            abilities[odd] = chance if self.ability == "spammers" else chance / 2
        return abilities

    def blocks(self) -> Iterator[Block]:
        """Every task's answers and truth, in task order."""
        above_chance = self.abilities() - 1 / self.labels
        for number, tasks in enumerate(block_tasks(self.tasks, self.redundancy)):
            yield self._block(tasks, above_chance, randomness(self.seed, number))

    def _block(self, tasks: range, above_chance: FloatArray, rng: np.random.Generator) -> Block:
        size = len(tasks)
        bounds = np.cumsum(self.prior)[:-1]
        truth = np.searchsorted(bounds, rng.random(size), side="right").astype(np.int32)
        ease = 1 - self.difficulty * rng.random(size)
        worker = distinct(rng, size, self.redundancy, self.workers)
        right = 1 / self.labels + ease[:, None] * above_chance[worker]
        wrong = rng.random(worker.shape) >= right
        shift = rng.integers(1, self.labels, size=worker.shape, dtype=np.int32)
        value = (truth[:, None] + shift * wrong) % np.int32(self.labels)
        return Block(
            tasks.start,
            worker.reshape(-1),
            np.repeat(np.arange(tasks.start, tasks.stop, dtype=np.int32), self.redundancy),
            value.reshape(-1),
            truth,
        )


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
