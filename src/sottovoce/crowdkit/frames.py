"""Arrays as the frames that crowd-kit gives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sottovoce.crowdkit.table import Table
from sottovoce.errors import DataError
from sottovoce.inference.outcome import choose
from sottovoce.model import Codes, FloatArray
from sottovoce.stores.appearing import appearing

__all__ = ["Frames", "aligned", "fitted_frames", "label_series", "no_frames", "posterior_frame"]


class Frames(NamedTuple):
    """What EM leaves behind: the truths, their posteriors, the prior and the workers' errors."""

    labels: pd.Series[Any]
    probas: pd.DataFrame
    priors: pd.Series[float]
    errors: pd.DataFrame


def fitted_frames(
    table: Table, posterior: FloatArray, prior: FloatArray, errors: FloatArray
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
    """One row a task, one column a label."""
    return pd.DataFrame(
        posterior, index=tasks.rename("task"), columns=labels.rename("label"), copy=False
    )


def label_series(truths: Codes, tasks: pd.Index[Any], labels: pd.Index[Any]) -> Any:
    """The chosen label of each task."""
    chosen = labels.to_numpy() if labels.dtype == object else labels.array
    return pd.Series(chosen.take(truths), index=tasks.rename("task"), name="agg_label")


def _error_frame(errors: FloatArray, table: Table) -> pd.DataFrame:
    """One row for each label a worker gave, in order of appearance; one column a truth."""
    count = len(table.labels)
    pairs = appearing(table.worker.astype(np.int64) * count + table.label, len(errors))
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


def _retyped(table: Table) -> pd.Index[Any]:
    """The labels in the type of the column they came from."""
    try:
        typed: pd.Index[Any] = table.labels.astype(table.label_type)
    except (TypeError, ValueError):
        raise DataError(
            f"true_labels holds labels that the answers' type, {table.label_type}, cannot hold"
        ) from None
    return typed
