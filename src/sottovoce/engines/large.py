"""Tables larger than memory: what an engine for one offers beyond the seam.

Its tasks lie elsewhere, on a disk or on a cluster. So `tasks` is empty and `map` gives no rows; the
truths are told where the tasks lie, and written there.
"""

from __future__ import annotations

import os
from typing import NamedTuple, Protocol, TypeVar

from sottovoce.model import Codes, Domain, FloatArray, Reading
from sottovoce.seams import Engine, Learnt, SumsAggregator

__all__ = ["LargeEngine", "LargeTable", "Recoding"]

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
