"""Spans of integer vectors, exactly: arithmetic modulo a prime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["PRIME", "Integers", "Span", "span_of"]

Integers: TypeAlias = npt.NDArray[np.int64]

PRIME = (1 << 31) - 1
"""The product of two residues fits 8 bytes. A rank modulo it is that over the integers, unless the
prime divides a determinant, which is as likely as a guess of one number in two thousand million."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A basis (rank, length) that is the identity at the places `pivots`, modulo the prime."""

    basis: Integers
    pivots: Integers

    @property
    def rank(self) -> int:
        """The dimension of the span."""
        return len(self.pivots)


def span_of(vectors: Integers) -> Span:
    """The span of integer vectors (rows), by the elimination of Gauss and Jordan.

    >>> span_of(np.array([[2, 4, 6], [1, 2, 3], [0, 0, 5]])).pivots.tolist()
    [0, 2]
    """
    left = vectors % PRIME
    pivots: list[int] = []
    for place in range(left.shape[1]):
        rank = len(pivots)
        nonzero = np.flatnonzero(left[rank:, place])
        if not nonzero.size:
            continue
        left[[rank, rank + nonzero[0]]] = left[[rank + nonzero[0], rank]]
        left[rank] = left[rank] * pow(int(left[rank, place]), -1, PRIME) % PRIME
        others = np.flatnonzero(left[:, place])
        others = others[others != rank]
        left[others] = (left[others] - left[others, place, None] * left[rank] % PRIME) % PRIME
        pivots.append(place)
        if len(pivots) == len(left):
            break
    return Span(left[: len(pivots)], np.array(pivots, np.int64))
