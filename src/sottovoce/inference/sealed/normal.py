"""How likely noisy counts are where they are many: Gaussian, with the exact mean and covariance."""

from __future__ import annotations

import numpy as np

from sottovoce.model import FloatArray

__all__ = ["log_density", "one_right"]


def log_density(
    totals: FloatArray, shares: FloatArray, mean: FloatArray, variance: FloatArray,
    noise: FloatArray,
) -> FloatArray:  # fmt: skip
    """ln of the density of noisy counts, tasks by rows of `shares`.

    n answers with mean μ and variance v fall into slots with shares a; slot k has noise of variance
    σₖ². So counts have mean μ a and covariance

        diag(μ aₖ + σₖ²) + (v - μ) a aᵀ

    whose inverse and determinant are known in closed form (Sherman and Morrison).
    """
    found = np.empty((len(totals), len(shares)))
    kinds, kind = np.unique(np.stack([mean, variance], axis=1), axis=0, return_inverse=True)
    for place, (center, over) in enumerate(kinds):
        rows = kind.ravel() == place
        found[rows] = _alike(totals[rows], shares, float(center), float(over), noise)
    return found


def _alike(
    totals: FloatArray, shares: FloatArray, mean: float, variance: float, noise: FloatArray
) -> FloatArray:
    """The same for tasks whose counts have one mean and one variance."""
    spread = mean * shares + noise
    scaled = shares / spread
    own = (scaled * shares).sum(axis=1)
    bent = 1 + (variance - mean) * own
    along = totals @ scaled.T - mean * own
    squares = np.square(totals) @ (1 / spread).T - 2 * mean * (totals @ scaled.T) + mean**2 * own
    squares -= (variance - mean) / bent * np.square(along)
    return np.asarray(-0.5 * (squares + np.log(spread).sum(axis=1) + np.log(bent)))


def one_right(labels: int, chances: FloatArray) -> FloatArray:
    """The share of each label for every truth and every chance of a right answer, a row each."""
    wrong = (1 - chances) / (labels - 1)
    shares = np.repeat(np.broadcast_to(wrong, (labels, len(chances)))[..., np.newaxis], labels, 2)
    truth = np.arange(labels)
    shares[truth, :, truth] = chances
    return shares.reshape(-1, labels)
