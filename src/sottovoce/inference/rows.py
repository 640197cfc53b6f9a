"""Reductions over the labels of each task.

NumPy reduces a short last axis slowly: going label by label over contiguous columns is several
times faster.
"""

from __future__ import annotations

import numpy as np

from sottovoce.inference.exact import split
from sottovoce.model import FloatArray

__all__ = ["column_sum", "columns_of", "row_max", "row_sum", "shares"]


def columns_of(scores: FloatArray) -> FloatArray:
    """A copy with one contiguous row for each label."""
    return np.array(scores.T, order="C", copy=True)


def row_max(scores: FloatArray) -> FloatArray:
    """The largest score of each row."""
    return np.asarray(columns_of(scores).max(axis=0))


def row_sum(scores: FloatArray) -> FloatArray:
    """The sum of each row, the same for any order of the labels."""
    top = row_max(np.abs(scores))[:, np.newaxis]
    high, low = split(scores, top, scores.shape[1])
    return _left_to_right(high) + _left_to_right(low)


def column_sum(scores: FloatArray) -> FloatArray:
    """The sum of each column, the same for any order of the rows."""
    high, low = split(scores, np.abs(scores).max(axis=0, initial=0.0), len(scores))
    return np.asarray(high.sum(axis=0) + low.sum(axis=0))


def shares(scores: FloatArray) -> FloatArray:
    """Non-negative scores scaled to sum to one in each row; even where they are all zero."""
    totals = _left_to_right(scores)
    empty = totals <= 0
    if empty.any():
        scores = np.where(empty[:, np.newaxis], 1.0, scores)
        totals = np.where(empty, scores.shape[1], totals)
    return np.asarray(scores / totals[:, np.newaxis])


def _left_to_right(scores: FloatArray) -> FloatArray:
    first, *others = columns_of(scores)
    for column in others:
        first += column
    return np.asarray(first)
