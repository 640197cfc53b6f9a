"""Reductions over the labels of each task.

NumPy reduces a short last axis slowly; for few labels, going column by column is several times
faster.
"""

from __future__ import annotations

import numpy as np

from sottovoce.inference.exact import split
from sottovoce.model import FloatArray

__all__ = ["column_sum", "row_max", "row_sum", "shares"]

_FEW = 16


def row_max(scores: FloatArray) -> FloatArray:
    """The largest score of each row."""
    if scores.shape[1] > _FEW:
        return np.asarray(scores.max(axis=1))
    top = scores[:, 0].copy()
    for column in scores.T[1:]:
        np.maximum(top, column, out=top)
    return top


def row_sum(scores: FloatArray) -> FloatArray:
    """The sum of each row, the same for any order of the labels."""
    high, low = split(scores)
    return _left_to_right(high) + _left_to_right(low)


def column_sum(scores: FloatArray) -> FloatArray:
    """The sum of each column, the same for any order of the rows."""
    high, low = split(scores)
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
    total = scores[:, 0].copy()
    for column in scores.T[1:]:
        total += column
    return total
