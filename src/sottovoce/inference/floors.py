"""Losses kept away from zero, weights that sum to one."""

from __future__ import annotations

import numpy as np

from sottovoce.model import FloatArray

__all__ = ["floored", "shared"]


def floored(losses: FloatArray, share: float = 1e-6) -> FloatArray:
    """Losses no smaller than `share` of their mean; all one if nobody lost anything."""
    mean = float(losses.mean())
    if mean <= 0:
        return np.ones_like(losses)
    return np.maximum(losses, share * mean)


def shared(weights: FloatArray) -> FloatArray:
    """Positive weights scaled to sum to one."""
    return np.asarray(weights / weights.sum())
