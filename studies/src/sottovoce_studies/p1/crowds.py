"""Crowds for P1: a few important workers among poor ones, and a stand-in for peer grades.

P1's peer grades are not public; the stand-in draws answers with their statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray, Reports
from sottovoce_studies.p1.layers import errors_at

__all__ = ["ImportantCrowd", "PeerGrades", "errors_of"]


GOOD = (0.9, 0.98)
REST = (0.45, 0.6)

_BINARY = Domain.categorical((0, 1))


@dataclass(frozen=True, slots=True)
class ImportantCrowd:
    """A crowd in which every worker answers every task and some workers are important.

        P(answer of u is the truth) = a_u,   a_u ~ U(0.9, 0.98) for the important ones,
                                             a_u ~ U(0.45, 0.6) for the others

    A share `turned` of the important ones has 1 - a_u instead: P1 §6.2.1 treats a worker who is
    nearly always wrong as equal to one who is nearly always right. With the same seed a crowd with
    more important workers is the same crowd, with some of the others replaced.
    """

    workers: int
    tasks: int
    important: int
    turned: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.important <= self.workers:
            raise UsageError(f"{self.important} of {self.workers} workers cannot be important")
        if not 0 <= self.turned < 0.5:
            raise UsageError("fewer than half of the important workers may be turned")

    def accuracies(self, seed: int) -> FloatArray:
        """Accuracies of the workers; important workers come first, and every n-th is turned.

        The number of important workers only determines which of the two distributions applies.
        """
        place = np.random.default_rng([seed, 1]).random(self.workers)
        good, rest = (low + (high - low) * place for low, high in (GOOD, REST))
        number = np.arange(self.workers)
        turned = np.floor((number + 1) * self.turned) > np.floor(number * self.turned)
        return np.where(number < self.important, np.where(turned, 1 - good, good), rest)

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        rng = np.random.default_rng([seed, 0])
        truths = rng.integers(2, size=self.tasks)
        wrong = rng.random((self.workers, self.tasks)) >= self.accuracies(seed)[:, None]
        worker, task = (axis.ravel() for axis in np.indices(wrong.shape))
        value = truths[task] ^ wrong.ravel()
        tasks = np.arange(self.tasks)
        return Reports.of(worker, task, value, domain=_BINARY, tasks=tasks), truths


def errors_of(crowd: ImportantCrowd, epsilon: float, trial: int, seed: int) -> dict[str, float]:
    """One trial of P1's methods and ours on this crowd (`layers.errors_at`)."""
    return errors_at(crowd, epsilon, trial, seed)


@dataclass(frozen=True, slots=True)
class PeerGrades:
    """A crowd with P1's sizes: 72 workers grade 5 of 26 tasks each, and half of the truths are 1.

        P(answer of u to q is the truth) = ease_q + skill_u,
        ease_q ~ U(least_ease, most_ease),   skill_u ~ U(-skill, skill)

    P1 prints only the sizes and the accuracy without noise, .73. The distributions of ease and
    skill are ours. Tasks must differ: if all were equally easy, 14 answers to each would hardly be
    right more often than chance, and noise would cost more than P1 prints for majority vote.
    Results on this crowd are no evidence about the grades themselves.
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
