"""A crowd that chooses labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from sottovoce.datasets.crowd import (
    Block,
    block_tasks,
    check_between,
    check_sizes,
    randomness,
)
from sottovoce.datasets.sampling import distinct
from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray

__all__ = ["Ability", "CategoricalCrowd"]

Ability: TypeAlias = Literal["homogeneous", "heterogeneous", "spammers", "adversaries"]

_CONCENTRATION = 4.0  # a + b of the Beta law of abilities


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoricalCrowd:
    """Workers choose one of K labels; who errs, errs towards every other label alike.

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
