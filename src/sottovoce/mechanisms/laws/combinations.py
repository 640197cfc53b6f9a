"""Sets of a given size as 64-bit masks, one to one with the integers below their number."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sottovoce.mechanisms.laws.drawing import below
from sottovoce.model import Words
from sottovoce.seams import Randomness

__all__ = ["masks", "uniform_masks"]

LISTED = 1 << 16
"""Up to so many sets a table of them is kept."""


def masks(ranks: Words, elements: int, size: int) -> Words:
    """The rank-th set of `size` of the elements 0 … elements - 1, as a mask; element i is bit i.

    The combinatorial number system: sets in the order of their masks, the set
    e₁ < e₂ < … < e_d having rank C(e₁, 1) + C(e₂, 2) + … + C(e_d, d) (Knuth, TAOCP 7.2.1.3,
    thm. L). All of it fits 64 bits for up to 64 elements, since C(64, 32) < 2⁶¹.

    >>> [f"{mask:03b}" for mask in masks(np.arange(3, dtype=np.uint64), 3, 2).tolist()]
    ['011', '101', '110']
    """
    left = ranks.copy()
    missing = np.full(len(ranks), size, np.intp)
    found = np.zeros(len(ranks), np.uint64)
    for element in reversed(range(elements)):
        below_it = np.array([math.comb(element, d) for d in range(size + 1)], np.uint64)[missing]
        # With no element missing C(element, 0) = 1 exceeds the rank 0 that is left.
        taken = left >= below_it
        left -= np.where(taken, below_it, np.uint64(0))
        missing -= taken
        found |= taken.astype(np.uint64) << np.uint64(element)
    return found


def uniform_masks(elements: int, size: int, count: int, randomness: Randomness) -> Words:
    """So many independent sets, each of C(elements, size) as likely."""
    number = math.comb(elements, size)
    ranks = below(number, count, randomness)
    if number <= LISTED:
        return _listed(elements, size)[ranks.astype(np.intp)]
    return masks(ranks, elements, size)


@lru_cache(maxsize=16)
def _listed(elements: int, size: int) -> Words:
    return masks(np.arange(math.comb(elements, size), dtype=np.uint64), elements, size)
