"""SeededRandomness: reproducible noise for tests and simulations; it gives no privacy.

It also draws which worker answers which task of a simulated crowd, without a dense matrix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Codes, Words

_WORKERS, _BLOCKS = 0, 1  # the first part of a stream's key


def randomness(seed: int, block: int | None = None) -> np.random.Generator:
    """Open the stream that draws a block, or the workers when no block is named."""
    key = (_WORKERS, 0) if block is None else (_BLOCKS, block)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def distinct(rng: np.random.Generator, rows: int, size: int, population: int) -> Codes:
    """In each row `size` different numbers below `population`, all sets equally likely.

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


class SeededRandomness:
    """Words from a seeded NumPy generator. Reports made with it are stamped as simulated.

    >>> SeededRandomness(7).words(2).tolist() == SeededRandomness(7).words(2).tolist()
    True
    """

    def __init__(self, seed: int) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UsageError(f"seed must be an integer of at least 0, not {seed!r}")
        self._generator = np.random.default_rng(seed)

    @property
    def simulated(self) -> bool:
        """True, always."""
        return True

    def words(self, count: int) -> Words:
        """`count` uniform 64-bit words."""
        return self._generator.integers(0, 1 << 64, count, dtype=np.uint64)
