"""Tables larger than memory: what their engines offer in addition to the protocol `Engine`.

The tasks are on a disk or on a cluster. So `tasks` is empty and `map` gives no rows. Once all sums
are computed, the truths are inferred and written where the tasks are, by an engine for the local
tasks (`PartEngine`).
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
    """The new meaning of each label: a symbol of another domain, or a number."""

    codes: Codes | FloatArray
    domain: Domain


class LargeEngine(Engine, Protocol):
    """Sums over a table that is not in memory, and truths that are written where the tasks are."""

    @property
    def answers(self) -> int:
        """The number of reports."""
        ...

    @property
    def reading(self) -> Reading:
        """The changes and drops made when the table was read."""
        ...

    def write_truths(
        self, aggregator: SumsAggregator[L], learnt: L, folder: str | os.PathLike[str]
    ) -> None:
        """Parquet files in a new folder: the table `truths` of `Result`, in no particular order."""
        ...

    def write_workers(self, columns: dict[str, FloatArray], folder: str | os.PathLike[str]) -> None:
        """Parquet files in a new folder: each worker's name with these columns."""
        ...


class LargeTable(Protocol):
    """A table that was opened and inspected, and can be coded."""

    @property
    def domain(self) -> Domain:
        """The domain of its answers, given or inferred."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether it holds simulated reports, whose noise came from a seed."""
        ...

    def engine(self, recoding: Recoding | None = None) -> LargeEngine:
        """The table coded and sorted by task, once; under another domain if one is given."""
        ...


class PartEngine:
    """Maps over the tasks of one part; the sums were computed elsewhere.

    `workers` has no names: inferring a truth does not need them.
    """

    def __init__(
        self, part: Part, tasks: Names, domain: Domain, task_count: int, *, use_kernels: bool = True
    ) -> None:
        self.workers: Names = np.empty(0, np.int64)
        self.tasks, self.domain, self.task_count = tasks, domain, task_count
        self._part, self._kernels = part, use_kernels

    def total(self, step: Step) -> FloatArray:
        raise UsageError(f"the sums of {type(step).__name__} need more tasks than this part has")

    def map(self, step: Step) -> FloatArray:
        kernel = step.kernel() if self._kernels else None
        if kernel is None:
            return step(self._part)
        rows = np.empty((self._part.tasks, *step.shape))
        kernel(self._part, rows)
        return rows
