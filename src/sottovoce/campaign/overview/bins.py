"""Counts in bins, as charts show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.model import FloatArray

__all__ = ["MOST_BINS", "Bin", "binned"]

MOST_BINS = 20


@dataclass(frozen=True, slots=True)
class Bin:
    """How many lie from low up to high; the last bin holds its high end too."""

    low: float
    high: float
    count: int


def binned(values: FloatArray, low: float, high: float) -> tuple[Bin, ...]:
    """Values in equal bins between two ends, without the empty ones before the first.

    Values beyond the ends count in the bins at the ends. All in one place is one bin.

    >>> [bin.count for bin in binned(np.array([0.0, 0.95, 1.0]), 0.9, 1.0)][-1]
    1
    """
    if not len(values):
        return ()
    if not low < high:
        return (Bin(low, high, len(values)),)
    counts, edges = np.histogram(np.clip(values, low, high), MOST_BINS, (low, high))
    first = int(np.flatnonzero(counts)[0])
    return tuple(
        Bin(float(edges[place]), float(edges[place + 1]), int(counts[place]))
        for place in range(first, MOST_BINS)
    )
