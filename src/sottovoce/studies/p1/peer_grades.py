"""A stand-in for P1's peer grades, which are not public: answers drawn with their statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Reports

__all__ = ["PeerGrades"]


@dataclass(frozen=True, slots=True)
class PeerGrades:
    """P1 Table 1 in numbers: 72 workers grade 5 of 26 tasks each, and half of the truths are 1.

        P(answer of u to q is the truth) = ease_q + skill_u,
        ease_q ~ U(least_ease, most_ease),   skill_u ~ U(-skill, skill)

    P1 prints no more than the sizes and the accuracy without noise, .73. The laws of ease and skill
    are ours. Tasks must differ: if all were alike, 14 answers to each would be right hardly more
    often than a coin, and noise would cost more than P1 prints for majority vote. Results on it
    are no evidence on the grades themselves.
    """

    tasks: int = 26
    workers: int = 72
    answers: int = 5
    least_ease: float = 0.45
    most_ease: float = 0.75
    skill: float = 0.2

    def __post_init__(self) -> None:
        if not 1 <= self.answers <= self.tasks:
            raise UsageError(f"a worker cannot answer {self.answers} of {self.tasks} tasks")
        if not self.skill <= self.least_ease <= self.most_ease <= 1 - self.skill:
            raise UsageError("ease and skill together must be a probability: narrow their ranges")

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        rng = np.random.default_rng(seed)
        truths = rng.permutation(np.arange(self.tasks) % 2)
        worker = np.repeat(np.arange(self.workers), self.answers)
        task = rng.permuted(np.tile(np.arange(self.tasks), (self.workers, 1)), axis=1)
        task = task[:, : self.answers].ravel()
        ease = rng.uniform(self.least_ease, self.most_ease, self.tasks)
        skill = rng.uniform(-self.skill, self.skill, self.workers)
        wrong = rng.random(len(worker)) >= ease[task] + skill[worker]
        tasks = np.arange(self.tasks)
        return Reports.of(worker, task, truths[task] ^ wrong, domain=_BINARY, tasks=tasks), truths


_BINARY = Domain.categorical((0, 1))
