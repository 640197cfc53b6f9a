"""Sums over the reports of each task, or of each group of reports, exact in any order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.inference.exact import split
from sottovoce.model import CodedArray, Codes, FloatArray, StartsArray

__all__ = ["grouped_sums", "segment_sums"]


def segment_sums(values: FloatArray, starts: StartsArray) -> FloatArray:
    """Σ values[starts[i] : starts[i + 1]] for each i, along the first axis; 0 where empty."""
    offsets = starts - starts[0]
    sums = np.zeros((len(starts) - 1, *values.shape[1:]))
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        firsts, counts = offsets[filled], np.diff(offsets)[filled]
        top = np.repeat(np.maximum.reduceat(np.abs(values), firsts, axis=0), counts, axis=0)
        shape = (-1,) + (1,) * (values.ndim - 1)
        for piece in split(values, top, np.repeat(counts, counts).reshape(shape)):
            sums[filled] += np.add.reduceat(piece, firsts, axis=0)
    return sums


def grouped_sums(
    groups: Codes | CodedArray | npt.NDArray[np.int64], values: FloatArray, size: int
) -> FloatArray:
    """Σ values of each group 0 … size − 1."""
    top, counts = np.zeros(size), np.bincount(groups, minlength=size)
    np.maximum.at(top, groups, np.abs(values))
    pieces = split(values, top[groups], counts[groups])
    high, low = (np.bincount(groups, piece, size) for piece in pieces)
    return np.asarray(high + low, np.float64)
