"""Distinct integers in order of appearance: by their place in a table, not by hashing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.model import Codes
from sottovoce.stores.appearing import appearing

__all__ = ["code_integers"]

_ROOM = 4
"""A table of so many places a row is still cheaper than hashing."""


def code_integers(
    column: npt.NDArray[Any],
) -> tuple[Codes, npt.NDArray[np.integer[Any]]] | None:
    """Codes in order of appearance and what they stand for; None where a table would not pay."""
    if column.dtype.kind not in "iu" or not len(column):
        return None
    low, high = int(column.min()), int(column.max())
    size = high - low + 1
    if size > _ROOM * len(column) or high > np.iinfo(np.int64).max:
        return None
    places = column.astype(np.int64) - low
    names = appearing(places, size)
    codes = np.empty(size, np.int32)
    codes[names] = np.arange(len(names), dtype=np.int32)
    return codes[places], (names + low).astype(column.dtype)
