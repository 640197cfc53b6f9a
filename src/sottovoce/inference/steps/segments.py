"""Sums over the reports of each task, or of each group of reports."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sottovoce.model import CodedArray, Codes, FloatArray, StartsArray

__all__ = ["grouped_sums", "segment_sums"]

S = TypeVar("S", bound=np.generic)


def segment_sums(values: npt.NDArray[S], starts: StartsArray) -> npt.NDArray[S]:
    """Σ values[starts[i] : starts[i + 1]] for each i, along the first axis; 0 where empty."""
    offsets = starts - starts[0]
    sums = np.zeros((len(starts) - 1, *values.shape[1:]), values.dtype)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        sums[filled] = np.add.reduceat(values, offsets[filled], axis=0)
    return sums


def grouped_sums(
    groups: Codes | CodedArray | npt.NDArray[np.int64], values: FloatArray, size: int
) -> FloatArray:
    """Σ values of each group 0 … size − 1."""
    return np.bincount(groups, values, size).astype(np.float64, copy=False)
