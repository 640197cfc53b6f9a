"""Names in the order in which a table first uses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.model import Codes, Names

__all__ = ["appearing", "in_order"]


def appearing(values: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.intp]:
    """The distinct values among 0 … size − 1, in order of appearance."""
    rows = len(values)
    first = np.full(size, -1, np.int64)
    first[values[::-1]] = np.arange(rows - 1, -1, -1)  # the earliest row is written last
    is_first = np.zeros(rows, np.bool_)
    is_first[first[first >= 0]] = True
    return values[is_first].astype(np.intp)


def in_order(codes: Codes, names: Names) -> tuple[Codes, Names]:
    """The same column with its names in order of appearance; names that do not appear are gone."""
    order = appearing(codes, len(names))
    places = np.empty(len(names), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places[codes], names[order]
