"""Tables larger than memory: what an engine for one offers beyond the seam.

Its tasks lie elsewhere, on a disk or on a cluster. So `tasks` is empty and `map` gives no rows; the
truths are told where the tasks lie, and written there, by an engine for the tasks at hand
(`PartEngine`) once all sums are made.
"""

from __future__ import annotations

import os
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import Codes, Domain, FloatArray, Names, Part, Reading
from sottovoce.seams import Engine, Learnt, Step, SumsAggregator

L = TypeVar("L", bound=Learnt)


class Recoding(NamedTuple):
    """What each label stands for instead: a symbol of another domain, or a number."""

    codes: Codes | FloatArray
    domain: Domain


class LargeEngine(Engine, Protocol):
    """Sums over a table that is not in memory, and truths that are written where they are found."""

    @property
    def answers(self) -> int:
        """How many reports there are."""
        ...

    @property
    def reading(self) -> Reading:
        """What reading the table did to its rows."""
        ...

    def write_truths(
        self, aggregator: SumsAggregator[L], learnt: L, folder: str | os.PathLike[str]
    ) -> None:
        """Parquet files in a new folder: the table `truths` of `Result`, in no certain order."""
        ...

    def write_workers(self, columns: dict[str, FloatArray], folder: str | os.PathLike[str]) -> None:
        """Parquet files in a new folder: each worker's name beside these columns."""
        ...


class LargeTable(Protocol):
    """A table that was opened and looked at, and is to be coded."""

    @property
    def domain(self) -> Domain:
        """What its answers are, as given or as guessed."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether it holds reports whose noise came from a seed."""
        ...

    def engine(self, recoding: Recoding | None = None) -> LargeEngine:
        """The table coded and sorted by task, once; under another domain where one is given."""
        ...


class PartEngine:
    """Maps over the tasks of one part, wherever that lies; others have made the sums.

    `workers` has no names: what a worker is called is not needed to tell a truth.
    """

    def __init__(
        self, part: Part, tasks: Names, domain: Domain, task_count: int, *, use_kernels: bool = True
    ) -> None:
        self._part, self._tasks, self._domain = part, tasks, domain
        self._task_count, self._kernels = task_count, use_kernels

    @property
    def workers(self) -> Names:
        return np.empty(0, np.int64)

    @property
    def tasks(self) -> Names:
        return self._tasks

    @property
    def task_count(self) -> int:
        return self._task_count

    @property
    def domain(self) -> Domain:
        return self._domain

    def total(self, step: Step) -> FloatArray:
        raise UsageError(f"the sums of {type(step).__name__} are over more tasks than are at hand")

    def map(self, step: Step) -> FloatArray:
        kernel = step.kernel() if self._kernels else None
        if kernel is None:
            return step(self._part)
        rows = np.empty((self._part.tasks, *step.shape))
        kernel(self._part, rows)
        return rows
