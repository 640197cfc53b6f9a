"""Discrete Gaussian noise on the integers: exact draws, and its law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.laws.draws import below
from sottovoce.mechanisms.laws.polya import exponential_coins, exponential_lengths
from sottovoce.mechanisms.validation import check_integer
from sottovoce.model import FloatArray, Words
from sottovoce.seams import Randomness

MOST_VARIANCE = 1 << 24
"""Above it, squares of proposals would not fit into a word."""

FARTHEST = 1 << 8
"""Proposals beyond this many times their scale are redrawn: a probability below exp(-255)."""

BLOCK = 1 << 18
"""Proposals at a time."""

KEPT = 0.7
"""The approximate share of accepted proposals (Canonne, Kamath & Steinke 2020, thm. 23)."""


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """P(z) ∝ exp(-z² / 2σ²) on the integers, σ² = `variance` (the actual one is a little less).

    Draws are exact: they use words and no floats. It is as concentrated as the Gaussian: P(|z| ≥ m)
    ≤ 2 exp(-m² / 2σ²) (Canonne, Kamath & Steinke 2020, §2.3).

    >>> from sottovoce.datasets.seeded_randomness import SeededRandomness
    >>> DiscreteGaussian(9).sample(8, SeededRandomness(1)).shape
    (8,)
    """

    variance: int

    def __post_init__(self) -> None:
        check_integer("the variance of discrete Gaussian noise", self.variance, 1, MOST_VARIANCE)

    def sample(self, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
        """`count` independent draws: the first accepted proposals."""
        found, missing = [np.empty(0, np.int64)], count
        while missing:
            number = min(math.ceil(1.05 * missing / KEPT) + 8, BLOCK)
            found.append(self._proposals(number, randomness)[:missing])
            missing -= len(found[-1])
        return np.concatenate(found)

    def _proposals(self, number: int, randomness: Randomness) -> npt.NDArray[np.int64]:
        """Discrete Laplace draws y of scale t = ⌊σ⌋ + 1, kept with exp(-(|y| - σ²/t)² / 2σ²).

        The product is ∝ exp(-y² / 2σ²) (Canonne, Kamath & Steinke 2020, alg. 3). The exponent is
        (|y| t - σ²)² over 2 σ² t²: its whole part is that number of coins of 1/e, all of which must
        be true.
        """
        t = math.isqrt(self.variance) + 1
        size, negative = _laplace(t, number, randomness)
        gap = np.abs(size.astype(np.int64) * t - self.variance).astype(np.uint64)
        denominator = 2 * self.variance * t * t
        whole, rest = np.divmod(gap * gap, np.uint64(denominator))
        kept = exponential_lengths(len(size), randomness) >= whole
        kept[kept] = exponential_coins(rest[kept], denominator, randomness)
        drawn = size[kept].astype(np.int64)
        return np.where(negative[kept], -drawn, drawn)

    def law(self, tail: float = 1e-15) -> tuple[FloatArray, int]:
        """The probabilities of -reach … reach, and reach: at most `tail` lies beyond."""
        reach = math.ceil(math.sqrt(2 * self.variance * math.log(2 / tail)))
        z = np.arange(-reach, reach + 1, dtype=np.float64)
        weights = np.exp(-z * z / (2 * self.variance))
        return weights / weights.sum(), reach


def _laplace(t: int, number: int, randomness: Randomness) -> tuple[Words, npt.NDArray[np.bool_]]:
    """Sizes and signs of proposals with P(y) ∝ exp(-|y| / t): fewer than requested.

    u below t is kept with exp(-u / t), v is geometric with 1/e, and u + t v is the size. One of the
    two zeros is dropped (Canonne, Kamath & Steinke 2020, alg. 2).
    """
    u = below(t, number, randomness)
    u = u[exponential_coins(u, t, randomness)]
    v = exponential_lengths(len(u), randomness)
    size = u + np.uint64(t) * v
    negative = (randomness.words(len(u)) >> np.uint64(63)).astype(np.bool_)
    kept = ~(negative & (size == 0)) & (v < np.uint64(FARTHEST))
    return size[kept], negative[kept]
