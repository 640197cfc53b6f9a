"""What is known about workers beforehand, and how EM starts from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sottovoce.crowdkit.table import Table
from sottovoce.errors import DataError
from sottovoce.inference.dawid_skene import Parameters
from sottovoce.inference.rounding import steady
from sottovoce.inference.steps.confusions import FLOOR, ConfusionSums
from sottovoce.model import FloatArray

__all__ = ["History", "informed_start", "read_history"]


class History(NamedTuple):
    """Earlier counts (or chances) of a worker's label, by truth; one row for each such pair.

    A label that nobody gave now is −1: it still counts in its worker's total.
    """

    worker: npt.NDArray[np.intp]
    label: npt.NDArray[np.intp]
    values: FloatArray
    strategy: str


def read_history(table: Table, initial_error: pd.DataFrame, strategy: str) -> History:
    """Check a frame of initial errors and code its rows; rows of unknown workers are left out."""
    if strategy not in ("assign", "addition"):
        raise ValueError(f'initial_error_strategy is "assign" or "addition", not {strategy!r}')
    if list(initial_error.index.names) != ["worker", "label"]:
        raise ValueError(
            "initial_error must be indexed by worker and label, "
            f"not by {list(initial_error.index.names)}"
        )
    if not (initial_error.index.is_unique and initial_error.columns.is_unique):
        raise DataError("initial_error names a worker's label or a truth more than once")
    worker = table.workers.get_indexer(initial_error.index.get_level_values("worker"))
    label = table.labels.get_indexer(initial_error.index.get_level_values("label"))
    values = initial_error.reindex(columns=table.labels).to_numpy(np.float64, na_value=np.nan)
    if strategy == "assign":
        _check_assigned(table, initial_error, worker, label, values)
    mine = worker >= 0
    return History(worker[mine], label[mine], np.nan_to_num(values[mine], nan=0.0), strategy)


def informed_start(sums: ConfusionSums, history: History) -> Parameters:
    """The first M step with the history in place of the votes' counts, or added to them."""
    labels = sums.counts.shape[1]
    counts = np.zeros_like(sums.counts) if history.strategy == "assign" else sums.counts.copy()
    present = sums.counts.sum(axis=1) > 0.5
    inside = history.label >= 0
    rows = history.worker[inside] * labels + history.label[inside]
    counts[rows] += history.values[inside]
    present[rows] = True
    floored = np.where(present[:, None], np.maximum(counts, FLOOR), 0.0)
    floored = floored.reshape(-1, labels, labels)
    totals = floored.sum(axis=1)
    np.add.at(totals, history.worker[~inside], np.maximum(history.values[~inside], FLOOR))
    errors = np.divide(floored, totals[:, None], out=np.zeros_like(floored), where=floored > 0)
    prior = sums.tasks / sums.tasks.sum()
    return Parameters(steady(errors.reshape(-1, labels)), steady(prior))


def _check_assigned(
    table: Table,
    initial_error: pd.DataFrame,
    worker: npt.NDArray[np.intp],
    label: npt.NDArray[np.intp],
    values: FloatArray,
) -> None:
    """Errors that replace the votes' must be there for every answer, and add up."""
    count = len(table.labels)
    there = np.zeros(len(table.workers) * count, np.bool_)
    both = (worker >= 0) & (label >= 0)
    there[worker[both] * count + label[both]] = True
    lacking = ~there[table.worker.astype(np.int64) * count + table.label]
    if lacking.any():
        raise ValueError(
            f"initial_error lacks labels that {len(np.unique(table.worker[lacking])):,} workers "
            'gave: add their rows, or choose initial_error_strategy="addition"'
        )
    if np.isnan(values).any():
        raise DataError("initial_error must have a number for every truth, without gaps")
    everything = initial_error.to_numpy(np.float64, na_value=np.nan)
    sums = initial_error.groupby(level="worker", sort=False).sum().to_numpy(np.float64)
    if (everything <= 1.0).all() and not np.allclose(sums, 1.0):
        raise ValueError(
            "initial_error looks like chances (nothing above 1), but those of a worker's labels "
            "given a truth do not add up to 1"
        )
