"""Reports with Gaussian noise of a private variance, in cells that are fine where answers are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.random_variance_gaussian import RandomVarianceGaussian
from sottovoce.model import Cells, Domain, Grid, NoisyChannel

__all__ = ["noisy_reports"]

LEVELS = 16
"""Into so many equally likely cells the law of a worker's variance is cut."""
INNER, OUTER = 128, 64
"""Cells within half a range of the range, and further out on either side."""


def noisy_reports(
    cells: Cells, mechanism: RandomVarianceGaussian, domain: Domain
) -> tuple[npt.NDArray[np.integer], NoisyChannel]:
    """A symbol is the cell that a report lies in: even near the range, ever wider outside."""
    grid, steps = Grid.over(domain), mechanism.steps
    reach = np.geomspace(steps / 2, steps / 2 + 40 * mechanism.scale, OUTER)
    edges = np.concatenate(
        [-reach[:0:-1], np.linspace(-steps / 2, 1.5 * steps, INNER), steps + reach[1:]]
    )
    # Cells end between points of the grid, to which reports are rounded.
    edges = np.unique(np.floor(edges) + 0.5)
    symbols = np.searchsorted(edges, cells.code)
    step = float(grid.step)
    # Exponential variances of mean 2 scale²: the middle of each of 16 equally likely cells.
    shares = (np.arange(LEVELS) + 0.5) / LEVELS
    variances = -np.log1p(-shares) * 2 * (mechanism.scale * step) ** 2
    return symbols, NoisyChannel(
        float(grid.low), float(grid.high), float(grid.low) + edges * step, variances,
        np.full(LEVELS, 1 / LEVELS),
    )  # fmt: skip
