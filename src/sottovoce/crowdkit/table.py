"""A crowd-kit frame as codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sottovoce.crowdkit.appearance import code_integers
from sottovoce.engines import LocalEngine
from sottovoce.errors import DataError
from sottovoce.model import Codes, Domain, Reports

__all__ = ["VOTES_ARE_SORTED", "Table", "ranks", "sorted_names"]

VOTES_ARE_SORTED = int(pd.__version__.split(".")[0]) < 3
"""Whether unweighted votes come sorted by task and label.

crowd-kit unstacks the counts that `DataFrame.value_counts` gives. Up to pandas 2 that sorts both;
from pandas 3 on both stay in order of appearance. As ties go to the first label column, truths
depend on it.
"""


@dataclass(frozen=True, slots=True)
class Table:
    """Who gave which label to which task: codes, and the names they stand for.

    Names are in order of appearance. `label_type` is the label column's own type, which the names'
    may be narrower than: a column of objects may hold nothing but strings.
    """

    worker: Codes
    task: Codes
    label: Codes
    workers: pd.Index[Any]
    tasks: pd.Index[Any]
    labels: pd.Index[Any]
    label_type: Any

    @classmethod
    def of(cls, data: pd.DataFrame) -> Table:
        """Code the three columns; a missing value in one of them is refused."""
        (task, tasks), (worker, workers), (label, labels) = (
            _coded(data, name) for name in ("task", "worker", "label")
        )
        label_type = _plain(data["label"]).dtype
        return cls(worker, task, label, workers, tasks, labels, label_type)

    def __len__(self) -> int:
        return len(self.label)

    def with_labels(self, labels: pd.Index[Any]) -> Table:
        """The same answers with other label names: all of this table's, in any order, or more."""
        if labels.equals(self.labels):
            return self
        place = labels.get_indexer(self.labels).astype(np.int32)
        return replace(self, label=place[self.label], labels=labels)

    @property
    def voted_labels(self) -> pd.Index[Any]:
        """The labels in the order of unweighted votes."""
        return sorted_names(self.labels) if VOTES_ARE_SORTED else self.labels

    def as_counted(self) -> Table:
        """The same answers with tasks and labels in the order of unweighted votes."""
        return self.sorted() if VOTES_ARE_SORTED else self

    def sorted(self) -> Table:
        """The same answers with tasks and labels sorted by name."""
        task = ranks(self.tasks).astype(np.int32)[self.task]
        moved = replace(self, task=task, tasks=sorted_names(self.tasks))
        return moved.with_labels(sorted_names(self.labels))

    def engine(self) -> LocalEngine:
        """The engine that adds up these answers."""
        return LocalEngine(
            Reports(
                self.worker,
                self.task,
                self.label,
                np.arange(len(self.workers)),
                np.arange(len(self.tasks)),
                Domain.categorical(range(len(self.labels))),
            )
        )


def sorted_names(names: pd.Index[Any]) -> pd.Index[Any]:
    """The names in order, numbers before strings."""
    return names[np.argsort(ranks(names))]


def ranks(names: pd.Index[Any]) -> npt.NDArray[np.intp]:
    """The place of each name among the sorted names, numbers before strings."""
    return np.asarray(pd.factorize(names, sort=True)[0], np.intp)


def _coded(data: pd.DataFrame, name: str) -> tuple[Codes, pd.Index[Any]]:
    column = _plain(data[name])
    if isinstance(column.dtype, np.dtype) and (fast := code_integers(column.to_numpy())):
        return fast[0], pd.Index(fast[1], name=name)
    codes, names = pd.factorize(column)
    if len(codes) and codes.min() < 0:
        missing = int((codes < 0).sum())
        raise DataError(
            f"{missing:,} of {len(codes):,} rows have no {name}: drop them first, "
            f"data.dropna(subset=[{name!r}])",
            column=name,
        )
    return codes.astype(np.int32), pd.Index(names).infer_objects().rename(name)


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column without categories: its values are what counts."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype(column.dtype.categories.dtype)
    return column
