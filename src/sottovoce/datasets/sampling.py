"""Who answers which task: exact draws without a matrix of workers by tasks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.model import Codes

__all__ = ["cells", "distinct"]


def distinct(rng: np.random.Generator, rows: int, size: int, population: int) -> Codes:
    """In each row `size` different numbers below `population`, every such set as likely.

    Up to half of the population: draw with replacement, then draw the repeated ones again until
    none is left. A row then holds the first `size` different values of an endless uniform
    sequence, which by symmetry is a uniform set; each pass leaves at most about half of the
    missing ones, so the cost is O(rows · size). Above half: the `size` smallest of `population`
    random keys, at most twice the cost of what is returned. Rows come in increasing order.
    """
    if size == population:
        return np.tile(np.arange(population, dtype=np.int32), (rows, 1))
    if 2 * size > population:
        keys = rng.random((rows, population))
        lowest = np.argpartition(keys, size - 1, axis=1)[:, :size].astype(np.int32)
        lowest.sort(axis=1)
        return lowest
    chosen = rng.integers(population, size=(rows, size), dtype=np.int32)
    chosen.sort(axis=1)
    unfinished = np.flatnonzero((chosen[:, 1:] == chosen[:, :-1]).any(axis=1))
    while len(unfinished):
        part = chosen[unfinished]
        repeated = np.zeros(part.shape, dtype=bool)
        repeated[:, 1:] = part[:, 1:] == part[:, :-1]
        part[repeated] = rng.integers(population, size=int(repeated.sum()), dtype=np.int32)
        part.sort(axis=1)
        chosen[unfinished] = part
        unfinished = unfinished[(part[:, 1:] == part[:, :-1]).any(axis=1)]
    return chosen


def cells(
    rng: np.random.Generator, rows: int, columns: int, density: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns of the cells that are there, each with probability `density` on its own.

    The gap from one such cell to the next, in reading order, is Geometric(density): drawing gaps
    costs O(cells there) instead of O(rows · columns).
    """
    total = rows * columns
    if density >= 1:
        return np.divmod(np.arange(total), columns)
    found: list[npt.NDArray[np.int64]] = []
    last = -1
    while last < total:
        draws = int((total - last) * density * 1.02) + 64
        places = last + np.cumsum(rng.geometric(density, draws))
        found.append(places)
        last = int(places[-1])
    places = np.concatenate(found)
    return np.divmod(places[: np.searchsorted(places, total)], columns)
