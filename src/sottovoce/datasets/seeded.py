"""Randomness that can be had again, and that therefore protects nobody."""

from __future__ import annotations

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import Words

__all__ = ["SeededRandomness"]


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
        """So many uniform 64-bit words."""
        return self._generator.integers(0, 1 << 64, count, dtype=np.uint64)
