"""Tables of all workers, narrowed to some of them."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from sottovoce.model import Codes

__all__ = ["narrowed"]


def narrowed(table: npt.NDArray[Any], workers: Codes, count: int) -> npt.NDArray[Any]:
    """The rows of some of `count` workers, in a table that has as many rows for each of them.

    >>> import numpy as np
    >>> narrowed(np.arange(6), np.array([2, 0], np.int32), 3)
    array([4, 5, 0, 1])
    """
    each = len(table) // count
    rows = table.reshape(count, each, *table.shape[1:])[workers]
    return rows.reshape(len(workers) * each, *table.shape[1:])
