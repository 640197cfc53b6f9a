"""Losses kept away from zero, weights that sum to one."""

from __future__ import annotations

import numpy as np

from sottovoce.model import FloatArray

__all__ = ["relative_losses", "shared"]

LEAST = 1e-6


def relative_losses(losses: FloatArray, answered: FloatArray) -> FloatArray:
    """Losses over the mean of those who answered, no smaller than a millionth; 1 if nobody lost."""
    mean = float(losses.sum()) / max(int(np.count_nonzero(answered)), 1)
    if mean <= 0:
        return np.ones_like(losses)
    return np.maximum(losses / mean, LEAST)


def shared(weights: FloatArray, answered: FloatArray) -> FloatArray:
    """Positive weights scaled so that those of workers who answered sum to one."""
    return np.asarray(weights / weights[answered > 0].sum())
