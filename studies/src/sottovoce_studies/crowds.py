"""Sources of a study's answers: crowds drawn for each trial, or a dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce import datasets
from sottovoce.datasets import NumericCrowd, SparseCrowd, generate
from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Reports
from sottovoce.planning.tradeoff import within_range
from sottovoce.planning.trials import truths_by_task

__all__ = ["Dataset", "LabelCrowd", "Simulated", "Source"]


class Source(Protocol):
    """Answers with their truths by task: label codes, or numbers (NaN where unknown)."""

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """Answers and truths, the same for the same seed."""
        ...


@dataclass(frozen=True, slots=True)
class LabelCrowd:
    """Each of m workers answers k random tasks of n; errors are uniform over the other labels.

        truth ~ uniform over s labels
        heterogeneous: 40 % of the workers are right with probability U(0.8, 0.95), the others with
                       U(1/s - 0.05, 0.6)
        homogeneous:   all with U(0.55, 0.8)
        able:          all with U(0.7, 0.9)

    Unlike in `CategoricalCrowd`, the number of answers is fixed per worker, not per task, because a
    guarantee covers all answers of a worker.
    """

    workers: int
    tasks: int
    answers: int
    labels: int
    ability: Literal["homogeneous", "heterogeneous", "able"]

    def __post_init__(self) -> None:
        if not 1 <= self.answers <= self.tasks:
            raise UsageError(f"a worker cannot answer {self.answers} of {self.tasks} tasks")

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        rng = np.random.default_rng(seed)
        truths = rng.integers(self.labels, size=self.tasks)
        worker = np.repeat(np.arange(self.workers), self.answers)
        task = rng.permuted(np.tile(np.arange(self.tasks), (self.workers, 1)), axis=1)
        task = task[:, : self.answers].ravel()
        wrong = rng.random(len(worker)) >= self._abilities(rng)[worker]
        shift = rng.integers(1, self.labels, len(worker))
        value = (truths[task] + wrong * shift) % self.labels
        domain = Domain.categorical(range(self.labels))
        tasks = np.arange(self.tasks)
        return Reports.of(worker, task, value, domain=domain, tasks=tasks), truths

    def _abilities(self, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        if self.ability == "homogeneous":
            return rng.uniform(0.55, 0.8, self.workers)
        if self.ability == "able":
            return rng.uniform(0.7, 0.9, self.workers)
        good = rng.permutation(self.workers) < round(0.4 * self.workers)
        able = rng.uniform(0.8, 0.95, self.workers)
        return np.where(good, able, rng.uniform(1 / self.labels - 0.05, 0.6, self.workers))


@dataclass(frozen=True, slots=True)
class Simulated:
    """A crowd of the package, drawn with the trial's seed."""

    crowd: NumericCrowd | SparseCrowd

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        answers, gold = generate(replace(self.crowd, seed=seed))
        return answers, gold.truths[answers.tasks]  # the names of tasks are their numbers


@dataclass(frozen=True, slots=True)
class Dataset:
    """A cached dataset with gold, the same in every trial; numbers over a public range.

    `sha256` is the hash of its files, so that cached results are not used for other files.
    """

    name: str
    range: tuple[float, float] | None
    sha256: tuple[str, ...]

    @classmethod
    def of(cls, name: str, range: tuple[float, float] | None = None) -> Dataset | None:
        """The dataset, or None if it is not in the cache."""
        try:
            card = datasets.describe(name)
        except DataError:
            return None
        return cls(name, range, tuple(sorted(card.files.values())))

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        return _loaded(self)


@lru_cache(maxsize=2)
def _loaded(dataset: Dataset) -> tuple[Reports, npt.NDArray[Any]]:
    answers, gold = datasets.load(dataset.name)
    if gold is None:
        raise DataError(f"dataset {dataset.name!r} has no gold")
    if dataset.range is not None:
        answers = within_range(answers, Domain.numeric(*dataset.range), clip=True)
    return answers, truths_by_task(answers, gold)
