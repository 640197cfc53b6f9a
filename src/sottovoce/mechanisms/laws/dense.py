"""Cells of every worker with every task, as a matrix."""

from __future__ import annotations

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import Cells, Codes, FloatArray

__all__ = ["as_matrix"]


def as_matrix(cells: Cells, codes: Codes, mechanism: str) -> FloatArray:
    """Codes by worker and task; cells that are not all there, in that order, are refused."""
    workers, tasks = len(cells.workers), len(cells.tasks)
    place = cells.worker.astype(np.int64) * tasks + cells.task
    if len(place) != workers * tasks or (place != np.arange(workers * tasks)).any():
        raise UsageError(
            f"{mechanism} reports on every task: give every worker with every task, "
            "by worker and then by task, NULL where there is no answer"
        )
    return codes.reshape(workers, tasks).astype(np.float64)
