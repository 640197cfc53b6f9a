"""Scores of labels as shares of their sum."""

from __future__ import annotations

import numpy as np

from sottovoce.model import FloatArray

__all__ = ["shares"]


def shares(scores: FloatArray) -> FloatArray:
    """Non-negative scores scaled to sum to one in each row; even where they are all zero."""
    totals = scores.sum(axis=1, keepdims=True)
    even = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, totals, out=even, where=totals > 0))
