"""Conversion between crowd-kit's frames and arrays: frames to codes, results to frames.

Distinct integers are coded in order of appearance by a lookup table, not by hashing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sottovoce.engines import LocalEngine
from sottovoce.errors import DataError
from sottovoce.inference.aggregator import choose
from sottovoce.model import Codes, Domain, FloatArray, Reports
from sottovoce.tables.vocabulary import order_of_appearance

_ROOM = 4
"""The size of a table per row up to which it is cheaper than hashing."""


def code_integers(column: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[np.integer[Any]]] | None:
    """Codes in order of appearance and what they stand for; None where a table would not pay."""
    if column.dtype.kind not in "iu" or not len(column):
        return None
    low, high = int(column.min()), int(column.max())
    size = high - low + 1
    if size > _ROOM * len(column) or high > np.iinfo(np.int64).max:
        return None
    places = column.astype(np.int64) - low
    names = order_of_appearance(places, size)
    codes = np.empty(size, np.int32)
    codes[names] = np.arange(len(names), dtype=np.int32)
    return codes[places], (names + low).astype(column.dtype)


VOTES_ARE_SORTED = int(pd.__version__.split(".")[0]) < 3
"""Whether unweighted votes come sorted by task and label.

crowd-kit unstacks the counts that `DataFrame.value_counts` gives. Up to pandas 2 that sorts both;
from pandas 3 on both stay in order of appearance. As ties go to the first label column, truths
depend on it.
"""


@dataclass(frozen=True, slots=True)
class CodedFrame:
    """The worker, task and label of each row: codes, and the names they stand for.

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
    def of(cls, data: pd.DataFrame) -> CodedFrame:
        """Code the three columns; a missing value in one of them is refused."""
        (task, tasks), (worker, workers), (label, labels) = (
            _coded(data, name) for name in ("task", "worker", "label")
        )
        label_type = _plain(data["label"]).dtype
        return cls(worker, task, label, workers, tasks, labels, label_type)

    def __len__(self) -> int:
        return len(self.label)

    def with_labels(self, labels: pd.Index[Any]) -> CodedFrame:
        """The same answers with other label names: all of this table's, in any order, or more."""
        if labels.equals(self.labels):
            return self
        place = labels.get_indexer(self.labels).astype(np.int32)
        return replace(self, label=place[self.label], labels=labels)

    @property
    def voted_labels(self) -> pd.Index[Any]:
        """The labels in the order of unweighted votes."""
        return sorted_names(self.labels) if VOTES_ARE_SORTED else self.labels

    def as_counted(self) -> CodedFrame:
        """The same answers with tasks and labels in the order of unweighted votes."""
        return self.sorted() if VOTES_ARE_SORTED else self

    def sorted(self) -> CodedFrame:
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


class Frames(NamedTuple):
    """The results of EM: truths, posteriors, prior and workers' errors."""

    labels: pd.Series[Any]
    probas: pd.DataFrame
    priors: pd.Series[float]
    errors: pd.DataFrame


def fitted_frames(
    table: CodedFrame, posterior: FloatArray, prior: FloatArray, errors: FloatArray
) -> Frames:
    """The frames of a fit; `errors[worker · labels + label, truth]`."""
    labels = _retyped(table)
    return Frames(
        label_series(choose(posterior), table.tasks, labels),
        posterior_frame(posterior, table.tasks, labels),
        pd.Series(prior, index=labels.rename("label"), name="prior"),
        _error_frame(errors, table),
    )


def no_frames() -> Frames:
    """The frames of a fit to nothing."""
    return Frames(
        pd.Series(dtype=float, name="agg_label"),
        pd.DataFrame(),
        pd.Series(dtype=float, name="prior"),
        pd.DataFrame(),
    )


def posterior_frame(
    posterior: FloatArray, tasks: pd.Index[Any], labels: pd.Index[Any]
) -> pd.DataFrame:
    """One row per task, one column per label."""
    return pd.DataFrame(
        posterior, index=tasks.rename("task"), columns=labels.rename("label"), copy=False
    )


def label_series(truths: Codes, tasks: pd.Index[Any], labels: pd.Index[Any]) -> Any:
    """The chosen label of each task."""
    chosen = labels.to_numpy() if labels.dtype == object else labels.array
    return pd.Series(chosen.take(truths), index=tasks.rename("task"), name="agg_label")


def _error_frame(errors: FloatArray, table: CodedFrame) -> pd.DataFrame:
    """One row for each label a worker gave, in order of appearance; one column a truth."""
    count = len(table.labels)
    pairs = order_of_appearance(table.worker.astype(np.int64) * count + table.label, len(errors))
    worker, label = np.divmod(pairs, count)
    index = pd.MultiIndex.from_arrays(
        [table.workers.take(worker), table.labels.take(label)], names=["worker", "label"]
    )
    return pd.DataFrame(
        errors[pairs], index=index, columns=_error_columns(table.labels), copy=False
    )


def _error_columns(labels: pd.Index[Any]) -> pd.Index[Any]:
    """The labels as they come out of a frame that also had named columns: no name, wider type."""
    return pd.Index(["worker", "label"]).append(labels)[2:].rename(None)


def aligned(labels: pd.Index[Any], columns: pd.Index[Any]) -> pd.Index[Any]:
    """The labels in the order they have once pandas has aligned them with a frame's columns.

    Equal labels stay as they are, others come sorted: so crowd-kit's columns change places in the
    first E step when an initial error has them in another order.
    """
    row = pd.Series(0.0, index=labels)
    order = (row + pd.DataFrame(0.0, index=[0], columns=_error_columns(columns))).columns
    places = labels.get_indexer(order)
    return labels.take(places[places >= 0])


def _retyped(table: CodedFrame) -> pd.Index[Any]:
    """The labels in the type of the column they came from."""
    try:
        typed: pd.Index[Any] = table.labels.astype(table.label_type)
    except (TypeError, ValueError):
        raise DataError(
            f"true_labels holds labels that the answers' type, {table.label_type}, cannot hold"
        ) from None
    return typed
