"""Tables for P2's experiments: its public data, and drawn crowds of the same size.

P2 had 3,513 labels of 20 workers for 159 images, which is more than one per pair: workers answered
some images several times, and all answers count. The public part of the dataset has fewer answers
to the 159 images with gold: 1,950 of 17 workers, so no part of it is P2's table. P2 prints no
abilities: U(0.55, 0.85) is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce import datasets
from sottovoce.errors import DataError
from sottovoce.model import Domain, Reports
from sottovoce.planning.trials import truths_by_task

__all__ = ["GoldTasks", "PaperCrowd", "Repeats", "TableSource", "against_theorem_1"]

Repeats: TypeAlias = Literal["keep", "first"]

_BINARY = Domain.categorical((0, 1))


class TableSource(Protocol):
    """Answers, including repeats, and the truth of every task as a label code."""

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """Answers and truths, the same for the same seed."""
        ...


@dataclass(frozen=True, slots=True)
class PaperCrowd:
    """A crowd with P2's sizes (§6.1): every worker answers every task, some of them twice.

    The truth of 58 tasks is 0. The probability that a worker is right is drawn from U(0.55, 0.85).
    """

    tasks: int = 159
    zeros: int = 58
    workers: int = 20
    answers: int = 3513

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        rng = np.random.default_rng(seed)
        truths = (rng.permutation(self.tasks) >= self.zeros).astype(np.int64)
        pairs = np.arange(self.workers * self.tasks)
        again = rng.choice(pairs, self.answers - len(pairs), replace=False)
        worker, task = np.divmod(np.concatenate([pairs, again]), self.tasks)
        ability = rng.uniform(0.55, 0.85, self.workers)
        wrong = rng.random(len(worker)) >= ability[worker]
        return Reports.of(worker, task, truths[task] ^ wrong, domain=_BINARY), truths


@dataclass(frozen=True, slots=True)
class GoldTasks:
    """The tasks of a dataset with known truth, and the answers to them.

    `repeats` keeps all answers of a worker to a task, or the first. `sha256` is the hash of its
    files, so that cached results are not used for other files.
    """

    name: str
    sha256: tuple[str, ...]
    repeats: Repeats = "keep"

    @classmethod
    def of(cls, name: str, repeats: Repeats = "keep") -> GoldTasks | None:
        """The dataset, or None if it is not in the cache."""
        try:
            card = datasets.describe(name)
        except DataError:
            return None
        return cls(name, tuple(sorted(card.files.values())), repeats)

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        answers, gold = datasets.load(self.name, raw=True, repeats=self.repeats)
        if gold is None:
            raise DataError(f"dataset {self.name!r} has no gold")
        truths = truths_by_task(answers, gold)
        rows = np.flatnonzero(truths[answers.task] >= 0)
        workers, worker = np.unique(answers.worker[rows], return_inverse=True)
        tasks, task = np.unique(answers.task[rows], return_inverse=True)
        table = Reports.of(
            worker,
            task,
            answers.value[rows],
            domain=answers.domain,
            workers=answers.workers[workers],
            tasks=answers.tasks[tasks],
        )
        return table, truths[tasks]


def against_theorem_1(answers: Reports) -> npt.NDArray[np.bool_]:
    """The tasks for which P2 Theorem 1 promises nothing: every worker gave the same label.

    No answer counts as a label, so a task that a worker left out is never one of them, unless
    nobody answered it.
    """
    tasks = len(answers.tasks)
    labels = np.zeros((tasks, answers.domain.size), np.int64)
    np.add.at(labels, (answers.task, answers.value.astype(np.int64)), 1)
    pairs = np.unique(np.stack([answers.task, answers.worker]), axis=1)
    workers = np.bincount(pairs[0], minlength=tasks)
    everybody = (workers == len(answers.workers)) & ((labels > 0).sum(axis=1) == 1)
    return np.asarray(everybody | (workers == 0))
