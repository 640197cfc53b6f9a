"""The integer law of two-sided geometric noise: one table over 2⁶⁴."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.checking import check_integer, check_weight
from sottovoce.mechanisms.laws.drawing import blocks
from sottovoce.model import WORDS, FloatArray, Words
from sottovoce.seams import Randomness

__all__ = ["LONGEST", "Geometric", "log_probabilities"]

LONGEST = 1 << 17
"""The furthest reach: a table has 2 · reach entries."""


class _Tables(NamedTuple):
    weights: Words
    tails: Words
    cumulative: Words


@dataclass(frozen=True, slots=True)
class Geometric:
    """Noise z with P(z = ±d) = w(d) / 2⁶⁴ for d < reach, and the rest at ±reach, half each.

    Fixed point with 64 fractional bits, so that any language with big integers has the same table:

        v(0) = centre · 2⁶⁴,   v(d) = ⌊v(d - 1) · ratio / 2⁶⁴⌋,   w(d) = ⌊v(d) / 2⁶⁴⌋,
        w(reach) = (2⁶⁴ - w(0) - 2 Σ w(d)) / 2   over 0 < d < reach

    An even centre makes the last weight an integer. w(d) is centre · (ratio / 2⁶⁴)ᵈ less at most
    1 + reach / 2⁶⁴. Every weight is at least 1, or the law is refused: what cannot occur betrays.

    >>> law = Geometric.near(1 << 63, 2)
    >>> [int(weight) * 6 / WORDS for weight in law.weights]
    [2.0, 1.0, 1.0]
    """

    centre: int
    ratio: int
    reach: int

    def __post_init__(self) -> None:
        check_weight("centre", self.centre)
        check_weight("ratio", self.ratio)
        check_integer("reach", self.reach, 1, LONGEST)
        if self.centre % 2:
            raise UsageError(f"centre must be even, not {self.centre}")
        _tables(self.centre, self.ratio, self.reach)

    @classmethod
    def near(cls, ratio: int, reach: int) -> Self:
        """The law whose rest falls off by the same ratio: centre is 2⁶⁴ (1 - a) / (1 + a)."""
        # Rounding down makes the rest larger, which is the safe side.
        return cls((WORDS * (WORDS - ratio) // (WORDS + ratio)) & ~1, ratio, reach)

    @property
    def weights(self) -> Words:
        """w(0), …, w(reach)."""
        return _tables(self.centre, self.ratio, self.reach).weights

    @property
    def tails(self) -> Words:
        """The weight of z ≥ d for d = 0, …, reach."""
        return _tables(self.centre, self.ratio, self.reach).tails

    @property
    def cumulative(self) -> Words:
        """The weight of z ≤ d for d = -reach, …, reach - 1; the next would be 2⁶⁴."""
        return _tables(self.centre, self.ratio, self.reach).cumulative

    @property
    def decay(self) -> float:
        """-ln(ratio / 2⁶⁴): one over the noise scale."""
        if self.ratio < WORDS // 2:
            return -math.log(self.ratio / WORDS)
        return -math.log1p((self.ratio - WORDS) / WORDS)

    def sample(self, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
        """One word a draw: z is the number of entries of the table that it is not below."""
        table, noise = self.cumulative, np.empty(count, np.int64)
        for block in blocks(count):
            words = randomness.words(block.stop - block.start)
            noise[block] = np.searchsorted(table, words, side="right")
        noise -= self.reach
        return noise


def log_probabilities(weights: Words) -> FloatArray:
    """ln(w / 2⁶⁴)."""
    return np.log(weights.astype(np.float64)) - math.log(WORDS)


@lru_cache(maxsize=8)
def _tables(centre: int, ratio: int, reach: int) -> _Tables:
    fixed, listed = centre << 64, []
    for _ in range(reach):
        listed.append(fixed >> 64)
        fixed = (fixed * ratio) >> 64
    rest = (WORDS + centre) // 2 - sum(listed)
    if listed[-1] < 1 or rest < 1:
        raise UsageError(
            "64-bit weights cannot hold this noise, since some reports would never occur: "
            "choose a smaller epsilon, a coarser step or a shorter reach"
        )
    weights = np.array([*listed, rest], np.uint64)
    tails = np.cumsum(weights[::-1], dtype=np.uint64)[::-1]
    # The weight of z ≤ -d is that of z ≥ d, and that of z ≤ d what z ≥ d + 1 leaves of 2⁶⁴.
    cumulative = np.concatenate([tails[:0:-1], np.uint64(0) - tails[1:]])
    for table in (weights, tails, cumulative):
        table.flags.writeable = False
    return _Tables(weights, tails, cumulative)
